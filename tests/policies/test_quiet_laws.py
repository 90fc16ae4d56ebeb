"""Whole runs of D-TS, D-TS+, RCS and CCB, with quiet runs skipped and without: two samples, one
law."""

import math

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import events, skip_heuristic

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


@pytest.fixture
def turns(monkeypatch):
    """Skipping begins after 64 comparisons; the comparisons simulated from then on, by block."""
    monkeypatch.setattr(skip_heuristic, "TRIAL", 64)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "TURN_COST", 0.0)
    counted, recorded = [], events.recorded

    def counting(*args, **options):
        record = recorded(*args, **options)
        counted.append(np.asarray(record[1]))
        return record

    monkeypatch.setattr(events, "recorded", counting)
    return counted


def _compare(name, problem, times, num, *ways, alpha=0.51, winners=False, **settings):
    """Means of regret and of each arm's plays, or of all winners' together, agree; returns the
    error of a difference of mean regrets at the last checkpoint, in units of the mean."""
    problem = jd.problems.load(problem)
    policy = jd.policies.make(name, num_arms=problem.num_arms, alpha=alpha)
    settings = {"devices": jax.devices()[:1], "checkpoints": times, "num_seeds": num, **settings}
    values = []
    for seed, prepare in enumerate(ways):
        way = jd.simulate(policy, problem, times[-1], seed=seed, **settings, **prepare())
        plays = way.plays
        if winners:
            alike = problem.gaps("copeland") == 0
            whole = plays[..., alike].sum(axis=2, keepdims=True)
            plays = np.concatenate([whole, plays[..., ~alike]], axis=2)
        values.append(np.concatenate([plays, way.regret[:, :, None]], axis=2))
    means = [x.mean(axis=0) for x in values]
    error = np.hypot(*(x.std(axis=0, ddof=1) / np.sqrt(num) for x in values))
    assert (np.abs(means[0] - means[1]) <= 4.5 * error).all()
    return error[-1, -1] / means[0][-1, -1]


def test_runs_have_the_same_law(turns, monkeypatch):
    """Seeds for 18 % of the mean regret to be 4.5 standard errors or more. Without skipping is,
    here, as if it never paid: the same program."""

    def never():
        monkeypatch.setattr(skip_heuristic, "TURN_COST", math.inf)
        return {}

    error = _compare("dts", "mslr5-condorcet", [200, 500, 1_000], 384, dict, never, lanes=128)
    assert error <= 0.18 / 4.5
    assert len(turns) == 3
    assert np.concatenate(turns).mean() < 0.7 * 1_000


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")
@pytest.mark.parametrize(
    ("name", "problem", "times", "num", "settings"),
    [
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {}),
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"delay": 3}),
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"delay": 16}),
        ("dts", "noncondorcet-strong-borda", [1_000, 3_000, 8_000], 4_096, {}),
        ("dts", "noncondorcet-cyclic", [3_000, 10_000, 30_000], 4_096, {}),
        ("dts+", "noncondorcet-strong-borda", [1_000, 3_000, 8_000], 4_096, {}),
        ("dts+", "noncondorcet-cyclic", [2_000, 5_000, 12_000], 4_096, {"winners": True}),
        ("ccb", "noncondorcet-strong-borda", [1_000, 3_000, 8_000], 8_192, {"alpha": 0.2}),
        ("ccb", "mslr5-condorcet", [1_000, 4_000, 16_000], 8_192, {}),
        ("ccb", "mslr5-condorcet", [1_000, 4_000, 16_000], 4_608, {"delay": 3}),
        ("ccb", "mslr5-condorcet", [1_000, 4_000, 16_000], 4_096, {"delay": 16}),
        ("rcs", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"alpha": 0.15}),
    ],
)
def test_long_runs_have_the_same_law(name, problem, times, num, settings, turns):
    """Seeds for 3 % of the mean regret to be 4.5 standard errors or more. RCS's alpha is such that
    it falls quiet before its samples are sure."""

    def skipping():
        return {"skip_quiet": "winners" if settings.get("winners") else True}

    def plain():
        return {"skip_quiet": False}

    error = _compare(name, problem, times, num, skipping, plain, **settings)
    assert error <= 0.03 / 4.5
    assert np.concatenate(turns).mean() < 0.8 * times[-1]
