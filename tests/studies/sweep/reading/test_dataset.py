from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import xarray

from jaxduel.errors import InputError
from jaxduel.stats import Moments, merge
from jaxduel.studies.engine import block_folder
from jaxduel.studies.engine.blocks import encode_block
from jaxduel.studies.engine.cells import parameters_label
from jaxduel.studies.engine.manifest import CellRecord
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep.reading.dataset import open_sweep
from tests.studies.engine import stored

BATCHED = {"policy": "pcomp", "problem": "arxiv", "horizon": 1000}
STEPS = {"policy": "dts", "problem": "arxiv", "horizon": 100, "parameters": "alpha=0.51, delay=4"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store.create_or_open(tmp_path_factory.mktemp("sweep") / "s", stored.manifest())
    stored.fill(store)
    return store


@pytest.fixture(scope="module")
def data(store):
    return open_sweep(store.folder)


def test_labels(data):
    assert list(data["policy"].values) == ["pcomp", "dts"]
    assert list(data["problem"].values) == ["arxiv", "big"]
    assert list(data["num_arms"].values) == [4, 6]
    assert list(data["horizon"].values) == [100, 1000]
    assert list(data["definition"].values) == ["average", "copeland"]
    assert list(data["parameters"].values) == [
        "B=2",
        "B=4",
        "B=8",
        "alpha=0.51, delay=4",
        "alpha=0.51, tie=low, delay=4",
    ]
    nan = np.nan
    np.testing.assert_array_equal(data["B"], [2, 4, 8, nan, nan])
    np.testing.assert_array_equal(data["alpha"], [nan, nan, nan, 0.51, 0.51])
    np.testing.assert_array_equal(data["delay"], [1, 1, 1, 4, 4])
    assert list(data["tie"].values) == ["", "", "", "", "low"]
    assert dict(data.sizes) == {
        "policy": 2,
        "problem": 2,
        "horizon": 2,
        "parameters": 5,
        "definition": 2,
        "checkpoint": 5,
        "seed": 20,
        "arm": 6,
        "left": 6,
        "right": 6,
    }


def test_statistics_are_those_of_all_seeds_together(store, data):
    group = store.manifest.groups[0]
    regret, plays, pairs, batches = stored.raw(group, stored.SEEDS)
    for i, b in enumerate((2, 4, 8)):
        cell = data.sel(BATCHED, drop=True).sel(parameters=f"B={b}")
        kept = cell["regret"].transpose("definition", "seed", "checkpoint")
        np.testing.assert_array_equal(kept, regret[i])
        np.testing.assert_array_equal(cell["final_regret"], regret[i][..., -1])
        close(cell["regret_mean"], regret[i].mean(axis=1))
        close(cell["regret_std"], regret[i].std(axis=1, ddof=1), 1e-8)
        close(cell["regret_sem"], regret[i].std(axis=1, ddof=1) / np.sqrt(20), 1e-8)
        close(cell["plays_mean"][:, :4], plays[i].mean(axis=0))
        close(cell["pairs_mean"][:, :4, :4], pairs[i].mean(axis=0))
        close(cell["batches_mean"], batches[i].mean())
        assert np.isnan(cell["plays_mean"][:, 4:]).all()
        assert np.isnan(cell["pairs_mean"][:, 4:]).all()
        assert np.isnan(cell["pairs_mean"][:, :, 4:]).all()
        assert cell["num_seeds"] == 20
        np.testing.assert_array_equal(cell["t"], [1, 10, 100, 500, 1000])


def test_what_a_cell_has_not_is_nan(store, data):
    cell = data.sel(STEPS)
    regret, plays, _, _ = stored.raw(store.manifest.groups[1], stored.SEEDS)
    np.testing.assert_array_equal(cell["t"], [1, 10, 100, np.nan, np.nan])
    for name in ("regret_mean", "regret_std", "regret_sem", "regret", "final_regret"):
        assert np.isnan(cell[name].sel(definition="average")).all()
    for name in ("regret_mean", "regret_std", "regret_sem", "regret", "plays_mean", "pairs_mean"):
        assert np.isnan(cell[name].isel(checkpoint=[3, 4])).all()
    close(cell["regret_mean"].sel(definition="copeland")[:3], regret[0, 0, :, :3].mean(axis=0))
    close(cell["plays_mean"][:3, :4], plays[0, :, :3, :4].mean(axis=0))
    assert np.isnan(cell["plays_mean"][:, 4:]).all()
    assert np.isnan(cell["batches_mean"])
    big = data.sel(policy="dts", problem="big", parameters="alpha=0.51, tie=low, delay=4")
    assert not np.isnan(big.sel(horizon=1000)["plays_mean"]).any()
    assert int(data["num_seeds"].sum()) == 5 * 20
    nowhere = data.sel(policy="dts", problem="big", horizon=100)
    assert not nowhere["num_seeds"].any()
    assert np.isnan(nowhere["t"]).all()


def test_attributes_and_types(store, data):
    assert json.loads(data.attrs["grid"]) == stored.grid()
    assert (data.attrs["jaxduel"], data.attrs["jax"], data.attrs["git_revision"]) == ("0", "1", "")
    assert data["num_seeds"].dtype == np.int64
    assert data["planned_seeds"].dtype == np.int64
    others = [name for name in data.data_vars if not name.endswith("_seeds")]
    assert {data[name].dtype for name in others} == {np.dtype("float64")}


def test_zero_is_an_attribute_of_its_own(tmp_path):
    environment = {**stored.ENVIRONMENT, "x64": 0}
    Store.create_or_open(tmp_path / "s", stored.manifest(environment=environment))
    attributes = open_sweep(tmp_path / "s").attrs
    assert (attributes["x64"], attributes["git_revision"]) == (0, "")


def test_it_can_be_written_as_one_file(data, tmp_path):
    data.to_netcdf(tmp_path / "all.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "all.nc", engine="h5netcdf") as again:
        np.testing.assert_array_equal(again["regret_mean"], data["regret_mean"])
        assert again.attrs["grid"] == data.attrs["grid"]


def test_a_sweep_that_has_not_begun(tmp_path):
    Store.create_or_open(tmp_path / "s", stored.manifest())
    data = open_sweep(tmp_path / "s")
    assert not data["num_seeds"].any()
    assert np.isnan(data["final_regret"]).all()
    assert "batches_mean" not in data
    assert float(data["t"].max()) == 1000


def test_a_sweep_that_still_runs(tmp_path):
    manifest = stored.manifest()
    store = Store.create_or_open(tmp_path / "s", manifest)
    group = manifest.groups[0]
    for number in (2, 0):  # not in order, and without block 1
        store.add(stored.block(group, number))
    data = open_sweep(store.folder)
    cell = data.sel(BATCHED).sel(parameters="B=4", definition="average")
    regret = stored.raw(group, 20)[0][1, 0]
    ran = np.r_[0:8, 16:20]
    assert cell["num_seeds"] == 12
    close(cell["regret_mean"], regret[ran].mean(axis=0))
    np.testing.assert_array_equal(cell["final_regret"][ran], regret[ran, -1])
    assert np.isnan(cell["final_regret"][8:16]).all()
    assert data.sel(STEPS)["num_seeds"] == 0


def test_a_resumed_sweep_is_the_same_bit_for_bit(tmp_path, store, data):
    """Filled in another order, stopped, extended, damaged, and gone on with."""
    order = random.Random(0)
    small = Store.create_or_open(tmp_path / "s", stored.manifest(seeds=14))
    some = stored.blocks(small.manifest)
    for block in order.sample(some, len(some) - 1):
        last = small.add(block)
    last.write_bytes(last.read_bytes()[:-10])
    with pytest.warns(UserWarning, match="is left out: its checksum does not hold"):
        assert open_sweep(small.folder)["num_seeds"].sum() < 14 * 5
    large = Store.create_or_open(tmp_path / "s", stored.manifest(), extend=True)
    with pytest.warns(UserWarning, match="is run again"):
        stored.fill(large)
    xarray.testing.assert_identical(open_sweep(large.folder), data)
    assert stored.fill(large) == 0


def test_two_files_of_a_block_count_once(tmp_path):
    """What a process killed between writing a larger block and removing the smaller one leaves."""
    small, large = stored.manifest(seeds=12), stored.manifest(seeds=16)
    store = Store.create_or_open(tmp_path / "s", small)
    old = store.add(stored.block(small.groups[0], 1))
    content = old.read_bytes()
    store = Store.create_or_open(tmp_path / "s", large, extend=True)
    store.add(stored.block(large.groups[0], 1))
    assert not old.exists()
    old.write_bytes(content)
    assert store.finished() == {stored.task_key(store.manifest.groups[0].key, 1)}
    assert open_sweep(store.folder)["num_seeds"].max() == 8


def test_a_block_that_is_replaced_while_it_is_read_is_not_missed(tmp_path, monkeypatch):
    small, large = stored.manifest(seeds=12), stored.manifest(seeds=16)
    Store.create_or_open(tmp_path / "s", small).add(stored.block(small.groups[0], 1))
    store = Store.create_or_open(tmp_path / "s", large, extend=True)
    listed = block_folder.files_of(tmp_path / "s" / "blocks")
    store.add(stored.block(large.groups[0], 1))
    (now,) = block_folder.files_of(tmp_path / "s" / "blocks")
    assert now not in listed
    listings = iter([listed, [now]])
    monkeypatch.setattr(block_folder, "files_of", lambda folder: next(listings))
    assert open_sweep(tmp_path / "s")["num_seeds"].max() == 8


def test_blocks_of_another_sweep_count_for_nothing(tmp_path):
    store = Store.create_or_open(tmp_path / "s", stored.manifest())
    theirs = replace(stored.blocks(store.manifest)[0], group="cc", number=9, first_seed=72)
    content = encode_block(theirs, ["x", "y", "z"], ["average", "copeland"])
    (store.folder / "blocks" / block_folder.file_name(theirs.key, content)).write_bytes(content)
    assert store.finished() == set()
    data = open_sweep(store.folder)
    assert not data["num_seeds"].any()
    assert data.sizes["seed"] == stored.SEEDS


def test_variables_can_be_left_out(store, data):
    without = open_sweep(store.folder, drop_variables=["pairs_mean", "regret", "num_seeds"])
    assert set(data.data_vars) - set(without.data_vars) == {"pairs_mean", "regret", "num_seeds"}
    assert "left" not in without.dims
    xarray.testing.assert_identical(without["regret_mean"], data["regret_mean"])
    with pytest.raises(InputError, match="unknown variable 'pairs'"):
        open_sweep(store.folder, drop_variables="pairs")


def test_folders_without_a_sweep_are_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="holds no sweep"):
            open_sweep(folder)


@pytest.mark.parametrize("sizes", [[5], [1, 1], [3, 64, 1, 17], [512] * 4])
def test_merged_moments_are_those_of_all_values(sizes):
    rng = np.random.default_rng(len(sizes))
    parts = [rng.gamma(2.0, 50.0, (n, 3, 4)) for n in sizes]
    merged = merge(
        Moments(len(x), x.mean(axis=0), ((x - x.mean(axis=0)) ** 2).sum(axis=0)) for x in parts
    )
    everything = np.concatenate(parts)
    assert merged.num_seeds == len(everything)
    close(merged.mean, everything.mean(axis=0))
    close(merged.std, everything.std(axis=0, ddof=1))


def test_one_seed_has_no_deviation():
    one = merge([Moments(1, np.ones(3), np.zeros(3))])
    assert np.isnan(one.std).all()
    assert np.isnan(one.sem).all()


def test_labels_of_parameters():
    assert parameters_label({}) == ""
    assert parameters_label({"gamma": 1e-5, "B": 8, "fast": True}) == "B=8, fast=true, gamma=1e-05"
    assert parameters_label({"f": "log"}, delay=8) == "f=log, delay=8"


def test_a_parameter_named_as_a_dimension_has_a_longer_name(tmp_path):
    manifest = stored.manifest()
    others = manifest.groups[0].cells[0].others
    cell = CellRecord(0, "pcomp", "q", "0", 10, {"seed": 3, "fast": False}, 1, 2, (10,), others)
    group = replace(manifest.groups[0], cells=(cell,))
    Store.create_or_open(tmp_path / "s", replace(manifest, groups=(group,)))
    coordinates = open_sweep(tmp_path / "s").coords
    assert coordinates["parameter_seed"].values.tolist() == [3]
    assert coordinates["fast"].values.tolist() == ["false"]
    assert "delay" not in coordinates


def close(found, wanted, tolerance=1e-12):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=0)
