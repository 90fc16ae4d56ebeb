import jax
import numpy as np
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
        ("PCOMP", "average"): jd.theory.pcomp_bound(*at),
        ("SCOMP", "average"): jd.theory.scomp_order(*at),
        ("SCOMP2", "average"): jd.theory.scomp2_order(*at),
    }


def test_what_does_not_apply_says_why():
    assert reasons(jd.theory.bounds(jd.problems.load("gap"), 100, 4)) == {
        name: "does not apply: no Condorcet winner"
        for name in (
            "lower bound, Condorcet", "RMED1", "PCOMP", "SCOMP", "SCOMP2",
        )
    }  # fmt: skip
    found = reasons(jd.theory.bounds(jd.problems.load("arxiv"), 100, 4))
    assert found["CCB"] == "does not apply: arms 3 and 5 are tied"
    assert "PCOMP" not in found
    assert found["SCOMP"] == "does not apply: no strong stochastic transitivity"
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
    gap = jd.problems.load("gap")
    title, heading, *rows, others, unknown = jd.theory.bounds(gap).lines()
    assert title == ("gap: K = 5, C = 1 Copeland winner (arm 0), L_1 = 1, smallest gap 0.01")
    assert heading == "  copeland regret, as a constant of log T (natural):"
    assert "11.0249" in rows[0]
    assert "1252.51" in rows[1]
    assert others == ("  not for this problem (no Condorcet winner): lower bound, Condorcet; RMED1")
    assert unknown == "  add --horizon T --batches B for: PCOMP; SCOMP; SCOMP2"
    report = jd.theory.bounds(jd.problems.load("arxiv"), 10_000, 8)
    at = report.lines()
    assert "  average regret, at T = 10,000, B = 8:" in at
    votes = jd.theory.identification_lower_bound(jd.problems.load("arxiv"), 0.05)
    assert report.identification == votes
    assert at[1] == (
        f"  mean votes to name the winner, delta = 0.05: at least {votes:,.0f} (Kaufmann et al.)"
    )
    title, *_ = jd.theory.bounds(jd.problems.load("copeland500")).lines()
    assert "C = 3 Copeland winners (arms 0, 1, 2)" in title


def test_what_is_proved_of_a_policy_is_in_the_report():
    every = jd.theory.bounds(jd.problems.btl(jax.random.key(1), 5), 100, 4).bounds
    every += jd.theory.bounds(jd.problems.one_better_arm(3), 100, 4).bounds
    known = {f"{bound.name}: {bound.source}" for bound in every}
    found = {name: jd.theory.proved(name) for name in jd.policies.names()}
    assert all(set(texts) <= known for texts in found.values())
    assert found["dts"] == (
        "D-TS: Wu and Liu 2016, Prop. 1, alpha = 0.51",
        "D-TS, refined: Wu and Liu 2016, Theorem 1, alpha = 0.51",
    )
    assert found["dts+"] == found["dts"][1:]
    assert found["rmed2"] == found["rmed2fh"]
    assert len(found["base"]) == 2
    assert not found["sparring"]
    assert len({text for texts in found.values() for text in texts}) == 13
    with pytest.raises(jd.InputError, match=r"unknown policy 'pcom'.*did you mean 'pcomp'"):
        jd.theory.proved("pcom")


def test_whole_numbers_that_are_floats():
    report = jd.theory.bounds(jd.problems.load("gap"), 1e6, 4.0)
    assert report == jd.theory.bounds(jd.problems.load("gap"), 1_000_000, 4)


@pytest.mark.parametrize("at", [(100, None), (None, 4), (100, 1)])
def test_bad_input(at):
    with pytest.raises(InputError):
        jd.theory.bounds(jd.problems.load("gap"), *at)


@pytest.mark.parametrize("given", ["arxiv", [[0.5, 0.7], [0.3, 0.5]], None])
@pytest.mark.parametrize(
    "read",
    [
        jd.theory.bounds,
        jd.theory.copeland_lower_bound,
        jd.theory.ecw_optimum_is_unique,
        jd.problems.examine,
        jd.problems.condorcet_violation,
        jd.problems.preference_order,
    ],
)
def test_names_and_matrices_are_no_problems(read, given):
    with pytest.raises(InputError, match=rf"the problem must .* of type {type(given).__name__}\."):
        read(given)


@pytest.mark.parametrize(
    "read",
    [
        *(jd.theory.bounds, jd.theory.copeland_lower_bound, jd.theory.ecw_constant),
        *(jd.theory.condorcet_lower_bound, jd.problems.examine, jd.problems.preference_order),
    ],
)
def test_a_stack_of_instances_is_refused(read):
    coins = np.array([[0.5, 0.7], [0.3, 0.5]])
    stack = jd.problems.DuelingProblem(np.stack([coins, coins]))
    with pytest.raises(InputError, match=r"is a stack of instances, of shape \(2, 2, 2\): one at"):
        read(stack)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("arxiv", "a matrix is needed, not the text 'arxiv'"),
        (None, r"holds entries of type .*: real numbers are needed"),
    ],
)
def test_constants_are_of_problems_and_of_matrices(given, message):
    with pytest.raises(InputError, match=message):
        jd.theory.ecw_constant(given)


def test_constants_are_not_of_other_problems():
    coins = [[0.5, 0.7], [0.3, 0.5]]
    with pytest.raises(InputError, match="bounds: 'piecewise' changes with time"):
        jd.theory.condorcet_lower_bound(jd.problems.piecewise([coins, coins], [10]))
    with pytest.raises(InputError, match=r"compared in pairs.* of type ArmsProblem"):
        jd.theory.ccb_constant(jd.problems.gaussian([1, 0]))


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        *((name, 'elimination = "hoeffding"') for name in ("pcomp", "scomp", "scomp2")),
        ("base", "gamma >= 12"),
        ("ccb", "alpha > 1"),
    ],
)
def test_what_is_not_proved_of_the_defaults_names_its_condition(name, condition):
    assert all(condition in text for text in jd.theory.proved(name))


def test_optimal_policies_need_a_unique_optimum():
    sources = [bound.source for bound in jd.theory.bounds(jd.problems.load("gap")).bounds[:2]]
    assert all(source.endswith("if the optimum is unique") for source in sources)
