"""The command `jaxduel worst-case`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import tyro

import jaxduel as jd
from jaxduel.cli.lines import write
from jaxduel.cli.options import (
    Count,
    MaybeFolder,
    MaybeName,
    Name,
    Settings,
    Whole,
    one_of,
    settings_of,
)
from jaxduel.cli.start import start_jax
from jaxduel.errors import InputError
from jaxduel.files import csv_text

if TYPE_CHECKING:
    from jaxduel.gradients import WorstCase
    from jaxduel.studies.output import OutputFolder

_Regret = Literal["average", "copeland", "borda", "weak", "binary weak", "binary strong"]


def worst_case(
    policy: Name,
    family: Literal["btl", "thurstone", "sst", "condorcet", "cycle"],
    num_arms: Count,
    horizon: Count,
    objective: Literal["regret", "ratio"] = "regret",
    against: MaybeName = None,
    against_set: Settings = (),
    settings: Annotated[Settings, tyro.conf.arg(name="set")] = (),
    regret: Annotated[_Regret | None, one_of(_Regret)] = None,
    min_gap: float = 0.02,
    most: float = 0.95,
    starts: Count = 4,
    steps: Count = 60,
    seeds: Count = 512,
    fresh_seeds: Count = 8_192,
    learning_rate: float = 0.1,
    seed: Whole = 0,
    out: MaybeFolder = None,
) -> int:
    """Look for a policy's worst instance, by the gradient of its regret.

    Try jaxduel worst-case --policy rucb --family btl --num-arms 5 --horizon 1e4

    Args:
      policy: name of the policy (`jaxduel list policies`).
      family: kind of preferences; arm 0 wins (cycle: 0 to 2).
      num_arms: K, number of arms.
      horizon: T, comparisons per run.
      objective: regret, or its ratio to (lower bound) log T, to maximise.
      against: another policy, whose regret is subtracted.
      against_set: a parameter of that policy; may be repeated.
      settings: a parameter of the policy; may be repeated.
      regret: definition; average (cycle: copeland) if left out.
      min_gap: the winner's probabilities minus 1/2, at least.
      most: the largest probability.
      starts: number of ascents.
      steps: steps of each ascent.
      seeds: runs for each step.
      fresh_seeds: runs to evaluate instances by.
      learning_rate: of Adam, about how far a parameter moves in a step.
      seed: root of all randomness.
      out: folder for the instance, ascents and a figure; none if left out.
    """
    from jaxduel.studies.output import OutputFolder

    devices = start_jax()
    if not 0 <= seed < 2**32:
        raise InputError(f"--seed must be from 0 to 2^32 - 1, not {seed}.")
    folder = None if out is None else OutputFolder(out)
    if against is not None and objective != "regret":
        raise InputError("--against compares regrets: leave out --objective.")
    if family == "cycle" and regret not in (None, "copeland", "borda"):
        raise InputError(
            f"--regret {regret} needs a Condorcet winner, and --family cycle has none."
        )
    space = jd.gradients.space(family, num_arms, min_gap=min_gap, most=most)
    chosen = jd.policies.make(
        policy, num_arms=num_arms, horizon=horizon, **settings_of(policy, settings)
    )
    other = None
    if against is not None:
        rival = settings_of(against, against_set, "--against-set")
        other = jd.policies.make(against, num_arms=num_arms, horizon=horizon, **rival)
    elif against_set:
        raise InputError("--against-set sets parameters of the policy that --against names.")
    found = jd.gradients.worst_case(
        chosen,
        space,
        horizon,
        objective=objective if other is None else "difference",
        against=other,
        num_starts=starts,
        steps=steps,
        num_seeds=seeds,
        fresh_seeds=fresh_seeds,
        learning_rate=learning_rate,
        regret=regret,
        key=seed,
        devices=devices,
        progress=True,
    )
    write(*_lines(found, policy, against, family))
    if folder is not None:
        _write(folder, found)
        write(*(f"written: {path}" for path in folder.files))
    return 0


def _lines(found: WorstCase, policy: str, against: str | None, family: str) -> list[str]:
    """The result as lines of text."""
    from jaxduel.stats import interval95

    what = {
        "regret": f"{found.regret} regret of {policy}",
        "ratio": f"{found.regret} regret of {policy} over (lower bound) log T",
        "difference": f"{found.regret} regret of {policy} minus that of {against}",
    }[found.objective]
    low, high = interval95(found.value, found.sem, found.fresh_seeds)
    rows = [" ".join(f"{p:6.4f}" for p in row) for row in found.problem.preferences]
    return [
        f"{what}, T = {found.horizon:,}, family {family}, on fresh seeds:",
        f"  {len(found.starts)} instances to begin with: {found.before:.6g} on average "
        f"(standard error {found.before_sem:.2g}), {found.starts.max():.6g} at most",
        f"  the worst that was found: {found.value:.6g}, 95 % interval [{low:.6g}, {high:.6g}]",
        "its preferences:",
        *(f"  {row}" for row in rows),
    ]


def _write(folder: OutputFolder, found: WorstCase) -> None:
    """Writes the instance, the ascents, and a figure of both."""
    from jaxduel import plotting

    matrix = "\n".join(",".join(f"{p:.17g}" for p in row) for row in found.problem.preferences)
    folder.write("worst-case.csv", matrix + "\n")
    header = ("start", "step", "objective", "standard_error")
    rows = [
        (number, step, float(value), float(sem))
        for number, ascent in enumerate(found.trajectories)
        for step, (value, sem) in enumerate(zip(ascent.value, ascent.sem, strict=True), start=1)
    ]
    folder.write("worst-case-ascents.csv", csv_text(header, rows))
    folder.write_figure("worst-case", plotting.worst_case_figure(found))
