"""Panel s2: who meets the lower bound, and when."""

import numpy as np
import pytest
from jaxduel.experiments.papers.copeland_rmed_constants import Constants, KnownConstants
from jaxduel.experiments.papers.copeland_rmed_study import growth_by_decade, meets_from

from jaxduel.experiments.papers import copeland_rmed as paper
from jaxduel.experiments.samples import Sample

LOWER = 20.0
TIMES = 10 ** np.arange(2, 10)


def _sample(name, *growths, first=100.0, spread=0.01):
    """400 runs whose regret grows so fast per unit of log t in each decade, in units of LB."""
    times = TIMES[: len(growths) + 1]
    means = first + LOWER * np.log(10) * np.append(0, np.cumsum(growths))
    noise = 1 + spread * np.random.default_rng(len(name)).standard_normal((400, 1))
    return Sample(name, name, times, noise * means, np.arange(400))


def test_growth_is_that_of_each_decade():
    found = growth_by_decade(_sample("dts", 5, 0.5, 1.1), LOWER)
    assert list(found) == [1_000, 10_000, 100_000]
    values, errors = (np.array([getattr(x, k) for x in found.values()]) for k in ("value", "error"))
    np.testing.assert_allclose(values, [5, 0.5, 1.1], rtol=4 * 0.01 / 20)
    np.testing.assert_allclose(errors, 0.01 * values / 20, rtol=0.2)


def test_decades_end_at_the_horizon():
    sample = _sample("savage", 3, 1, 1)
    with_more = Sample(
        "savage",
        "savage",
        np.array([30, 100, 300, 1_000, 3_000]),
        sample.regret[:, [0, 0, 1, 1, 2]],
        sample.groups,
    )
    assert list(growth_by_decade(with_more, LOWER)) == [300, 3_000]
    assert growth_by_decade(with_more.until(30), LOWER) == {}


@pytest.mark.parametrize(
    ("growths", "begin"),
    [
        ((5, 1.1, 1.2), 1_000),
        ((1.1, 5, 1.2), 10_000),
        ((0.9, 0.9, 1.0), 100),
        ((1, 1, 1.3), None),
        ((1, 1, 1.2499), None),
    ],
)
def test_a_policy_meets_the_bound_once_all_later_decades_do(growths, begin):
    assert meets_from(growth_by_decade(_sample("dts", *growths), LOWER)) == begin


def test_nothing_measured_meets_nothing():
    assert meets_from({}) is None


def test_the_panel_has_a_row_per_policy():
    known = KnownConstants()
    known.found["mslr5-noncondorcet"] = Constants(LOWER, LOWER, 3)
    plan = paper._plan("s2", paper._Order(full=True, seed=0, runs=None, horizon=None), known)
    sizes = {c.name: (data.horizon, data.num_runs) for data, c in plan.entries}
    assert set(sizes) == {
        "ecw-rmed", "cw-rmed", "dts", "dts+", "ccb", "scb", "savage", "pbr"
    }  # fmt: skip
    assert sizes["dts"] == (10**9, 500)
    samples = {
        (data.name, c.name): _sample(c.name, *([2] * 3 + [1] * 4)[: 5 if c.quick else 7])
        for data, c in plan.entries
    }
    first, _, header, *rows = plan.lines(samples)
    assert first == "figure s2: LB 20 times log t."
    assert header.split()[-3:] == ["1e9", "meets", "LB"]
    assert len(rows) == len(sizes)
    assert all("from 1e5" in row for row in rows)
