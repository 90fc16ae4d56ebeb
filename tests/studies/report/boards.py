"""Votes for pages of fits: for tests."""

import io

import numpy as np
from PIL import Image

import jaxduel as jd

WINS = [[0, 52, 71, 80], [48, 0, 60, 66], [29, 40, 0, 55], [20, 34, 45, 0]]
TIES = [[0, 5, 0, 3], [5, 0, 2, 0], [0, 2, 0, 1], [3, 0, 1, 0]]
ARMS = ("dan", "ada", "cyd", "bea")
HOSTILE = (
    '<script>window.ran = 1</script><img src=x onerror="window.ran = 1">',
    "a\x1b[31mred\x07\r\nline",
    "abc\u202edcba\u2066x\u200b",
    "x" * 400 + "1",
    "x" * 400 + "2",
    "$\\frac{1}{2}$ & {{ 7 * 7 }}",
    "{% raw %}",
    "=HYPERLINK(1)",
    "東京 😀 مرحبا",
    "W" * 60,
    "</style><style>body{display:none}",
)
"""Names of arms whose author means no good, or only has long ones."""


def small(model="btl"):
    """A fit of four arms."""
    return jd.votes.fit(jd.votes.from_counts(WINS, TIES, ARMS, "small.csv"), model)


def hostile(model="btl", count=0):
    """A fit of arms with such names, or of as many arms as asked for."""
    count = count or len(HOSTILE)
    names = [*HOSTILE, *(f"arm {number} {'y' * (number % 60)}" for number in range(count))][:count]
    rng = np.random.default_rng(0)
    wins = np.triu(rng.integers(1, 6, (count, count)), 1)
    wins += np.triu(rng.integers(0, 3, (count, count)), 1).T
    return jd.votes.fit(jd.votes.from_counts(wins, arms=names, name="votes<b>.csv"), model)


def blank(figure):
    """A PNG file in place of a figure's."""
    file = io.BytesIO()
    Image.fromarray(np.full((20, 30, 3), 200, np.uint8)).save(file, "PNG")
    return file.getvalue()
