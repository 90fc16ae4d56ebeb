import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxduel import problems
from jaxduel.errors import InputError
from jaxduel.problems.dueling import GAP_KINDS, DuelingProblem, from_matrix
from jaxduel.simulation.identity import problem_digest

ROCK_PAPER = [[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]]
RANKED = [[0.5, 0.6, 0.8, 0.7], [0.4, 0.5, 0.5, 0.9], [0.2, 0.5, 0.5, 0.6], [0.3, 0.1, 0.4, 0.5]]


@st.composite
def matrices(draw, max_arms: int = 6, tenths: bool = True):
    num_arms = draw(st.integers(2, max_arms))
    entry = st.integers(0, 10).map(lambda n: n / 10) if tenths else st.floats(0, 1)
    matrix = np.full((num_arms, num_arms), 0.5)
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            matrix[i, j] = draw(entry)
            matrix[j, i] = 1 - matrix[i, j]
    return matrix


def test_winners_and_scores_of_a_matrix_with_a_condorcet_winner_and_a_tie():
    problem = from_matrix(RANKED, name="ranked")
    assert problem.num_arms == 4
    assert problem.condorcet_winner == 0
    np.testing.assert_array_equal(problem.copeland_scores, [3, 1, 1, 0])
    assert problem.copeland_winners == (0,)
    np.testing.assert_allclose(problem.borda_scores, [0.7, 0.6, 1.3 / 3, 0.8 / 3], rtol=1e-15)
    assert problem.borda_winners == (0,)
    np.testing.assert_allclose(problem.gaps("average"), [0, 0.1, 0.3, 0.2])
    np.testing.assert_array_equal(problem.gaps("weak"), problem.gaps("average"))
    for kind in ("binary weak", "binary strong"):
        np.testing.assert_array_equal(problem.gaps(kind), [0, 1, 1, 1])
    np.testing.assert_allclose(problem.gaps("copeland"), [0, 2 / 3, 2 / 3, 1])
    np.testing.assert_allclose(problem.gaps("borda"), [0, 0.1, 0.8 / 3, 1.3 / 3])


def test_winners_of_a_cycle():
    problem = from_matrix(ROCK_PAPER, name="rps")
    assert problem.condorcet_winner is None
    assert problem.copeland_winners == (0, 1, 2)
    assert problem.borda_winners == (0, 2)
    np.testing.assert_array_equal(problem.gaps("copeland"), np.zeros(3))
    np.testing.assert_array_equal(problem.gaps("votes"), np.ones(3))


def test_a_tie_with_the_best_arm_prevents_a_condorcet_winner():
    problem = from_matrix([[0.5, 0.5, 0.9], [0.5, 0.5, 0.6], [0.1, 0.4, 0.5]])
    assert problem.condorcet_winner is None
    assert problem.copeland_winners == (0, 1)


@pytest.mark.parametrize("gap", [1e-9 / 2, -1e-10, 1e-16])
def test_preferences_of_rounding_are_ties(gap):
    problem = from_matrix([[0.5, 0.5 + gap], [0.5 - gap, 0.5]])
    np.testing.assert_array_equal(problem.preferences, 0.5)
    assert from_matrix([[0.5, 0.5 + 2e-9], [0.5 - 2e-9, 0.5]]).condorcet_winner == 0


def test_average_gaps_without_a_condorcet_winner_say_what_to_use():
    for kind in ("average", "weak", "binary weak", "binary strong"):
        with pytest.raises(InputError, match=r"'rps' has no Condorcet winner.*use 'copeland'"):
            from_matrix(ROCK_PAPER, name="rps").gaps(kind)


def test_unknown_gaps_suggest_the_nearest():
    with pytest.raises(InputError, match="did you mean 'copeland'"):
        from_matrix(RANKED).gaps("copelnd")


@pytest.mark.parametrize("convert", [list, np.array, jnp.array, lambda p: np.array(p, np.float32)])
def test_any_kind_of_matrix_gives_read_only_float64(convert):
    problem = from_matrix(convert(RANKED))
    assert problem.preferences.dtype == np.float64
    assert not problem.preferences.flags.writeable
    np.testing.assert_allclose(problem.preferences, RANKED, atol=1e-7)
    np.testing.assert_array_equal(problem.preferences + problem.preferences.T, 1.0)


