"""Tables in HTML, and what tab completion offers."""

from types import ModuleType

import pytest

import jaxduel as jd
from jaxduel.display import Facts, bytes_text, html_table, listed, short_names


def test_tables_are_escaped():
    table = html_table("<script>", [["a & b", "<1>"], ["c", '"2"']], ["", "x<y"])
    assert table == (
        "<table><caption>&lt;script&gt;</caption>\n"
        '<tr><th scope="col"></th><th scope="col">x&lt;y</th></tr>\n'
        '<tr><th scope="row">a &amp; b</th><td>&lt;1&gt;</td></tr>\n'
        '<tr><th scope="row">c</th><td>&quot;2&quot;</td></tr>\n'
        "</table>"
    )


def test_facts_are_aligned_and_those_that_are_none_left_out():
    inner = Facts("parameters:", [("alpha", "<1>"), ("b", "")])
    facts = Facts("it", [("plays", "duels"), ("longest name", None), "a line", inner, ("it", "2")])
    assert facts.lines() == [
        *("it", "  plays  duels", "  a line", "  parameters:", "    alpha  <1>", "    b      "),
        "  it     2",
    ]
    assert Facts("it", [("a", "b")], width=4).lines() == ["it", "  a     b"]
    assert facts.html() == html_table(
        "it",
        [
            *(["plays", "duels"], ["a line"], ["parameters:"], ["alpha", "<1>"], ["b", ""]),
            ["it", "2"],
        ],
    )


@pytest.mark.parametrize(
    ("made", "title"),
    [
        (lambda: jd.policies.describe("pure-dts"), "pure-dts: Pure D-TS"),
        (
            lambda: jd.problems.examine(jd.problems.load("cyclic")),
            "cyclic: a valid preference matrix",
        ),
        (
            lambda: jd.problems.examine(jd.problems.gaussian([1, 0])),
            "gaussian: arms with Gaussian rewards",
        ),
        (
            lambda: jd.theory.bounds(jd.problems.load("cyclic")),
            "cyclic: K = 4, C = 1 Copeland winner",
        ),
        (
            lambda: jd.theory.bounds(jd.problems.gaussian([1, 0])),
            "gaussian: K = 2, gaussian rewards",
        ),
    ],
    ids=["policy", "matrix", "arms", "bounds", "bounds of arms"],
)
def test_reports_are_shown_by_their_facts(made, title):
    report = made()
    assert repr(report) == "\n".join(report.lines())
    assert repr(report).startswith(title)
    assert report._repr_html_().startswith(f"<table><caption>{title}")


def test_long_lists_of_arms_are_cut():
    assert listed([3, 1]) == "3, 1"
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


def test_bytes_are_in_the_largest_unit_that_leaves_no_fraction():
    sizes = [0, 1023, 1024, 1536, 2**20 - 1, 4 * 2**30, 7 * 2**40, 2**53]
    assert [bytes_text(size) for size in sizes] == [
        *("0 bytes", "1023 bytes", "1 KiB", "1.5 KiB", "1024 KiB", "4 GiB", "7 TiB", "8192 TiB")
    ]


@pytest.mark.parametrize("room", ["policies", "problems", "theory", "gradients"])
def test_packages_list_what_users_call(room):
    package = getattr(jd, room)
    listed = dir(package)
    assert listed == sorted(set(listed))
    values = {name: getattr(package, name) for name in listed}
    assert not [name for name in listed if name.startswith("_")]
    modules = [name for name, value in values.items() if isinstance(value, ModuleType)]
    assert modules == (["families"] if room == "gradients" else [])
    own = [value for value in values.values() if hasattr(value, "__module__")]
    assert len(own) > 5


def test_what_packages_list_is_what_they_export():
    assert {"make", "names", "register", "DTS", "RUCB", "Policy"} <= set(dir(jd.policies))
    assert {"load", "from_matrix", "gaussian", "DuelingProblem"} <= set(dir(jd.problems))
    assert {"bounds", "copeland_lower_bound", "ecw_constant"} <= set(dir(jd.theory))
    assert {"worst_case", "regret_gradient", "space"} <= set(dir(jd.gradients))
    assert {"registry", "arguments", "thompson"}.isdisjoint(dir(jd.policies))


def test_names_are_short_where_short_ones_differ_and_safe_to_print():
    long = 60 * "x"
    assert short_names(("ada", long)) == ["ada", 28 * "x" + "... (60 characters)"]
    assert short_names((long + "a", long + "b")) == [long + "a", long + "b"]
    assert short_names(("\x1b[31m",)) == ["\\x1b[31m"]
