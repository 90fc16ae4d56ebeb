import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxduel.errors import InputError
from jaxduel.problems import catalogue, printed
from jaxduel.problems.arms import ArmsProblem
from jaxduel.problems.dueling import from_matrix

DESIGNED = [
    "arxiv",
    "sushi",
    "cyclic",
    "strong-borda",
    "gap",
    "arithmetic",
    "mslr5-condorcet",
    "mslr5-noncondorcet",
    "noncondorcet-cyclic",
    "noncondorcet-strong-borda",
    "mslr-informational",
    "mslr-navigational",
    "mslr-perfect",
    "mslr16-condorcet",
    "mslr32-condorcet",
    "mslr16-noncondorcet",
    "mslr32-noncondorcet",
    "copeland500",
    "arena31",
    "arena129",
]
NAMES = ["arxiv", "gap", "gaussian", "bernoulli", "~", "..", ".csv", ".npz", "é", "\udcff"]
PIECES = [*NAMES, *"[],-/1 \0\n", "[2,1]", "0.6", "1e400", "nan", "9" * 400]
SHIPPED = [entry.name for entry in catalogue.entries() if not entry.downloaded]
FETCHED = [entry.name for entry in catalogue.entries() if entry.downloaded]


def test_every_name_of_the_design_exists():
    assert set(catalogue.names()) == set(DESIGNED)


def check(name):
    entry = next(entry for entry in catalogue.entries() if entry.name == name)
    problem = catalogue.load(name)
    assert problem.name == name
    assert problem.num_arms == entry.num_arms
    assert from_matrix(problem.preferences, name, arms=problem.arms) == problem
    assert entry.what
    assert entry.source


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_instances_load_without_any_file(name, monkeypatch):
    monkeypatch.delenv("JAXDUEL_DATA", raising=False)
    check(name)


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", FETCHED)
def test_downloaded_instances_load(name):
    check(name)


@pytest.mark.usefixtures("data_folder")
def test_the_large_matrices_have_the_winners_that_are_known():
    informational = catalogue.load("mslr-informational")
    assert informational.condorcet_winner is None
    assert informational.copeland_winners == (114,)
    assert sorted(informational.copeland_scores)[-3:] == [133, 133, 134]
    assert informational.preferences[109, 114] > 0.5
    assert catalogue.load("mslr-navigational").condorcet_winner == 109
    assert catalogue.load("mslr-perfect").condorcet_winner == 109
    assert catalogue.load("sushi").condorcet_winner == 0


@pytest.mark.usefixtures("data_folder")
def test_a_subset_is_a_submatrix_of_the_informational_matrix():
    arms = ",".join(str(arm) for arm in printed.MSLR_SUBSETS["mslr16-condorcet"])
    asked = catalogue.load(f"mslr-informational[{arms}]")
    named = catalogue.load("mslr16-condorcet")
    np.testing.assert_array_equal(asked.preferences, named.preferences)


def test_copeland500_has_the_scores_that_the_text_says():
    problem = catalogue.load("copeland500")
    assert problem.copeland_winners == (0, 1, 2)
    assert problem.copeland_scores.tolist() == [498, 498, 498, *range(496, -1, -1)]
    assert [problem.preferences[i, j] > 0.5 for i, j in ((0, 1), (1, 2), (2, 0))] == [True] * 3


def test_arithmetic_is_as_printed():
    matrix = catalogue.load("arithmetic").preferences
    assert matrix[0, 7] == pytest.approx(0.85)
    assert matrix[3, 1] == pytest.approx(0.4)