def test_the_given_array_is_neither_changed_nor_locked():
    given_matrix = np.array(RANKED)
    from_matrix(given_matrix)
    given_matrix[0, 1] = 0.0
    assert from_matrix(RANKED).preferences[0, 1] == 0.6


def _changed(changes, size=4):
    matrix = np.array(RANKED)[:size, :size]
    for place, value in changes.items():
        matrix[place] = value
    return matrix


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[0.5, 0.4, 0.1], [0.6, 0.5, 0.2]], r"shape \(2, 3\).*square"),
        ([0.5, 0.5], r"shape \(2,\)"),
        (np.full((2, 2, 2), 0.5), r"shape \(2, 2, 2\)"),
        ([[0.5, 0.4], [0.6]], "rows of different lengths"),
        ([["a", "b"], ["c", "d"]], "real numbers"),
        ([[0.5, None], [0.5, 0.5]], "real numbers"),
        ([[0.5j, 0.5], [0.5, 0.5]], "real numbers"),
        ([[0.5]], "1 arms: at least K = 2"),
        (np.zeros((0, 0)), "0 arms"),
        (_changed({(1, 2): np.nan}), r"nan at \[1, 2\] \(counted from 0\)"),
        (_changed({(3, 0): np.inf}), r"inf at \[3, 0\]"),
        (_changed({(0, 3): 1.2}), r"1.2 at \[0, 3\].*\[0, 1\]"),
        (_changed({(2, 1): -0.1}), r"-0.1 at \[2, 1\]"),
        (_changed({(2, 2): 0.0}), r"0 at \[2, 2\].*diagonal.*1/2"),
        (
            _changed({(0, 1): 0.61, (3, 1): 0.4}),
            r"p\[1, 3\] \+ p\[3, 1\] = 0.9 \+ 0.4 = 1.3 \(the worst of 2 such pairs",
        ),
    ],
)
def test_bad_matrices_are_refused_in_one_sentence(p, message):
    with pytest.raises(InputError, match=message) as caught:
        from_matrix(p, name="mine")
    text = str(caught.value)
    assert "'mine'" in text
    assert "\n" not in text
    assert text.endswith(".")


def test_rounding_is_tolerated_and_repaired():
    problem = from_matrix([[0.5 + 4e-7, 0.7000004], [0.3, 0.5]])
    np.testing.assert_array_equal(problem.preferences, [[0.5, 0.7000004], [1 - 0.7000004, 0.5]])
    below = from_matrix([[0.5, 0.4999999], [0.4999998, 0.5]])
    assert below.condorcet_winner == 0
    level = from_matrix([[0.5, 0.4999999], [0.4999999, 0.5]])
    np.testing.assert_array_equal(level.preferences, 0.5)


@settings(deadline=None)
@given(matrices(tenths=False), st.randoms(use_true_random=False))
def test_relabelling_arms_relabels_everything(matrix, random):
    order = list(range(len(matrix)))
    random.shuffle(order)
    problem, relabelled = from_matrix(matrix), from_matrix(matrix[np.ix_(order, order)])
    np.testing.assert_array_equal(relabelled.preferences, problem.preferences[np.ix_(order, order)])
    np.testing.assert_array_equal(relabelled.copeland_scores, problem.copeland_scores[order])
    np.testing.assert_allclose(relabelled.borda_scores, problem.borda_scores[order], atol=1e-15)
    assert {order[arm] for arm in relabelled.copeland_winners} == set(problem.copeland_winners)
    assert (relabelled.condorcet_winner is None) == (problem.condorcet_winner is None)


@settings(deadline=None)
@given(matrices())
def test_gaps_are_zero_for_the_winners_only(matrix):
    problem = from_matrix(matrix)
    for kind in set(GAP_KINDS) - {"votes"}:
        if kind not in ("copeland", "borda") and problem.condorcet_winner is None:
            continue
        gaps = problem.gaps(kind)
        assert gaps.shape == (problem.num_arms,)
        assert gaps.dtype == np.float64
        winners = problem.borda_winners if kind == "borda" else problem.copeland_winners
        assert tuple(np.flatnonzero(gaps <= 1e-12)) == winners
        assert gaps.min() >= 0


