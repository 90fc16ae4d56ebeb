import csv
import io
import itertools
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import jaxduel as jd
from jaxduel import plotting
from jaxduel.experiments import papers
from jaxduel.plotting import (
    STYLES,
    Bar,
    BarsPanel,
    Curve,
    HeatMap,
    HeatPanel,
    Panel,
    Reference,
    SharesPanel,
    Stack,
    SweepBound,
    SweepCurve,
    SweepPanel,
    bars_figure,
    heat_figure,
    regret_figure,
    shares_figure,
    style_of,
    sweep_figure,
)


def made_up(policy: str, scale: float, num_seeds: int = 20) -> jd.Result:
    rng = np.random.default_rng(int(scale))
    times = np.array([1, 10, 100, 1_000, 10_000])
    regret = np.cumsum(rng.exponential(scale, (num_seeds, len(times))), axis=1)
    plays = np.zeros((num_seeds, len(times), 3), np.int64)
    return jd.Result(policy, "toy", 10_000, 0, "average", times, regret, plays)


CURVES = [Curve.from_result(made_up("rucb", 5.0)), Curve.from_result(made_up("btm", 90.0))]


def test_every_policy_has_a_colour_of_its_own():
    colors = [style.color.upper() for style in STYLES.values()]
    assert len(set(colors)) == len(colors)
    for first, second in itertools.combinations(colors, 2):
        difference = np.subtract(to_rgb(first), to_rgb(second))
        assert np.abs(difference).max() > 0.05, (first, second)


@pytest.mark.parametrize("paper", papers.names())
def test_policies_that_share_figures_have_styles_that_were_chosen(paper):
    groups = [group for panel in papers.load(paper).panels for group in panel.groups]
    assert {c.policy for group in groups for c in group.competitors} <= set(STYLES)


def test_policies_of_one_figure_differ_in_line_or_marker_too():
    for names in (
        ("pcomp", "scomp", "scomp2", "rmed1", "rucb", "rucb[unseen=2]", "btm"),
        ("scomp2[num_batches=2]", "scomp2[num_batches=8]", "scomp2", "rmed1"),
        ("dts", "dts+", "pure-dts", "rucb", "rcs", "ccb", "scb", "ecw-rmed", "savage", "sparring"),
        ("dts", "ecw-rmed", "ecw-rmed[shuffle_arms=false]", "rmed1", "btm"),
        ("base", "base[grid=geometric]", "base[grid=arithmetic]", "ucb1"),
        ("base", "base[grid=geometric]", "etc", "etc[grid=geometric]", "ucb1"),
    ):
        looks = {STYLES[name][1:] for name in names}
        assert len(looks) == len(names)


def test_a_policy_of_ones_own_has_the_same_style_each_time():
    assert style_of("epsilon-duel") == style_of("epsilon-duel")
    assert style_of("epsilon-duel").color not in {style.color for style in STYLES.values()}


def test_table_has_the_numbers_of_the_result():
    result = made_up("rucb", 5.0)
    rows = list(csv.DictReader(io.StringIO(plotting.table([Curve.from_result(result)]))))
    assert [int(row["t"]) for row in rows] == result.checkpoints.tolist()
    assert {row["policy"] for row in rows} == {"rucb"}
    assert {row["num_seeds"] for row in rows} == {"20"}
    for column, expected in (
        ("mean", result.mean),
        ("sem", result.sem),
        ("std", result.std),
        ("median", result.quantile(0.5)),
        ("q25", result.quantile(0.25)),
        ("q75", result.quantile(0.75)),
    ):
        np.testing.assert_array_equal([float(row[column]) for row in rows], expected)
    half = 2.093024 * result.sem  # Student's t, 19 degrees of freedom
    np.testing.assert_allclose(
        [float(row["upper95"]) for row in rows], result.mean + half, rtol=1e-6
    )


def test_files_are_the_same_bytes_each_time():
    files = [
        (plotting.png(figure, dpi=60), plotting.pdf(figure))
        for figure in (regret_figure([Panel(CURVES)]), regret_figure([Panel(CURVES)]))
    ]
    assert files[0] == files[1]
    assert b"CreationDate" not in files[0][1]


