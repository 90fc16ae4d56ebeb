"""Command lines: one-sentence errors for arguments that the parser refuses, and the command line
that makes a call again."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, get_type_hints

from tyro import _errors as events
from tyro.conf import Positional

from jaxduel.cli.options import APPENDED, GROUPS
from jaxduel.errors import InputError, shorten

NO_CACHE = "--no-cache"
"""An option of all commands."""

_MEANT = {"help": "--help", "init": "new", "simulate": "run", "version": "--version"}
"""Commands that newcomers try, and their names here."""

_WANTED = {
    "INT": "a whole number such as 1000 or 1e6",
    "COUNT": "a whole number of at least 1, such as 1000 or 1e6",
    "I": "I/N, two whole numbers with I from 1 to N, such as 2/8",
    "HH": "a time of day such as 07:45:00, or a date and time such as 2026-11-25T07:45",
    "FLOAT": "a number",
    "HOURS": "a number of hours from 0 on, or nothing",
    "N": "a whole number of at least 1, or nothing",
    "P": "probabilities such as 0.95",
    "T": "whole numbers such as 1000 or 1e6",
    "STR": "text",
}


@contextmanager
def in_one_sentence(
    commands: Mapping[str, Callable[..., int]], arguments: Sequence[str]
) -> Iterator[None]:
    """Raises InputError where tyro would print a box and exit."""
    name = arguments[0] if arguments and arguments[0] in commands else None
    if name is not None:
        _require_filled(arguments[1:])
        _require_once(commands[name], arguments[1:])

    def refuse(event: events.ParseErrorEvent) -> None:
        if name is None:
            names = ["--help", "--version"] if arguments[0].startswith("-") else list(commands)
            kind = "option" if arguments[0].startswith("-") else "command"
            sentence = _unknown(kind, arguments[0], names, _MEANT.get(arguments[0]))
        else:
            sentence = _sentence(event, _options(commands[name]), arguments[1:])
        program = f"jaxduel {name}" if name else "jaxduel"
        raise InputError(f"{sentence} (see {program} --help).")

    with events.on_parse_error(refuse):
        yield


def _require_filled(given: Sequence[str]) -> None:
    """Raises InputError for an argument without text, such as a variable of a shell that is not
    set: a path of that kind would be the current folder."""
    for before, word in pairwise(("", *given)):
        option = before if before.startswith("--") else "an argument"
        if not word or re.fullmatch("--[a-z-]+=", word):
            name = word.rstrip("=") or option
            raise InputError(f"{name} is empty: give a value, or leave it out.")


def _require_once(command: Callable[..., int], given: Sequence[str]) -> None:
    """Raises InputError for an option given twice: the first value would be ignored."""
    several = {option_of(name, marks) for name, marks in _parameters(command) if APPENDED in marks}
    options = [_plain(token) for token in given if token.startswith("--")]
    for option in options:
        if options.count(option) > 1 and option not in several:
            raise InputError(
                f"{shorten(option)} is given twice, and the first would be ignored: give it once."
            )


def _options(command: Callable[..., int]) -> list[str]:
    """The options of a command, as written on the command line."""
    names = [option_of(name, marks) for name, marks in _parameters(command)]
    return ["--help", NO_CACHE, *names]


def _parameters(command: Callable[..., int]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The options of a command, with groups expanded: each parameter's name, and the marks of its
    type."""
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if isinstance(parameter.default, GROUPS):
            for each, kind in get_type_hints(parameter.annotation, include_extras=True).items():
                yield each, marks_of(kind)
        elif Positional not in (marks := marks_of(parameter.annotation)):
            yield name, marks


def marks_of(kind: Any) -> tuple[Any, ...]:
    """The marks for tyro in the type of a parameter of a command."""
    return getattr(kind, "__metadata__", ())


def option_of(name: str, marks: Iterable[Any]) -> str:
    """The option of a parameter of a command."""
    own = (written for mark in marks if (written := getattr(mark, "name", None)))
    return f"--{next(own, name)}".replace("_", "-")


