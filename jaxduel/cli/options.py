"""Types of command line options, and their display in the help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import FlagCreatePairsOff, UseAppendAction, arg

from jaxduel.cli.numbers import Count, Shard, Time, Whole

Switch = Annotated[bool, FlagCreatePairsOff, arg(help_behavior_hint="")]
Name = Annotated[str, arg(metavar="NAME")]
Names = Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="")]
Times = Annotated[tuple[Whole, ...], arg(metavar="T ...", help_behavior_hint="")]
Settings = Annotated[
    UseAppendAction[tuple[str, ...]], arg(metavar="NAME=VALUE", help_behavior_hint="")
]
MaybeName = Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")]
MaybeCount = Annotated[Count | None, arg(metavar="COUNT", help_behavior_hint="")]
MaybeFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
MaybeFolder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]
MaybeShard = Annotated[Shard | None, arg(metavar="I/N", help_behavior_hint="")]
MaybeTime = Annotated[Time | None, arg(metavar="HH:MM[:SS]", help_behavior_hint="")]
Silent = arg(help_behavior_hint="")
"""Hides tyro's hint at a default: the option's own help says what leaving it out means."""
