"""Regret of both policies on sushi16 against the program of MergeDTS's authors."""

import os

import numpy as np
import pytest

import jaxduel as jd

TUNED = {"alpha": 0.8**6, "offset": 4e5}
TIMES = (1_000, 10_000, 20_000)
MEASURED = {
    # policy, parameters; mean and standard error at each time of 20 runs (the last one of 10) of
    # the authors' program under Python 3, arms shuffled
    "rucb": ("merge-rucb", {}, ((206.5, 0.4), (1202, 64), (1429, 132))),
    "rucb tuned": ("merge-rucb", {**TUNED, "group_size": 8}, ((188.4, 1.5), (393, 15), (431, 15))),
    "dts": ("merge-dts", {"mirrored": False}, ((211.5, 2.1), (1135, 59), (1236, 82))),
    "dts tuned": (
        "merge-dts",
        {**TUNED, "mirrored": False, "group_size": 16},
        ((153, 5), (251, 14), (300, 18)),
    ),
}


@pytest.mark.parametrize(
    ("case", "horizon"),
    [pytest.param("dts tuned", 1_000, marks=pytest.mark.thorough)]
    + [pytest.param(case, 20_000, marks=pytest.mark.slow) for case in MEASURED],
)
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_regret_agrees_with_the_authors_program(case, horizon):
    if not os.environ.get("JAXDUEL_DATA"):
        pytest.skip("$JAXDUEL_DATA names no folder with the sushi matrix")
    problem = jd.problems.load("sushi")
    name, fields, rows = MEASURED[case]
    policy = jd.policies.make(name, num_arms=problem.num_arms, restarts=True, **fields)
    times = [t for t in TIMES if t <= horizon]
    result = jd.simulate(policy, problem, horizon, 256, checkpoints=times, regret="average")
    mean, error = np.array(rows[: len(times)]).T
    z = (result.mean - mean) / np.hypot(result.sem, error)
    assert (np.abs(z) < 4).all(), z
