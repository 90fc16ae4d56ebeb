"""Mean duels until an answer, against other people's programs (more than 4 standard errors apart is
a failure) and against exact calculations.

NTS and DKWT: the authors' programs, 20 and 100 runs; NTS also as printed in the paper's supplement,
Table 1, 100 relations. POCOWISTA: a re-implementation of its authors' program in R.
"""

import numpy as np
import pytest
from scipy.stats import binom

import jaxduel as jd
from tests.choice import some


def _complete(upper):
    upper = np.triu(upper, 1)
    return upper + np.tril(1 - upper.T, -1) + np.eye(len(upper)) / 2


def _stopped(policy, problems, votes, num_seeds, target):
    """The mean over instances of mean duels until the answer, and its standard error."""
    found = []
    for first in range(0, len(problems), 50):
        part = problems[first : first + 50]
        found += jd.identify_many(
            [policy] * len(part), part, votes=votes, num_seeds=num_seeds, seed=first, stop="policy",
            target=target, checkpoints=[votes], recommend=["copeland"],
        )  # fmt: skip
    assert all((one.stops.at > 0).all() for one in found)
    right = np.mean([one.truth.is_right(one.stops.named) for one in found])
    assert right > 0.98
    means = np.array([one.stops.at.mean() for one in found])
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means))


def _agree(mean, error, other, its_error, slack=0.0):
    assert abs(mean - other) < slack + 4 * np.hypot(error, its_error), (mean, error, other)


def _relations(rng, num_arms, h, has_winner, num):
    """Instances of 1/2 +- h, with or without a Condorcet winner."""
    found = []
    while len(found) < num:
        p = _complete(np.where(rng.random((num_arms, num_arms)) < 0.5, 0.5 + h, 0.5 - h))
        if has_winner:
            winner = rng.integers(num_arms)
            p[winner], p[:, winner] = 0.5 + h, 0.5 - h
            p[winner, winner] = 0.5
        problem = jd.problems.from_matrix(p)
        if (problem.condorcet_winner is not None) == has_winner:
            found.append(problem)
    return found


THEIRS = {
    (0.45, False): [(894, 13), (887, 4.1)],
    (0.30, False): [(1_224, 12), (1_262, 8.5)],
    (0.10, False): [(3_431, 108), (3_383, 29)],
    (0.30, True): [(1_875, 16)],
}


@pytest.mark.parametrize(("h", "has_winner"), some(THEIRS, (), [(0.10, False), (0.30, True)]))
def test_nts_agrees_with_its_authors_program(h, has_winner):
    """Their program duels each pair once at first, ours those alone that it asks for: its first
    duel of a pair is the first step of the walk."""
    num = 20
    problems = _relations(np.random.default_rng(7), num, h, has_winner, 60)
    mean, error = _stopped(jd.policies.make("nts", num_arms=num), problems, 20_000, 64, "condorcet")
    asked = _pairs_asked(problems)
    for other, its_error in THEIRS[h, has_winner]:
        _agree(mean + num * (num - 1) / 2 - asked, error, other, its_error)


def _pairs_asked(problems):
    """Mean number of different pairs, in runs in which the better arm always wins."""
    numbers = []
    for problem in problems:
        p = np.asarray(problem.preferences)
        arms, pairs, beaten = list(range(len(p))), 0, {}
        while len(arms) > 1:
            ahead = []
            for pair in (arms[k : k + 2] for k in range(0, len(arms), 2)):
                if len(pair) == 2:
                    pairs += 1
                    winner, loser = pair if p[tuple(pair)] > 0.5 else pair[::-1]
                    beaten[loser] = winner
                    pair = [winner]
                ahead += pair
            arms = ahead
        for j in (j for j in range(len(p)) if j != arms[0] and beaten[j] != arms[0]):
            pairs += 1
            if p[arms[0], j] < 0.5:
                break
        numbers.append(pairs)
    return np.mean(numbers)


def _expected_match(num_arms, h, gamma=0.05):
    """Expected duels of a match of DKWT on `_winning` instances: every match is of a pair that has
    not met, whose larger preference is (1 - h) x + h with x = 1 / (1 + r), r uniform."""
    larger = (1 - h) / (1 + (np.arange(400) + 0.5) / 400) + h
    total, reached = np.zeros(400), np.ones(400)
    for r in range(1, 12):
        g = 6 * gamma / num_arms / (np.pi * r) ** 2
        duels = int(np.ceil(8 * np.log(4 / g) * 4 ** (r + 1)))
        total += reached * duels
        most = duels >> (r + 1)
        ends = (duels + most) // 2, (duels - most - 1) // 2
        reached = reached * (binom.cdf(ends[0], duels, larger) - binom.cdf(ends[1], duels, larger))
    return total.mean()


def _winning(rng, num_arms, h):
    """Its authors' instances: pairs u / (u + v), moved apart by h; arm 0 beats all."""
    u, v = rng.random((2, num_arms, num_arms))
    p = (1 - h) * u / (u + v) + h * (u > v)
    p[0] = np.maximum(p[0], 1 - p[0])
    return jd.problems.from_matrix(_complete(p))


@pytest.mark.parametrize(
    ("num_arms", "h", "theirs"),
    [
        pytest.param(5, 0.2, (5_930, 265), marks=pytest.mark.slow),
        pytest.param(5, 0.1, (14_557, 1_373), marks=pytest.mark.slow),
        pytest.param(10, 0.2, (13_895, 442), marks=pytest.mark.slow),
        pytest.param(10, 0.1, (35_158, 2_169), marks=pytest.mark.slow),
    ],
)
def test_dkwt_takes_the_expected_number_of_duels(num_arms, h, theirs):
    """Their program plays K matches, ours K - 1, all of the same law."""
    rng = np.random.default_rng(3)
    problems = [_winning(rng, num_arms, h) for _ in range(300 if h == 0.2 else 600)]
    policy = jd.policies.make("dkwt", num_arms=num_arms)
    mean, error = _stopped(policy, problems, 2_000_000, 1, "condorcet")
    match = _expected_match(num_arms, h)
    _agree(mean, error, (num_arms - 1) * match, 0.0)
    assert error < 0.05 * mean
    _agree(num_arms * match, 0.0, *theirs)


PORTED = {
    10: {0.01: (2_927, 63), 0.05: (2_485, 53), 0.1: (2_269, 51)},
    20: {0.01: (15_602, 287), 0.05: (13_599, 267), 0.1: (12_610, 265)},
}


@pytest.mark.slow
@pytest.mark.parametrize("num_arms", PORTED)
def test_pocowista_agrees_with_another_program(num_arms):
    rng = np.random.default_rng(5)
    shape = num_arms, num_arms
    problems = [
        jd.problems.from_matrix(
            _complete(np.where(rng.random(shape) < 0.5, 1, -1) * rng.uniform(0.1, 0.5, shape) + 0.5)
        )
        for _ in range(5 * num_arms)
    ]
    for delta, other in PORTED[num_arms].items():
        policy = jd.policies.make("pocowista", num_arms=num_arms, delta=delta)
        _agree(*_stopped(policy, problems, 100_000, 2, "copeland"), *other)
