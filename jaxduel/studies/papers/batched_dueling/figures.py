"""Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022): Figures 1 and 2.

Given in the text (section 5): T = 1e5, B = 16, 10 runs, regret (e_i + e_j) / 2; RUCB with
alpha = 0.51, RMED1 with f(K) = 0.3 K^1.01, BTM with gamma = 1.3, all three as in the library of
Komiyama et al. (2015).

Left open by the text, and chosen here:

- The elimination criterion: `elimination="kl"` (why: `jaxduel.policies.batched_dueling.rounds`).
- The switch from seeds to PCOMP, and the choice of the candidate among undefeated seeds: the
  defaults of `jaxduel.policies.batched_dueling.seeds` and of SCOMP2, chosen by the number of claims
  that hold.
- The library's readings: BTM has the radius without the factor 3, and an arm never meets itself.
  RMED1's are those of `jaxduel.policies.rmed.rmed1`. RUCB takes 1 for u_ij of a pair never
  compared. RUCB's own paper has 2 ("x / 0 := 1"); that variant is a further curve, which enters no
  claim: its regret at K = 100 is larger, and nearer to the claims.
- The synthetic instances: each run draws its own, and run i of every policy gets the same one. With
  more than 100 runs, at most 100 instances are drawn and share the runs; standard errors are then
  those of means over instances.
- The order of arms: each run shuffles them.
- Runs: 500 with `full`, and by default of the six rankers and sushi; 100 of the 100 arms. The
  paper's 10 runs may miss an event that occurs in one run of three.
- Shared runs: Figures 1 and 2 share those of RMED1 and of SCOMP2 with B = 16.
- The vertical axes: logarithmic, so that 300 and 5,000 are legible in one panel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.papers.batched_dueling.claims import BTL, CD, CLAIMS, SIX, SUSHI
from jaxduel.studies.papers.paper import Instances, Order, Paper, Size, Sizes, regret
from jaxduel.studies.pictures import Setting
from jaxduel.studies.wanted import Competitor, Draw

HORIZON = 100_000
NUM_BATCHES = 16
NUM_ARMS = 100
MAX_INSTANCES = 100
_MEASURED = Sizes(Size(HORIZON, 500), Size(HORIZON, 500))
_DRAWN = Sizes(Size(HORIZON, MAX_INSTANCES), Size(HORIZON, 500))


def _batched(policy: str, num_batches: int) -> Competitor:
    usual = num_batches == NUM_BATCHES
    return Competitor(
        name=policy if usual else f"{policy}[num_batches={num_batches}]",
        label=policy.upper() if usual else f"{policy.upper()}, B = {num_batches}",
        policy=policy,
        parameters={"num_batches": num_batches, "elimination": "kl"},
        quick=True,
    )


_RMED1 = Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3, "exponent": 1.01})
_RUCB = Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51, "unseen": 1.0})
_RUCB_AS_PRINTED = Competitor(
    "rucb[unseen=2]", "RUCB of its paper", "rucb", {"alpha": 0.51, "unseen": 2.0}
)
_BTM = Competitor("btm", "BTM", "btm", {"gamma": 1.3, "scale": 1.0, "self_comparisons": False})
FIGURE_1 = (
    *(_batched(p, NUM_BATCHES) for p in ("pcomp", "scomp", "scomp2")),
    _RMED1,
    _RUCB,
    _RUCB_AS_PRINTED,
    _BTM,
)
_SCOMP2 = replace(_batched("scomp2", NUM_BATCHES), label=f"SCOMP2, B = {NUM_BATCHES}")
FIGURE_2 = (_batched("scomp2", 2), _batched("scomp2", 8), _SCOMP2, _RMED1)


def _root(letter: str, seed: int) -> jax.Array:
    """The root of an instance's randomness, from the seed and the letter of its panels only."""
    return jax.random.fold_in(jax.random.key(seed), ord(letter))


def measured(letter: str, name: str, order: Order, runs: int) -> tuple[Draw, ...]:
    """An instance of the catalogue."""
    return (Draw(problems.load(name), _root(letter, order.seed), runs, runs // order.times),)


def drawn(
    letter: str, family: Callable[[jax.Array, int], DuelingProblem], order: Order, runs: int
) -> tuple[Draw, ...]:
    """One instance per run; if there are more than `MAX_INSTANCES` runs, several share one. Runs
    that are added to decide a claim have further instances."""
    each = -(-runs // (MAX_INSTANCES * order.times))
    root = _root(letter, order.seed)
    draws = []
    for number, first in enumerate(range(0, runs, each)):
        instance, play = jax.random.split(jax.random.fold_in(root, number))
        problem = family(instance, order.num_arms or NUM_ARMS)
        draws.append(Draw(problem, play, min(each, runs - first)))
    return tuple(draws)


INSTANCES = {
    "a": Instances(SIX, "Six rankers, $K={}$", _MEASURED, draws=partial(measured, "a", "arxiv")),
    "b": Instances(SUSHI, "Sushi, $K={}$", _MEASURED, draws=partial(measured, "b", "sushi")),
    "c": Instances(BTL, "SYN-BTL, $K={}$", _DRAWN, draws=partial(drawn, "c", problems.btl)),
    "d": Instances(
        CD, "SYN-CD, $K={}$", _DRAWN, draws=partial(drawn, "d", problems.condorcet_hard)
    ),
}

PAPER = Paper(
    name="batched-dueling",
    panels=(
        *(regret(f"1{x}", instances, FIGURE_1) for x, instances in INSTANCES.items()),
        *(
            regret(f"2{x}", instances, FIGURE_2, "SCOMP2 by batches")
            for x, instances in INSTANCES.items()
        ),
    ),
    setting=Setting(HORIZON, "average"),
    claims=CLAIMS,
    resizable=True,
)