@settings(deadline=None)
@given(matrices())
def test_scores_agree_with_a_plain_count(matrix):
    problem = from_matrix(matrix)
    arms = range(len(matrix))
    beaten = [sum(matrix[i, j] > 0.5 for j in arms if j != i) for i in arms]
    means = [sum(matrix[i, j] for j in arms if j != i) / (len(matrix) - 1) for i in arms]
    assert problem.copeland_scores.tolist() == beaten
    np.testing.assert_allclose(problem.borda_scores, means, atol=1e-12)


def test_submatrix_renumbers_and_names_from_one():
    part = from_matrix(RANKED, name="foo").submatrix([3, 0, 1])
    assert part.name == "foo[4,1,2]"
    expected = np.array(RANKED)[np.ix_([3, 0, 1], [3, 0, 1])]
    np.testing.assert_allclose(part.preferences, expected, rtol=1e-15)
    assert part.condorcet_winner == 1
    assert part.submatrix(np.array([1, 2])).name == "foo[4,1,2][2,3]"


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([1], "fewer than two"),
        ([], "fewer than two"),
        ([0, 4], r"arm 5 of 'foo', whose arms are 1 to 4"),
        ([-1, 0], "arm 0"),
        ([0, 1, 0], "twice"),
        ([0.9, 2.7], "a list of whole numbers"),
        ([True, False, True, True], "a list of whole numbers"),
        ("03", "a list of whole numbers, not '03'"),
        (3, "a list of whole numbers"),
    ],
)
def test_bad_submatrices(arms, message):
    with pytest.raises(InputError, match=message):
        from_matrix(RANKED, name="foo").submatrix(arms)


def test_ties_in_the_place_of_the_name_are_refused():
    with pytest.raises(InputError, match=r"ties are ties=.* must be text in UTF-8, not \[\["):
        from_matrix([[0.5, 0.7], [0.3, 0.5]], [[0, 0.2], [0.2, 0]])


@pytest.mark.parametrize("name", [5, None, b"x", "x\udcff"])
@pytest.mark.parametrize(
    "make",
    [
        partial(from_matrix, [[0.5, 0.7], [0.3, 0.5]]),
        partial(problems.btl_from_weights, [1.0, 2.0]),
        partial(problems.gaussian, [0.6, 0.5], 1.0),
        partial(problems.bernoulli, [0.6, 0.5]),
        partial(problems.piecewise, [[[0.5, 0.7], [0.3, 0.5]], [[0.5, 0.6], [0.4, 0.5]]], [10]),
    ],
    ids=lambda make: make.func.__name__,
)
def test_names_are_text_that_files_can_hold(make, name):
    with pytest.raises(InputError, match=r"the name of an instance .*must be text in UTF-8, not"):
        make(name)
    assert make("数é").name == "数é"


def test_equality_hash_and_repr():
    one, same = from_matrix(RANKED, name="r"), from_matrix(np.array(RANKED), name="r")
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same}) == 1
    assert one != from_matrix(RANKED, name="other")
    assert one != from_matrix(np.array(RANKED)[:3, :3], name="r")
    assert one != "r"
    assert repr(one) == "DuelingProblem('r', K=4, Condorcet winner 0, smallest gap 0.1)"
    cycle = from_matrix(ROCK_PAPER, name="x")
    assert repr(cycle) == "DuelingProblem('x', K=3, Copeland winners 0, 1, 2, smallest gap 0.2)"
    tied = from_matrix(np.full((12, 12), 0.5), name="t")
    winners = "Copeland winners 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"
    assert repr(tied) == f"DuelingProblem('t', K=12, {winners}, all pairs tied)"
    assert tied.smallest_gap is None


def test_notebooks_show_the_facts_and_a_small_matrix():
    shown = from_matrix(RANKED, name="<r>")._repr_html_()
    assert "&lt;r&gt;: K = 4, Condorcet winner 0, smallest gap 0.1" in shown
    assert shown.count("<td>") == 16
    assert f"<td>{RANKED[0][1]:.4g}</td>" in shown
    large = from_matrix(np.full((12, 12), 0.5), name="t")._repr_html_()
    assert "K = 12" in large
    assert "<td>" not in large


def test_it_is_a_pytree_with_one_leaf():
    problem = from_matrix(RANKED, name="r")
    leaves, structure = jax.tree.flatten(problem)
    assert len(leaves) == 1
    assert leaves[0] is problem.preferences
    assert jax.tree.unflatten(structure, leaves) == problem
    placeholder = jax.tree.unflatten(structure, [None])
    assert placeholder.name == "r"
    assert "None" in repr(placeholder)
    assert placeholder != problem
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.name = "s"  # pyright: ignore[reportAttributeAccessIssue]


