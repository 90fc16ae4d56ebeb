import itertools

import numpy as np
import pytest

from jaxduel.problems.triples import intransitive_triple, sst_triple, sti_triple

TIE = 1e-9


def shortfall(eps, i, j, k):
    return max(eps[i, j], eps[j, k]) - eps[i, k]


def excess(eps, i, j, k):
    return eps[i, k] - (eps[i, j] + eps[j, k])


def triples(eps):
    return itertools.permutations(range(len(eps)), 3)


def random_margins(seed, num_arms):
    """Of few values or of many, with ties or without, ordered or cyclic, linear or not."""
    rng = np.random.default_rng(seed)
    least = rng.choice([-0.5, -0.1, 0.0, 0.1])
    levels = rng.choice([4, 10, 10**6])
    eps = np.round(rng.uniform(least, 0.5, (num_arms, num_arms)) * levels) / levels
    if seed % 3 == 0:
        utilities = np.sort(np.round(rng.uniform(0, 0.5, num_arms) * levels) / levels)
        eps = utilities[None, :] - utilities[:, None]
    return np.triu(eps, 1) - np.triu(eps, 1).T


SIZES = [(seed, 2 + seed % 7) for seed in range(120)] + [(120, 70), (121, 90), (122, 80)]


@pytest.mark.parametrize(("seed", "num_arms"), SIZES)
def test_sst_is_that_of_a_loop_over_all_triples(seed, num_arms):
    eps = random_margins(seed, num_arms)
    ordered = itertools.combinations(range(num_arms), 3)
    expected = max((shortfall(eps, *triple) for triple in ordered), default=-np.inf)
    worst, triple = sst_triple(eps)
    assert worst == expected
    if num_arms > 2:
        assert shortfall(eps, *triple) == worst
        assert sorted(triple) == list(triple)


@pytest.mark.parametrize(("seed", "num_arms"), SIZES)
def test_sti_is_that_of_a_loop_over_all_triples(seed, num_arms):
    eps = random_margins(seed, num_arms)
    may_precede = eps >= 0
    expected = max(
        (
            excess(eps, i, j, k)
            for i, j, k in triples(eps)
            if may_precede[i, j] and may_precede[j, k]
        ),
        default=-np.inf,
    )
    worst, (i, j, k) = sti_triple(eps, may_precede, TIE)
    assert worst == max(expected, TIE)
    if worst > TIE:
        assert may_precede[i, j]
        assert may_precede[j, k]
        assert excess(eps, i, j, k) == worst


@pytest.mark.parametrize(("seed", "num_arms"), SIZES)
def test_intransitivity_is_that_of_a_loop_over_all_triples(seed, num_arms):
    eps = random_margins(seed, num_arms)
    broken = [
        (i, j, k)
        for i, j, k in triples(eps)
        if eps[i, j] > TIE and eps[j, k] > TIE and eps[i, k] <= TIE
    ]
    worst, triple = intransitive_triple(eps, TIE)
    assert worst == max((shortfall(eps, *some) for some in broken), default=-np.inf)
    if broken:
        assert triple in broken
        assert shortfall(eps, *triple) == worst


@pytest.mark.thorough
def test_a_single_break_among_600_arms_is_found():
    places = np.arange(600) / 2000
    eps = places[None, :] - places[:, None]
    assert sst_triple(eps)[0] < 0
    assert sti_triple(eps, eps > 0, TIE) == (TIE, (0, 0, 0))
    eps[100, 590] += 0.1
    eps[590, 100] -= 0.1
    worst, (i, _, k) = sti_triple(eps, eps > 0, TIE)
    assert worst == pytest.approx(0.1)
    assert (i, k) == (100, 590)
    eps[100, 590] -= 0.4
    eps[590, 100] += 0.4
    assert intransitive_triple(eps, TIE)[0] == pytest.approx(
        max(shortfall(eps, i, j, k) for i, j, k in _through(eps, 100, 590))
    )


def _through(eps, low, high):
    """The intransitive triples of a linear order in which only `high` beats `low` against it."""
    for other in range(len(eps)):
        for i, j, k in itertools.permutations((low, high, other), 3):
            if len({i, j, k}) == 3 and eps[i, j] > TIE and eps[j, k] > TIE and eps[i, k] <= TIE:
                yield i, j, k