def test_drawing_leaves_no_global_state():
    before = dict(mpl.rcParams)
    regret_figure([Panel(CURVES)])
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_legend_covers_no_axes_and_text_is_readable(number):
    figure = regret_figure([Panel(CURVES, title=f"({i})") for i in range(number)])
    width = plotting.COLUMN_WIDTH if number == 1 else plotting.PAGE_WIDTH
    assert figure.get_figwidth() == width
    assert len(figure.axes) == number
    (legend,) = figure.legends
    box = legend.get_window_extent()
    for axes in figure.axes:
        assert not box.overlaps(axes.get_window_extent())
        assert all(label.get_fontsize() >= 7 for label in axes.get_xticklabels())
        assert axes.yaxis.label.get_fontsize() >= 7
    assert all(text.get_fontsize() >= 7 for text in legend.get_texts())
    assert [text.get_text() for text in legend.get_texts()] == ["RUCB", "BTM"]


def test_legend_of_long_labels_stays_within_the_column():
    labels = ("SCOMP2, B = 2", "SCOMP2, B = 8", "SCOMP2, B = 16", "RMED1")
    figure = regret_figure([Panel([replace(CURVES[0], label=label) for label in labels])])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_window_extent().x1


def test_lines_of_a_legend_are_equally_full():
    panel = Panel([replace(CURVES[0], label=f"policy {number}") for number in range(7)])
    figure = regret_figure([panel, panel])
    figure.draw_without_rendering()
    heights = [round(text.get_window_extent().y0) for text in figure.legends[0].get_texts()]
    assert sorted(map(heights.count, set(heights))) == [3, 4]


def test_axes_have_labels_scales_and_lines_to_compare_with():
    references = [Reference("bound", 12.0), Reference("theory", CURVES[0].mean, CURVES[0].times)]
    panel = Panel(CURVES, references=references, time_scale="log", regret_scale="linear")
    (axes,) = regret_figure([panel]).axes
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "linear"
    assert axes.get_xlabel() == "comparisons $t$"
    assert "regret" in axes.get_ylabel()
    assert {"bound", "theory"} <= set(axes.get_legend_handles_labels()[1])
    (linear,) = regret_figure([Panel(CURVES)]).axes
    assert linear.get_xlabel() == "comparisons $t$ (thousands)"
    assert linear.get_xlim() == (0, 10_000)


def test_one_seed_has_a_curve_and_no_band():
    curve = Curve.from_result(made_up("rucb", 5.0, num_seeds=1))
    (axes,) = regret_figure([Panel([curve])]).axes
    assert len(axes.lines) == 1
    assert not axes.collections


def test_a_figure_without_curves_is_refused():
    with pytest.raises(jd.InputError, match="at least one panel"):
        regret_figure([])
    with pytest.raises(jd.InputError, match="at least one curve"):
        regret_figure([Panel([])])
    with pytest.raises(jd.InputError, match="at least one bar"):
        bars_figure([BarsPanel(["a"], [])])


