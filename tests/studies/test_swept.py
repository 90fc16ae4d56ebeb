"""A claim over an open choice: its picture, rows and sentence."""

import numpy as np
import pytest

from jaxduel import plotting
from jaxduel.studies.choices import Choice
from jaxduel.studies.claims import Claim, Measurement, over, under
from jaxduel.studies.estimates import Estimate
from jaxduel.studies.swept import Swept


def swept(values, stated, words=("A / C", "B / C"), limit=0.5, side=under):
    choice = Choice("alpha of C", values, stated, lambda one, value: one, "alpha")

    def claim(level):
        made = [
            Measurement.judged(
                "x", what, Estimate(level, 0.9 * level, 1.1 * level, 20), side(limit), 0.4
            )
            for what in words
        ]
        return Claim("quote", "source", "criterion", lambda _: made, len(made)).measured(None)

    levels = np.linspace(0.2, 1.0, len(values)).tolist()
    return Swept(3, choice, tuple(map(claim, levels)))


def test_a_line_for_each_quantity_and_the_limit():
    panel = swept((0.2, 0.5, 1.0), 0.5).panel()
    assert [line.label for line in panel.lines] == ["A", "B"]
    assert [one.values for one in panel.references] == [0.5]
    assert panel.across == "alpha of C (stated: 0.5)"
    assert panel.title == "claim 3: holds for alpha <= 0.2, not for alpha >= 0.5"
    assert panel.up == "ratio of mean regrets"
    assert panel.about == "20 seeds, with 95 % intervals"
    np.testing.assert_array_equal(panel.lines[0].at, [0.2, 0.5, 1.0])


def test_names_are_ticks_below_points():
    panel = swept(("one", "two"), "one").panel()
    assert all(line.separate for line in panel.lines)
    axes = plotting.Figure().subplots()
    plotting.draw_on(axes, panel)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["one", "two"]


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (("A / C",), "A / C"),
        (("SAVAGE, share of curves", "PBR, share of curves"), "ratio of mean regrets"),
        (("A, beta = 1.1 / a long name, best of 3 of 3 others",), "ratio of mean regrets"),
    ],
)
def test_the_axis_says_what_is_measured(words, label):
    assert swept((0.2, 0.5), 0.5, words).panel().up == label


def test_rows_mark_the_stated_value_and_the_sentence_names_what_was_tried():
    one = swept((0.2, 0.5, 1.0), 0.5, ("A / C",), 0.3, over)
    assert [(row[1], row[2], row[3]) for row in one.rows()] == [
        (0.2, False, "not confirmed"), (0.5, True, "confirmed"), (1.0, False, "confirmed"),
    ]  # fmt: skip
    assert one.lines()[2].split() == ["0.5", "(stated)", "confirmed", "0.6", "[0.54,", "0.66]"]
    assert one.sentence == (
        "alpha of C (stated: 0.5), 0.2 <= alpha <= 1: holds for alpha >= 0.5, not for alpha <= 0.2."
    )
