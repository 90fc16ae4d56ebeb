"""The commands `jaxduel plan` and `jaxduel next`: further votes of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

import jaxduel as jd
from jaxduel import interrupts, screen
from jaxduel.cli.codes import INTERRUPTED
from jaxduel.cli.lines import pipe, write
from jaxduel.cli.numbers import Count, Whole, settings_of
from jaxduel.cli.options import (
    AS_IT_STANDS,
    MaybeFile,
    MaybeFolder,
    Name,
    Reading,
    Settings,
    one_of,
)
from jaxduel.cli.start import start_jax
from jaxduel.cli.votes import votes_of
from jaxduel.errors import InputError, printable, warn_caller
from jaxduel.files import csv_text, require_writable_file, write_whole

_USUAL = ("uniform", "arena", "dts[self_duels=false]")
Log = Annotated[Positional[Path], arg(metavar="FILE")]
_Rule = Literal["copeland", "borda", "btl"]


@interrupts.keeps_what_finished()
def plan(
    votes: Log,
    policies: Annotated[tuple[str, ...], arg(metavar="NAME ...")] = _USUAL,
    target: Annotated[tuple[float, ...], arg(metavar="P ...")] = (0.95,),
    max_votes: Count = 20_000,
    model: Literal["free", "btl", "thurstone", "davidson"] = "btl",
    rule: Annotated[_Rule | None, one_of(_Rule)] = None,
    draws: Count = 200,
    seeds: Count = 20,
    seed: Whole = 0,
    reading: Reading = AS_IT_STANDS,
    out: MaybeFolder = None,
) -> int:
    """Plan further votes of a log: how many, and by which policy.

    Args:
      votes: log of votes, as of `jaxduel fit`.
      policies: names of policies, with parameters as in dts[alpha=0.6].
      target: probabilities of naming the best arm.
      max_votes: most further votes.
      model: of the fit that instances are drawn from, as of `jaxduel fit`.
      rule: names the best arm; if left out btl, or copeland for free.
      draws: number of instances drawn.
      seeds: runs on each.
      seed: root of all randomness.
      reading: of the log.
      out: folder for curves, tables, a figure and text.
    """
    from jaxduel.studies.output import OutputFolder

    start_jax()
    folder = None if out is None else OutputFolder(out)
    planned = jd.votes.plan(
        votes_of(votes, reading),
        _entries(policies),
        targets=target,
        max_votes=max_votes,
        model=model,
        rule=rule,
        draws=draws,
        seeds=seeds,
        seed=seed,
        progress=True,
    )
    lines = planned.summary()
    write(*lines)
    if folder is not None:
        _write(folder, planned, lines)
        write(*(f"written: {path}" for path in folder.files))
    return 0 if len(planned.correct) == len(policies) else INTERRUPTED


def _entries(labels: tuple[str, ...]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Policies as NAME or NAME[PARAMETER=VALUE,...], by these labels."""
    found = {}
    for label in labels:
        name, bracket, inside = label.partition("[")
        if label in found:
            raise InputError(f"--policies: '{label}' is named twice.")
        if bracket and not inside.endswith("]"):
            raise InputError(f"--policies {label}: NAME or NAME[PARAMETER=VALUE,...] is needed.")
        settings = inside.removesuffix("]").split(",") if bracket else ()
        found[label] = name, settings_of(name, settings, "--policies")
    return found


def next_votes(
    votes: Log,
    policy: Name = "dts",
    num: Count = 20,
    settings: Annotated[Settings, arg(name="set")] = (),
    seed: Whole = 0,
    reading: Reading = AS_IT_STANDS,
    out: MaybeFile = None,
) -> int:
    """Name the pairs to vote on next, as CSV.

    Args:
      votes: log of votes, as of `jaxduel fit`.
      policy: name of the policy (`jaxduel list policies`).
      num: number of pairs, put to people at once.
      settings: a parameter of the policy; may be repeated.
      seed: root of all randomness.
      reading: of the log.
      out: file for the pairs; printed if left out.
    """
    from jaxduel.votes.planning import with_batches

    start_jax()
    if out is not None:
        require_writable_file(out, votes)
    log = votes_of(votes, reading)
    parameters = with_batches(policy, settings_of(policy, settings))
    horizon = int(log.wins.sum()) + num
    chosen = jd.policies.make(policy, num_arms=log.num_arms, horizon=horizon, **parameters)
    pairs = jd.votes.next_pairs(log, chosen, num, seed)
    rows = [(log.arms[left], log.arms[right]) for left, right in pairs]
    text = csv_text(["left", "right"], rows, for_spreadsheets=False)  # names as the log has them
    if log.notes:  # the pairs alone are for another program
        said = f"{log.name}: {'; '.join(log.notes)}"
        screen.say(said) if out is None else write(said)
    if out is None:
        pipe(text.encode())
    else:
        write(f"written: {write_whole(out, text)}")
    if len(pairs) < num:
        warn_caller(f"{policy} asks for {len(pairs)} pairs: else it compares arms with themselves.")
    return 0


def _write(folder: Any, planned: Any, lines: list[str]) -> None:
    """Writes text, tables and figure of a plan."""
    from jaxduel.studies.tables import encoded

    folder.write("plan.txt", "\n".join([*map(printable, lines), ""]))
    folder.write("plan-curves.csv", encoded(planned.to_frame(), "csv"))
    folder.write("plan-votes-needed.csv", encoded(planned.targets_frame(), "csv"))
    folder.write_figure("plan", planned.plot())
