"""Figures of results: what tells them apart."""

from dataclasses import replace

import pytest

import jaxduel as jd
from jaxduel import plotting
from jaxduel.plotting import STYLES, draw, regret_panel
from jaxduel.simulation.figures import figure_lines
from tests.plotting.cases import line_of, made_up

pytestmark = pytest.mark.usefixtures("quick_compilation")


def looks(figure) -> list[tuple[str, str]]:
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    return [(line.get_color(), str(line._dash_pattern)) for line in lines]


@pytest.mark.thorough
def test_curves_of_one_policy_with_other_parameters_are_told_apart():
    problem = jd.problems.load("arxiv")
    policies = [
        jd.policies.make("pcomp", num_arms=6, horizon=200, num_batches=b) for b in (2, 8, 16)
    ]
    results = jd.simulate_many(policies, problem, num_seeds=8, lanes=8, regret="average")
    curves = [line_of(result) for result in results]
    assert [curve.label for curve in curves] == ["PCOMP, B = 2", "PCOMP, B = 8", "PCOMP, B = 16"]
    assert [curve.name for curve in curves] == [f"pcomp[num_batches={b}]" for b in (2, 8, 16)]
    for figure in (draw([regret_panel(curves)]), plotting.results_figure(results)):
        assert len(set(looks(figure))) == 3
        assert len({look[0] for look in looks(figure)}) == 3
    (alone,) = looks(results[0].plot())
    assert alone[0] == STYLES["pcomp"].color
    shared = looks(draw([regret_panel(curves), regret_panel(curves[1:])]))
    assert shared[1:3] == shared[3:]


def test_labels_say_what_tells_results_apart():
    def label(**made):
        given = {"policy": {"parameters": {"alpha": 0.6}, "changed": ["alpha"]}, **made}
        return replace(made_up("rucb", 5.0), made_by=given)

    def labels(*results):
        return [curve.label for curve in plotting.result_lines(results)]

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
    assert [axes.get_title() for axes in figure.axes] == ["toy, $K=3$", "gap, $K=3$"]
    alike = [
        replace(made_up("rucb", 5.0), made_by={"problem": {"digest": digest}})
        for digest in ("aaaaaa1", "bbbbbb2", "aaaaaa1")
    ]
    first, second = plotting.results_figure(alike).axes
    assert [first.get_title(), second.get_title()] == ["toy aaaaaa, $K=3$", "toy bbbbbb, $K=3$"]
    assert (len(first.get_lines()), len(second.get_lines())) == (2, 1)


def test_curves_have_the_labels_of_the_legend():
    rucb = made_up("rucb", 5.0)
    results = [
        replace(rucb, made_by={"seed": 1}), replace(made_up("rucb", 6.0), problem="gap"),
        replace(rucb, made_by={"seed": 2}),
    ]  # fmt: skip
    labels = [curve.label for curve in figure_lines(results)]
    assert labels == ["RUCB, seed = 1", "RUCB", "RUCB, seed = 2"]
    texts = [text.get_text() for text in plotting.results_figure(results).legends[0].get_texts()]
    assert sorted(texts) == sorted(labels)


@pytest.mark.parametrize("results", [made_up("rucb", 5.0), ["rucb"]])
@pytest.mark.parametrize("function", [plotting.results_figure, plotting.result_lines])
def test_a_list_of_results_is_needed(function, results):
    with pytest.raises(jd.InputError, match="a list of results, as"):
        function(results)


def test_time_is_named_where_that_below_is_another():
    kinds = ("pulls", "average", "copeland", "average")
    results = [
        replace(made_up("rucb", 5.0), problem=f"p{i}", definition=kind)
        for i, kind in enumerate(kinds)
    ]
    figure = plotting.results_figure(results)
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "pulls $t$", "", "comparisons $t$", "comparisons $t$",
    ]  # fmt: skip