def test_separate_runs_are_points_with_error_bars_inside_the_axes():
    points = replace(CURVES[1], separate=True)
    figure = regret_figure([Panel([points, CURVES[0]], time_scale="log")])
    (axes,) = figure.axes
    (container,) = axes.containers
    line, _, (bars,) = container.lines
    assert line.get_linestyle() == "None"
    np.testing.assert_array_equal(line.get_ydata(), points.mean)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 1], points.upper95)
    assert axes.get_xlim()[0] < points.times[0]
    assert axes.get_xlim()[1] > points.times[-1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["BTM", "RUCB"]


def test_a_tall_legend_leaves_the_axes_their_height():
    curves = [replace(CURVES[0], label=f"P{i}") for i in range(11)]
    few, many = (regret_figure([Panel(chosen)]) for chosen in (curves[:3], curves))
    assert many.get_figheight() > few.get_figheight()
    heights = [figure.axes[0].get_window_extent().height for figure in (few, many)]
    assert heights[1] > 0.85 * heights[0]


def test_bars_stand_side_by_side_in_their_groups():
    values = {"dts": [1.0, 4.0], "dts+": [2.0, 0.5], "rucb": [3.0, 9.0]}
    bars = [
        Bar(name, name.upper(), np.array(v), 0.9 * np.array(v), 1.2 * np.array(v))
        for name, v in values.items()
    ]
    figure = bars_figure([BarsPanel(["one", "two"], bars, label="STD")])
    (axes,) = figure.axes
    patches = {p.get_x(): p for p in axes.patches}
    assert [patches[x].get_height() for x in sorted(patches)] == [1, 2, 3, 4, 0.5, 9]
    ends = [(x, x + patches[x].get_width()) for x in sorted(patches)]
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["one", "two"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["DTS", "DTS+", "RUCB"]
    assert axes.get_yscale() == "log"


def test_shares_are_stacked_to_the_whole():
    stacks = [
        Stack("dts", "D-TS", np.array([0.5, 0.3, 0.2]), ["arm 1", "arm 3", "arm 2"]),
        Stack("dts+", "D-TS+", np.array([0.97, 0.03, 0.0]), ["arm 2", "arm 1", "arm 3"]),
    ]
    figure = shares_figure([SharesPanel(stacks, "(a)", "share")])
    (axes,) = figure.axes
    tops = [p.get_y() + p.get_height() for p in axes.patches]
    np.testing.assert_allclose(tops, [0.5, 0.8, 1.0, 0.97, 1.0, 1.0])
    words = [text.get_text() for text in axes.texts]
    assert words == ["arm 1", "arm 3", "arm 2", "arm 2"]  # no room for 3 %
    assert not figure.legends


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_all_kinds_of_figures_can_be_written(kind):
    one = np.ones(1)
    for figure in (
        bars_figure([BarsPanel(["a"], [Bar("dts", "D-TS", one, one * np.nan, one * np.nan)])]),
        shares_figure([SharesPanel([Stack("dts", "D-TS", np.zeros(2), ["a", "b"])])]),
    ):
        content = plotting.png(figure, dpi=60) if kind == "png" else plotting.pdf(figure)
        assert len(content) > 1000


def test_lines_to_compare_with_look_different_and_are_in_the_table():
    times = CURVES[0].times
    references = [Reference(name, CURVES[0].mean, times) for name in ("LB", "ECWB")]
    (axes,) = regret_figure([Panel(CURVES, references=references)]).axes
    one, other = (line for line in axes.lines if line.get_label() in ("LB", "ECWB"))
    assert one.get_color() != other.get_color()
    assert one.get_zorder() > other.get_zorder()
    rows = list(csv.DictReader(io.StringIO(plotting.table(CURVES, references))))
    assert [row["policy"] for row in rows[-len(times) :]] == ["ECWB"] * len(times)
    assert float(rows[-1]["mean"]) == CURVES[0].mean[-1]
    assert rows[-1]["num_seeds"] == ""


def test_curves_may_leave_the_picture():
    panel = Panel(CURVES, time_scale="log", regret_scale="linear", top=30.0)
    (axes,) = regret_figure([panel]).axes
    assert axes.get_ylim() == (0, 30)
    assert max(line.get_ydata().max() for line in axes.lines) > 30


def test_a_definition_with_a_factor_has_its_own_label():
    (axes,) = regret_figure([Panel(CURVES, definition="2 copeland")]).axes
    assert "cpld" in axes.get_ylabel()


def swept(name: str, label: str, **columns: list[float]) -> SweepCurve:
    at = np.array(columns.get("at", [2, 3, 5]))
    mean = np.array(columns.get("mean", [0.6, 0.2, 0.1]))
    return SweepCurve(
        name=name, label=label, at=at, mean=mean, lower95=0.9 * mean, upper95=1.2 * mean
    )


def test_sweeps_have_bands_and_ticks_where_something_was_tried():
    panel = SweepPanel(curves=[swept("base", "BaSE")], across="batches $M$", up="regret")
    (axes,) = sweep_figure([panel]).axes
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_ydata(), [0.6, 0.2, 0.1])
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.min() == pytest.approx(0.09)
    assert ends.max() == pytest.approx(0.72)
    assert axes.get_xticks().tolist() == [2, 3, 5]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "regret"


def test_bands_of_a_sweep_end_where_the_intervals_do_on_a_logarithmic_axis():
    curve = swept("dts", "D-TS", at=[1, 10, 100], mean=[5.0, 6.0, 9.0])
    panel = SweepPanel(curves=[curve], title="(a)", across="delay", across_scale="log")
    figure = sweep_figure([panel, panel])
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_ylim()[0] == 0
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices
    for at, low, high in zip(curve.at, curve.lower95, curve.upper95, strict=True):
        here = ends[ends[:, 0] == at, 1]
        np.testing.assert_allclose([here.min(), here.max()], [low, high])
    assert figure.get_figwidth() == plotting.PAGE_WIDTH


def test_labels_of_final_regret_say_so():
    assert plotting.regret_label("copeland", final=True) == "Copeland regret $R(T)$, normalised"
    assert "$R(t)" in plotting.regret_label("borda")


def test_each_panel_of_a_sweep_has_its_own_label_below():
    curves = [swept("base", "BaSE")]
    panels = [SweepPanel(curves=curves, across=what) for what in ("M", "K", "T", "M")]
    assert [axes.get_xlabel() for axes in sweep_figure(panels).axes] == ["M", "K", "T", "M"]


def test_bounds_of_a_sweep_are_thin_lines_of_the_policys_colour():
    bound = SweepBound("base", "bound", np.array([2, 3, 5]), np.array([0.03, 0.02, 0.01]))
    panel = SweepPanel(curves=[swept("base", "BaSE")], bounds=[bound], up_scale="log")
    figure = sweep_figure([panel])
    (axes,) = figure.axes
    measured, compared = axes.lines
    assert compared.get_color() == measured.get_color()
    assert compared.get_linewidth() < measured.get_linewidth()
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["BaSE", "bound"]


def test_a_logarithmic_axis_shows_whole_decades_of_numbers_close_together():
    panel = SweepPanel(curves=[swept("base", "BaSE")], up_scale="log")
    (axes,) = sweep_figure([panel]).axes
    np.testing.assert_allclose(axes.get_ylim(), [0.01, 1])


def test_a_wide_legend_stays_within_the_page():
    names = [f"{policy} {grid}" for policy in ("BaSE", "ETC") for grid in ("minimax", "geometric")]
    curves = [swept("base", name) for name in (*names, "BaSE arithmetic", "UCB1")]
    figure = sweep_figure([SweepPanel(curves=curves)] * 2)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_window_extent().x1


def heats(kind, *values, sure=None, choices=()) -> HeatPanel:
    maps = [HeatMap(f"map {i}", np.array(v, float), sure) for i, v in enumerate(values)]
    return HeatPanel(
        maps=maps, kind=kind, label="what", across="M", up="T", columns=["2", "3", "4"],
        rows=["10", "100"], title="(a) maps", choices=choices,
    )  # fmt: skip


CELLS = [[1, 2, 3], [4, 5, np.nan]]


def test_maps_of_a_row_share_a_scale_of_colours():
    figure = heat_figure([heats("amount", CELLS, np.multiply(CELLS, 2))])
    first, second, bar = figure.axes
    for axes in (first, second):
        (image,) = axes.images
        assert image.get_clim() == (1, 10)
        assert image.origin == "lower"
    assert [label.get_text() for label in first.get_yticklabels()] == ["10", "100"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["", ""]
    assert [label.get_text() for label in second.get_xticklabels()] == ["2", "3", "4"]
    assert bar.get_ylabel() == "what"
    assert "(a) maps" in {text.get_text() for text in figure.texts}


def test_ratios_are_white_where_they_are_one():
    figure = heat_figure([heats("ratio", CELLS, np.negative(CELLS) / 10)])
    (image,) = figure.axes[0].images
    assert image.get_clim() == (-5, 5)
    np.testing.assert_allclose(image.to_rgba(np.zeros(1))[0], [0.97, 0.97, 0.97, 1], atol=0.01)


def test_choices_have_colours_and_are_paler_where_they_are_not_sure():
    sure = np.array([[True, False, True], [True, True, True]])
    best = [[0, 0, 1], [2, 1, np.nan]]
    figure = heat_figure([heats("choice", best, sure=sure, choices=("a", "b", "c"))])
    (axes,) = figure.axes
    cells = axes.images[0].get_array()
    colors = [to_rgb(color) for color in ("#00507A", "#E69F00", "#7FBF9B")]
    np.testing.assert_allclose(cells[0, 0], [*colors[0], 1])
    np.testing.assert_allclose(cells[0, 2], [*colors[1], 1])
    np.testing.assert_allclose(cells[1, 0], [*colors[2], 1])
    assert (cells[0, 1, :3] > cells[0, 0, :3]).all()
    assert cells[1, 2, 3] == 0
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]


def test_rows_of_maps_have_their_columns_below_each_other():
    panels = [
        heats("amount", CELLS, CELLS), heats("choice", np.zeros((2, 3)), CELLS, choices=["a"]),
    ]  # fmt: skip
    figure = heat_figure(panels)
    assert figure.get_figwidth() == plotting.PAGE_WIDTH
    boxes = [axes.get_position() for axes in figure.axes if axes.images]
    assert boxes[0].x0 == boxes[2].x0
    assert boxes[1].x1 == boxes[3].x1
    assert boxes[0].y0 > boxes[2].y1
    assert [axes.get_xlabel() for axes in figure.axes if axes.images] == ["", "", "M", "M"]


def test_maps_without_numbers_can_be_drawn():
    nothing = np.full((2, 3), np.nan)
    panels = [heats(kind, nothing, choices=["a"]) for kind in ("amount", "ratio", "choice")]
    assert len(plotting.png(heat_figure(panels), dpi=60)) > 1000


def test_sweeps_and_maps_are_the_same_bytes_each_time():
    def files():
        for figure in (
            sweep_figure([SweepPanel(curves=[swept("base", "BaSE")])]),
            heat_figure([heats("ratio", CELLS), heats("choice", CELLS, choices=["a"] * 6)]),
        ):
            yield plotting.png(figure, dpi=60), plotting.pdf(figure)

    assert list(files()) == list(files())


def test_figures_of_nothing_are_refused():
    with pytest.raises(jd.InputError, match="at least one curve"):
        sweep_figure([SweepPanel(curves=[])])
    for panels in ([], [heats("amount")], [heats("amount", CELLS), heats("amount", CELLS, CELLS)]):
        with pytest.raises(jd.InputError, match="same number of maps"):
            heat_figure(panels)


def looks(figure) -> list[tuple[str, str]]:
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    return [(line.get_color(), str(line._dash_pattern)) for line in lines]


def test_curves_of_one_policy_with_other_parameters_are_told_apart():
    problem = jd.problems.load("arxiv")
    policies = [
        jd.policies.make("pcomp", num_arms=6, horizon=200, num_batches=b) for b in (2, 8, 16)
    ]
    results = jd.simulate_many(policies, problem, num_seeds=4, lanes=4, regret="average")
    curves = [Curve.from_result(result) for result in results]
    assert [curve.label for curve in curves] == ["PCOMP, B = 2", "PCOMP, B = 8", "PCOMP, B = 16"]
    assert [curve.name for curve in curves] == [f"pcomp[num_batches={b}]" for b in (2, 8, 16)]
    for figure in (regret_figure([Panel(curves)]), plotting.results_figure(results)):
        assert len(set(looks(figure))) == 3
        assert len({look[0] for look in looks(figure)}) == 3
    (alone,) = looks(results[0].plot())
    assert alone[0] == STYLES["pcomp"].color
    shared = looks(regret_figure([Panel(curves), Panel(curves[1:])]))
    assert shared[1:3] == shared[3:]
    rows = csv.DictReader(io.StringIO(plotting.table(curves)))
    assert len({row["policy"] for row in rows}) == 3


def test_labels_say_what_tells_results_apart():
    def label(**made):
        given = {"policy": {"parameters": {"alpha": 0.6}, "changed": ["alpha"]}, **made}
        return replace(made_up("rucb", 5.0), made_by=given)

    def labels(*results):
        return [curve.label for curve in plotting.result_curves(results)]

    assert labels(label(delay=4), label()) == [
        r"RUCB, $\alpha$ = 0.6, delay = 4", r"RUCB, $\alpha$ = 0.6",
    ]  # fmt: skip
    assert labels(label(seed=1), label(seed=2)) == [
        rf"RUCB, $\alpha$ = 0.6, seed = {seed}" for seed in (1, 2)
    ]
    plain = made_up("rucb", 5.0)
    assert labels(plain, replace(plain, problem="gap")) == [
        "RUCB, problem = toy", "RUCB, problem = gap",
    ]  # fmt: skip
    assert labels(plain, plain) == ["RUCB", "RUCB (2)"]


def test_results_of_several_problems_have_axes_of_their_own():
    results = [made_up("rucb", 5.0), replace(made_up("rucb", 6.0), problem="gap")]
    figure = plotting.results_figure(results)
    assert [axes.get_title() for axes in figure.axes] == ["toy", "gap"]
