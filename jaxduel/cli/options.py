"""Types of command line options, and their display in the help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from tyro.conf import FlagCreatePairsOff, UseAppendAction, arg

from jaxduel.cli.numbers import Count, Shard, Time, Whole

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
Silent = arg(help_behavior_hint="")
"""Hides tyro's hint at a default: the option's own help says what leaving it out means."""


def one_of(choices: Any) -> Any:
    """Annotation of an option that takes a text of the `Literal` type `choices`, or is left out."""
    return arg(metavar=f"{{{','.join(get_args(choices))}}}", help_behavior_hint="")


@dataclass(frozen=True)
class Cells:
    """Cells of a sweep, chosen by name: all where nothing is named."""

    problem: Names = ()
    """of these problems, such as arxiv, or btl for all of a generator."""
    horizon: Times = ()
    """with these horizons, or votes of a run."""
    policy: Names = ()
    """of these policies, such as dts or dts[alpha=0.6]."""
    regret: Names = ()
    """under these definitions of regret."""
    rule: Names = ()
    """by these rules, where arms are identified."""

    def chosen(self) -> dict[str, Any]:
        """Arguments of functions that read sweeps."""
        names = ("problems", "horizons", "policies", "regret", "rules")
        return dict(zip(names, vars(self).values(), strict=True))


EVERY_CELL = Cells()


@dataclass(frozen=True)
class Reading:
    """Reading of a log of votes."""

    columns: Annotated[Settings, arg(name="column")] = ()
    """a column by its role, as in winner=vote, count=games or draw=tied; may be repeated."""
    ignored: Ignored = ()
    """a column to leave out, whatever its name; may be repeated."""
    outcomes: Annotated[Settings, arg(name="outcome", metavar="WORD=MEANING")] = ()
    """left, right, tie or skip for a word for the winner, as in unclear=skip; may be repeated."""
    core: MaybeCount = None
    """keep arms of which each pair has this many decisive votes."""


AS_IT_STANDS = Reading()
GROUPS = (Cells, Reading)
"""Options that several commands have, as one parameter of each."""