def test_it_passes_through_transformations():
    problem = from_matrix(RANKED, name="r")
    seen = []

    @jax.jit
    def first_row(traced: DuelingProblem):
        seen.append((traced.num_arms, traced.name, repr(traced), hash(traced), traced == traced))
        return traced.preferences[0]

    np.testing.assert_allclose(first_row(problem), RANKED[0], rtol=1e-6)
    first_row(problem)
    assert len(seen) == 1
    assert seen[0][:2] == (4, "r")
    assert seen[0][2] == "DuelingProblem('r', preferences=float32[4,4])"
    assert seen[0][4]
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), problem)
    assert stacked.num_arms == 4
    assert repr(stacked) == "DuelingProblem('r', preferences=float32[2,4,4])"
    assert "float32[2,4,4]" in stacked._repr_html_()
    assert jax.vmap(first_row)(stacked).shape == (2, 4)
    gradient = jax.grad(lambda p: p.preferences[0, 1] ** 2)(
        dataclasses.replace(problem, preferences=jnp.array(RANKED))
    )
    assert gradient.preferences[0, 1] == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        ([[0, 0.7], [0.7, 0]], "leaves at most 0.6"),
        ([[0, 0.1], [0.2, 0]], "symmetric"),
        ([[0.1, 0.1], [0.1, 0]], "no ties"),
        ([[0, -0.1], [-0.1, 0]], "probabilities"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0]], "has shape"),
        ([["a"]], "real numbers"),
    ],
)
def test_ties_that_cannot_be_are_refused(ties, message):
    with pytest.raises(InputError, match=message):
        from_matrix([[0.5, 0.7], [0.3, 0.5]], ties=ties)


def test_ties_are_part_of_an_instance():
    p, q = [[0.5, 0.7, 0.6], [0.3, 0.5, 0.5], [0.4, 0.5, 0.5]], 0.2 * (1 - np.eye(3))
    problem = from_matrix(p, ties=q)
    assert problem != from_matrix(p)
    assert problem == from_matrix(p, ties=q)
    assert from_matrix(p, ties=np.zeros((3, 3))) == from_matrix(p)
    assert np.array_equal(problem.submatrix([0, 2]).ties, [[0, 0.2], [0.2, 0]])
    assert problem_digest(problem) != problem_digest(from_matrix(p))
    assert "ties up to 0.2" in repr(problem)
    assert "ties up to 0.2" in problem._repr_html_()


def test_names_of_arms_are_kept_and_change_no_digest():
    named = from_matrix(ROCK_PAPER, arms=["rock", "paper", "b\x1b[1m"])
    plain = from_matrix(ROCK_PAPER)
    assert named.arms == ("rock", "paper", "b\x1b[1m")
    assert plain.arms is None
    assert named != plain
    assert named == from_matrix(ROCK_PAPER, arms=named.arms)
    assert problem_digest(named) == problem_digest(plain)
    assert repr(named) == (
        "DuelingProblem('matrix', K=3, Copeland winners rock, paper, b\\x1b[1m, smallest gap 0.2)"
    )
    assert '<th scope="row">rock</th><td>0.5</td><td>0.9</td>' in named._repr_html_()
    assert named.submatrix([2, 0]).arms == ("b\x1b[1m", "rock")
    assert jax.tree.map(lambda x: x, named).arms == named.arms


def test_the_numbers_of_arms_are_no_names():
    assert from_matrix(ROCK_PAPER, arms=["0", "1", "2"]).arms is None
    assert from_matrix(ROCK_PAPER, arms=["1", "2", "3"]).arms == ("1", "2", "3")


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (["a", "b"], "matrix 'matrix' has 3 arms and 2 names of arms."),
        (["a", "b", "a"], "matrix 'matrix' has two arms called 'a'."),
        (["a", "", "b"], "matrix 'matrix' has no name for arm 1 .counted from 0."),
        (["a", "b", 3], "the name of an arm of 'matrix' must be text in UTF-8, not 3."),
        ("abc", "the names of arms of 'matrix' must be a list, not 'abc'."),
    ],
)
def test_names_that_do_not_fit_are_refused(arms, message):
    with pytest.raises(InputError, match=message):
        from_matrix(ROCK_PAPER, arms=arms)
