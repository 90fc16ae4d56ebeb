"""Every point of a family is an instance of it, and what it is made of can be found again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.gradients import families
from jaxduel.gradients.instances import gap_slopes, parametrised
from jaxduel.simulation.regret import (
    DEFINITIONS,
    counts_from_pairs,
    counts_from_plays,
    needs_pairs,
    regret_from_pairs,
    regret_from_plays,
)

CYCLE = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]], bool)
PAIRS = {
    "btl": (families.btl, 4),
    "thurstone": (families.thurstone, 4),
    "free": (families.free, 6),
    "sst": (families.sst, 6),
    "tournament": (lambda x: families.tournament(CYCLE, x), 6),
}


@pytest.mark.parametrize("name", PAIRS)
def test_every_point_is_an_instance(name):
    make, size = PAIRS[name]
    for seed in range(20):
        params = np.random.default_rng(seed).normal(0, 1.5, size)
        problem = jd.problems.from_matrix(np.asarray(make(params)))
        assert problem.num_arms == 4
        p = problem.preferences
        if name == "tournament":
            np.testing.assert_array_equal(p > 0.5, CYCLE)
            assert problem.condorcet_winner is None
        if name == "sst":
            assert problem.condorcet_winner == 0
            above = np.where(np.triu(np.ones((4, 4)), 1) > 0, p, np.nan)
            assert not (np.diff(above, axis=1) <= 0).any()
            assert not (np.diff(above, axis=0) >= 0).any()
        if name in ("btl", "thurstone"):
            order = np.argsort(params)
            sorted_p = p[np.ix_(order, order)]
            assert (np.diff(sorted_p, axis=0) >= 0).all()
            assert (p > 0.5).sum() == 6


def test_known_values():
    np.testing.assert_allclose(families.btl(np.log([3.0, 1.0]))[0, 1], 0.75, rtol=1e-6)
    np.testing.assert_allclose(families.thurstone([1.0, 0.0])[0, 1], 0.8413447, rtol=1e-6)
    np.testing.assert_allclose(families.free([0.0, 1.0, 2.0])[1, 2], 0.8807971, rtol=1e-6)
    x = np.log(np.expm1([1.0, 2.0, 0.5]))  # softplus gives 1, 2, 0.5
    p = families.sst(x)
    logits = np.log(p / (1 - p))
    np.testing.assert_allclose(logits[0, 1], 1.0, rtol=1e-5)
    np.testing.assert_allclose(logits[1, 2], 0.5, rtol=1e-5)
    np.testing.assert_allclose(logits[0, 2], 3.0, rtol=1e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_whole_numbers_are_promoted(name):
    make, size = PAIRS[name]
    whole = np.arange(size)
    np.testing.assert_array_equal(make(whole), make(whole.astype(np.float32)))


def test_any_sst_matrix_is_in_the_family():
    p = jd.problems.random_sst(jax.random.key(1), 5).preferences
    order = np.argsort(-(p > 0.5).sum(axis=1))
    p = p[np.ix_(order, order)]
    logits = np.log(p / (1 - p))
    nearer = np.zeros_like(p)
    nearer[:-1, 1:] = np.maximum(logits[1:, 1:], logits[:-1, :-1])
    above = np.triu_indices(5, 1)
    steps = (logits - np.where(np.triu(np.ones((5, 5)), 2) > 0, nearer, 0))[above]
    assert (steps > 0).all()
    with jax.enable_x64(True):
        again = families.sst(np.log(np.expm1(steps)))
    np.testing.assert_allclose(again, p, rtol=1e-9)


@pytest.mark.parametrize("call", [families.free, families.sst])
def test_numbers_of_pairs(call):
    with pytest.raises(InputError, match="4 numbers are not one for each pair"):
        call(np.zeros(4))


def test_a_tournament_has_a_magnitude_for_each_pair():
    with pytest.raises(InputError, match=r"beats has shape \(4, 4\) and 3 magnitudes"):
        families.tournament(CYCLE, np.zeros(3))
    with pytest.raises(InputError, match="beats must be True or False for each pair"):
        families.tournament([[0.5, 0.3, 0.3], [0.7, 0.5, 0.4], [0.7, 0.6, 0.5]], np.zeros(3))


@pytest.mark.parametrize("definition", [name for name in DEFINITIONS if name != "pulls"])
def test_regret_at_fixed_plays_moves_as_its_slopes_say(definition):
    params = np.array([0.8, -0.1, 0.3, -0.6])
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 50, (7, 4, 4))
    plays = pairs.sum(axis=1) + pairs.sum(axis=2)
    at = parametrised(families.btl, params)
    assert gap_slopes(at, definition).shape == (4, 4)
    counts = counts_from_plays(definition, plays)
    if needs_pairs(definition):
        counts = counts_from_pairs(definition, at.problem.gaps(definition), pairs)
    slopes = counts @ gap_slopes(at, definition)

    def regret(x):
        with jax.enable_x64(True):
            problem = jd.problems.from_matrix(np.asarray(families.btl(jnp.asarray(x))))
        if needs_pairs(definition):
            return regret_from_pairs(problem, definition, pairs)
        return regret_from_plays(problem, definition, plays)

    step = 1e-5
    for coordinate in range(4):
        move = step * np.eye(4)[coordinate]
        moved = (regret(params + move) - regret(params - move)) / (2 * step)
        np.testing.assert_allclose(slopes[:, coordinate], moved, rtol=1e-6, atol=1e-6)
