import jax
import pytest

import jaxduel as jd
from jaxduel.errors import InputError


def values(report):
    return {(bound.name, bound.regret): bound.value for bound in report.bounds}


def reasons(report):
    return {bound.name: bound.source for bound in report.bounds if bound.value is None}


def test_every_line_is_the_functions_value():
    problem = jd.problems.btl(jax.random.key(1), 5)
    at = (problem, 10_000, 8)
    when = " at T = 10,000, B = 8"
    assert values(jd.theory.bounds(*at)) == {
        ("lower bound, Copeland", "copeland"): jd.theory.copeland_lower_bound(problem).constant,
        ("ECW-RMED", "copeland"): jd.theory.ecw_constant(problem),
        ("CCB", "copeland"): jd.theory.ccb_constant(problem),
        ("SCB", "copeland"): jd.theory.scb_order(problem),
        ("D-TS", "copeland"): jd.theory.dts_constant(problem),
        ("D-TS, refined", "copeland"): jd.theory.dts_refined_constant(problem),
        ("lower bound, Condorcet", "copeland"): jd.theory.condorcet_lower_bound(
            problem, "copeland"
        ),
        ("lower bound, Condorcet", "average"): jd.theory.condorcet_lower_bound(problem),
        ("RMED1", "average"): jd.theory.rmed1_constant(problem),
        (f"PCOMP{when}", "average"): jd.theory.pcomp_bound(*at),
        (f"SCOMP{when}", "average"): jd.theory.scomp_order(*at),
        (f"SCOMP2{when}", "average"): jd.theory.scomp2_order(*at),
    }


def test_what_does_not_apply_says_why():
    assert reasons(jd.theory.bounds(jd.problems.load("gap"), 100, 4)) == {
        name: "does not apply: no Condorcet winner"
        for name in (
            "lower bound, Condorcet", "RMED1", "PCOMP at T = 100, B = 4", "SCOMP at T = 100, B = 4",
            "SCOMP2 at T = 100, B = 4",
        )
    }  # fmt: skip
    found = reasons(jd.theory.bounds(jd.problems.load("arxiv"), 100, 4))
    assert found["CCB"] == "does not apply: arms 3 and 5 are tied"
    assert "PCOMP at T = 100, B = 4" not in found
    assert found["SCOMP at T = 100, B = 4"] == "does not apply: no strong stochastic transitivity"
    found = reasons(jd.theory.bounds(jd.problems.load("arithmetic")))
    assert set(found) == {"PCOMP", "SCOMP", "SCOMP2"}
    steep = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]])
    found = reasons(jd.theory.bounds(steep, 100, 4))
    assert set(found.values()) == {"does not apply: no stochastic triangle inequality"}
    level = jd.problems.from_matrix([[0.5, 0.6, 0.7], [0.4, 0.5, 0.7], [0.3, 0.3, 0.5]])
    assert reasons(jd.theory.bounds(level))["D-TS, refined"] == (
        "does not apply: its Assumption 2 fails"
    )


def test_the_text():
    title, unit, heading, *rows = jd.theory.bounds(jd.problems.load("gap")).lines()
    assert title == (
        "gap: K = 5, C = 1 Copeland winner (0; arms counted from 0), L_1 = 1, smallest gap 0.01"
    )
    assert "log T" in unit
    assert heading.split() == ["bound", "regret", "constant", "source"]
    assert "11.0249" in rows[0]
    assert "1252.51" in rows[1]
    title, *_ = jd.theory.bounds(jd.problems.load("copeland500")).lines()
    assert "C = 3 Copeland winners (" in title


@pytest.mark.parametrize("at", [(100, None), (None, 4), (100, 1)])
def test_bad_input(at):
    with pytest.raises(InputError):
        jd.theory.bounds(jd.problems.load("gap"), *at)
