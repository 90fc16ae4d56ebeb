"""`simulate`: a policy on an instance, for as many seeds as asked for."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from jaxduel.arguments import items_of
from jaxduel.errors import InputError, unknown_name
from jaxduel.policies.base import Policy
from jaxduel.policies.registry import as_policy, names, parameters
from jaxduel.problems import Problem
from jaxduel.problems.catalogue import as_problem
from jaxduel.simulation.checking import TIES, Settings
from jaxduel.simulation.devices import Device
from jaxduel.simulation.keys import GENERATORS
from jaxduel.simulation.result import Result
from jaxduel.simulation.run import run_cell, run_cells

TABLE_BYTES = 2 * 2**30
"""Most bytes for the tables of a run by default."""


def simulate(
    policy: Policy | str,
    problem: Problem | str | os.PathLike[str],
    horizon: float | None = None,
    num_seeds: int = 100,
    seed: int | jax.Array = 0,
    checkpoints: Any = None,
    regret: str | None = None,
    shuffle_arms: bool = True,
    delay: int = 1,
    *,
    ties: str = TIES[0],
    first_seed: int = 0,
    record_pairs: bool = False,
    record_outcomes: bool = False,
    skip_quiet: bool | str = True,
    lanes: int | None = None,
    memory_budget: int | None = None,
    table_budget: int | None = None,
    devices: Sequence[Device] | None = None,
    prng: str = GENERATORS[0],
    progress: bool | None = None,
    **unknown: object,
) -> Result:
    """Simulates a policy on an instance.

    A seed's numbers depend on `seed` and its index, not on how many seeds run, on which devices of
    a kind, or in which chunks; those of `ccb`, `dts`, `dts+`, `rcs`, `rex3` and `self-sparring`
    with `skip_quiet` also on `lanes`.

    Args:
      policy: the policy (`jaxduel.policies.make`, or one of your own); or its name, with all
        parameters at their defaults.
      problem: the instance, or its name or path (`jaxduel.problems.load`). Its arms are the
        policy's active arms.
      horizon: T, comparisons (or pulls) per seed, at most 2^31 - 1; the policy's own if None.
      num_seeds: number of independent runs.
      seed: root of all randomness, an integer or a typed JAX key.
      checkpoints: times to record, increasing, within 1 .. T; or about how many, evenly in log t;
        50 if None. Of an instance that changes they must include its changes, and do if they are
        not given.
      regret: "copeland" (normalised, with the 1/2), "average" (to the Condorcet winner, (e_i + e_j)
        / 2), "weak" (min(e_i, e_j)), "binary weak" (1 unless the Condorcet winner is one of the
        two), "binary strong" (1 unless it is both), "borda" or "votes" (1 if the two are different)
        for comparisons, "pulls" (mu* - mu_i) for arms with rewards; by default "copeland" or
        "pulls".
      shuffle_arms: whether each seed sees the arms in an order of its own, so that a policy cannot
        profit from the order in which they are listed.
      delay: outcomes reach the policy after every `delay` comparisons, or pulls (policies with
        `learn` only, which play them one by one: outcomes of a batch come at its end anyway).
      ties: where the problem has `ties`: "coin", a tie reaches the policy as a fair coin, which is
        the law of the preferences themselves; "drop", a tie costs a comparison and teaches nothing:
        the policy is never told an outcome; "tell", it is told of the tie, if it learns from ties.
      first_seed: index of the first run: those of an earlier call with fewer runs can be continued,
        bit for bit (those of the policies named above where both calls have the same `lanes`, and
        `first_seed` is a multiple of it); `jaxduel.join` joins both.
      record_pairs: whether to record plays of ordered pairs too (`Result.pairs`): num_seeds x M x
        K x K numbers of 8 bytes.
      record_outcomes: whether to record wins of pairs, or rewards, too (`Result.outcomes`).
      skip_quiet: whether quiet runs, comparisons of one arm with itself that teach nothing, or
        pulls of an arm whatever their rewards (where these are not recorded), are skipped, where
        the policy can tell how long they are (`jaxduel.policies.SupportsSkip`) and once that pays.
        The law is the same. So are the comparisons, bit for bit, except for policies that draw at
        random how long a run is, or who of several arms meets itself in it (`ccb`, `dts`, `dts+`,
        `rcs`, `rex3`, `self-sparring`): their draws then differ, and depend on when skipping
        begins.
        That is decided for a whole block (of all cells, in `simulate_many`): by its seeds and the
        price of a turn of the loop that skips, which has to be compiled, too, unless it is at hand.
        "winners" is for regret alone: where several arms without regret share a run and nothing
        tells which of them meets itself (D-TS+ without a Condorcet winner), `plays` counts the run
        for one of them. The law of regret is the same, that of their plays is not.
      lanes: seeds side by side. On a CPU, by default, seeds are divided evenly among blocks of
        about the width that is fastest for the policy and K (64 to 512), a multiple of four; each
        width is compiled once. Up to eight times as many seeds of a policy that plays in rounds
        take these lanes one after another. On accelerators it is a power of two from 1,024 to
        1,048,576, if these fit: as many as each device has seeds; where memory ends nonetheless,
        the run begins again with half of them, with a warning. On a CPU, blocks of any width give a
        seed the same bits; on other devices they may round differently.
      memory_budget: most bytes for the states and records of the seeds that run at once on a
        device; bounds `lanes`. By default a sixth of what JAX may use of an accelerator's memory;
        4 GiB on a CPU, or where that is not known.
      table_budget: most bytes for `Result.regret`, `plays` and `batches`, 2 GiB by default. Where
        the rows of all seeds would not fit, as many of the first seeds as fit have rows, and means
        and deviations are those of all seeds, gathered block by block.
      devices: where blocks run, one at a time on each; all local devices by default.
      prng: "threefry2x32" or "philox4x32" (faster on a CPU, other numbers).
      progress: whether to show on standard error what is compiled, then how far it is, how fast,
        and how long it takes: True, always (where that is a file, one line a minute); False, never;
        None, on a terminal or in a notebook, once it has taken two seconds.
      **unknown: none; names that are no arguments are refused.

    Returns:
      The result. After Ctrl-C, that of the seeds that had finished, with a warning.

    Raises:
      InputError: for arguments out of range, before anything is computed; for `lanes`, or a single
        seed, that a device's memory cannot hold.
      KeyboardInterrupt: after Ctrl-C if no seed had finished.

    Example:
      >>> import jaxduel as jd
      >>> result = jd.simulate("rucb", "cyclic", 1000, num_seeds=4, checkpoints=[100, 1000])
      >>> result.regret.shape  # seeds x checkpoints
      (4, 2)
      >>> result.plays[:, -1].sum(axis=-1).tolist()  # two arms in each of 1,000 comparisons
      [2000, 2000, 2000, 2000]
    """
    _require_known("simulate", unknown, _arguments())
    settings = Settings(
        num_seeds=num_seeds,
        seed=seed,
        checkpoints=checkpoints,
        regret=regret,
        shuffle_arms=shuffle_arms,
        delay=delay,
        ties=ties,
        first_seed=first_seed,
        record_pairs=record_pairs,
        record_outcomes=record_outcomes,
        skip_quiet=skip_quiet,
        lanes=lanes,
        memory_budget=memory_budget,
        table_budget=TABLE_BYTES if table_budget is None else table_budget,
        devices=devices,
        prng=prng,
        progress=progress,
    )
    if isinstance(problem, str) and problem in names():
        raise InputError(
            f"simulate: the policy comes first, then the problem; '{problem}' is a policy."
        )
    instance = as_problem(problem, "simulate")
    return run_cell(as_policy(policy, instance, horizon), instance, horizon, settings)


def simulate_many(
    policies: Sequence[Policy | str],
    problems: Sequence[Problem | str] | Problem | str,
    horizons: Sequence[float] | float | None = None,
    **settings: Any,
) -> list[Result]:
    """Simulates many policies on many instances, those of one kind as a single vmapped program.

    Cells share a program if their policies are of one class, with the same switches and the same
    parameters left at None, and differ in numbers alone (alpha, gamma, B, T, ...), and their
    instances have as many arms, rewards of one kind, and as many changes; policies that make one
    comparison at a time also have the same horizon. Each other kind is compiled and run by itself.
    Seed i is the same for all cells: common random numbers, for paired comparisons.

    Args:
      policies: C policies, or names, as of `simulate`.
      problems: one instance or name per policy, or one for all.
      horizons: T of each cell, or one for all; each policy's own if None.
      **settings: the keyword arguments of `simulate`. By default, checkpoints are a log grid of
        each cell's own. `lanes` counts the seeds of each cell in a block.

    Returns:
      C results, in order.

    Raises:
      InputError: for arguments out of range, before anything is computed.
      KeyboardInterrupt: after Ctrl-C, if no seed had finished or there are several programs; sweeps
        (`jaxduel.run_sweep`) keep what had finished.

    Example:
      >>> import jaxduel as jd
      >>> policies = [jd.policies.make("rucb", num_arms=4, alpha=alpha) for alpha in (0.6, 1.0)]
      >>> results = jd.simulate_many(policies, jd.problems.load("cyclic"), 1000, num_seeds=4)
      >>> for result in results:
      ...     print(result.variant, "on", result.problem, result.num_seeds)
      rucb[alpha=0.6] on cyclic 4
      rucb[alpha=1] on cyclic 4
      >>> several = jd.simulate_many(["rucb", "dts"], ["cyclic", "arithmetic"], 1000)
      >>> [f"{result.policy} on {result.problem}" for result in several]
      ['rucb on cyclic', 'dts on arithmetic']
    """
    policies = items_of(policies, "simulate_many: the policies")
    if not policies:
        raise InputError("simulate_many needs at least one policy.")
    if isinstance(problems, Sequence) and not isinstance(problems, str):
        instances = [as_problem(problem, "simulate_many") for problem in problems]
    else:
        instances = [as_problem(problems, "simulate_many")] * len(policies)
    given: Any = horizons
    ends: list[int | None]
    ends = [given] * len(policies) if np.ndim(given) == 0 else list(given)
    if not len(policies) == len(instances) == len(ends):
        raise InputError(
            f"simulate_many needs as many problems ({len(instances)}) and horizons ({len(ends)}) "
            f"as policies ({len(policies)})."
        )
    _require_known(
        "simulate_many", settings, ["policies", "problems", "horizons", *_arguments()[3:]]
    )
    if settings.get("table_budget") is None:
        settings["table_budget"] = TABLE_BYTES
    settings.setdefault("progress", None)
    made = [as_policy(*cell) for cell in zip(policies, instances, ends, strict=True)]
    return run_cells(made, instances, ends, Settings(**settings))


_MEANT = {"T": "horizon", "seeds": "num_seeds", "runs": "num_seeds", "shuffle": "shuffle_arms"}
"""Names that people use for arguments, and the arguments that they mean."""


def _arguments() -> list[str]:
    return [name for name in inspect.signature(simulate).parameters if name != "unknown"]


def _require_known(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raises InputError if there are names that are no arguments of a function."""
    for name in sorted(set(given).difference(known)):
        is_parameter = any(name in parameters(policy) for policy in names())
        if is_parameter and f"{name}s" not in known:
            raise InputError(
                f"{function}: '{name}' is a parameter of policies: give it to "
                "jaxduel.policies.make."
            )
        meant = _MEANT.get(name)
        raise unknown_name(
            f"argument of {function}", name, known, meant if meant in known else None
        )
