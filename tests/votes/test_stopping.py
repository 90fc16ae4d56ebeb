"""The stopping rule "condorcet": evidence exactly, and its errors by dynamic programming."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from jaxduel.votes.stopping import log_evidence, wins_needed
from tests.oracles import stopping as oracle

MOST = 2_000


def test_evidence_is_that_of_rational_arithmetic():
    pairs = [(w, n - w) for n in (0, 1, 2, 5, 40, 120) for w in range(n + 1)]
    exact = [np.log(float(oracle.evidence(w, losses))) for w, losses in pairs]
    np.testing.assert_allclose(log_evidence(*np.transpose(pairs)), exact, atol=1e-12)


@pytest.mark.parametrize(
    ("w", "losses"), [(3, 1), (1, 3), (60, 40), (40, 60), (0, 500), (500, 0), (520, 480)]
)
def test_evidence_is_its_integral(w, losses):
    """At the scale of its largest value, so that quadrature sees it."""
    peak = max((w - losses) / max(w + losses, 1), 0)
    top = w * np.log1p(peak) + (losses and losses * np.log1p(-peak))
    mass, _ = integrate.quad(
        lambda x: np.exp(w * np.log1p(x) + losses * np.log1p(-x) - top),
        0,
        1,
        points=[peak] if 0 < peak < 1 else None,
        epsabs=0,
        epsrel=1e-11,
        limit=400,
    )
    assert log_evidence(w, losses) == pytest.approx(top + np.log(mass), abs=1e-9)


@pytest.mark.parametrize(
    ("w", "losses", "error"),
    [
        *((w, 5_000 - w, 1e-11) for w in (0, 3, 800, 2_400, 2_500, 2_600, 5_000)),
        *((w, 1_000_000 - w, 1e-8) for w in (200, 480_000, 500_000, 503_000)),
        (50_300_000, 49_700_000, 1e-6),
    ],
)
def test_evidence_of_many_votes(w, losses, error):
    """Tails below the range of floats among them."""
    if w + losses > 10**7:  # too many for whole numbers: Laplace's method, good to 1 / n
        n, x = w + losses, (w - losses) / (w + losses)
        divergence = ((1 + x) * np.log1p(x) + (1 - x) * np.log1p(-x)) / 2
        exact = n * divergence + np.log(2 * np.pi * (1 - x * x) / n) / 2
    else:
        exact = oracle.log_evidence_of_many(w, losses)
    assert log_evidence(w, losses) == pytest.approx(exact, abs=error)


def test_evidence_is_a_supermartingale_up_to_a_half():
    for p, sign in ((Fraction(1, 2), 0), (Fraction(9, 20), -1), (Fraction(0), -1)):
        for n in range(25):
            for w in range(n + 1):
                now = oracle.evidence(w, n - w)
                won, lost = oracle.evidence(w + 1, n - w), oracle.evidence(w, n - w + 1)
                mean = p * won + (1 - p) * lost
                assert (mean > now) - (mean < now) == sign


def test_evidence_increases_with_wins():
    """And falls when each arm gets a vote: `wins_needed` searches along both."""
    for n in (1, 2, 30, 1_000, 100_000):
        w = np.unique(np.linspace(0, n, 1_001).astype(int))
        assert np.all(np.diff(log_evidence(w, n - w)) > 0)
        assert np.all(log_evidence(w + 1, n - w + 1) < log_evidence(w, n - w))
    exact = [[oracle.evidence(w, n - w) for w in range(n + 1)] for n in range(30)]
    assert all(a < b for row in exact for a, b in pairwise(row))


@pytest.mark.parametrize("threshold", [1.01, 2.0, 20.0, 600.0, 1e9])
def test_wins_needed_are_those_of_the_definition(threshold):
    found = wins_needed(threshold, 60)
    assert found.dtype == np.int32
    assert found.tolist() == oracle.wins_needed(threshold, 60)
    for most in (0, 1, 2, 7):
        np.testing.assert_array_equal(wins_needed(threshold, most), found[: most + 1])


def test_wins_needed_of_a_million_votes():
    needed = wins_needed(600.0, 10**6)
    n = np.unique(np.geomspace(20, 10**6, 2_000).astype(int))
    w = needed[n].astype(int)
    assert np.all(log_evidence(w, n - w) >= np.log(600))
    assert np.all(log_evidence(w - 1, n - w + 1) < np.log(600))
    assert set(np.diff(needed)) == {0, 1}


def stopped(p, needed):
    """Of one pair, voted on until E reaches the threshold, at most MOST times: the probability that
    it does, and the mean of E when it does, or after MOST votes."""
    mass, probability, mean = np.ones(1), 0.0, 0.0
    for n in range(1, MOST + 1):
        mass = np.append(mass * (1 - p), 0.0) + np.append(0.0, mass * p)
        reached = np.flatnonzero(mass * (np.arange(n + 1) >= needed[n]))
        probability += mass[reached].sum()
        mean += mass[reached] @ np.exp(log_evidence(reached, n - reached))
        mass[reached] = 0.0
    going = np.flatnonzero(mass)
    return probability, mean + mass[going] @ np.exp(log_evidence(going, MOST - going))


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_errors_at_two_arms_exactly(delta):
    """All histories of up to 2,000 votes between two arms."""
    needed = wins_needed(1 / delta, MOST)
    wrong, mean = stopped(0.5, needed)
    assert mean == pytest.approx(1, abs=1e-9)  # optional stopping of a martingale
    assert 0.7 * delta < wrong <= delta
    clearly_wrong, mean = stopped(0.45, needed)
    assert mean < 1
    assert 0.1 * delta < clearly_wrong < wrong
    right, _ = stopped(0.6, needed)
    assert right > 0.999
