"""The table of commands, and `main`, which runs one and reports an error in one line."""

from __future__ import annotations

import errno
import inspect
import io
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tyro

import jaxduel as jd
from jaxduel import interrupts, screen
from jaxduel.cli.lines import say, write
from jaxduel.cli.names import bounds, check, describe, list_names
from jaxduel.cli.parsing import NO_CACHE, in_one_sentence
from jaxduel.cli.reproduce import report, reproduce
from jaxduel.cli.run import run
from jaxduel.cli.sweeps import compare, export, new, plot, show, sweep
from jaxduel.cli.votes import fit, next_votes, plan
from jaxduel.cli.worst_case import worst_case
from jaxduel.errors import InputError, SolverError, StorageError
from jaxduel.files import why

FAILED, WRONG_INPUT, CLOSED = 1, 2, 129
"""Exit codes; `interrupts.INTERRUPTED` is another. The last is of a terminal that has closed."""
_DESCRIPTION = "Simulates dueling bandits and batched multi-armed bandits."
COMMANDS = {
    "list": list_names,
    "describe": describe,
    "run": run,
    "check": check,
    "bounds": bounds,
    "reproduce": reproduce,
    "new": new,
    "sweep": sweep,
    "show": show,
    "compare": compare,
    "plot": plot,
    "export": export,
    "report": report,
    "worst-case": worst_case,
    "fit": fit,
    "plan": plan,
    "next": next_votes,
}
for _command in COMMANDS.values():  # tyro would show an entry's continuation as a new line
    _command.__doc__ = re.sub(r"\n {4,}", " ", str(inspect.getdoc(_command)))
_NARROWEST = 40
"""Fewest columns for the layout of the help: with fewer tyro needs ever more lines, and below 7 it
does not end."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of the system if there is no room to write."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
      argv: the arguments; None: the process's.

    Returns:
      The exit code: 0; 2 for bad input, a bound that could not be computed or output that could not
      be written, and 1 if memory runs out or a cluster's scheduler is lost, after one line on
      standard error; 130 after Ctrl-C or SIGTERM, 129 after SIGHUP.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if shutil.get_terminal_size().columns < _NARROWEST:
        os.environ["COLUMNS"] = str(_NARROWEST)
    if NO_CACHE in arguments:  # an option of all commands
        arguments.remove(NO_CACHE)
        os.environ["JAXDUEL_CACHE"] = "off"
    try:
        code = _carry_out(arguments)
        sys.stdout.flush()  # fails here rather than as the process ends
        return code
    except (InputError, SolverError, StorageError) as error:
        screen.say(f"jaxduel: error: {error}")
        return WRONG_INPUT
    except BrokenPipeError:  # the reader of the output has gone
        _discard_output()
        return 0
    except (MemoryError, ConnectionError) as error:
        screen.say(f"jaxduel: error: {error}")
        return FAILED
    except OSError as error:
        file = "a file" if error.filename is None else f"'{error.filename}'"
        said = f"{file} cannot be read or written"
        if error.errno in _FULL:
            _discard_output()
            said = "the output cannot be written"
        try:
            screen.say(f"jaxduel: error: {said}: {why(error)}.")
        except OSError:  # the terminal has closed, and its signal has not come yet
            return CLOSED
        return WRONG_INPUT
    except KeyboardInterrupt:
        interrupts.say_once()
        return interrupts.INTERRUPTED


def _carry_out(arguments: Sequence[str]) -> int:
    """Prints the version or the overview, or runs the command; returns the exit code."""
    if arguments == ["--version"]:
        write(f"jaxduel {jd.__version__}")
        return 0
    if arguments in ([], ["-h"], ["--help"]):
        say(_overview())
        return 0
    with _plain_warnings(), in_one_sentence(COMMANDS, arguments):
        return tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="jaxduel",
            description=_DESCRIPTION,
            args=arguments,
            config=(tyro.conf.OmitArgPrefixes,),
        )


def _discard_output() -> None:
    """Redirects standard output to the null device, so that exiting writes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _overview() -> Iterator[str]:
    """Overview of all commands, with the first line of each one's help."""
    yield "usage: jaxduel COMMAND ..., or jaxduel --version"
    yield _DESCRIPTION
    yield ""
    for name, command in COMMANDS.items():
        first, *_ = str(inspect.getdoc(command)).splitlines()
        yield f"  {name:<10}  {first}"
    yield ""
    yield "jaxduel COMMAND --help has its options; for a shell that completes them, source"
    yield "what jaxduel --tyro-print-completion bash (or zsh, or fish) prints."
    yield f"Compiled programs are kept for later: not with {NO_CACHE}, or JAXDUEL_CACHE=off."


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Shows each warning once, as one line without Python source."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in seen:
            seen.add(text)
            screen.say(f"jaxduel: warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
