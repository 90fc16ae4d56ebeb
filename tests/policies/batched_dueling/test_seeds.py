"""SCOMP and SCOMP2: their seeds, the readings of the switch."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests.policies.batched_dueling.cases import make

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


@pytest.mark.parametrize(
    ("probability", "expected"), [(None, 1 / 3), (9 ** (-2 / 3), 9 ** (-2 / 3)), (0.0, None)]
)
def test_seeds_are_sampled_with_their_probability_and_never_none(probability, expected):
    policy = make("scomp", num_arms=9, seed_probability=probability)
    keys = jax.random.split(jax.random.key(0), 20_000)
    seeds = np.asarray(jax.jit(jax.vmap(policy.init))(keys).seeds)
    assert seeds.any(axis=1).all()
    if expected is None:
        assert (seeds.sum(axis=1) == 1).all()
        share, mean = 1 / 9, seeds.mean(axis=0)
    else:
        share = expected + (1 - expected) ** 9 / 9
        mean = seeds.mean(axis=0)
    assert (np.abs(mean - share) < 4.5 * np.sqrt(share * (1 - share) / 20_000)).all()


SEEDED = [("scomp", {}), ("scomp2", {"candidate": "redrawn"}), ("scomp2", {"candidate": "kept"})]


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.parametrize(
    ("name", "fields"),
    [*(pytest.param(*case, marks=pytest.mark.slow) for case in SEEDED[:2]), SEEDED[2]],
)
def test_the_switch_by_elimination_is_the_printed_one_where_elimination_is(name, fields):
    plays = [
        jd.simulate(
            make(name, 6, 5000, 5, elimination="hoeffding", delta=0.5, switch=switch, **fields),
            jd.problems.load("arxiv"),
            num_seeds=64,
            lanes=64,
            checkpoints=[5000],
        ).plays
        for switch in ("hoeffding", "elimination")
    ]
    assert np.array_equal(*plays)


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.parametrize("width", [None, 0.0])
@pytest.mark.parametrize(("name", "fields"), SEEDED)
def test_no_reading_uses_more_rounds_than_the_theorems_allow(name, fields, width):
    for horizon, num_batches in ((64, 64), (5000, 1), (5000, 3), (5000, 12)):
        policy = make(name, 6, horizon, num_batches, switch="elimination", width=width, **fields)
        result = jd.simulate(
            policy, jd.problems.load("arxiv"), num_seeds=128, lanes=128, checkpoints=[horizon]
        )
        most = 2 * num_batches + 1 if name == "scomp2" else num_batches + 1
        assert result.batches is not None
        assert result.batches.max() <= min(most, horizon)
        assert (result.plays[:, -1].sum(axis=-1) == 2 * horizon).all()
