from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxduel.errors import InputError
from jaxduel.problems import generators
from jaxduel.problems.assumptions import broken_assumptions, sti_violation, total_order_violation
from jaxduel.problems.dueling import from_matrix

RANDOM = {
    "btl": generators.btl,
    "condorcet_hard": generators.condorcet_hard,
    "random_condorcet": generators.random_condorcet,
    "random_sst": generators.random_sst,
}
HOLDS = {
    "btl": ("condorcet", "sst", "sti"),
    "condorcet_hard": ("condorcet", "sst", "sti"),
    "random_condorcet": ("condorcet",),
    "random_sst": ("condorcet", "sst"),
}
keys = st.integers(0, 2**32 - 1).map(jax.random.key)


@pytest.mark.parametrize("family", RANDOM)
@settings(deadline=None, max_examples=12)
@given(keys, st.sampled_from([2, 3, 8]))
def test_random_instances_are_valid_and_have_what_they_promise(family, key, num_arms):
    problem = RANDOM[family](key, num_arms)
    assert problem.num_arms == num_arms
    assert from_matrix(problem.preferences, problem.name) == problem
    assert broken_assumptions(problem, HOLDS[family]) == []


@pytest.mark.parametrize("family", RANDOM)
def test_the_key_alone_decides(family):
    one = RANDOM[family](jax.random.key(3), 7)
    with jax.enable_x64(True):
        assert RANDOM[family](jax.random.key(3), 7) == one
    assert RANDOM[family](jax.random.PRNGKey(3), 7) == one
    other = RANDOM[family](jax.random.key(4), 7)
    assert not np.array_equal(other.preferences, one.preferences)
    assert other.name == one.name


def test_families_stack():
    problems = [generators.btl(jax.random.key(seed), 5) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)
    assert stacked.preferences.shape == (3, 5, 5)


@pytest.mark.parametrize("family", RANDOM)
def test_the_bits_are_those_of_jax(family, monkeypatch):
    found = RANDOM[family](jax.random.key(3), 7)
    monkeypatch.setattr(generators, "_PARTITIONABLE", "jax_enable_x64")  # off
    assert RANDOM[family](jax.random.key(3), 7) == found
    raw = jax.random.key_data(jax.random.key(3))
    assert RANDOM[family](raw, 7) == found
    other = RANDOM[family](jax.random.key(3, impl="rbg"), 7)
    assert other != found


@pytest.mark.parametrize("family", RANDOM)
def test_what_is_no_key_is_refused(family):
    for key in (0, None, np.arange(3.0)):
        with pytest.raises(InputError, match="no JAX PRNG key"):
            RANDOM[family](key, 5)


def test_papers_sizes_are_the_defaults():
    assert generators.btl(jax.random.key(0)).num_arms == 100
    assert generators.condorcet_hard(jax.random.key(0)).num_arms == 100


def test_btl_of_given_weights():
    problem = generators.btl_from_weights([1.0, 3.0, 0.5])
    np.testing.assert_allclose(
        problem.preferences, [[0.5, 0.25, 2 / 3], [0.75, 0.5, 6 / 7], [1 / 3, 1 / 7, 0.5]]
    )
    assert generators.btl_from_weights([2e307, 1e307, 1.7e308]).condorcet_winner == 2


def test_btl_weights_are_uniform():
    problem = generators.btl(jax.random.key(1), 2000)
    best = problem.condorcet_winner
    odds = problem.preferences[:, best] / problem.preferences[best]
    for quantile in (0.1, 0.5, 0.9):
        assert np.mean(odds <= quantile) == pytest.approx(quantile, abs=4 * 0.5 / 2000**0.5)


def test_condorcet_hard_has_one_gap_and_ties():
    seen, gaps = set(), []
    for seed in range(200):
        problem = generators.condorcet_hard(jax.random.key(seed), 4)
        winner = problem.condorcet_winner
        assert winner is not None
        seen.add(winner)
        others = np.delete(np.arange(4), winner)
        row = problem.preferences[winner, others]
        assert np.ptp(row) == 0
        np.testing.assert_array_equal(problem.preferences[np.ix_(others, others)], 0.5)
        gaps.append(row[0] - 0.5)
    assert seen == {0, 1, 2, 3}
    assert 0 < min(gaps) < 0.02
    assert 0.48 < max(gaps) < 0.5
    assert np.mean(gaps) == pytest.approx(0.25, abs=4 * 0.5 / 12**0.5 / 200**0.5)


def test_condorcet_hard_with_a_fixed_gap_keeps_the_winner():
    free = generators.condorcet_hard(jax.random.key(5), 9)
    fixed = generators.condorcet_hard(jax.random.key(5), 9, gap=0.2)
    assert fixed.condorcet_winner == free.condorcet_winner
    assert sorted(fixed.gaps("average"))[1:] == pytest.approx([0.2] * 8)


def test_random_sst_breaks_sti_and_has_no_ties():
    problems = [generators.random_sst(jax.random.key(seed), 6) for seed in range(20)]
    assert all(total_order_violation(problem) is None for problem in problems)
    assert any(sti_violation(problem) is not None for problem in problems)
    assert {problem.condorcet_winner for problem in problems} == set(range(6))


