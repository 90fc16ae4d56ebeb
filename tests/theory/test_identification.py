import numpy as np
import pytest
from scipy import optimize

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.stopping import wins_needed
from tests.oracles.divergence import kl_half

MATRIX = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.5], [0.2, 0.5, 0.5]]


def kl(a, b):
    return a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))


@pytest.mark.parametrize("delta", [1e-9, 0.05, 0.3])
def test_votes_line_by_line(delta):
    """Ties of other arms do no harm."""
    expected = sum(kl(1 - delta, delta) / kl_half(p) for p in (0.6, 0.8))
    problem = jd.problems.from_matrix(MATRIX)
    assert jd.theory.identification_lower_bound(problem, delta) == pytest.approx(expected)


def test_nothing_is_needed_where_a_coin_may_decide():
    """From delta = 1/2 on a policy may name arms without a vote: kl's symmetry says otherwise."""
    problem = jd.problems.from_matrix(MATRIX)
    for delta in (0.5, 0.7, 0.999):
        assert jd.theory.identification_lower_bound(problem, delta) == 0


def test_no_alternative_asks_for_more():
    """The linear program over votes of all pairs: the divergence from every instance of a large
    random set, whose arm w beats not all others, is at least kl(1 - delta, delta)."""
    rng = np.random.default_rng(1)
    pairs = [(0, 1), (0, 2), (1, 2)]
    at = [MATRIX[i][j] for i, j in pairs]
    others = rng.uniform(0.02, 0.98, (4_000, 3))
    others[:1_000, rng.integers(0, 3, 1_000)] = 0.5
    flips = np.array([[0.5, 0.8, 0.5], [0.6, 0.5, 0.5]])
    alternatives = np.concatenate([others, flips])
    alternatives = alternatives[np.any(alternatives[:, :2] <= 0.5, axis=1)]
    divergence = np.array(
        [[kl(p, q) for p, q in zip(at, row, strict=True)] for row in alternatives]
    )
    found = optimize.linprog(
        np.ones(3), A_ub=-divergence, b_ub=-np.full(len(divergence), kl(0.9, 0.1))
    )
    bound = jd.theory.identification_lower_bound(jd.problems.from_matrix(MATRIX), 0.1)
    assert found.fun == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("p", [0.6, 0.8])
@pytest.mark.parametrize("delta", [1e-4, 0.1])
def test_two_arms_that_stop_by_the_evidence_take_more(p, delta):
    """The mean number of votes, exactly, of all histories of the rule of `jaxduel.votes.stopping`;
    less than three times the bound."""
    most = 3_000
    needed = wins_needed(1 / delta, most)
    mass, mean = np.ones(1), 0.0
    for n in range(1, most + 1):
        mean += mass.sum()
        mass = np.append(mass * (1 - p), 0.0) + np.append(0.0, mass * p)
        wins = np.arange(n + 1)
        mass[(wins >= needed[n]) | (n - wins >= needed[n])] = 0.0
    assert mass.sum() < 1e-5
    problem = jd.problems.from_matrix([[0.5, p], [1 - p, 0.5]])
    bound = jd.theory.identification_lower_bound(problem, delta)
    assert bound < mean < 3 * bound


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, np.nan, "a"])
def test_deltas_that_are_no_probability(delta):
    with pytest.raises(InputError, match="delta must be a probability between 0 and 1, not"):
        jd.theory.identification_lower_bound(jd.problems.load("cyclic"), delta)


def test_bad_input_of_the_bound_on_votes():
    with pytest.raises(InputError, match="'gap' has no Condorcet winner"):
        jd.theory.identification_lower_bound(jd.problems.load("gap"), 0.05)


def test_pulls_of_two_arms():
    """kl(delta, 1 - delta) times 2 (std_1 + std_2)^2 / gap^2."""
    arms = jd.problems.gaussian([0.2, 0.7], std=[2.0, 1.0])
    for delta in (1e-6, 0.05, 0.4):
        expected = kl(delta, 1 - delta) * 2 * 9 / 0.25
        assert jd.theory.identification_lower_bound(arms, delta) == pytest.approx(expected)
    assert jd.theory.identification_lower_bound(arms, 0.5) == 0


@pytest.mark.parametrize("delta", [1e-4, 0.1])
def test_two_arms_that_are_pulled_in_turn_take_more(delta):
    """Robbins' mixture for differences of unknown mean: wrong with probability at most delta."""
    gap, runs, rng = 0.5, 1_000, np.random.default_rng(2)
    ahead = np.cumsum(rng.normal(gap, 2**0.5, (runs, 2_000)), axis=1) / 2**0.5
    more = np.arange(1, 2_001) + 1
    stopped = np.abs(ahead) >= np.sqrt(more * (np.log(more) + 2 * np.log(1 / delta)))
    assert stopped.any(axis=1).all()
    pulls = 2 * (1 + np.argmax(stopped, axis=1))
    bound = jd.theory.identification_lower_bound(jd.problems.gaussian([gap, 0.0]), delta)
    assert bound < pulls.mean() < 3 * bound


def test_bad_input_of_the_bound_on_pulls():
    several = jd.problems.bernoulli([0.5, 0.2, 0.5])
    with pytest.raises(
        InputError,
        match=r"^identification_lower_bound needs one best arm, and 'bernoulli' has 2: arms 0, 2",
    ):
        jd.theory.identification_lower_bound(several, 0.05)
