"""Sweeps that identify arms: their data set, tables and figures."""

import csv
import io
from dataclasses import asdict

import jax
import numpy as np
import pandas
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.stats import paired_shares, wilson95
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, open_sweep, run_sweep
from jaxduel.studies.sweep.reading.compare import compare
from jaxduel.studies.sweep.reading.figures import sweep_figure, sweep_figures
from jaxduel.studies.sweep.reading.table import show_csv, show_lines

pytestmark = pytest.mark.usefixtures("quick_compilation")


def small(seeds=10, votes=300, **settings):
    """Two cells of RUCB in three blocks, and one of round-robin."""
    return Grid(
        policies=(
            PolicyEntry(name="rucb", parameters={"alpha": (0.51, 1.0)}),
            PolicyEntry(name="round-robin"),
        ),
        problems=ProblemEntry(name="cyclic"),
        identify=True,
        votes=votes,
        checkpoints=(20, 100),
        recommend=("copeland", "btl"),
        stop="condorcet",
        lanes=4,
        num_seeds=seeds,
        **settings,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    assert run_sweep(small(), folder, devices=jax.devices()[:1]).complete
    return folder


@pytest.fixture
def data(folder):
    return open_sweep(folder)


@pytest.fixture(scope="module")
def founds():
    asked = {"votes": 300, "num_seeds": 10, "checkpoints": [20, 100, 300], "stop": "condorcet"}
    policies = {
        ("rucb", "alpha=0.51"): jd.policies.make("rucb", num_arms=4, alpha=0.51),
        ("rucb", "alpha=1.0"): jd.policies.make("rucb", num_arms=4, alpha=1.0),
        ("round-robin", ""): jd.policies.make("round-robin", num_arms=4),
    }
    problem = jd.problems.load("cyclic")
    return {
        labels: jd.identify(policy, problem, recommend=["copeland", "btl"], lanes=4, **asked)
        for labels, policy in policies.items()
    }


def test_the_data_set_is_what_identify_finds(data, founds):
    for (policy, parameters), found in founds.items():
        cell = data.sel(policy=policy, parameters=parameters, problem="cyclic", horizon=300)
        for rule, named in found.named.items():
            np.testing.assert_array_equal(cell.named.sel(rule=rule), named)
            np.testing.assert_array_equal(
                cell.probability.sel(rule=rule), found.probability(rule)[0]
            )
        np.testing.assert_array_equal(cell.cast, found.cast)
        np.testing.assert_array_equal(cell.stopped, found.stops.at)
        assert float(cell.share_stopped) == (found.stops.at >= 0).mean()
        wrong = (found.stops.named >= 0) & ~np.isin(found.stops.named, found.truth.best)
        assert float(cell.share_wrong) == wrong.mean()


def test_the_table_is_that_of_identify(data, founds):
    frame = data.to_frame()
    assert len(frame) == 3 * 2 * 3
    for (policy, parameters), found in founds.items():
        mine = frame[(frame["policy"] == policy) & (frame["parameters"] == parameters)]
        theirs = found.to_frame()
        exact = ["rule", "votes", "num_seeds", "probability", "lower95", "upper95", "num_arms"]
        for name in exact:
            assert mine[name].tolist() == theirs[name].tolist()
        for name in ("simple_regret", "tau"):
            np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-6)
    final = data.sel(policy="rucb", rule="btl").to_frame(final=True)
    assert final["votes"].tolist() == [300, 300]
    assert final["alpha"].tolist() == [0.51, 1.0]


def test_a_table_does_not_depend_on_the_order_of_dimensions(data):
    stopped = data["share_stopped"]
    shares = np.arange(stopped.size).reshape(stopped.shape) / stopped.size
    told = data.assign(share_stopped=stopped.copy(data=shares))
    frame, turned = told.to_frame(), told.transpose("parameters", "policy", ...).to_frame()
    assert turned["share_stopped"].tolist() == frame["share_stopped"].tolist()


def test_votes_needed_are_those_of_identify(data, founds):
    needed = data.needed(0.7)
    assert len(needed) == 3 * 2
    for one in needed.to_dict("records"):
        found = founds[one["policy"], one["parameters"]].needed(one["rule"], 0.7)
        np.testing.assert_allclose([one["needed"], one["lower95"], one["upper95"]], found)
    with pytest.raises(InputError, match="target must be a probability"):
        data.needed(1.0)


def test_a_sweep_that_was_stopped_goes_on_to_the_same_bits(folder, tmp_path):
    run_sweep(small(6), tmp_path, devices=jax.devices()[:1])
    some = open_sweep(tmp_path).to_frame(final=True)
    assert set(some["num_seeds"]) == {6}
    assert run_sweep(small(), tmp_path, extend_seeds=True, devices=jax.devices()[:1]).complete
    names = [sorted(path.name for path in (one / "blocks").iterdir()) for one in (folder, tmp_path)]
    assert names[0] == names[1]  # which hold checksums


def test_cells_that_have_not_run_are_shown_as_such(tmp_path):
    outcome = run_sweep(small(), tmp_path, shard=(1, 6), devices=jax.devices()[:1])
    assert not outcome.complete
    data = open_sweep(tmp_path)
    frame = data.to_frame(final=True)
    ran = frame["num_seeds"] > 0
    assert 0 < ran.sum() < len(frame)
    assert frame.loc[~ran, ["probability", "lower95", "upper95"]].isna().all(axis=None)
    assert len(data.needed(0.9)) == ran.sum()
    assert any(line.rstrip().endswith("-") for line in show_lines(data))
    assert sweep_figure(data).points["mean"].notna().all()


