"""Estimates of what a sweep takes, from trials."""

import jax
import numpy as np
import pytest

from jaxduel.studies.engine import work
from jaxduel.studies.engine.work import Stopped
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, calibration
from jaxduel.studies.sweep.calibration import calibrate
from jaxduel.studies.sweep.sweep import groups_of

pytestmark = pytest.mark.usefixtures("quick_compilation")


def grid(seeds):
    return Grid(
        policies=PolicyEntry(name="rucb"),
        problems=ProblemEntry(name="cyclic"),
        horizons=200,
        keep=("seeds", "wins"),
        lanes=4,
        num_seeds=seeds,
    )


def test_an_estimate_scales_a_trial():
    few = calibrate(groups_of(grid(4), "cpu"), jax.devices()[:1])
    many = calibrate(groups_of(grid(400_000), "cpu"), jax.devices()[:2])
    assert 0 < few.least == few.seconds < many.seconds
    assert few.compilation < few.seconds


def test_an_estimate_between_trials_is_a_power_of_the_number_of_arms(monkeypatch):
    """Trials take 2e-6 seconds times seeds, comparisons and arms, the first 2,000 comparisons three
    times as much, and compilation a second."""
    timed = []

    def seconds(group, device):
        timed.append(group.num_arms)
        work = sum(cell.horizon + 2 * min(cell.horizon, 2_000) for cell in group.stacked)
        compiles = timed.count(group.num_arms) == 1
        return 2e-6 * group.lanes * work * group.num_arms + compiles

    monkeypatch.setattr(calibration, "_timed", seconds)
    problems = tuple(ProblemEntry(name=name) for name in ("arxiv[1,2]", "cyclic", "arxiv"))
    grid = Grid(
        policies=(PolicyEntry(name="rucb"),), problems=problems, horizons=(10**6,), num_seeds=512,
        lanes=512,
    )  # fmt: skip
    groups = groups_of(grid, "cpu")
    arms = [group.num_arms for group in groups]
    assert sorted(arms) == [2, 4, 6]
    found = calibrate(groups, jax.devices()[:1])
    assert sorted(timed) == 3 * [2] + 3 * [6]
    np.testing.assert_allclose(found.compilation, 3, rtol=1e-6)
    work = 512 * (10**6 + 2 * 2_000) * sum(arms)
    np.testing.assert_allclose(found.seconds, 3 + 2e-6 * work, rtol=1e-6)
    work = 512 * (8_000 + 2 * 2_000 + 8_000 * np.log(125)) * sum(arms)  # RUCB can fall quiet
    np.testing.assert_allclose(found.least, 3 + 2e-6 * work, rtol=1e-6)


def test_trials_on_instances_that_change_are_recorded_at_the_changes():
    name = "piecewise[cyclic,1000,arithmetic[4,3,2,1],3000,cyclic]"
    rucb, there = PolicyEntry(name="rucb"), ProblemEntry(name=name)
    grid = Grid(policies=rucb, problems=there, horizons=20_000, num_seeds=4, checkpoints=(50,))
    (group,) = groups_of(grid, "cpu")
    trial = calibration._up_to(group, 2_000)
    assert trial.cells[0].checkpoints == (50, 1000, 2000)
    work._prepared(trial, 0, 4)  # refuses what cannot run


def test_an_interrupted_estimate_is_an_interrupt(monkeypatch):
    def stopped(*_):
        raise Stopped

    monkeypatch.setattr(calibration, "carry_out", stopped)
    with pytest.raises(KeyboardInterrupt):
        calibrate(groups_of(grid(4), "cpu"), jax.devices()[:1])
