"""Labels without TeX."""

import pytest

from jaxduel.plotting import REGRET_LABELS
from jaxduel.plotting.words import number
from jaxduel.studies.report.words import plain


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("arxiv", "arxiv"),
        ("$K=5$, non-Condorcet", "K = 5, non-Condorcet"),
        ("$10^{3}$", "10³"),
        ("$T_1$", "T₁"),
        (number(2e4), "2·10⁴"),
        (r"a\$b_c\$d", "a$b_c$d"),
        (r"$\log_{10} R(T)$", "log₁₀ R(T)"),
        ("delay $d$ (comparisons)", "delay d (comparisons)"),
        (REGRET_LABELS["binary weak"], "weak regret R(t) = Σ 1[w ∉ {i,j}]"),
        (REGRET_LABELS["2 copeland"], "regret Σ 2 cpld₁ − cpldᵢ − cpldⱼ"),
    ],
)
def test_plain(label, text):
    assert plain(label) == text


def test_no_label_keeps_its_tex():
    for label in REGRET_LABELS.values():
        assert not set(plain(label)) & set("$\\_^")