def test_it_is_shown_as_text_and_as_csv(data, founds):
    lines = show_lines(data)
    assert lines[0] == "finished: 3 cells of 10 seeds each"
    found = founds["rucb", "alpha=0.51"]
    share, low, high = (values[-1] for values in found.probability("btl"))
    row = next(line for line in lines if "alpha=0.51" in line and " btl " in line)
    assert f"{share:.3f} [{low:.3f}, {high:.3f}]" in row
    assert row.split()[-2] == f"{(found.stops.at >= 0).mean():.1%}"
    table = pandas.read_csv(io.StringIO(show_csv(data, rule=("btl",))))
    assert table["rule"].tolist() == ["btl"] * 3
    ends = wilson95(np.rint(table["probability"] * 10), 10)
    one_ulp = np.testing.assert_array_max_ulp  # pandas before 4 reads numbers no more exactly
    one_ulp(table[["lower95", "upper95"]].to_numpy().T, np.array(ends))
    one_ulp(table["needed"], np.array([f.needed("btl", 0.95)[0] for f in founds.values()]))


def test_policies_are_compared_by_the_seeds_that_name_a_wrong_arm(data, founds):
    policies = ("rucb", "alpha=1.0"), ("round-robin", "")
    names = "rucb[alpha=1.0]", "round-robin"
    for checkpoints in (1, 3):  # the last vote of a part is that of its last checkpoint
        part = data.isel(checkpoint=slice(checkpoints))
        comparison = compare(part, *names)
        assert comparison.differences["rule"].tolist() == ["copeland", "btl"]
        for one in comparison.differences.to_dict("records"):
            a, b = (1.0 - founds[p].correct[one["rule"]][:, checkpoints - 1] for p in policies)
            expected = paired_shares(a, b)
            assert {name: one[name] for name in asdict(expected)} == asdict(expected)
            assert one["verdict"] == expected.verdict
    early = compare(data.isel(checkpoint=0), *names)
    numbers = early.differences.iloc[1]
    assert numbers["mean_a"] != numbers["mean_b"]
    header, _, row, *rest = early.lines()
    assert header.split() == [
        *("problem", "votes", "rule", "seeds", *names, "difference", "verdict", "tighter")
    ]
    shown = [f"{numbers[name]:.3f}" for name in ("mean_a", "mean_b", "difference")]
    ends = [f"[{numbers['lower95']:.3f},", f"{numbers['upper95']:.3f}]"]
    assert row.split()[2:9] == ["btl", "10", *shown, *ends]
    assert "wrong arm named: better in" in " ".join(rest)
    only = compare(data, *names, rule=["btl"])
    (line,) = csv.DictReader(io.StringIO(only.csv()))
    assert (line["rule"], line["num_seeds"]) == ("btl", "10")


def test_the_best_arms_are_told(data):
    np.testing.assert_array_equal(data["is_best"].sel(problem="cyclic"), [1, 0, 0, 0])


def test_what_is_of_regret_is_refused(data):
    with pytest.raises(InputError, match=r"^a heat map is of regret"):
        sweep_figure(data, x="alpha", kind="heatmap")
    for axis in ("x", "facet"):
        with pytest.raises(InputError, match=r"^unknown axis of a figure 'definition'"):
            sweep_figure(data, **{axis: "definition"})
    with pytest.raises(InputError, match="no definitions of it"):
        show_lines(data, regret=("copeland",))
    with pytest.raises(InputError, match=r"unknown rule 'bt'.*'btl'"):
        show_lines(data, rule=("bt",))


def test_figures_are_the_probability_and_the_votes_needed(data, founds, tmp_path):
    named, needed = sweep_figures(data)
    assert (named.name, needed.name) == ("named-votes", "needed-alpha")
    figure = named.draw()
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "votes")
    lines = [line for line in axes.lines if len(line.get_xdata())]
    assert len(lines) == 3 * 2
    shares = [f.probability(rule)[0] for rule in ("copeland", "btl") for f in founds.values()]
    drawn = sorted(tuple(np.asarray(line.get_ydata())) for line in lines)
    assert drawn == sorted(map(tuple, shares))
    assert len(figure.legends[0].get_texts()) == 3 + 2
    points = needed.points[needed.points["rule"] == "btl"]
    values = [f.needed("btl", 0.9)[0] for f in founds.values()]
    assert points["mean"].tolist() == values
    (axes,) = needed.draw().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == (r"$\alpha$", "votes for P = 0.9")
    paths = needed.write(OutputFolder(tmp_path))
    assert [path.suffix for path in paths] == [".png", ".pdf", ".csv"]


def test_figures_say_votes_and_where_they_are_not_enough(tmp_path):
    assert run_sweep(small(votes=(20, 300)), tmp_path, devices=jax.devices()[:1]).complete
    data = open_sweep(tmp_path)
    few, enough = sweep_figure(data, x="alpha").draw().axes
    assert [axes.get_title() for axes in (few, enough)] == ["votes = 20", "votes = 300"]
    assert [text.get_text() for text in few.texts] == ["P = 0.9 is not reached"]
    assert enough.lines
    (axes,) = sweep_figure(data, x="horizon").draw().axes
    assert axes.get_xlabel() == "votes"


def test_a_sweep_of_regret_has_no_rules(tmp_path):
    grid = Grid(
        policies=PolicyEntry(name="round-robin"),
        problems=ProblemEntry(name="cyclic"),
        horizons=20,
        num_seeds=2,
    )
    run_sweep(grid, tmp_path, devices=jax.devices()[:1])
    data = open_sweep(tmp_path)
    with pytest.raises(InputError, match="has no rules"):
        show_lines(data, rule=("btl",))
    with pytest.raises(InputError, match="measures regret"):
        data.needed(0.9)
