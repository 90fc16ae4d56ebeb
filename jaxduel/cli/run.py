"""The command `jaxduel run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import UseAppendAction

import jaxduel as jd
from jaxduel.cli.codes import INTERRUPTED
from jaxduel.cli.numbers import Whole, settings_of
from jaxduel.errors import InputError


def run(
    policy: str,
    problem: str,
    horizon: Whole,
    seeds: Whole = 100,
    seed: Whole = 0,
    regret: Literal["copeland", "average", "borda", "weak", "pulls"] | None = None,
    settings: Annotated[UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="set")] = (),
    delay: Whole = 1,
    checkpoints: Whole | None = None,
    shuffle: bool = True,
    prng: Literal["threefry2x32", "philox4x32"] = "threefry2x32",
    lanes: Whole | None = None,
    out: Path | None = None,
) -> int:
    """Simulate a policy on a problem and print its regret.

    Args:
      policy: name of the policy (`jaxduel list policies`).
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, comparisons or pulls per run.
      seeds: how many runs.
      seed: root of all randomness.
      regret: which regret; copeland, or pulls for arms with rewards, if left out.
      settings: a parameter of the policy as NAME=VALUE; may be repeated.
      delay: outcomes reach the policy after every so many comparisons.
      checkpoints: about how many times to record, evenly in log t; 50 if left out.
      shuffle: whether each run sees the arms in an order of its own.
      prng: random number generator.
      lanes: runs per block; chosen by the simulation if left out.
      out: NetCDF file for the results; nothing is written if left out.
    """
    from jaxduel.experiments.output import atomic_path, require_writable_file
    from jaxduel.numerics import log_grid
    from jaxduel.simulation.intervals import interval95

    if out is not None:
        require_writable_file(out)
    if checkpoints is not None and checkpoints < 1:
        raise InputError(f"checkpoints must be at least 1, not {checkpoints}.")
    instance = jd.problems.load(problem)
    chosen = jd.policies.make(
        policy, num_arms=instance.num_arms, horizon=horizon, **settings_of(policy, settings)
    )
    result = jd.simulate(
        chosen,
        instance,
        horizon,
        num_seeds=seeds,
        seed=seed,
        checkpoints=None if checkpoints is None else log_grid(horizon, checkpoints),
        regret=regret,
        shuffle_arms=shuffle,
        delay=delay,
        lanes=lanes,
        prng=prng,
        progress=True,
    )
    mean, sem, std = result.mean[-1], result.sem[-1], result.std[-1]
    low, high = interval95(mean, sem, result.num_seeds)
    q25, median, q75 = (result.quantile(q)[-1] for q in (0.25, 0.5, 0.75))
    steps = "pulls" if isinstance(instance, jd.problems.ArmsProblem) else "comparisons"
    print(f"{policy} on {instance.name}: {result.num_seeds:,} runs of T = {horizon:,} {steps}")
    print(f"{result.definition} regret {mean:.6g}, 95 % interval [{low:.6g}, {high:.6g}]")
    print(f"median {median:.6g}, quartiles {q25:.6g} and {q75:.6g}, standard deviation {std:.6g}")
    if result.batches is not None:
        print(f"batches: {result.batches.mean():.4g} on average, {result.batches.max()} at most")
    if out is not None:
        with atomic_path(out) as temporary:
            result.to_xarray().to_netcdf(temporary, engine="h5netcdf")
        print(f"written: {out}")
    return 0 if result.num_seeds == seeds else INTERRUPTED
