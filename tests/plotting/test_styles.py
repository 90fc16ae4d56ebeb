"""Colours, lines and markers of policies."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from jaxduel.plotting import STYLES, style_of
from jaxduel.plotting.styles import apart, looks_of
from jaxduel.plotting.words import broken, number, policy_words, problem_words
from jaxduel.studies import papers


def test_every_policy_has_a_colour_of_its_own():
    colors = [style.color.upper() for style in STYLES.values()]
    assert len(set(colors)) == len(colors)
    for first, second in itertools.combinations(colors, 2):
        difference = np.subtract(to_rgb(first), to_rgb(second))
        assert np.abs(difference).max() > 0.05, (first, second)


@pytest.mark.parametrize("paper", papers.names())
def test_policies_that_share_figures_have_styles_that_were_chosen(paper):
    lineups = [lineup for panel in papers.load(paper).panels for lineup in panel.lineups]
    assert {c.policy for lineup in lineups for c in lineup.competitors} <= set(STYLES)


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
    names = [f"mine{number}" for number in range(8)]
    looks = looks_of((name, name) for name in names)
    assert len({look.color for look in looks.values()}) == len(names)
    assert looks["mine0", "mine0"] == style_of("mine0")


def test_styles_in_one_figure_differ_in_line_or_marker_whatever_the_policies():
    looks = looks_of((name, name) for name in STYLES)
    assert len({look[1:] for look in looks.values()}) > 0.9 * len(STYLES)
    names = list(STYLES)
    for some in (names[at : at + 8] for at in range(0, len(names), 8)):
        looks = looks_of((name, name) for name in some)
        assert len({look[1:] for look in looks.values()}) == len(looks)
    alone = [STYLES["scomp"], STYLES["base[grid=geometric]"], STYLES["scomp"]]
    first, second, third = apart(alone)
    assert first == third == STYLES["scomp"]
    assert second.color == STYLES["base[grid=geometric]"].color
    assert second[1:] != first[1:]


def test_long_names_are_broken_between_instances():
    name = "piecewise[gap,1500,strong-borda,9000,gap]"
    assert broken(name, 28) == "piecewise[gap,1500,\nstrong-borda,9000,gap]"
    assert broken("changes after 1,000,000", 13) == "changes after\n1,000,000"
    assert broken(name, 60) == name
    assert broken("$K = 5$ and so on", 4) == "$K = 5$ and so on"
    assert broken("abcdefghij, abcd efgh", 4) == "abcd\nefgh\nij,\nabcd\nefgh"


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("btl(num_arms=4, instance=0)", "btl, K = 4, instance = 0"),
        ("cyclic()", "cyclic"),
        ("btl_from_weights(weights=(3, 2, 1))", "btl_from_weights, weights = (3, 2, 1)"),
        ("matrix (1).npz(key=a)", "matrix (1).npz, key = a"),
        ("matrix (1).csv", "matrix (1).csv"),
        ("mine(alpha=0.5, file=a$b.csv)", r"mine, $\alpha$ = 0.5, file = a\$b.csv"),
    ],
)
def test_problems_have_words_of_their_parameters(problem, words):
    assert problem_words(problem) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2000, "2000"), (1e3, "$10^{3}$"), (2e4, r"$2\!\cdot\!10^{4}$"), (0.0001, "0.0001"),
        (1e-5, "$10^{-5}$"), (2e-9, r"$2\!\cdot\!10^{-9}$"), (0, "0"),
    ],
)  # fmt: skip
def test_numbers_far_from_one_are_multiples_of_powers_of_ten(value, text):
    assert number(value) == text


@pytest.mark.parametrize("name", ["b$x^{$.csv", "a$b.csv", "$.csv"])
def test_a_name_with_dollars_is_drawn_as_it_is(name):
    parsed = MathTextParser("path").parse(f"{problem_words(name)}$K$")
    assert "".join(chr(glyph[2]) for glyph in parsed.glyphs) == f"{name}K"
    shown, is_formula = Text(text=problem_words(name))._preprocess_math(problem_words(name))
    assert (shown, is_formula) == (name, False)
    assert policy_words(name, {}) == problem_words(name)
