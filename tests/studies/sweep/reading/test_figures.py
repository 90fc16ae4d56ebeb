from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy import stats

from jaxduel.errors import InputError
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.sweep.reading.figures import sweep_figure
from jaxduel.studies.sweep.reading.labels import family_of
from tests.studies.sweep.made_up import cell, sweep

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Batches, arms and horizons of two batched policies, and two that have no batches; ucb has
    not begun."""
    problems = [(f"btl(num_arms={k}, instance=0)", k) for k in (4, 8, 16)]
    cells = [cell(p, q, k, T, num_batches=b) for p in ("pcomp", "scomp2") for q, k in problems
             for T in (100, 10_000) for b in (2, 8)]  # fmt: skip
    cells += [
        cell("dts", q, k, T, alpha=0.51, tie="low") for q, k in problems for T in (100, 10_000)
    ]
    cells += [cell("rucb", "arxiv", 6, 100), cell("mine", "arxiv", 6, 100)]
    cells += [cell("ucb", "gap", 5, 100)]
    return sweep(
        tmp_path_factory.mktemp("curves") / "s",
        cells,
        definitions=lambda policy: ("copeland", "weak") if policy == "rucb" else ("copeland",),
        blocks=lambda policy, number: policy != "ucb",
    )


BTL = {"problem": ["btl"]}


def facets_of(figure):
    """The curves of each facet, by its title."""
    return {
        title: [line for _, line in some.groupby("line", sort=False)]
        for title, some in figure.points.groupby("facet", sort=False)
    }


def labels(figure):
    return {
        title: [line["curve"].iloc[0] for line in lines]
        for title, lines in facets_of(figure).items()
    }


def test_regret_at_the_horizon_by_arms(data):
    figure = sweep_figure(data, x="horizon", facet="K", **BTL)
    policies = ["pcomp[num_batches=2]", "pcomp[num_batches=8]", "scomp2[num_batches=2]",
                "scomp2[num_batches=8]", "dts"]  # fmt: skip
    assert labels(figure) == dict.fromkeys(["K = 4", "K = 8", "K = 16"], policies)
    assert figure.name == "curves-horizon-by-K-problem=btl"
    line = facets_of(figure)["K = 8"][3]
    final = data["final_regret"].sel(
        policy="scomp2", problem="btl(num_arms=8, instance=0)", parameters="num_batches=8",
        definition="copeland",
    ).values  # fmt: skip
    np.testing.assert_array_equal(line.x, [100, 10_000])
    np.testing.assert_allclose(line["mean"], final.mean(axis=1), rtol=1e-12)
    ends = stats.t.interval(0.95, 19, final.mean(axis=1), stats.sem(final, axis=1))
    np.testing.assert_allclose((line.lower95, line.upper95), ends, rtol=1e-9)


def test_regret_against_time_has_axes_for_every_setting(data):
    figure = sweep_figure(data, policy=["scomp2", "rucb"], facet="horizon")
    assert list(figure.titles) == ["T = 100, copeland", "T = 100, weak", "T = 1e4, copeland"]
    figure = sweep_figure(data, policy=["scomp2", "pcomp", "dts", "rucb"])
    assert list(facets_of(figure)) == [
        *(f"btl(num_arms={k}, instance=0), copeland" for k in (4, 8, 16)),
        "arxiv, copeland",
        "arxiv, weak",
    ]
    line = next(
        line
        for line in facets_of(figure)["btl(num_arms=4, instance=0), copeland"]
        if line["curve"].iloc[0] == "scomp2[num_batches=2], T = 1e4"
    )
    where = {"policy": "scomp2", "problem": "btl(num_arms=4, instance=0)", "horizon": 10_000}
    there = data.sel(where).sel(parameters="num_batches=2", definition="copeland")
    np.testing.assert_array_equal(line.x, there["t"])
    np.testing.assert_array_equal(line["mean"], there["regret_mean"])
    np.testing.assert_array_equal(line["sem"], there["regret_sem"])


def test_arms_across_join_the_problems_of_a_family(data):
    figure = sweep_figure(data, x="num_arms", horizon=[100], regret=["copeland"])
    assert list(facets_of(figure)) == ["btl(instance=0)", "arxiv"]
    for line in facets_of(figure)["btl(instance=0)"]:
        np.testing.assert_array_equal(line.x, [4, 8, 16])
    alone = sweep_figure(data, x="K", horizon=[100], policy=["dts"], facet="policy")
    assert labels(alone) == {"dts": ["dts"]}
    assert family_of("btl(num_arms=4)", ["num_arms"]) == "btl"
    assert family_of("matrix (1).csv") == "matrix (1).csv"


def test_policies_without_the_parameter_across_are_levels(data):
    figure = sweep_figure(data, x="batches", horizon=[100], **BTL)
    for title, lines in facets_of(figure).items():
        assert labels(figure)[title] == ["pcomp", "scomp2", "dts"]
        np.testing.assert_array_equal(lines[0].x, [2, 8])
        assert np.isnan(lines[2].x).all()
    assert ",dts,," in figure.csv()
    assert figure.x == "num_batches"


def test_what_is_neither_across_nor_a_facet_is_in_the_label(data):
    figure = sweep_figure(data, x="B", facet="K", policy=["scomp2"])
    assert labels(figure)["K = 4"] == ["scomp2, T = 100", "scomp2, T = 1e4"]
    figure = sweep_figure(data, x="horizon", facet="parameters", policy=["pcomp"])
    assert list(facets_of(figure)) == ["num_batches=2", "num_batches=8"]
    assert labels(figure)["num_batches=2"][1] == "pcomp, btl(num_arms=8, instance=0)"
    figure = sweep_figure(data, x="horizon", facet="tie", problem=["btl(num_arms=4, instance=0)"])
    assert list(facets_of(figure)) == ["tie = low", "without tie"]


def test_heat_maps_are_of_one_policy_each(data):
    figure = sweep_figure(data, x="batches", y="horizon", facet="K", kind="heatmap", **BTL)
    assert list(facets_of(figure)) == [
        f"{p}, K = {k}" for p in ("pcomp", "scomp2") for k in (4, 8, 16)
    ]
    default = sweep_figure(data, x="horizon", kind="heatmap", policy=["dts"])
    (line,) = facets_of(default)["dts"]
    assert sorted(line["num_arms"]) == [4, 4, 8, 8, 16, 16]


def test_csv_has_every_point_to_the_last_bit(data):
    figure = sweep_figure(data, x="t", facet="K", horizon=[10_000])
    rows = list(csv.DictReader(io.StringIO(figure.csv())))
    assert len(rows) == len(figure.points) == 5 * 3 * 12
    for one in rows:
        there = data.sel({k: one[k] for k in ("policy", "problem", "parameters", "definition")})
        there = there.sel(horizon=int(one["horizon"]))
        at = list(there["t"].values).index(float(one["t"]))
        assert float(one["mean"]) == float(there["regret_mean"][at])
        assert float(one["sem"]) == float(there["regret_sem"][at])
        assert (float(one["x"]), one["num_seeds"]) == (float(one["t"]), "20")


@pytest.mark.parametrize("kind", ["curves", "heatmap"])
def test_files(data, tmp_path, kind):
    figure = sweep_figure(data, x="batches", facet="K", kind=kind, horizon=[100, 10_000], **BTL)
    paths = figure.write(OutputFolder(tmp_path / "out"))
    assert [path.name for path in paths] == [f"{figure.name}.{s}" for s in ("png", "pdf", "csv")]
    starts = [path.read_bytes()[:4] for path in paths]
    assert starts == [b"\x89PNG", b"%PDF", b"face"]


def test_one_seed_without_regret_can_be_drawn(tmp_path):
    cells = [cell("dts", "gap", 5, T, alpha=a) for T in (1, 10) for a in (0.5, 0.6)]
    one = sweep(tmp_path / "s", cells, seeds=1, of=lambda cell, t, seeds: np.zeros((1, len(t))))
    for asked in ({"x": "t"}, {"x": "alpha"}, {"x": "alpha", "kind": "heatmap"}):
        figure = sweep_figure(one, **asked)
        assert figure.points["sem"].isna().all()
        assert figure.draw().axes


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "gamma"}, "unknown axis of a figure 'gamma'"),
        ({"x": "tie"}, "'tie' is not a number"),
        ({"x": "problem"}, "'problem' is not a number"),
        ({"x": "rule"}, "unknown axis of a figure 'rule'"),
        ({"facet": "rule"}, "unknown axis of a figure 'rule'"),
        ({"y": "rule", "kind": "heatmap"}, "unknown axis of a figure 'rule'"),
        ({"x": "K", "facet": "K"}, "cannot be both"),
        ({"x": "K", "facet": "t"}, "cannot be both"),
        ({"x": "K", "y": "horizon"}, "y is for heat maps"),
        ({"x": "t", "kind": "heatmap"}, "two different axes"),
        ({"x": "K", "y": "K", "kind": "heatmap"}, "two different axes"),
        ({"x": "K", "y": "horizon", "kind": "heatmap"}, "one definition of regret"),
        ({"x": "batches", "y": "alpha", "kind": "heatmap"}, "no policy that has run has both"),
        ({"policy": ["ucb"]}, "nothing of that has run yet"),
        ({"x": "t", "facet": "definition"}, "would have 30 curves"),
    ],
)
def test_what_cannot_be_drawn(data, asked, message):
    with pytest.raises(InputError, match=message):
        sweep_figure(data, **asked)


def test_time_of_arms_is_in_pulls(tmp_path):
    cells = [cell("base", "gaussian", 3, 100), cell("rucb", "arxiv", 6, 100)]
    regrets = {"base": ("pulls",), "rucb": ("copeland",)}
    mixed = sweep(tmp_path / "s", cells, definitions=lambda policy: regrets[policy])
    figure = sweep_figure(mixed).draw()
    assert [axes.get_xlabel() for axes in figure.axes] == ["pulls $t$", "comparisons $t$"]


def texts(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def heading(figure):
    return figure.legends[0].get_title().get_text()


def test_names_are_those_of_papers_and_the_heading_says_what_it_is(data):
    asked = {"policy": ["scomp2", "dts"], "horizon": [10_000]}
    figure = sweep_figure(data, problem=["btl(num_arms=4, instance=0)"], **asked).draw()
    assert texts(figure) == ["SCOMP2, B = 2", "SCOMP2, B = 8", "D-TS"]
    said = heading(figure).replace("\n", " ")
    assert said == "btl, K = 4, instance = 0, Copeland regret, 20 seeds, bands: 95 % of the mean"
    figure = sweep_figure(data, **asked).draw()
    assert [axes.get_title() for axes in figure.axes] == [
        f"btl, K = {k}, instance = 0" for k in (4, 8, 16)
    ]
    assert heading(figure) == "Copeland regret, 20 seeds, bands: 95 % of the mean"


def test_a_policy_is_drawn_once_unless_it_depends_on_the_horizon(data):
    one = {"problem": ["btl(num_arms=4, instance=0)"]}
    figure = sweep_figure(data, policy=["dts", "scomp2"], **one)
    batched = [f"scomp2[num_batches={b}], T = {t}" for t in ("100", "1e4") for b in (2, 8)]
    assert sorted(labels(figure)[""]) == sorted(["dts", *batched])
    assert max(line["x"].max() for line in facets_of(figure)[""]) == 10_000
    (axes,) = figure.draw().axes
    assert axes.get_xlim() == (1, 10_000)
    assert len(axes.lines) == 5


def test_many_horizons_have_axes_of_their_own(tmp_path):
    cells = [
        cell("pcomp", "gap", 5, T, num_batches=b) for T in (10, 100, 1000) for b in range(2, 7)
    ]
    figure = sweep_figure(sweep(tmp_path / "s", cells))
    assert list(figure.titles.values()) == ["T = 10", "T = 100", "T = $10^{3}$"]


def test_few_seeds_are_drawn_one_by_one(tmp_path):
    cells = [cell("dts", "gap", 5, 1000, alpha=a) for a in (0.6, 0.7)]
    few = sweep(tmp_path / "s", cells, seeds=3)
    drawn = sweep_figure(few, x="alpha").draw()
    (axes,) = drawn.axes
    assert len(axes.lines) == 1 + 3
    assert not axes.collections
    runs = np.array([line.get_ydata() for line in axes.lines[1:]])
    final = few["final_regret"].squeeze().values
    np.testing.assert_array_equal(runs, final.T)
    drawn = sweep_figure(few).draw()  # of the seeds the end alone is stored
    assert heading(drawn).replace("\n", " ").endswith("3 seeds, dots: single seeds at $T$")
    dots = [line for line in drawn.axes[0].lines if line.get_marker() == "."]
    ends = sorted(float(np.nanmax(line.get_ydata())) for line in dots)
    np.testing.assert_array_equal(ends, np.sort(final.ravel()))


def test_what_has_not_run_is_an_empty_frame(data):
    figure = sweep_figure(data, regret=["copeland"], policy=["rucb", "ucb"])
    assert list(figure.titles.values()) == ["arxiv", "gap"]
    first, second = figure.draw().axes
    assert len(first.lines) == 1
    assert [text.get_text() for text in second.texts] == ["has not run yet"]
    assert not second.lines


def test_maps_frame_the_least_and_name_what_they_leave_out(data):
    figure = sweep_figure(
        data, x="horizon", y="batches", kind="heatmap", problem=["btl(num_arms=4, instance=0)"]
    )
    assert figure.left_out == ["D-TS"]
    picture = figure.draw()
    said = {text.get_text().replace("\n", " ") for text in picture.texts}
    assert "left out, since they do not have both horizon $T$ and batches $B$: D-TS" in said
    assert any(text.endswith("framed: the least for each horizon $T$") for text in said)
    maps = [axes for axes in picture.axes if axes.images and axes.get_title()]
    assert [axes.get_title() for axes in maps] == ["PCOMP", "SCOMP2"]
    assert maps[0].images[0].norm is maps[1].images[0].norm
    values = np.array([axes.images[0].get_array() for axes in maps])
    framed = {
        (number, *(round(at + 0.46) for at in patch.get_xy()))
        for number, axes in enumerate(maps)
        for patch in axes.patches
    }
    lowest = values.min(axis=(0, 1))
    assert framed == {
        (int(m), int(x), int(y)) for m, y, x in np.argwhere(values == lowest[None, None])
    }


def test_maps_of_different_problems_have_scales_of_their_own(data):
    figure = sweep_figure(data, x="horizon", y="batches", kind="heatmap", policy=["pcomp"])
    maps = [axes for axes in figure.draw().axes if axes.images and axes.get_title()]
    assert len(maps) == 3
    assert len({axes.images[0].norm.vmax for axes in maps}) == 3


GAPS = (0.05, 0.1, 0.4)


@pytest.fixture(scope="module")
def gaps(tmp_path_factory):
    """Two policies on instances of two generators with a gap, and on one without; of one the gap is
    a parameter of its own, of the other std."""
    hard = [f"condorcet_hard(num_arms=4, gap={gap}, instance={i})" for gap in GAPS for i in (0, 1)]
    cycles = [f"copeland_cycle(num_arms=4, gap={gap})" for gap in GAPS[:2]]
    wide = [f"one_better_arm(num_arms=4, std={std})" for std in (1, 2)]
    problems = [*hard, *cycles, *wide, "arxiv"]
    own = {"mine": {"gap": 0.3, "num_batches": 4}, "yours": {"std": 2.0}}
    cells = [cell(name, q, 4, 100, **own[name]) for name in own for q in problems]
    return sweep(tmp_path_factory.mktemp("gaps") / "s", cells)


def test_parameters_of_generators_across(gaps):
    figure = sweep_figure(gaps, x="gap")
    families = [f"condorcet_hard(num_arms=4, instance={i})" for i in (0, 1)]
    families += ["copeland_cycle(num_arms=4)"]
    assert labels(figure) == {family: ["mine", "yours"] for family in families}
    lines = facets_of(figure)
    np.testing.assert_array_equal(lines[families[1]][0].x, GAPS)
    np.testing.assert_array_equal(lines[families[2]][0].x, GAPS[:2])
    there = gaps.sel(policy="yours", problem="condorcet_hard(num_arms=4, gap=0.4, instance=1)")
    final = there["final_regret"].dropna("parameters", how="all")
    assert lines[families[1]][1]["mean"].iloc[-1] == pytest.approx(float(final.mean()), rel=1e-12)
    assert "facet,curve,x,policy,parameters,problem,num_arms,horizon,instance,gap," in figure.csv()
    picture = sweep_figure(gaps, x="gap", problem=["copeland_cycle"]).draw()
    assert picture.axes[0].get_xlabel() == "gap"
    assert heading(picture).replace("\n", " ").startswith("copeland_cycle, K = 4, Copeland regret")


def test_parameters_of_generators_as_facets_and_in_maps(gaps):
    hard = {"problem": ["condorcet_hard"]}
    figure = sweep_figure(gaps, x="gap", facet="instance", **hard)
    assert list(figure.titles.values()) == ["instance = 0", "instance = 1"]
    picture = sweep_figure(gaps, x="gap", y="instance", kind="heatmap", **hard).draw()
    maps = [axes for axes in picture.axes if axes.images and axes.get_title()]
    assert [axes.images[0].get_array().shape for axes in maps] == [(2, 3)] * 2
    said = [text.get_text().replace("\n", " ") for text in picture.texts]
    assert any(text.endswith("framed: the least for each gap and instance") for text in said)
    figure = sweep_figure(gaps, x="horizon", facet="gap")
    assert list(figure.titles) == [*(f"gap = {gap}" for gap in GAPS), "without gap"]


def test_names_that_policies_and_generators_share(gaps):
    assert sweep_figure(gaps, x="gap").x == "gap"
    figure = sweep_figure(gaps, x="parameter_gap", problem=["arxiv"])
    assert (figure.points["x"].dropna().tolist(), figure.x) == ([0.3], "parameter_gap")
    with pytest.raises(InputError, match=r"name 'parameter_std' or 'problem_std'\.$"):
        sweep_figure(gaps, x="std")
    assert sweep_figure(gaps, x="problem_std").points["x"].unique().tolist() == [1, 2]
    assert sweep_figure(gaps, x="std", policy=["mine"]).x == "problem_std"
    assert sweep_figure(gaps, x="std", problem=["arxiv"]).x == "parameter_std"
    assert sweep_figure(gaps, x="gap", problem=["arxiv"]).x == "parameter_gap"
    known = "K, definition, horizon, num_batches, parameter_gap, parameter_std, parameters, policy"
    with pytest.raises(InputError, match=f"axis of a figure 'best': known are {known}"):
        sweep_figure(gaps, x="best", problem=["arxiv"])
