"""`plan`: further votes of a log, simulated by several policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.policies import registry
from jaxduel.policies.base import SupportsWarmStart
from jaxduel.policies.checks import MAX_HORIZON, require_probability, whole_number
from jaxduel.progress import Progress
from jaxduel.simulation import checkpoints as times
from jaxduel.simulation.keys import GENERATORS, root_key
from jaxduel.votes.collecting import noise_of
from jaxduel.votes.counts import Votes, require_votes
from jaxduel.votes.fitting import fit
from jaxduel.votes.found import truth_of
from jaxduel.votes.identifying import identify_cells
from jaxduel.votes.models import Model
from jaxduel.votes.planned import BASELINE, Plan
from jaxduel.votes.recommending import order

Entry = tuple[str, Mapping[str, Any]]
"""A policy's name and parameters."""
POLICIES: Mapping[str, Entry] = {
    BASELINE: (BASELINE, {}),
    "arena": ("arena", {}),
    "dts[self_duels=false]": ("dts", {"self_duels": False}),
    "rucb": ("rucb", {}),
}
"""Default policies of a plan, by label. With many arms, the paper's D-TS compares its leader with
itself millions of times between two votes, which takes long to simulate."""
MOST_DRAWS, MOST_NUMBERS, MOST_RUNS = 100_000, 2**26, 10_000_000
"""Most instances drawn, most preferences of all of them, and most runs of a policy on them."""
BATCHES = 8
"""Batches of a policy that needs their number."""


