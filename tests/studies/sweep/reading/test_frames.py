"""Tables of a sweep's cells."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.stats import interval95
from jaxduel.studies.sweep.reading.dataset import open_sweep
from jaxduel.studies.sweep.reading.table import show_csv
from jaxduel.studies.tables import encoded
from tests.studies.engine import stored
from tests.studies.sweep.made_up import cell, sweep

LABELS = ["policy", "parameters", "problem", "horizon", "definition"]


@pytest.fixture
def data(store):
    stored.fill(store)
    return open_sweep(store.folder)


def test_a_row_per_cell_and_checkpoint(data):
    frame = data.to_frame()
    assert list(frame) == [
        "policy", "parameters", "problem", "num_arms", "horizon", "definition", "delay", "B",
        "alpha", "tie", "t", "num_seeds", "mean", "std", "sem", "lower95", "upper95",
        "batches_mean",
    ]  # fmt: skip
    assert len(frame) == 3 * 2 * 5 + 3 + 5
    assert not frame.duplicated([*LABELS, "t"]).any()
    for one in frame.to_dict("records"):
        there = data.sel({name: one[name] for name in LABELS})
        at = there["t"].values.tolist().index(one["t"])
        if one["t"] < one["horizon"]:
            found = [one[name] for name in ("mean", "std", "sem")]
            names = ("regret_mean", "regret_std", "regret_sem")
            assert found == [float(there[name][at]) for name in names]
        else:
            final = there["final_regret"].values
            assert (one["mean"], one["std"]) == (final.mean(), final.std(ddof=1))
        ends = interval95(one["mean"], one["sem"], one["num_seeds"])
        assert (one["lower95"], one["upper95"]) == tuple(map(float, ends))
        assert one["num_arms"] == (6 if one["problem"] == "big" else 4)
        assert one["delay"] == (1 if one["policy"] == "pcomp" else 4)
        np.testing.assert_equal(one["B"], float(there["B"]))
        np.testing.assert_equal(one["batches_mean"], float(there["batches_mean"]))
    assert set(frame["tie"].dropna()) == {"low"}


def test_rows_at_the_horizon_have_quartiles(data):
    frame = data.to_frame(final=True)
    assert len(frame) == 3 * 2 + 2
    assert (frame["t"] == frame["horizon"]).all()
    for one in frame.to_dict("records"):
        final = data["final_regret"].sel({name: one[name] for name in LABELS})
        quartiles = np.quantile(final, [0.25, 0.5, 0.75])
        assert [one[name] for name in ("q25", "median", "q75")] == quartiles.tolist()


def test_a_selection_has_a_table_too(data):
    whole = data.to_frame()
    some = data.sel(policy="dts", horizon=100).to_frame()
    wanted = whole[(whole["policy"] == "dts") & (whole["horizon"] == 100)]
    assert some["mean"].tolist() == wanted["mean"].tolist()
    assert set(some["alpha"]) == {0.51}
    (one,) = data.sel(
        policy="pcomp", problem="arxiv", horizon=1000, parameters="B=8", definition="copeland"
    ).isel(checkpoint=2).to_frame().to_dict("records")  # fmt: skip
    assert (one["B"], one["t"], one["parameters"]) == (8, 100, "B=8")
    first = data.isel(checkpoint=slice(0, 3)).to_frame()
    there = whole.set_index([*LABELS, "t"]).loc[first.set_index([*LABELS, "t"]).index]
    assert 0 < len(first) < len(whole)
    assert first["mean"].tolist() == there["mean"].tolist()
    with pytest.raises(InputError, match="needs 't', which the data set has not"):
        data.drop_vars("t").to_frame()


def test_some_seeds_have_a_table_at_the_horizon_alone(data):
    some = data.isel(seed=slice(0, 2))
    assert set(some.to_frame(final=True)["num_seeds"]) <= {0, 1, 2}
    with pytest.raises(InputError, match="are of all seeds, and the data set has some only"):
        some.to_frame()


def test_cells_that_have_not_run_have_no_numbers(tmp_path):
    cells = [cell("low", "p", 3, 10), cell("far", "p", 3, 10)]
    some = sweep(tmp_path / "s", cells, blocks=lambda policy, number: policy == "far")
    frame = some.to_frame()
    waiting = frame[frame["policy"] == "low"]
    assert set(waiting["num_seeds"]) == {0}
    assert waiting[["mean", "sem", "lower95"]].isna().all(axis=None)
    assert frame[frame["policy"] == "far"].notna().all(axis=None)


def test_csv_has_the_numbers_of_show_to_the_last_bit(data):
    text = encoded(data.to_frame(), "csv").decode()
    rows = [one for one in csv.DictReader(io.StringIO(text)) if one["t"] == one["horizon"]]
    names = [*LABELS, "num_arms", "mean", "sem", "lower95", "upper95"]
    found = {tuple(one[name] for name in names) for one in rows}
    shown = csv.DictReader(io.StringIO(show_csv(data)))
    assert found == {tuple(one[name] for name in names) for one in shown}


def test_parquet_is_the_same_table(data):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pandas

    frame = data.to_frame()
    again = pandas.read_parquet(io.BytesIO(encoded(frame, "parquet")))
    pandas.testing.assert_frame_equal(again, frame, check_exact=True)


def test_cells_without_a_label_have_the_defaults_that_others_of_their_policy_name(tmp_path):
    cells = [cell("dts", "gap", 5, 100), cell("dts", "gap", 5, 100, alpha=0.6, self_duels=False)]
    cells += [cell("rucb", "gap", 5, 100), cell("unknown", "gap", 5, 100)]
    cells += [cell("unknown", "gap", 5, 100, alpha=0.6)]
    frame = sweep(tmp_path / "r", cells).to_frame(final=True).set_index(["policy", "parameters"])
    usual = jd.policies.parameters("dts")
    assert frame.loc[("dts", ""), "alpha"] == usual["alpha"]
    assert frame["self_duels"].fillna("").tolist() == ["true", "false", "", "", ""]
    assert frame["alpha"].isna().tolist() == [False, False, True, True, False]


def test_a_selection_without_a_cell_has_a_table_without_rows(data):
    for nothing in ({"policy": []}, {"horizon": []}):
        assert data.isel(nothing).to_frame().empty


def test_parameters_of_generators_are_columns(tmp_path):
    arms = [f"one_better_arm(num_arms=2, best={best}, std=2.0)" for best in (0.5, 1)]
    drawn = [f"condorcet_hard(num_arms=3, gap=0.1, instance={i})" for i in (0, 1)]
    cells = [cell("dts", problem, 3, 10) for problem in (*arms, *drawn, "arxiv")]
    data = sweep(tmp_path / "s", cells)
    nan = np.nan
    expected = {
        "best": [0.5, 1, nan, nan, nan],
        "problem_std": [2, 2, nan, nan, nan],
        "gap": [nan, nan, 0.1, 0.1, nan],
        "instance": [nan, nan, 0, 1, nan],
    }
    frame = data.to_frame(final=True)
    for name, values in expected.items():
        assert data[name].dims == ("problem",)
        np.testing.assert_array_equal(data[name], values)
        np.testing.assert_array_equal(frame[name], values)
    assert not {"others", "num_batches", "weights"} & {*data.coords, *frame}
    some = data.sel(problem=data["problem"][data["gap"] == 0.1]).to_frame(final=True)
    assert some[["gap", "instance"]].values.tolist() == [[0.1, 0], [0.1, 1]]
    one = data.sel(problem=drawn[1]).to_frame(final=True)
    assert one[["num_arms", "instance"]].values.tolist() == [[3, 1]]
    rows = list(csv.DictReader(io.StringIO(show_csv(data))))
    assert [row["instance"] for row in rows] == ["nan", "nan", "0.0", "1.0", "nan"]
