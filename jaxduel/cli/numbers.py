"""Numbers on the command line, and the parameters of policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta
from typing import Annotated, Any, NamedTuple

from tyro.constructors import PrimitiveConstructorSpec

import jaxduel as jd
from jaxduel.errors import InputError, shorten, unknown_name


def whole_number(text: str) -> int:
    """An integer written as 1000000, 1_000_000 or 1e6.

    Raises:
      ValueError: for anything else, digits that are not those of ASCII included.
    """
    if not text.isascii():
        raise ValueError(f"'{text}' is not a whole number")
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if "." in text or not number.is_integer():
        raise ValueError(f"'{text}' is not a whole number")
    return int(number)


def _count(words: Sequence[str]) -> int:
    """A whole number of at least 1."""
    number = whole_number(words[0])
    if number < 1:
        raise ValueError(f"'{number}' is less than 1")
    return number


class Share(NamedTuple):
    """A share of work: the I-th of N."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def _shard(words: Sequence[str]) -> Share:
    """I/N with I from 1 to N."""
    number, of = map(whole_number, words[0].split("/"))
    if not 1 <= number <= of:
        raise ValueError(f"'{words[0]}' is no I/N with I from 1 to N")
    return Share(number, of)


def _time(words: Sequence[str]) -> datetime:
    """A time of day, the next one in local time, or a date and time in ISO 8601."""
    try:
        of_day = time.fromisoformat(words[0])
    except ValueError:
        then = datetime.fromisoformat(words[0])
        then.timestamp()  # fails before the first year of any time zone
        return then
    now = datetime.now(of_day.tzinfo)
    then = datetime.combine(now, of_day)
    return then if then > now else then + timedelta(days=1)


def _spec(
    metavar: str, kind: type, parse: Callable[[Sequence[str]], Any]
) -> PrimitiveConstructorSpec[Any]:
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=parse,
        is_instance=lambda value: isinstance(value, kind),
        str_from_instance=lambda value: [str(value)],
    )


Whole = Annotated[int, _spec("INT", int, lambda words: whole_number(words[0]))]
Count = Annotated[int, _spec("COUNT", int, _count)]
Shard = Annotated[Share, _spec("I/N", Share, _shard)]
Time = Annotated[datetime, _spec("HH:MM[:SS]", datetime, _time)]


_OF_THE_RUN = {
    "horizon": "the horizon follows from the other arguments",
    "num_arms": "the number of arms follows from the other arguments",
    "active_arms": "the arms follow from the other arguments",
}


def settings_of(policy: str, settings: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """A policy's parameters from NAME=VALUE: numbers, true, false, or text where it takes text.

    Args:
      policy: its name.
      settings: the settings, each name once.
      option: the option that they were given by, for messages.

    Raises:
      InputError: for a setting that cannot be read, is repeated, or is no parameter of the policy
        that may be set.
    """
    values: dict[str, Any] = {}
    name, _, inside = policy.partition("[")
    if inside and name in jd.policies.names():
        given = " ".join(f"{option} {part}" for part in inside.removesuffix("]").split(","))
        raise InputError(f"'{shorten(policy)}': parameters are given by {shorten(given, 300)}.")
    known = jd.policies.parameters(policy)
    for setting in settings:
        name, equals, text = setting.partition("=")
        where = f"{option} {shorten(setting)}"
        if not (name and equals and text):
            raise InputError(f"{where}: NAME=VALUE is needed.")
        if name in _OF_THE_RUN:
            raise InputError(f"{where}: {_OF_THE_RUN[name]}.")
        if name in values:
            raise InputError(f"{where}: {name} is set twice.")
        if name not in known:
            raise unknown_name(f"parameter of {policy}", name, set(known) - set(_OF_THE_RUN))
        if isinstance(known.get(name), str):
            values[name] = text
        elif text.lower() in ("true", "false"):
            values[name] = text.lower() == "true"
        else:
            try:
                values[name] = _number(text)
            except ValueError:
                raise InputError(f"{where}: {name} takes a number.") from None
    return values


def _number(text: str) -> int | float:
    try:
        return whole_number(text)
    except ValueError:
        if not text.isascii():
            raise
        return float(text)
