"""Costs of blocks, and the time left that is told from them."""

import numpy as np
import pytest

from jaxduel.studies.engine.groups import tasks_of
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.sweep import Grid
from jaxduel.studies.sweep.sweep import groups_of


def tasks(**changed):
    chosen = {"policies": "rucb", "problems": "arxiv", "horizons": 1000, "num_seeds": 8, "lanes": 8}
    return tasks_of(groups_of(Grid(**{**chosen, **changed}), "cpu"))


@pytest.mark.parametrize(
    ("changed", "cost"),
    [
        ({}, 8 * 1000 * 6),
        ({"problems": "cyclic"}, 8 * 1000 * 4),
        ({"num_seeds": 12}, 8 * 1000 * 6),
        ({"horizons": 10_000_000}, 8 * 300_000 * 6),
        ({"policies": "sparring", "horizons": 10_000_000}, 8 * 10_000_000 * 6),
        ({"policies": "pcomp", "batches": 4, "horizons": 10_000_000}, 8 * 4 * 36),
    ],
)
def test_costs(changed, cost):
    np.testing.assert_allclose([task.group.cost for task in tasks(**changed)], cost)


def test_the_time_left_is_told_from_costs_of_blocks_that_ran_here():
    now = [0.0]
    every = tasks(num_seeds=32)
    shown = StudyProgress("sweep", every, [every[0].key], False)
    shown._clock, shown._begun = lambda: now[0], 0.0
    now[0] = 10.0
    shown.tick(1000.0)
    assert shown.line().count("left") == 0
    shown.done(every[1].key, here=True)
    assert ", 0:20 left" in shown.line()
