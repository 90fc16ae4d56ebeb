import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.policies.arms.grids import grid_times

AT = (50_000, 3)
LOWER = [
    f"lower bound, {kind} grid{end}"
    for kind in ("minimax", "geometric", "arithmetic")
    for end in ("", ", this gap")
]
BASE = ["BaSE, minimax grid", "BaSE, geometric grid"]


def values(report):
    assert {bound.regret for bound in report.bounds} == {"pulls"}
    return {bound.name: bound.value for bound in report.bounds}


def reasons(report):
    return {bound.name: bound.source for bound in report.bounds if bound.value is None}


def test_every_line_is_the_functions_value():
    problem = jd.problems.one_better_arm(3)
    report = jd.theory.bounds(problem, *AT)
    assert (report.smallest_gap, report.best_arms) == (pytest.approx(0.1), (0,))
    gap = report.smallest_gap
    times = [grid_times(kind, *AT) for kind in ("minimax", "geometric", "arithmetic")]
    lower = []
    for ends in times:
        lower.append(jd.theory.static_minimax_lower_bound(ends, 3))
        lower.append(jd.theory.static_grid_lower_bound(ends, 3, gap))
    assert values(report) == pytest.approx(
        {
            "lower bound, asymptotic": 40,
            "BaSE, minimax grid": jd.theory.base_minimax_rate(3, *AT, logarithms=True),
            "BaSE, geometric grid": jd.theory.base_problem_dependent_rate(
                3, *AT, gap, logarithms=True
            ),
            "lower bound, adaptive grids": jd.theory.adaptive_grid_minimax_rate(3, *AT),
            **dict(zip(LOWER, lower, strict=True)),
        }
    )


def test_naming_the_best_arm():
    problem = jd.problems.bernoulli([0.5, 0.9, 0.6])
    report = jd.theory.bounds(problem)
    assert report.identification == jd.theory.identification_lower_bound(problem, 0.05)
    assert report.characteristic_time == jd.theory.characteristic_time(problem).time
    assert (report.h1, report.h2) == (jd.theory.h1(problem), jd.theory.h2(problem))
    several = jd.theory.bounds(jd.problems.bernoulli([0.5, 0.9, 0.9]))
    found = (several.identification, several.characteristic_time, several.h1, several.h2)
    assert found == (None,) * 4
    assert "name the best" not in str(several)


def test_rewards_in_other_units_give_lower_bounds_in_other_units():
    one = values(jd.theory.bounds(jd.problems.gaussian([0.5, 0.2, 0.1]), *AT))
    found = jd.theory.bounds(jd.problems.gaussian([5, 2, 1], std=10.0), *AT)
    ten = {name: 10 * value for name, value in one.items() if "BaSE" not in name}
    wide = dict.fromkeys(BASE, "does not apply: a standard deviation above 1")
    assert values(found) == pytest.approx({**ten, **dict.fromkeys(BASE)})
    assert reasons(found) == wide


@pytest.mark.parametrize("at", [AT, ()])
def test_the_legend_is_there_where_a_lower_bound_of_grids_is(at):
    for problem in (jd.problems.gaussian([0.6, 0.5]), jd.problems.bernoulli([0.6, 0.5])):
        lines = jd.theory.bounds(problem, *at).lines()
        there = any("worst instance" in line for line in lines)
        assert there == (bool(at) and problem.rewards == "gaussian")


def test_what_does_not_apply_says_why():
    arms = jd.theory.bounds(jd.problems.one_better_arm(3))
    assert set(reasons(arms)) == {
        "BaSE, minimax grid", "BaSE, geometric grid", "lower bounds of grids",
    }  # fmt: skip
    foreign = "does not apply: not Gaussian with one standard deviation for all arms"
    for problem in (
        jd.problems.bernoulli([0.5, 0.4]),
        jd.problems.gaussian([0.5, 0.4], std=[1.0, 0.5]),
    ):
        assert reasons(jd.theory.bounds(problem, *AT)) == dict.fromkeys(
            ["lower bound, adaptive grids", *LOWER], foreign
        )
    equal = "does not apply: all arms are equally good"
    assert reasons(jd.theory.bounds(jd.problems.gaussian([1, 1]), *AT)) == dict.fromkeys(
        ["BaSE, geometric grid", *LOWER[1::2]], equal
    )
    far = reasons(jd.theory.bounds(jd.problems.gaussian([5, 0], std=2.0), *AT))
    assert set(far) == {*BASE, *LOWER[1::2]}
    assert "above sqrt(K) standard deviations, 2.828" in far[LOWER[1]]


def test_base_does_not_know_that_rewards_vary_less():
    normal = values(jd.theory.bounds(jd.problems.gaussian([0.5, 0.4]), *AT))
    for problem in (
        jd.problems.bernoulli([0.5, 0.4]), jd.problems.gaussian([0.5, 0.4], std=0.1)
    ):  # fmt: skip
        found = values(jd.theory.bounds(problem, *AT))
        assert [found[name] for name in BASE] == pytest.approx([normal[name] for name in BASE])
    far = reasons(jd.theory.bounds(jd.problems.gaussian([2, 1, 0]), *AT))
    assert far == dict.fromkeys(BASE, "does not apply: a gap above sqrt(K), 1.732")


def test_the_text():
    report = jd.theory.bounds(jd.problems.one_better_arm(3), *AT)
    title, pulls, hard, constants, first, rates, *rows, legend = report.lines()
    assert title == ("one-better-arm(3): K = 3, gaussian rewards, best arm 0, gaps from 0.1 to 0.1")
    assert pulls == "  mean pulls to name the best, delta = 0.05: at least 3,089 (Garivier et al.)"
    assert hard == "  how hard that is: T* = 1166, H1 = 300, H2 = 300 (Audibert et al.)"
    assert constants == "  pulls regret, as a constant of log T (natural):"
    assert first.split()[:4] == ["lower", "bound,", "asymptotic", "40"]
    assert rates == "  pulls regret, at T = 50,000, M = 3:"
    assert len(rows) == 3 + len(LOWER)
    assert "worst instance" in legend
    title, *_, unknown = jd.theory.bounds(jd.problems.gaussian([1] * 10)).lines()
    assert "best arms 0, 1, 2, 3, 4, 5, 6, 7 and 2 more, " in title
    assert title.endswith("no gaps")
    assert unknown.startswith("  add --horizon T --batches B for: BaSE, minimax grid; ")


@pytest.mark.parametrize(
    "at", [(100, None), (None, 4), (100, 0), (100, 101), (2**31, 4), (10**7, 10**6)]
)
def test_bad_input(at):
    with pytest.raises(InputError):
        jd.theory.bounds(jd.problems.one_better_arm(3), *at)
