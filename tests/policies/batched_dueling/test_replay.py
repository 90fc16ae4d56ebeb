"""Oracle replay of PCOMP, SCOMP and SCOMP2: every batch is one that the paper allows."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests.choice import some
from tests.oracles.batched_dueling.pcomp import PCOMP
from tests.oracles.batched_dueling.scomp import SCOMP
from tests.oracles.batched_dueling.scomp2 import SCOMP2
from tests.policies.histories import batch_histories, padded_preferences, random_preferences

pytestmark = pytest.mark.usefixtures("quick_compilation")

PRINTED = {"switch": "hoeffding"}
BY_ELIMINATION = {"switch": "elimination"}
BATCHED_READINGS = (
    ("pcomp", PCOMP, ({},)),
    (
        "scomp",
        SCOMP,
        (BY_ELIMINATION, PRINTED, PRINTED | {"width": 0.8}, BY_ELIMINATION | {"width": 1.0}),
    ),
    (
        "scomp2",
        SCOMP2,
        (
            BY_ELIMINATION | {"candidate": "kept"},
            PRINTED | {"candidate": "redrawn"},
            PRINTED | {"candidate": "kept", "width": 0.0},
            BY_ELIMINATION | {"candidate": "redrawn", "width": 1.0},
            BY_ELIMINATION | {"candidate": "kept", "width": 0.0},
        ),
    ),
)
BATCHES = {
    "-".join((name, elimination, *map(str, reading.values()))): (
        name, oracle, {"elimination": elimination, **reading}
    )
    for name, oracle, readings in BATCHED_READINGS
    for number, reading in enumerate(readings)
    for elimination in (("kl", "kl-safe", "hoeffding") if number == 0 else ("kl",))
}  # fmt: skip
MANY, MOST_BATCHES, RUNS = 6, 8, 240
"""Arms that exist or not, batches at most, and histories."""
GRIDS = [(2, 60, 3), (4, 400, 6), (MANY, 100_000, MOST_BATCHES)]
"""Arms, horizon, batches."""


@pytest.mark.parametrize(("num_arms", "horizon", "num_batches"), GRIDS)
@pytest.mark.parametrize("case", some(BATCHES, ["pcomp-kl", "scomp2-kl-elimination-kept"]))
def test_batches_follow_the_paper(case, num_arms, horizon, num_batches):
    name, oracle_class, reading = BATCHES[case]
    policy = jd.policies.make(
        name,
        num_arms=MANY,
        active_arms=np.arange(MANY) < num_arms,
        horizon=horizon,
        num_batches=num_batches,
        **reading,
    )
    preferences = padded_preferences(num_arms, RUNS, MANY - num_arms)
    keys = jax.random.split(jax.random.key(num_arms), RUNS)
    rounds = 2 * MOST_BATCHES + 2
    first, (counts, wins), last = batch_histories(policy, preferences, keys, rounds)
    assert not np.asarray(counts)[:, :, num_arms:].any()
    assert not np.asarray(counts)[..., num_arms:].any()
    counts = np.asarray(counts)[:, :, :num_arms, :num_arms]
    wins = np.asarray(wins)[:, :, :num_arms, :num_arms]
    most = {"pcomp": num_batches, "scomp": num_batches + 1, "scomp2": 2 * num_batches + 1}[name]
    for run in range(RUNS):
        seeds = {} if name == "pcomp" else {"seeds": np.asarray(first.seeds[run, :num_arms])}
        oracle = oracle_class(num_arms, horizon, num_batches, **reading, **seeds)
        for r in range(rounds):
            plans = oracle.plan()
            assert any((counts[run, r] == plan).all() for plan in plans), f"run {run}, batch {r}"
            oracle.play(counts[run, r], wins[run, r])
        assert counts[run].sum() == horizon
        assert int(last.rounds[run]) == oracle.rounds <= most
        assert int(last.remaining[run]) == 0


@pytest.mark.slow
def test_batches_of_one_comparison_follow_the_paper():
    for name, oracle_class, (reading, *_) in BATCHED_READINGS:
        horizon = 40
        policy = jd.policies.make(name, num_arms=4, horizon=horizon, num_batches=horizon, **reading)
        keys = jax.random.split(jax.random.key(0), 50)
        preferences = random_preferences(4, 50, seed=0)
        first, (counts, wins), _ = batch_histories(policy, preferences, keys, 2 * horizon)
        counts, wins = np.asarray(counts), np.asarray(wins)
        for run in range(50):
            seeds = {} if name == "pcomp" else {"seeds": np.asarray(first.seeds[run])}
            oracle = oracle_class(4, horizon, horizon, **reading, **seeds)
            for n, won in zip(counts[run], wins[run], strict=True):
                assert any((n == plan).all() for plan in oracle.plan())
                oracle.play(n, won)
            assert counts[run].sum() == horizon
