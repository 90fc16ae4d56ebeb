import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxduel.errors import InputError
from jaxduel.problems import catalogue, generators
from jaxduel.problems.assumptions import (
    broken_assumptions,
    condorcet_violation,
    preference_order,
    sst_violation,
    sti_violation,
    total_order_violation,
)
from jaxduel.problems.dueling import from_matrix

SLACK = 1e-9


@st.composite
def margins(draw):
    """Margins of few values: ties, chains and cycles are frequent; half the time monotone."""
    num_arms = draw(st.integers(2, 5))
    least = draw(st.sampled_from([-2, 0, 1]))
    eps = np.zeros((num_arms, num_arms))
    for i, j in itertools.combinations(range(num_arms), 2):
        eps[i, j] = draw(st.integers(least, 4)) / 10
    if draw(st.booleans()):
        for distance in range(2, num_arms):
            for i in range(num_arms - distance):
                k = i + distance
                eps[i, k] = max(eps[i, k], eps[i, k - 1], eps[i + 1, k])
    order = draw(st.permutations(range(num_arms)))
    return (eps - eps.T)[np.ix_(order, order)]


def agreeing_orders(eps):
    for order in itertools.permutations(range(len(eps))):
        if all(eps[i, j] >= -SLACK for i, j in itertools.combinations(order, 2)):
            yield order


def has_sst(eps):
    return any(
        all(
            eps[i, k] >= max(eps[i, j], eps[j, k]) - SLACK
            for i, j, k in itertools.combinations(order, 3)
        )
        for order in agreeing_orders(eps)
    )


def sti_in(eps, order):
    return all(
        eps[i, k] <= eps[i, j] + eps[j, k] + SLACK for i, j, k in itertools.combinations(order, 3)
    )


@settings(deadline=None, max_examples=300)
@given(margins())
def test_sst_is_found_exactly_where_some_order_has_it(eps):
    violation = sst_violation(from_matrix(0.5 + eps))
    assert (violation is None) == has_sst(eps)
    if violation is not None:
        i, j, k = violation.arms
        assert len({i, j, k}) == 3
        assert eps[i, j] >= -SLACK
        assert eps[j, k] >= -SLACK
        assert eps[i, k] < max(eps[i, j], eps[j, k]) - SLACK


@settings(deadline=None, max_examples=300)
@given(margins(), st.sampled_from([1.0, 1.3, 2.0]))
def test_relaxed_transitivity_is_of_the_best_arm_and_all_that_beat_another(eps, gamma):
    problem = from_matrix(0.5 + eps)
    order = preference_order(problem)
    broken = broken_assumptions(problem, [f"rst {gamma}"])
    holds = order is not None and all(
        gamma * eps[order[0], k] >= max(eps[order[0], j], eps[j, k]) - SLACK
        for j, k in itertools.permutations(order[1:], 2)
        if eps[j, k] > SLACK
    )
    assert holds == (broken == [])
    assert gamma > 1 or holds >= has_sst(eps)


def test_relaxed_transitivity_names_its_triple_and_gamma():
    problem = catalogue.load("strong-borda")
    assert broken_assumptions(problem, ["rst 9"]) == []  # 9 x 0.05 = 0.45, of 0.95
    (sentence,) = broken_assumptions(problem, ["rst 1.3"])
    assert "relaxed stochastic transitivity with gamma = 1.3 (RST): p[0, 1] = 0.55" in sentence
    assert sentence.endswith("p[1, 2] = 0.95, but p[0, 2] = 0.55 (arms counted from 0).")


def test_a_most_frequent_outcome_may_be_a_tie():
    p = [[0.5, 0.5], [0.5, 0.5]]
    for tie, several in ((0.0, True), (1 / 3, True), (0.3, True), (0.5, False)):
        problem = from_matrix(p, ties=[[0, tie], [tie, 0]])
        assert bool(broken_assumptions(problem, ["mode"])) == several
    level = from_matrix([[0.5, 0.7], [0.3, 0.5]], ties=[[0, 0.4], [0.4, 0]])  # 0.5, 0.1, 0.4
    assert broken_assumptions(level, ["mode"]) == []


@settings(deadline=None, max_examples=300)
@given(margins())
def test_sti_is_found_exactly_where_every_order_has_it(eps):
    violation = sti_violation(from_matrix(0.5 + eps))
    orders = list(agreeing_orders(eps))
    assert (violation is None) == (bool(orders) and all(sti_in(eps, order) for order in orders))
    if violation is not None and orders:
        i, j, k = violation.arms
        assert min(eps[i, j], eps[j, k]) >= -SLACK
        assert eps[i, k] > eps[i, j] + eps[j, k] + SLACK


@settings(deadline=None, max_examples=300)
@given(margins())
def test_given_sst_its_own_order_decides_sti(eps):
    problem = from_matrix(0.5 + eps)
    if sst_violation(problem) is None:
        order = preference_order(problem)
        assert order is not None
        assert (sti_violation(problem) is None) == sti_in(eps, order)


@settings(deadline=None, max_examples=200)
@given(margins())
def test_the_order_agrees_with_the_preferences_and_exists_if_one_does(eps):
    order = preference_order(from_matrix(0.5 + eps))
    if order is None:
        assert not any(agreeing_orders(eps))
    else:
        assert sorted(order) == list(range(len(eps)))
        assert all(eps[i, j] >= -SLACK for i, j in itertools.combinations(order, 2))


