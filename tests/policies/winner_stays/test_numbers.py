"""Independent numbers of regret: means and standard errors of other programs, T = 10,000.

Those of `JAVA` were measured with the program of kolpaczki/Piecwise-Stationary-Dueling-Bandits, 500
runs, arms shuffled; it draws the first challenger of each round anew. `OTHERS` are of duelpy 1.0.0
(200 runs) and of re-implementations of the literal rule (400 and 200 runs).
"""

import warnings
from functools import cache

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.regret import regret_from_pairs, regret_from_plays
from tests.choice import some
from tests.policies.winner_stays.cases import ordered

TIMES = (1_000, 2_000, 10_000)
PROBLEMS = {
    "O(10, .6)": ordered(10, 0.6),
    "O(20, .8)": ordered(20, 0.8),
    "arithmetic": jd.problems.arithmetic(8),
    "six rankers": jd.problems.load("arxiv"),
}
W = ("ws-w",)
LITTLE, MUCH = ("ws-s", ("beta", 1.1)), ("ws-s", ("beta", 2.0))
JAVA = {
    "O(10, .6)": [
        (W, "binary weak", 1_000, 118.5, 6.7),
        (W, "binary weak", 10_000, 119.4, 7.0),
        (W, "weak", 10_000, 11.94, 0.70),
        (W, "average", 10_000, 506.0, 0.3),
        (LITTLE, "binary strong", 10_000, 3_188, 14),
        (LITTLE, "average", 10_000, 166.2, 0.9),
        (MUCH, "average", 10_000, 48.7, 3.1),
        (("beat-the-winner",), "binary weak", 10_000, 1_115, 29),
    ],
    "O(20, .8)": [
        (W, "binary weak", 1_000, 33.6, 1.5),
        (W, "binary weak", 10_000, 33.6, 1.5),
        (W, "weak", 10_000, 10.08, 0.44),
        (W, "average", 10_000, 1_505.0, 0.2),
        (LITTLE, "binary strong", 10_000, 2_228, 3),
        (LITTLE, "average", 10_000, 339.7, 0.6),
        (MUCH, "average", 10_000, 71.9, 0.5),
    ],
    "arithmetic": [
        (W, "binary weak", 1_000, 71.1, 5.0),
        (W, "binary weak", 10_000, 71.1, 5.0),
        (W, "weak", 10_000, 4.89, 0.32),
        (W, "average", 10_000, 671.6, 1.3),
        (LITTLE, "binary strong", 10_000, 1_989, 22),
        (LITTLE, "average", 10_000, 131.6, 0.9),
        (MUCH, "average", 10_000, 56.6, 4.7),
        (MUCH, "binary weak", 1_000, 150, 12),
        (MUCH, "binary weak", 10_000, 557, 87),
    ],
    "six rankers": [
        (W, "binary weak", 1_000, 161, 10),
        (W, "binary weak", 10_000, 175, 12),
        (W, "weak", 10_000, 8.25, 0.56),
        (W, "average", 10_000, 306.0, 0.5),
        (LITTLE, "binary strong", 10_000, 3_016, 27),
        (LITTLE, "average", 10_000, 95.3, 1.0),
        (MUCH, "average", 10_000, 75.5, 6.0),
        (MUCH, "binary weak", 1_000, 279, 16),
        (MUCH, "binary weak", 10_000, 1_170, 121),
    ],
}
OTHERS = {
    "O(10, .6)": [
        (W, "binary weak", 2_000, 140.5, 12.4),  # duelpy
        (W, "binary weak", 2_000, 112.3, 7.5),
        (LITTLE, "binary strong", 10_000, 3_191, 20),
    ],
    "arithmetic": [(W, "binary weak", 2_000, 69.0, 6.1)],
}


@cache
def _played(name, policy, fresh):
    num_arms = PROBLEMS[name].num_arms
    made = jd.policies.make(policy[0], num_arms=num_arms, **dict(policy[1:]), **dict(fresh))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)  # the six rankers have a tied pair
        return jd.simulate(
            made, PROBLEMS[name], TIMES[-1], 512, checkpoints=TIMES, record_pairs=True
        )


def _check(name, policy, definition, t, mean, error, fresh=()):
    result, problem = _played(name, policy, fresh), PROBLEMS[name]
    if definition == "average":
        found = regret_from_plays(problem, definition, result.plays)
    else:
        found = regret_from_pairs(problem, definition, result.pairs)
    found = found[:, TIMES.index(t)]
    own = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - mean) < 4 * np.hypot(own, error), (definition, t, found.mean(), own)


@pytest.mark.parametrize("name", some(PROBLEMS, (), ("O(20, .8)", "arithmetic", "six rankers")))
def test_regret_agrees_with_other_programs(name):
    for number in (*JAVA[name], *OTHERS.get(name, ())):
        _check(name, *number)


@pytest.mark.slow
def test_regret_agrees_where_the_first_challenger_is_drawn_anew():
    for policy, *number in JAVA["O(10, .6)"][:-1]:
        _check("O(10, .6)", policy, *number, fresh=(("fresh_challenger", True),))