def _sentence(event: Any, options: Sequence[str], given: Sequence[str]) -> str:
    if isinstance(event, events.MissingArgs):
        strange = [token for token in event.unrecognized_tokens if token.startswith("--")]
        if strange:
            return _unknown("option", strange[0], options)
        missing = ", ".join(_name(each.arg) for each in event.missing_arguments)
        sentence = f"{missing} must be given"
        for token in map(shorten, event.unrecognized_tokens[:1]):
            sentence += f", and '{token}' is unknown"
            only = event.missing_arguments[0].arg
            if re.fullmatch("--[a-z-]+", missing) and only.lowered.nargs == 1:
                sentence += f"; did you mean {missing} {token}?"
        return sentence
    if isinstance(event, events.UnrecognizedArgs):
        token = event.tokens[0]
        if token.startswith("-"):
            return _unknown("option", token, options)
        return f"'{shorten(token)}' is one argument too many{_instead_of(token, given)}"
    if isinstance(event, events.InvalidChoice):
        choices = ", ".join(sorted(set(event.choices) - {"None"}))
        return f"{_name(event.argument)} must be one of {choices}, not '{shorten(event.value)}'"
    if isinstance(event, events.BadValue):
        name = _name(event.argument)
        strange = [
            token for token in given if token.startswith("--") and _plain(token) not in options
        ]
        if strange and not name.startswith("-"):  # a missing name stopped tyro before this option
            return _unknown("option", strange[0], options)
        return f"{name} needs a value, or more than are given"
    if isinstance(event, events.InstantiationFailure) and event.argument is not None:
        wanted = _wanted(str(event.argument.lowered.metavar))
        value = re.search(r"'([^']*)'", event.message)
        given = f", not '{shorten(value[1])}'" if value else ""
        return f"{_name(event.argument)} takes {wanted}{given}"
    return "the arguments cannot be read"


def _instead_of(token: str, given: Sequence[str]) -> str:
    """A hint for an argument that follows an option and its value; "" if there is none."""
    for option, value, behind in zip(given, given[1:], given[2:], strict=False):
        if behind == token and option == "--set" and "=" not in value:
            return f"; did you mean --set {shorten(value)}={shorten(token)}?"
        if behind == token and option in ("--policy", "--problem"):
            return f": {option} takes one name; `jaxduel sweep` runs several"
    return ""


def _wanted(metavar: str) -> str:
    """Description of the values of an option, from tyro's placeholder for them."""
    names: list[str] = [name for name in re.findall(r"[A-Za-z]+", metavar) if name != "None"]
    return _WANTED.get(names[0], names[0]) if names else "another value"


def _name(argument: Any) -> str:
    """An option as written on the command line, or a positional argument as the help calls it."""
    written = str(argument.lowered.name_or_flags[0])
    if written.startswith("-"):
        return written
    listed = argument.lowered.choices is not None  # the help shows the choices instead of a name
    return written.rpartition(".")[2].upper() if listed else str(argument.lowered.metavar)


def _plain(option: str) -> str:
    """An option without its value, with hyphens."""
    return option.partition("=")[0].replace("_", "-")


def _unknown(kind: str, token: str, known: Sequence[str], meant: str | None = None) -> str:
    written = _plain(token) if kind == "option" else token
    cutoff = 0.75 if kind == "option" else 0.6  # options have hyphens in common
    near = [meant] if meant else get_close_matches(written.lower(), known, n=1, cutoff=cutoff)
    hint = f"; did you mean '{near[0]}'?" if near else f": known are {', '.join(known)}"
    if "--set" in known:
        hint += " Parameters" if near else "; parameters"
        hint += " of the policy are given by --set NAME=VALUE"
    return f"unknown {kind} '{shorten(written)}'{hint}"


def command_line(command: Callable[..., int], given: Mapping[str, Any]) -> str:
    """The command line of a call, with every option spelled out, defaults included but in groups.

    Args:
      command: the command's function, which has the command's name.
      given: arguments by parameter; options that are None are left out.

    Example:
      >>> def show(file: Positional[str], seeds: int = 5, force: bool = False) -> int: ...
      >>> command_line(show, {"file": "my run.nc", "seeds": 5, "force": True})
      "jaxduel show 'my run.nc' --seeds 5 --force"
    """
    words = ["jaxduel", command.__name__]
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if isinstance(parameter.default, GROUPS):
            kinds = get_type_hints(parameter.annotation, include_extras=True)
            own = {each: getattr(given[name], each) for each in kinds}
            changed = [each for each in own if own[each] != getattr(parameter.default, each)]
            words += [word for each in changed for word in _written(each, kinds[each], own[each])]
        elif isinstance(value := given[name], bool) and value is parameter.default:
            continue
        else:
            words += _written(name, parameter.annotation, value)
    # words hold the bytes of the command line, to be read as UTF-8 in any locale
    raw = (word.encode(errors="surrogateescape") for word in words)
    return shlex.join(word.decode(errors="backslashreplace") for word in raw)


def _written(name: str, kind: Any, value: Any) -> list[str]:
    """The words of an argument."""
    marks = marks_of(kind)
    option = option_of(name, marks)
    if value is None:
        return []
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    if Positional in marks:
        return [str(value)]
    if type(value) is tuple and APPENDED not in marks:  # several words after one option
        return [option, *value]
    values = map(str, value if APPENDED in marks else (value,))
    joined = ([f"{option}={one}"] if one.startswith("-") else [option, one] for one in values)
    return [word for words in joined for word in words]