def test_random_condorcet_has_cycles_below_the_winner():
    problems = [generators.random_condorcet(jax.random.key(seed), 6) for seed in range(20)]
    assert any(broken_assumptions(problem, ("sst",)) for problem in problems)
    assert {problem.condorcet_winner for problem in problems} == set(range(6))
    entries = np.concatenate([problem.preferences.ravel() for problem in problems])
    assert 0 < entries.min() < 0.05
    assert 0.95 < entries.max() < 1


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40))
def test_arithmetic_has_sst_and_sti_with_equality(num_arms):
    problem = generators.arithmetic(num_arms, 0.5 / (num_arms - 1))
    assert broken_assumptions(problem, ("condorcet", "sst", "sti")) == []
    assert problem.preferences[0, -1] == 1.0


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 30), st.sampled_from([0.01, 0.1, 0.5]))
def test_copeland_cycle_scores(num_arms, gap):
    problem = generators.copeland_cycle(num_arms, gap)
    expected = [num_arms - 2] * 3 + list(range(num_arms - 4, -1, -1))
    assert problem.copeland_scores.tolist() == expected
    off_diagonal = problem.preferences[~np.eye(num_arms, dtype=bool)]
    np.testing.assert_allclose(np.abs(off_diagonal - 0.5), gap)


def test_batched_lower_bound_gaps():
    for level in (1, 2, 3, 4):
        problem = generators.batched_lower_bound(9, 4, 10_000, level, winner=5)
        assert problem.condorcet_winner == 5
        gap = problem.gaps("average")[0]
        assert gap == pytest.approx(3 / 96 * 10_000 ** (-(level - 1) / 8))
        before = 10_000 ** ((level - 1) / 4)
        assert (16 * gap**2 * before / 9) ** 0.5 == pytest.approx(1 / 24)
        assert broken_assumptions(problem, ("condorcet", "sst", "sti")) == []


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: generators.btl(jax.random.key(0), 1), "num_arms = 1: an integer of at least 2"),
        (lambda: generators.btl(jax.random.key(0), 2.5), "num_arms = 2.5"),
        *(
            (partial(build, num_arms=10**6), "num_arms = 1,000,000: matrices have at most 4,000")
            for build in (
                generators.arithmetic,
                generators.copeland_cycle,
                *(partial(random, jax.random.key(0)) for random in RANDOM.values()),
                partial(generators.batched_lower_bound, num_batches=100, horizon=1_000, level=1),
            )
        ),
        (lambda: generators.btl_from_weights(np.ones(4_001)), "num_arms = 4,001"),
        (lambda: generators.btl_from_weights([1.0]), r"shape \(1,\)"),
        (lambda: generators.btl_from_weights([1.0, 0.0]), "positive and finite"),
        (lambda: generators.btl_from_weights([1.0, np.nan]), "positive and finite"),
        (lambda: generators.btl_from_weights([1e-200, 1e200]), "too far apart"),
        (lambda: generators.btl_from_weights(["a", "b"]), "weights must be real numbers"),
        (lambda: generators.condorcet_hard(jax.random.key(0), 5, gap=0.0), "gap 0 is out of range"),
        (lambda: generators.condorcet_hard(jax.random.key(0), 5, gap=0.6), "gap 0.6"),
        (lambda: generators.arithmetic(8, 0.1), "at most 0.0714286"),
        (lambda: generators.arithmetic(8, 0.0), "must be positive"),
        (lambda: generators.arithmetic(8, "x"), "step = 'x': a number"),
        (lambda: generators.copeland_cycle(2), "at least 3"),
        (lambda: generators.copeland_cycle(5, gap=np.nan), "gap nan"),
        (lambda: generators.copeland_cycle(5, gap="a"), "gap = 'a': a number"),
        (lambda: generators.copeland_cycle(5, gap=None), "gap = None: a number"),
        (lambda: generators.random_sst(jax.random.key(0), 0), "num_arms = 0"),
        (lambda: generators.random_condorcet(jax.random.key(0), 1), "num_arms = 1"),
        (lambda: generators.batched_lower_bound(5, 0, 10, 1), "num_batches = 0: an integer"),
        (lambda: generators.batched_lower_bound(5, 20, 10, 1), "20 batches for T = 10"),
        (lambda: generators.batched_lower_bound(5, 3, 10, 4), "levels are 1 to B = 3"),
        (lambda: generators.batched_lower_bound(5, 3, 10, 1, 5), "arm 5 cannot win"),
        (lambda: generators.batched_lower_bound(5, 2.5, 10, 1), "num_batches = 2.5: an integer"),
        (lambda: generators.batched_lower_bound(5, 3, 10, 1.5), "level = 1.5: an integer"),
        (lambda: generators.batched_lower_bound(5, 3, 10, 1, True), "winner = True: an integer"),
        (lambda: generators.batched_lower_bound(145, 1, 10, 1), "K <= 144 B"),
        (lambda: generators.batched_lower_bound(2, 9, 10**300, 9), "gap .* is out of range"),
        (lambda: generators.copeland_cycle(5, 1e-9), r"gap 1e-09 .* must lie in \(1e-09, 1/2\]"),
    ],
)
def test_bad_parameters(build, message):
    with pytest.raises(InputError, match=message):
        build()