@settings(deadline=None, max_examples=200)
@given(margins())
def test_total_order_means_a_strict_order(eps):
    violation = total_order_violation(from_matrix(0.5 + eps))
    strict = any(
        all(eps[i, j] > SLACK for i, j in itertools.combinations(order, 2))
        for order in itertools.permutations(range(len(eps)))
    )
    assert (violation is None) == strict
    if violation is not None and len(violation.arms) == 2:
        i, j = violation.arms
        assert abs(eps[i, j]) <= SLACK


@settings(deadline=None, max_examples=200)
@given(margins(), st.randoms(use_true_random=False))
def test_verdicts_do_not_depend_on_the_labels(eps, random):
    order = list(range(len(eps)))
    random.shuffle(order)
    one, other = from_matrix(0.5 + eps), from_matrix(0.5 + eps[np.ix_(order, order)])
    for check in (sst_violation, sti_violation, condorcet_violation, total_order_violation):
        assert (check(one) is None) == (check(other) is None)


def test_margins_within_rounding_break_nothing():
    eps = np.array([[0, 0.1, 0.3 - 4e-10], [0, 0, 0.3], [0, 0, 0]])
    assert sst_violation(from_matrix(0.5 + eps - eps.T)) is None
    eps[0, 2] -= 2e-9
    assert sst_violation(from_matrix(0.5 + eps - eps.T)) is not None


def test_syn_cd_has_sst_and_sti_although_most_pairs_are_tied():
    matrix = np.full((5, 5), 0.5)
    matrix[2], matrix[:, 2], matrix[2, 2] = 0.8, 0.2, 0.5
    problem = from_matrix(matrix)
    assert broken_assumptions(problem, ("condorcet", "sst", "sti")) == []
    tie = total_order_violation(problem)
    assert tie is not None
    assert tie.arms == (0, 1)


def test_a_matrix_without_any_preference_has_sst_and_sti_but_no_condorcet_winner():
    problem = from_matrix(np.full((3, 3), 0.5))
    assert sst_violation(problem) is None
    assert sti_violation(problem) is None
    pair = condorcet_violation(problem)
    assert pair is not None
    assert pair.arms == (0, 1)


def test_the_six_rankers_break_sst_and_sti():
    problem = catalogue.load("arxiv")
    assert preference_order(problem) == (0, 1, 2, 3, 4, 5)
    broken = sst_violation(problem)
    assert broken is not None
    assert broken.arms == (3, 4, 5)
    assert broken.reason == "p[3, 4] = 0.54 and p[4, 5] = 0.51, but p[3, 5] = 0.5"
    triangle = sti_violation(problem)
    assert triangle is not None
    assert triangle.arms == (0, 3, 5)


def test_a_four_cycle_of_ties_across_is_reported_by_a_triple():
    eps = np.zeros((4, 4))
    for i in range(4):
        eps[i, (i + 1) % 4] = 0.2
    problem = from_matrix(0.5 + eps - eps.T)
    assert preference_order(problem) is None
    for check in (sst_violation, sti_violation, total_order_violation):
        violation = check(problem)
        assert violation is not None
        i, j, k = violation.arms
        assert problem.preferences[i, j] > 0.5
        assert problem.preferences[j, k] > 0.5
        assert problem.preferences[i, k] <= 0.5


def test_sentences_name_the_assumption_and_the_arms():
    sentences = broken_assumptions(catalogue.load("gap"), ("condorcet", "sst", "sti"))
    assert len(sentences) == 3
    assert sentences[0] == (
        "'gap' lacks a Condorcet winner: arm 0 beats 3 of 4 others, but not arm 4 (p = 0.2) "
        "(arms counted from 0)."
    )
    assert "SST" in sentences[1]
    assert "STI" in sentences[2]
    assert broken_assumptions(catalogue.load("gap"), ()) == []
    with pytest.raises(InputError, match="did you mean 'sst'"):
        broken_assumptions(catalogue.load("gap"), ("sstt",))


def test_136_arms_are_quick_enough_to_check_before_every_run():
    assert broken_assumptions(generators.arithmetic(136, 0.5 / 135), ("sst", "sti")) == []


def test_ties_are_named_to_policies_that_assume_none():
    assert broken_assumptions(catalogue.load("gap"), ["no ties"]) == []
    (sentence,) = broken_assumptions(catalogue.load("arxiv"), ["no ties"])
    assert "arms 3 and 5 are tied" in sentence


def test_arms_with_names_are_named_in_sentences():
    p = [[0.5, 0.5, 0.4], [0.5, 0.5, 0.5], [0.6, 0.5, 0.5]]
    problem = from_matrix(p, "m", ties=[[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]], arms=["a", "b", "c"])
    assert broken_assumptions(problem, ["condorcet", "no ties", "mode"]) == [
        "'m' lacks a Condorcet winner: c beats 1 of 2 others, but not b (p = 0.5).",
        "'m' lacks a preference in every pair: a and b are tied.",
        "'m' lacks a single most frequent outcome of every pair: two outcomes of b and c have the "
        "probability 0.5.",
    ]
    wide = from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]], arms=["a", "b", "c"])
    violation = sti_violation(wide)
    assert violation is not None
    assert violation.reason.startswith("p[a, c] - 1/2 = 0.4 exceeds (p[a, b] - 1/2) + (p[b, c] -")