def plan(
    votes: Votes,
    policies: str | Sequence[str] | Mapping[str, Entry] = POLICIES,
    *,
    targets: float | Sequence[float] = (0.95,),
    max_votes: int = 20_000,
    model: Model = "btl",
    rule: str | None = None,
    draws: int = 200,
    seeds: int = 20,
    seed: int = 0,
    checkpoints: Any = None,
    progress: bool | None = None,
) -> Plan:
    """Simulates further votes of a log, by several policies.

    Each of `draws` instances is drawn from the posterior, and is voted on `seeds` times, from the
    log's counts. Instances of davidson have ties, each of which costs a vote and teaches nothing;
    with other models all further votes are decisive. Instances and random numbers are the same for
    all policies.

    Args:
      votes: the log.
      policies: names, or names with parameters by label, as in `{"d": ("dts", {"alpha": 0.6})}`. A
        policy that cannot start from counts begins afresh with the further votes, and only the rule
        counts the log (`Plan.afresh`).
      targets: probabilities of naming the best arm, to be reached.
      max_votes: most further votes.
      model: of `jaxduel.votes.fit`.
      rule: the rule that names the best arm, one of `jaxduel.votes.RULES`; by default "copeland"
        for the free model and "btl" for the others.
      draws: number of instances.
      seeds: runs on each.
      seed: root of all randomness.
      checkpoints: numbers of further votes, increasing; up to 40 from 1 on, evenly in their log,
        if None.
      progress: as in `jaxduel.simulate`.

    Returns:
      The plan; after Ctrl-C, of the policies that had finished.

    Raises:
      InputError: for arguments out of range, or a policy that is unknown or pulls arms.
      KeyboardInterrupt: after Ctrl-C if no policy had finished.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 12, 14], [8, 0, 11], [6, 9, 0]])
      >>> plan = jd.votes.plan(votes, ["uniform"], max_votes=500, draws=20, seeds=4)
      >>> needed = plan.votes_needed("uniform", 0.9)
      >>> bool(needed.low <= needed.value <= needed.high)
      True
    """
    require_votes(votes, "plan")
    policies = _named(policies)
    asked = np.atleast_1d(np.asarray(targets, object)).tolist()
    if not asked:
        raise InputError("plan needs at least one target, a probability such as 0.95.")
    for target in asked:
        require_probability(target, "target")
    targets = tuple(dict.fromkeys(map(float, asked)))
    max_votes, seeds = whole_number(max_votes, 1, "max_votes"), whole_number(seeds, 1, "seeds")
    if max_votes > MAX_HORIZON:
        raise InputError(f"max_votes must be at most 2^31 - 1, not {max_votes}.")
    draws = whole_number(draws, 2, "draws")
    for what, number, most in (
        ("draws", draws, min(MOST_NUMBERS // votes.num_arms**2, MOST_DRAWS)),
        ("seeds", seeds, MOST_RUNS // draws),
    ):
        if number > most:
            given = f"{votes.num_arms} arms" if what == "draws" else f"{draws:,} draws"
            raise InputError(f"plan: {what} must be at most {most:,} with {given}, not {number:,}.")
    fitted = fit(votes, model)
    if rule is None:
        rule = "copeland" if model == "free" else "btl"
    if checkpoints is None:
        checkpoints = np.unique(np.geomspace(1, max_votes, 40).astype(int))
    grid = times.resolve(checkpoints, max_votes)
    made = {label: _policy(*entry, votes, max_votes) for label, entry in policies.items()}
    root = root_key(seed, GENERATORS[0])
    of_draws, of_runs = jax.random.split(root)
    drawn = fitted.instances(of_draws, draws)
    roots = list(jax.random.split(of_runs, draws))
    settings = {
        "votes": int(max_votes),
        "num_seeds": seeds,
        "checkpoints": grid,
        "recommend": (rule,),
        "start": votes,
        "ties": "drop",
        "progress": False,
    }
    bests = [truth_of(problem, "copeland").best for problem in drawn]
    noise = noise_of(root, 0, draws, votes.num_arms)
    first = order(rule, np.broadcast_to(votes.wins, (draws, *votes.wins.shape)), noise)[:, 0]
    now = np.array([arm in best for arm, best in zip(first, bests, strict=True)])
    correct, cast = {}, {}
    with Progress("plan", len(made) * draws * seeds * max_votes, "votes", progress):
        for name, policy in made.items():
            try:
                how = {**settings, "afresh": not isinstance(policy, SupportsWarmStart)}
                cells = identify_cells(policy, drawn, roots, how, part=seeds * max_votes)
            except KeyboardInterrupt:
                if not correct:
                    raise
                break
            later = np.stack([found.correct[rule] for found in cells])
            before = np.broadcast_to(now[:, None, None], (draws, seeds, 1))
            correct[name] = np.concatenate([before, later], axis=2)
            cast[name] = np.stack([found.cast for found in cells])
    afresh = tuple(name for name in correct if not isinstance(made[name], SupportsWarmStart))
    left_out = tuple(name for name in made if name not in correct)
    return Plan(fitted, rule, np.append(0, grid), targets, correct, cast, afresh, left_out)


def _named(policies: Any) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Name and parameters of each policy, by its label."""
    wrong = InputError(
        "policies of a plan are names, or by label a name and its parameters, not "
        f"{shorten(repr(policies))}."
    )
    if not isinstance(policies, Iterable) or isinstance(policies, np.ndarray | jax.Array):
        raise wrong
    policies = (policies,) if isinstance(policies, str) else policies
    by_label = isinstance(policies, Mapping)
    named: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for entry in policies.items() if by_label else ((name, (name, {})) for name in policies):
        match entry:
            case (str() as label, (str() as name, Mapping() as parameters)):
                if label in named:
                    raise InputError("plan: a policy is named twice.")
                named[label] = name, parameters
            case _:
                raise wrong
    if not named:
        raise InputError("plan needs at least one policy.")
    return named


def _policy(name: str, parameters: Mapping[str, Any], votes: Votes, more: int) -> Any:
    """A policy for further votes; its horizon, if any, includes the comparisons that it knows."""
    known = int(votes.wins.sum())
    registry.require_no_pulls(name)
    able = issubclass(registry.policy_class(name), SupportsWarmStart)
    horizon = more + known if able else more
    parameters = with_batches(name, parameters)
    return registry.make(name, num_arms=votes.num_arms, horizon=horizon, **parameters)


def with_batches(policy: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A policy's parameters, with a number of batches if it needs one."""
    needed = "num_batches" in registry.parameters(policy)
    return {**({"num_batches": BATCHES} if needed else {}), **parameters}
