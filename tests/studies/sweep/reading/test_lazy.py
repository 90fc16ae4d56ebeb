"""Variables that are read from blocks when they are used."""

from __future__ import annotations

import numpy as np
import pytest

from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep.reading.dataset import open_sweep
from jaxduel.studies.sweep.reading.layout import REGRET
from jaxduel.studies.sweep.reading.lazy import LazyVariable
from tests.studies.engine import stored

CELL = {"policy": "pcomp", "problem": "arxiv", "horizon": 1000, "parameters": "B=4"}


@pytest.fixture
def filled(store):
    stored.fill(store)
    return store


@pytest.fixture
def reads(monkeypatch):
    """The sizes of what is read from blocks."""
    sizes, read = [], LazyVariable._read

    def watched(self, asked):
        sizes.append(np.prod([len(index) for index in asked]))
        return read(self, asked)

    monkeypatch.setattr(LazyVariable, "_read", watched)
    return sizes


def test_a_store_larger_than_any_memory_opens(tmp_path, reads):
    manifest = stored.manifest(seeds=10**9)
    store = Store.create_or_open(tmp_path / "s", manifest)
    group = manifest.groups[0]
    for number in (0, 30):  # seeds 0 to 7 and 240 to 247
        store.add(stored.block(group, number))
    data = open_sweep(store.folder)
    assert data["regret"].nbytes > 3e12
    assert data.sizes["seed"] == 10**9
    assert reads == []

    regret, plays, _, _ = stored.raw(group, 256)
    some = data["regret"].isel(seed=slice(236, 252)).sel(CELL)
    np.testing.assert_array_equal(some[:, 4:12], regret[1][:, 240:248])
    assert np.isnan(some[:, :4]).all()
    assert np.isnan(some[:, 12:]).all()
    assert np.isnan(data["final_regret"].isel(seed=-1)).all()
    ran = np.r_[0:8, 240:248]
    np.testing.assert_allclose(
        data["plays_mean"].sel(CELL)[:, :4], plays[1, ran].mean(axis=0), rtol=1e-12
    )
    assert sum(reads) < 10_000


@pytest.mark.parametrize("name", REGRET.lazy)
def test_a_part_is_that_part_of_the_whole(filled, name):
    whole = open_sweep(filled.folder)[name].load()
    rng = np.random.default_rng(len(name))
    for _ in range(10):
        data = open_sweep(filled.folder)[name]
        place = {}
        for dimension, size in data.sizes.items():
            ends = sorted(rng.integers(-size, size + 1, 2))
            place[dimension] = [
                slice(None),
                slice(*ends),
                slice(None, None, -2),
                int(rng.integers(-size, size)),
                rng.integers(0, size, 4),
                [],
            ][rng.choice(6, p=[0.4, 0.2, 0.1, 0.2, 0.08, 0.02])]
        np.testing.assert_array_equal(data.isel(place), whole.isel(place))


def test_what_was_read_as_a_whole_is_kept(filled, reads):
    data = open_sweep(filled.folder)
    first = data["final_regret"].values
    assert len(reads) == 1
    np.testing.assert_array_equal(data["final_regret"].values, first)
    assert len(reads) == 1


@pytest.mark.parametrize("damage", ["altered", "removed"])
def test_a_block_that_changes_after_it_was_checked_is_not_trusted(filled, damage):
    data = open_sweep(filled.folder)
    key = stored.task_key(filled.manifest.groups[0].key, 1)
    path = next((filled.folder / "blocks").glob(f"{key}-*"))
    if damage == "altered":
        path.write_bytes(path.read_bytes()[:-10])
    else:
        path.unlink()
    with pytest.warns(UserWarning, match="is left out: it changed after it was checked"):
        final = data["final_regret"].sel(CELL).values
    wanted = stored.raw(filled.manifest.groups[0], 20)[0][1, ..., -1].copy()
    wanted[:, 8:16] = np.nan
    np.testing.assert_array_equal(final, wanted)