def test_brackets_take_arms_from_one_of_any_name():
    part = catalogue.load("cyclic[4, 1]")
    assert part.name == "cyclic[4,1]"
    np.testing.assert_allclose(part.preferences, [[0.5, 0.4], [0.6, 0.5]])
    assert catalogue.load("gap[1,3,5][1,2]").num_arms == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("arxv", "unknown problem 'arxv'.*did you mean 'arxiv'"),
        ("ArXiv", "did you mean 'arxiv'"),
        ("arxv[1,2]", "did you mean 'arxiv'"),
        ("arxiv[0,1]", "asks for arm 0 of 'arxiv', whose arms are 1 to 6"),
        ("arxiv[1,7]", "arm 7"),
        ("arxiv[1,x]", "does not name arms"),
        ("arxiv[]", "does not name arms"),
        ("arxiv[3]", "fewer than two"),
        ("nowhere.csv", "'nowhere.csv' does not exist"),
        ("nowhere/matrix.csv", "does not exist"),
        ("~nobody/matrix.csv", "does not exist"),
        ("a\0b.csv", "no path holds a NUL character"),
        ("~a\0b", "no path holds a NUL character"),
        ("", "unknown problem ''"),
        ("x" * 5000, r"unknown problem 'x+... \(5,000 characters\)'"),
        ("x" * 5000 + ".csv", r"\(5,004 characters\)' cannot be read: File name too long"),
        ("x" * 5000 + "/x.csv", "File name too long"),
        ("x" * 5000 + ".csv[1,2]", "File name too long"),
        ("arxiv[" + "1," * 3000 + "2]", r"characters\)' names an arm twice"),
        ("gaussian", r"does not give means: numbers .* as in gaussian\[0.6,0.5\]"),
        ("gaussian[]", "does not give means"),
        ("gaussian[0.6,x]", "does not give means"),
        ("bernoulli[0.6,1.5]", r"1.5 at arm 1 \(counted from 0\)"),
        ("gaussian[1,2][1,2]", "give their means instead"),
        ("piecewise", "does not name instances with the times of changes between them"),
        ("piecewise[gap,strong-borda]", "does not name instances with the times"),
        ("piecewise[gap,x,strong-borda]", "does not name instances with the times"),
        ("piecewise[gap,1.5,strong-borda]", "does not name instances with the times"),
        ("piecewise[gap,1e999,strong-borda]", "does not name instances with the times"),
        ("piecewise[gap,10,]", "unknown problem ''"),
        ("piecewise[gap,10,cyclic]", "as many arms, not of 5, 4"),
        ("piecewise[gap,10,bernoulli[0.5,0.4]]", "must be of one kind, and 'gap' compares"),
        ("gausian[1,2]", "did you mean 'gaussian'"),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(InputError, match=message):
        catalogue.load(name)


def test_pieces_are_loaded(tmp_path):
    name = "piecewise[cyclic, 1e3,arithmetic[1,2,3,8],2000,cyclic]"
    problem = catalogue.load(name)
    assert problem.name == name
    assert problem.changes.tolist() == [1000, 2000]
    last = catalogue.load("arithmetic[1,2,3,8]").preferences
    np.testing.assert_array_equal(problem.stretches[1].preferences, last)
    path = tmp_path / "mine.npy"
    np.save(path, last)
    assert catalogue.load(f"piecewise[cyclic,5,{path}]").num_arms == 4


def test_a_path_is_loaded(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0.5,0.7,0.6\n0.3,0.5,0.2\n0.4,0.8,0.5\n")
    problem = catalogue.load(path)
    assert problem.name == "mine.csv"
    assert problem.condorcet_winner == 0
    assert catalogue.load(f"{path}[3,1]").name == "mine.csv[3,1]"
    odd = tmp_path / "odd[1].npz"
    np.savez(odd, a=problem.preferences, b=problem.preferences)
    assert catalogue.load(odd, key="b").name == "odd[1].npz"


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_arms_with_rewards_by_name(law):
    problem = catalogue.load(f"{law}[0.6,0.5]")
    assert isinstance(problem, ArmsProblem)
    assert (problem.name, problem.rewards) == (f"{law}[0.6,0.5]", law)
    assert problem.means.tolist() == [0.6, 0.5]


@pytest.mark.parametrize("wrong", [[[0.5, 0.6], [0.4, 0.5]], np.full((2, 2), 0.5), None, 3])
def test_a_matrix_is_no_name(wrong):
    with pytest.raises(InputError, match=r"not one of type .*: jaxduel.problems.from_matrix takes"):
        catalogue.load(wrong)


def test_keys_are_for_npz_files():
    for name in ("arxiv", "gaussian[0.6,0.5]", "arxiv[1,2]"):
        with pytest.raises(InputError, match="has no arrays with keys"):
            catalogue.load(name, key="a")


def test_names_come_before_files_of_this_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arxiv").write_text("no matrix")
    assert catalogue.load("arxiv").num_arms == 6


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7))
def test_any_text_is_a_problem_or_one_sentence(pieces):
    try:
        assert catalogue.load("".join(pieces)).num_arms >= 2
    except InputError as error:
        message = str(error)
    else:
        return
    assert message.endswith((".", "?"))
    assert len(message) < 900
