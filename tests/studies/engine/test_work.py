"""Work on tasks: how many seeds run side by side, and in a block."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.studies.engine import widths, work
from jaxduel.studies.sweep import PolicyEntry, ProblemEntry

pytestmark = [
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning"),
]


BATCHES = 3, 9


def swept(monkeypatch, folder, policy, num_seeds, batches=()):
    """Mean regret of a sweep of one policy, and the lanes and seeds of its blocks."""
    run, sizes = work.run_prepared, set()

    def seen(prepared, *rest):
        sizes.add((prepared.job.lanes, prepared.job.seeds))
        return run(prepared, *rest)

    monkeypatch.setattr(work, "run_prepared", seen)
    grid = jd.Grid(
        policies=[PolicyEntry(policy)],
        problems=[ProblemEntry(name="arxiv")],
        horizons=2000,
        num_seeds=num_seeds,
        batches=batches,
    )
    jd.run_sweep(grid, folder)
    return jd.open_sweep(folder).to_frame()["mean"].to_numpy(), sizes


def test_few_seeds_run_in_few_lanes(monkeypatch, tmp_path):
    few, sizes = swept(monkeypatch, tmp_path / "few", "savage", 6)
    assert sizes == {(8, 8)}
    monkeypatch.setattr(work, "MULTIPLE", 64)
    many, sizes = swept(monkeypatch, tmp_path / "many", "savage", 6)
    assert sizes == {(64, 64)}
    np.testing.assert_array_equal(few, many)


@pytest.mark.thorough
def test_seeds_of_a_block_of_rounds_share_lanes(monkeypatch, tmp_path):
    monkeypatch.setattr(widths, "ARRAY_BYTES", 2**14)
    shared, sizes = swept(monkeypatch, tmp_path / "shared", "scomp", 600, batches=BATCHES)
    ((lanes, seeds),) = sizes
    assert 4 * lanes <= seeds < 512
    monkeypatch.setattr(work, "_sharing", lambda prepared, _: prepared)
    alone, sizes = swept(monkeypatch, tmp_path / "alone", "scomp", 600, batches=BATCHES)
    assert sizes == {(lanes, lanes)}
    np.testing.assert_array_equal(shared, alone)


def test_plays_that_do_not_add_up_end_a_sweep(monkeypatch, tmp_path):
    """As of a policy of one's own that plays arms that are not there."""
    made = work.arrays_of

    def lost(group, slices):
        arrays = made(group, slices)
        arrays["plays_mean"][0, -1, 0] -= 1 / 6  # one play of six seeds
        return arrays

    monkeypatch.setattr(work, "arrays_of", lost)
    with pytest.raises(jd.InputError, match="arms by savage sum to 23,999, not 24,000: its method"):
        swept(monkeypatch, tmp_path / "sweep", "savage", 6)
