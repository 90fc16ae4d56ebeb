"""`identify`: simulated votes or pulls, and the arms that rules name by them."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import items_of, require_known
from jaxduel.errors import InputError, unknown_name
from jaxduel.policies.base import Policy, SupportsAnswer, SupportsSkip
from jaxduel.policies.checks import (
    MAX_HORIZON,
    require_policy,
    require_probability,
    whole_number,
)
from jaxduel.policies.registry import as_policy, name_of
from jaxduel.policies.warm_start import checked_start
from jaxduel.problems import ArmsProblem, DuelingProblem
from jaxduel.problems.catalogue import as_problem
from jaxduel.problems.piecewise import require_constant, rewards_of
from jaxduel.simulation import checkpoints as times
from jaxduel.simulation.checking import TIES, Settings
from jaxduel.simulation.devices import Device
from jaxduel.simulation.keys import GENERATORS, root_key
from jaxduel.simulation.run import Prepared, prepare, run_collecting
from jaxduel.votes.collecting import FoundCollector
from jaxduel.votes.counts import Votes, from_counts, require_votes
from jaxduel.votes.found import Found, targets_of, truth_of
from jaxduel.votes.recommending import RULES
from jaxduel.votes.rewards import REWARD_RULES
from jaxduel.votes.stopping import no_answer, poll_of, stops_of

BLOCK_BYTES = 4 * 2**30
"""Most bytes for the votes of a block by default: the host orders the arms of all its seeds."""
BUDGET = 10_000
"""Votes, or pulls, of a seed by default."""
_COMPARISONS_PER_VOTE = 100
_MANY_SEEDS = 2**20
_PARTS = 4
"""Blocks of each instance's seeds on a CPU, however many devices there are: where quiet runs are
drawn, runs depend on the width of blocks."""


def identify(
    policy: Policy | str,
    problem: DuelingProblem | ArmsProblem | str | os.PathLike[str],
    votes: float | None = None,
    num_seeds: int = 1000,
    seed: int | jax.Array = 0,
    checkpoints: Any = None,
    *,
    pulls: float | None = None,
    recommend: Sequence[str] | None = None,
    target: str | None = None,
    top: int | None = None,
    stop: str | None = None,
    delta: float = 0.05,
    start: Votes | ArrayLike | None = None,
    afresh: bool = False,
    horizon: float | None = None,
    shuffle_arms: bool = True,
    delay: int = 1,
    ties: str = TIES[0],
    first_seed: int = 0,
    skip_quiet: bool = True,
    lanes: int | None = None,
    memory_budget: int = BLOCK_BYTES,
    devices: Sequence[Device] | None = None,
    prng: str = GENERATORS[0],
    progress: bool | None = None,
    **unknown: object,
) -> Found:
    """Simulates a policy up to a number of votes or pulls, and names arms on the way.

    A vote is a comparison of two different arms. An arm that meets itself costs no vote, but the
    policy's clock goes on. Of arms with rewards, pulls take the place of votes, and every pull
    costs one. At each checkpoint, a number of votes or pulls, rules order the arms by the wins or
    rewards so far.

    Args:
      policy: a policy (`jaxduel.policies.make`, or one of your own), or its name.
      problem: the instance, or its name or path.
      votes: votes per seed, of arms that are compared; 10,000 if None.
      num_seeds: number of independent runs.
      seed: root of all randomness, an integer or a typed JAX key. Comparison or pull t is the one
        that `jaxduel.simulate` makes with the same seed (without `start`).
      checkpoints: numbers of votes or pulls, increasing, up to `votes` or `pulls`; or their
        approximate number, evenly on a logarithmic axis; 50 if None.
      pulls: pulls per seed, of arms with rewards; 10,000 if None. Policies that are made for a
        horizon take it from here where they are given by name.
      recommend: names of rules, all if None: "copeland" (number of arms led in wins), "borda" (mean
        share of wins), "btl" (mode of a Bradley-Terry model with prior N(0, 2^2)); of arms with
        rewards "mean" (average reward), "most-pulled", "posterior" (mean of the posterior).
        `jaxduel.votes.recommending` and `jaxduel.votes.rewards` say how ties are broken.
      target: the best arms: "copeland", the Copeland winners, if None; "borda", the Borda winners,
        which are also the strongest in a Bradley-Terry model of equally many votes of every pair;
        or "condorcet", the Condorcet winner, if any. Of arms with rewards those of the largest
        "mean".
      top: if given, also record whether the first `top` arms of the order are the true best ones.
      stop: "condorcet" records when it is clear at error `delta` that one arm beats all others
        (`jaxduel.votes.stopping`), and "glr", of arms with rewards, that one has the largest mean
        (`jaxduel.simulation.likelihood_ratio`); runs go on. "policy" ends runs when the policy
        names an arm, or says that there is no Condorcet winner (`jaxduel.policies.SupportsAnswer`),
        after at most `votes` or `pulls`; with delays, an answer counts from the comparison after it
        on. None: neither.
      delta: the probability with which the rule may name a wrong arm.
      start: earlier votes, or their (K, K) wins: the policy starts from them
        (`jaxduel.policies.state_from_wins`), rules count them, `votes` and checkpoints do not.
      afresh: whether the policy begins without the votes of `start`, and only rules count them: for
        policies that cannot start from counts.
      horizon: most comparisons of a seed, of an arm with itself included; by default the policy's
        horizon, or 2^31 - 1 for policies whose quiet runs can be skipped, or 100 per vote. A seed
        that reaches it keeps its votes so far (`Found.cast`). Of arms with rewards it is `pulls`.
      delay: outcomes reach the policy after every `delay` comparisons (policies with `learn` only).
      ties: as in `jaxduel.simulate`; a tie that is no coin costs a vote.
      memory_budget: most bytes for the votes and states of the seeds that run at once on a device.
      shuffle_arms, first_seed, skip_quiet, lanes, devices, prng, progress: as in
        `jaxduel.simulate`.
      **unknown: none; names that are no arguments are refused.

    Returns:
      The named arms. Batched policies learn the outcomes of a batch at its end.

    Raises:
      InputError: for arguments out of range, before anything is computed; for a policy that cannot
        start from counts, or has no answer.
      KeyboardInterrupt: after Ctrl-C if no seed had finished.

    Example:
      >>> import jaxduel as jd
      >>> found = jd.identify("rucb", "cyclic", votes=200, num_seeds=50, checkpoints=[100, 200])
      >>> found.correct["copeland"].shape  # seeds x checkpoints
      (50, 2)
      >>> share, low, high = found.probability("copeland")
      >>> bool(low[-1] <= share[-1] <= high[-1])
      True
    """
    given = dict(locals())
    settings = {name: given[name] for name in _arguments() if name not in ("policy", "problem")}
    _require_known(unknown)
    return _identified([policy], [problem], settings, stacked=False)[0]


def identify_many(
    policies: Sequence[Policy | str],
    problems: Sequence[DuelingProblem | ArmsProblem | str] | DuelingProblem | ArmsProblem | str,
    **settings: Any,
) -> list[Found]:
    """`identify` for policies of one kind on instances of one size, as a single vmapped program.

    Args:
      policies: C policies of one class, with the same switches and the same parameters left at
        None; or names.
      problems: one instance or name per policy, or one for all, all with as many arms.
      **settings: the other arguments of `identify`. Seed i is the same in all cells.

    Returns:
      C results, in order.

    Raises:
      InputError: for arguments out of range, or cells that cannot share a program.

    Example:
      >>> import jaxduel as jd
      >>> policies = [jd.policies.make("rucb", num_arms=4, alpha=alpha) for alpha in (0.6, 1.0)]
      >>> several = jd.identify_many(policies, jd.problems.load("cyclic"), votes=200, num_seeds=20)
      >>> [found.variant for found in several]
      ['rucb[alpha=0.6]', 'rucb[alpha=1]']
    """
    policies = items_of(policies, "identify_many: the policies")
    alone = isinstance(problems, DuelingProblem | ArmsProblem | str)
    instances = (
        [problems] * len(policies) if alone else items_of(problems, "identify_many: the problems")
    )
    if not policies or len(policies) != len(instances):
        raise InputError(
            f"identify_many needs as many problems ({len(instances)}) as policies "
            f"({len(policies)}), at least one."
        )
    _require_known(settings.keys() - _arguments())
    return _identified(policies, instances, {**_defaults(), **settings}, stacked=True)


def identify_cells(
    policy: Any,
    problems: Sequence[DuelingProblem],
    roots: Sequence[jax.Array],
    settings: Mapping[str, Any],
    part: float,
) -> list[Found]:
    """`identify` of one policy on many instances, a few at a time in one program.

    Args:
      policy: the policy.
      problems: the instances, of one size.
      roots: a () typed key for each instance, in place of the seed.
      settings: other arguments of `identify`; without `lanes`.
      part: each instance's amount in the surrounding `Progress`.

    Raises:
      InputError: as `identify`.
      KeyboardInterrupt: after Ctrl-C.
    """
    devices = settings.get("devices") or jax.local_devices()
    parts = _PARTS if devices[0].platform == "cpu" else len(devices)
    asked = {**_defaults(), **settings, "lanes": -(-settings["num_seeds"] // parts)}
    many = {**asked, "lanes": None, "num_seeds": _MANY_SEEDS}
    alone, _ = _prepared([policy], problems[:1], many, stacked=False)
    most = max(alone.job.lanes // asked["lanes"], 1)
    size = next(n for n in range(min(most, len(problems)), 0, -1) if len(problems) % n == 0)
    found, stop = [], threading.Event()
    for first in range(0, len(problems), size):
        own = slice(first, first + size)
        more = {"roots": roots[own], "part": part * size, "stop": stop}
        found += _identified([policy] * size, problems[own], asked, stacked=True, **more)
    return found


def _identified(
    policies: Sequence[Any],
    problems: Sequence[Any],
    asked: Mapping[str, Any],
    *,
    stacked: bool,
    **more: Any,
) -> list[Found]:
    """The results of cells, by the arguments of `identify`; other arguments as in `_prepared`."""
    return run_collecting(*_prepared(policies, problems, asked, stacked=stacked, **more))


def _prepared(
    policies: Sequence[Any],
    problems: Sequence[Any],
    asked: Mapping[str, Any],
    *,
    stacked: bool,
    roots: Sequence[jax.Array] | None = None,
    part: float = 0.0,
    stop: threading.Event | None = None,
) -> tuple[Prepared, Callable[[Prepared], list[FoundCollector]]]:
    """Prepared cells and their collectors, by the arguments of `identify`; `roots` as in `prepare`,
    `part` and `stop` as in `Settings`."""
    problems = [as_problem(problem, "identify") for problem in problems]
    rewards = isinstance(problems[0], ArmsProblem)
    clock, other = ("pulls", "votes") if rewards else ("votes", "pulls")
    rules, known = asked["recommend"], REWARD_RULES if rewards else RULES
    several = isinstance(rules, Iterable) and not isinstance(rules, str)
    rules = items_of(rules, "recommend") if several else [rules]
    rules = list(known) if asked["recommend"] is None else rules
    target = targets_of(rewards)[0] if asked["target"] is None else asked["target"]
    for problem in problems:
        require_constant(problem, "identify")
    if any(isinstance(problem, ArmsProblem) != rewards for problem in problems):
        raise InputError("identify_many: the problems must all have rewards, or all be compared.")
    if asked[other] is not None:
        raise InputError(f"'{problems[0].name}' has a budget of {clock}: give {clock}, no {other}.")
    budget = whole_number(BUDGET if asked[clock] is None else asked[clock], 1, clock)
    if budget > MAX_HORIZON:
        raise InputError(f"{clock} must be at most 2^31 - 1, not {budget}.")
    if rewards:
        _require_of_rewards(asked)
        asked = {**asked, "horizon": budget}
    policies = [
        as_policy(policy, problem, asked["horizon"])
        for policy, problem in zip(policies, problems, strict=True)
    ]
    for policy in policies:
        require_policy(policy, "identify")
    num_arms = problems[0].num_arms
    if not rules:
        raise InputError(f"recommend must name at least one of {', '.join(known)}.")
    for rule in rules:
        require_known("rule to recommend by", rule, known)
    if asked["stop"] is not None:
        require_known("rule to stop by", asked["stop"], stops_of(rewards))
    if asked["stop"] == "policy" and not isinstance(policies[0], SupportsAnswer):
        raise InputError(no_answer(name_of(policies[0])))
    require_probability(asked["delta"], "delta")
    if asked["top"] is not None:
        asked = {**asked, "top": (top := whole_number(asked["top"], 1, "top"))}
        if top > num_arms:
            raise InputError(f"top must be at most the number of arms, {num_arms}, not {top}.")
    grid = times.resolve(asked["checkpoints"], budget)
    before = None if asked["start"] is None else _counts(asked["start"], num_arms)
    start = None if before is None or asked["afresh"] else checked_start(policies[0], before)
    law = rewards_of(problems[0])
    settings = Settings(
        **{name: asked[name] for name in _SHARED},
        regret="pulls" if rewards else "copeland",
        poll=poll_of(grid, num_arms, asked["stop"], asked["delta"], start, before, law),
        part=part,
        stop=stop,
    )
    horizons = [most_comparisons(policy, asked["horizon"], budget, start) for policy in policies]
    also = {
        **{name: asked[name] for name in ("top", "stop", "delta", "afresh")},
        "target": target,
        "recommend": rules,
        clock: grid.tolist(),
        "start": None if before is None else before.tolist(),
    }
    truths = [truth_of(problem, target) for problem in problems]
    keys = roots or [root_key(asked["seed"], asked["prng"])] * len(problems)

    def collectors(prepared: Prepared) -> list[FoundCollector]:
        cells = zip(prepared.checked, truths, keys, strict=True)
        settings = prepared.settings
        return [FoundCollector(cell, settings, truth, key, also) for cell, truth, key in cells]

    ends = [[horizon] for horizon in horizons]
    cells = policies, problems, horizons
    prepared = prepare(*cells, settings, stacked=stacked, times=ends, roots=roots)
    return prepared, collectors


def _require_of_rewards(asked: Mapping[str, Any]) -> None:
    """Raises InputError for arguments of `identify` that arms with rewards do not have."""
    given = {name: asked[name] for name in ("start", "horizon") if asked[name] is not None}
    given |= {"afresh": True} if asked["afresh"] else {}
    if given:
        raise InputError(
            f"identify: {next(iter(given))} is for arms that are compared; arms with rewards begin "
            "without pulls, and their horizon is pulls."
        )


def _counts(start: Votes | ArrayLike, num_arms: int) -> np.ndarray:
    """The wins of `start`, (K, K) int32."""
    votes = start if isinstance(start, Votes) else from_counts(start, name="start")
    require_votes(votes, "start")
    if votes.num_arms != num_arms:
        raise InputError(f"start has votes of {votes.num_arms} arms, and there are {num_arms}.")
    if votes.wins.sum() >= MAX_HORIZON:
        raise InputError(f"start has {votes.wins.sum():,} votes: fewer than 2^31 - 1 can be used.")
    return votes.wins.astype(np.int32)


def most_comparisons(policy: Any, asked: int | None, votes: int, start: np.ndarray | None) -> int:
    """Most comparisons of a seed, as documented at `identify`.

    Raises:
      InputError: if the policy was made for fewer comparisons than there are to start from.
    """
    own, before = getattr(policy, "horizon", None), 0 if start is None else int(start.sum())
    if asked is None and own is None:
        skips = isinstance(policy, SupportsSkip)
        return MAX_HORIZON - before if skips else min(_COMPARISONS_PER_VOTE * votes, MAX_HORIZON)
    most = MAX_HORIZON if own is None else int(own)
    if most <= before:
        raise InputError(
            f"identify: the policy was made for {most:,} comparisons, and there are {before:,} "
            "votes to start from."
        )
    return most - before if asked is None else asked


_SHARED = (
    "num_seeds",
    "seed",
    "shuffle_arms",
    "delay",
    "ties",
    "first_seed",
    "skip_quiet",
    "lanes",
    "memory_budget",
    "devices",
    "prng",
    "progress",
)
"""Arguments that are passed to the simulator unchanged."""
_MEANT = {"T": "horizon", "seeds": "num_seeds", "runs": "num_seeds", "rules": "recommend"}


def _defaults() -> dict[str, Any]:
    """The arguments of `identify` at their defaults."""
    return {name: x.default for name, x in inspect.signature(identify).parameters.items()}


def _arguments() -> list[str]:
    return [name for name in inspect.signature(identify).parameters if name != "unknown"]


def _require_known(unknown: Iterable[str]) -> None:
    """Raises InputError if there are names that are no arguments of `identify`."""
    for name in sorted(unknown):
        raise unknown_name("argument of identify", name, _arguments(), _MEANT.get(name))
