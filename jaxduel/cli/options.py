"""Types of command line options: what they take, how the help shows them, and the parameters of
policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

from tyro.conf import FlagCreatePairsOff, UseAppendAction, arg
from tyro.constructors import PrimitiveConstructorSpec

import jaxduel as jd
from jaxduel.errors import InputError, shorten, unknown_name


def whole_number(text: str) -> int:
    """An integer written as 1000000, 1_000_000 or 1e6.

    Raises:
      ValueError: for anything else, including digits outside ASCII.
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


def _optional_count(words: Sequence[str]) -> int:
    """A count, or 3 where the option stands alone."""
    if len(words) > 1:
        raise ValueError(f"'{' '.join(words)}' is more than one number")
    return _count(words or ["3"])


def _optional_hours(words: Sequence[str]) -> float:
    """Hours, or 1 where the option stands alone."""
    if len(words) > 1:
        raise ValueError(f"'{' '.join(words)}' is more than one number")
    hours = float((words or ["1"])[0])
    if not 0 <= hours < math.inf:
        raise ValueError(f"'{words[0]}' is no number of hours from 0 on")
    return hours


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


def _optional(metavar: str, parse: Callable[[Sequence[str]], Any]) -> PrimitiveConstructorSpec[Any]:
    """An option with any number of words, or left out: then None."""
    return PrimitiveConstructorSpec(
        nargs="*",
        metavar=metavar,
        instance_from_str=parse,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [] if value is None else [str(value)],
    )


Whole = Annotated[int, _spec("INT", int, lambda words: whole_number(words[0]))]
Count = Annotated[int, _spec("COUNT", int, _count)]
Shard = Annotated[Share, _spec("I/N", Share, _shard)]
Time = Annotated[datetime, _spec("HH:MM[:SS]", datetime, _time)]
Switch = Annotated[bool, FlagCreatePairsOff, arg(help_behavior_hint="")]
Name = Annotated[str, arg(metavar="NAME")]
Names = Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="")]
Times = Annotated[tuple[Whole, ...], arg(metavar="T ...", help_behavior_hint="")]
Settings = Annotated[
    UseAppendAction[tuple[str, ...]], arg(metavar="NAME=VALUE", help_behavior_hint="")
]
Ignored = Annotated[
    UseAppendAction[tuple[str, ...]], arg(name="ignore", metavar="NAME", help_behavior_hint="")
]
APPENDED = get_args(Settings)[1]
"""Marks options that may be given several times."""
MaybeName = Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")]
MaybeCount = Annotated[Count | None, arg(metavar="COUNT", help_behavior_hint="")]
MaybeFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
MaybeFolder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]
MaybeShard = Annotated[Shard | None, arg(metavar="I/N", help_behavior_hint="")]
MaybeTime = Annotated[Time | None, arg(metavar="HH:MM[:SS]", help_behavior_hint="")]
Anchor = Annotated[str | None, arg(metavar="NAME[=RATING]", help_behavior_hint="")]
Arms = Annotated[tuple[str, ...] | None, _optional("ARM ...", tuple), arg(help_behavior_hint="")]
MaybeTop = Annotated[int | None, _optional("[N]", _optional_count), arg(help_behavior_hint="")]
MaybeHours = Annotated[
    float | None, _optional("[HOURS]", _optional_hours), arg(help_behavior_hint="")
]
Silent = arg(help_behavior_hint="")
"""Hides tyro's hint at a default: the option's own help says what leaving it out means."""


def one_of(choices: Any) -> Any:
    """Annotation of an option that takes a text of the `Literal` type `choices`, or is left out."""
    return arg(metavar=f"{{{','.join(get_args(choices))}}}", help_behavior_hint="")


@dataclass(frozen=True)
class Chosen:
    """Settings of a sweep in which policies are compared, chosen by name: all if no name is given.
    The fields are arguments of functions that read sweeps."""

    problem: Names = ()
    """of these problems, such as arxiv, or btl for all of a generator."""
    horizon: Times = ()
    """with these horizons, or votes of a run."""
    regret: Names = ()
    """under these definitions of regret."""
    rule: Names = ()
    """by these rules, where arms are identified."""


@dataclass(frozen=True)
class Cells(Chosen):
    """Cells of a sweep, chosen by name: all cells if no name is given."""

    policy: Names = ()
    """of these policies, such as dts or dts[alpha=0.6]."""


EVERY_SETTING = Chosen()
EVERY_CELL = Cells()


@dataclass(frozen=True)
class Reading:
    """Reading of a log of votes."""

    columns: Annotated[Settings, arg(name="column")] = ()
    """a column by its role, as in count=games; may be repeated."""
    ignored: Ignored = ()
    """a column to leave out, whatever its name; may be repeated."""
    outcomes: Annotated[Settings, arg(name="outcome", metavar="WORD=MEANING")] = ()
    """left, right, tie or skip, as unresolved=skip; repeatable."""
    voter: MaybeName = None
    """column of who voted: votes of one are not independent."""
    last_of: MaybeName = None
    """columns, as in voter,pair: the last row alike in all."""
    header: Annotated[Names, arg(name="no-header")] = ()
    """names of the columns of a file without a header."""
    core: MaybeCount = None
    """keep arms of which each pair has this many decisive votes."""


AS_IT_STANDS = Reading()
GROUPS = (Chosen, Reading)
"""Options that several commands have, as one parameter of each."""


_OF_THE_RUN = {
    "horizon": "the horizon follows from the other arguments",
    "num_arms": "the number of arms follows from the other arguments",
    "active_arms": "the arms follow from the other arguments",
}


def settings_of(policy: str, settings: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """A policy's parameters from NAME=VALUE: numbers, true, false, or text or times if allowed.

    Args:
      policy: the policy's name.
      settings: the settings, each name once.
      option: the command-line option of the settings, for messages.

    Raises:
      InputError: for a setting that cannot be read, is repeated, or names no parameter of the
        policy that may be set.
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
            values[name] = _times(text) or text
        elif text.lower() in ("true", "false"):
            values[name] = text.lower() == "true"
        else:
            try:
                values[name] = _number(text)
            except ValueError:
                kind = "true or false" if isinstance(known.get(name), bool) else "a number"
                raise InputError(f"{where}: {name} takes {kind}.") from None
    return values


def _times(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between them, in brackets or not; () of other text."""
    try:
        return tuple(whole_number(part) for part in text.strip("[]").split(","))
    except ValueError:
        return ()


def _number(text: str) -> int | float:
    try:
        return whole_number(text)
    except ValueError:
        if not text.isascii():
            raise
        return float(text)
