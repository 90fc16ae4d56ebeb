"""The command line that makes a call of a command again."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from tyro.conf import Positional

from jaxduel.cli.options import APPENDED
from jaxduel.cli.parsing import marks_of, option_of


def command_line(command: Callable[..., int], given: Mapping[str, Any]) -> str:
    """The command line of a call, with every option spelled out, at its default or not.

    Args:
      command: the function of the command, which has its name.
      given: the argument of each of its parameters; options that are None are left out.

    Example:
      >>> def show(file: Positional[str], seeds: int = 5, force: bool = False) -> int: ...
      >>> command_line(show, {"file": "my run.nc", "seeds": 5, "force": True})
      "jaxduel show 'my run.nc' --seeds 5 --force"
    """
    words = ["jaxduel", command.__name__]
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        value, marks = given[name], marks_of(parameter.annotation)
        option = option_of(name, marks)
        if isinstance(value, bool):
            flag = option if value else option.replace("--", "--no-", 1)
            words += [] if value is parameter.default else [flag]
        elif Positional in marks:
            words += [str(value)]
        elif value is not None:
            for one in map(str, value if APPENDED in marks else (value,)):
                words += [f"{option}={one}"] if one.startswith("-") else [option, one]
    # words hold bytes of the command line, which in any locale are to be those of UTF-8
    raw = (word.encode(errors="surrogateescape") for word in words)
    return shlex.join(word.decode(errors="backslashreplace") for word in raw)
