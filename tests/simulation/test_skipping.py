"""Policies that draw nothing that matters: skipped or not, they make the same comparisons."""

import warnings

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import jaxduel as jd
from jaxduel.policies import SupportsSkip
from jaxduel.policies.registry import names, policy_class
from jaxduel.simulation import events, skip_heuristic

NUM, LONG = 9, 20_000
POLICIES = {
    "rucb": {},
    "rmed1": {},
    "rmed2": {},
    "rmed2fh": {"horizon": LONG},
    "ecw-rmed": {},
    "cw-rmed": {},
    "scb": {"scale": 0.1, "first_length": 20},
    "btm": {"horizon": LONG, "gamma": 1.0, "scale": 0.1},
    "savage": {"horizon": LONG, "test": "copeland"},
    "pbr": {"horizon": LONG},
    "interleaved-filter": {"horizon": LONG},
    "borda-cb": {"horizon": LONG, "delta": 0.9},
    "merge-rucb": {"alpha": 0.1, "offset": 1.0},
    "merge-dts": {"alpha": 0.1, "offset": 1.0},
    "ws-s": {},
    "nts": {"gamma": 0.5, "margin": 0.2},
    "select-then-verify": {"gamma": 0.5, "margin": 0.2},
    "dkwt": {"gamma": 0.9},
    "pocowista": {"delta": 0.5},
}
"""Those that fall quiet, with parameters with which they do so before LONG on some instance."""

PULLS = {
    "detc": [{}, {"commit_pulls": 1e9}],
    "detc-minimax": [{}, {"commit_pulls": 100.0}],
    "lucb": [{}],
}
"""Those that commit to pulls of an arm: in stage IV, or in a stage II that lasts to the end, or
after an answer."""

RANDOM = {"ccb", "dts", "dts+", "rcs", "rex3", "self-sparring"}
"""Those whose quiet runs are drawn: the same law, other runs."""


@pytest.fixture(autouse=True)
def early_and_crowded(monkeypatch):
    """Skipping begins after 50 comparisons; the seeds take turns in 24 slots."""
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)
    monkeypatch.setattr(events, "MOST_SLOTS", 24)


@pytest.fixture
def turns(monkeypatch):
    """The number of comparisons that the event loop simulated, block by block."""
    seen, recorded = [], events.recorded

    def watched(block):
        seen.append(int(np.sum(block.turns)))
        return recorded(block)

    monkeypatch.setattr(events, "recorded", watched)
    return seen


def test_every_policy_that_falls_quiet_is_here():
    quiet = {name for name in names() if issubclass(policy_class(name), SupportsSkip)}
    assert quiet == set(POLICIES) | RANDOM | set(PULLS)


def _check(name, problem, times, num_seeds, num_arms=NUM):
    """The plays must be the same, skipped or not. All problems share a program."""
    active = np.arange(num_arms) < problem.num_arms
    usual = {"num_seeds": num_seeds, "lanes": num_seeds, "checkpoints": times}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        policy = jd.policies.make(name, num_arms=num_arms, active_arms=active, **POLICIES[name])
        skipped, plain = (
            jd.simulate(policy, problem, times[-1], skip_quiet=skip, **usual)
            for skip in (True, False)
        )
    assert np.array_equal(skipped.plays, plain.plays), problem.name
    assert np.array_equal(skipped.regret, plain.regret), problem.name


def _in_order(num):
    """Each arm beats those after it nine times in ten."""
    p = np.where(np.arange(num)[:, None] < np.arange(num), 0.9, 0.1)
    np.fill_diagonal(p, 0.5)
    return jd.problems.from_matrix(p)


@pytest.mark.usefixtures("quick_compilation")
def test_skipping_changes_no_play(turns):
    for num in (3, 4):
        _check("rucb", _in_order(num), [49, 50, 51, 700, 1_500], 30, num_arms=4)
    _check("rucb", _in_order(4), [20, 50], 30, num_arms=4)
    assert max(turns) < 0.5 * 30 * 1_500


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_skipping_changes_no_play_of_any_small_instance(name, turns):
    times = [50, 51, 100, 1_000, 5_000, 5_001, LONG]
    for entry in jd.problems.entries():
        if entry.num_arms <= NUM:
            _check(name, jd.problems.load(entry.name), times, 64)
    assert min(turns) < 0.95 * 64 * LONG  # Borda CB falls quiet late


@pytest.mark.thorough
@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize("name", PULLS)
def test_skipping_changes_no_pull(name, turns):
    arms, times = jd.problems.gaussian([0.8, 0.0]), [50, 51, 1_000, 5_000, LONG]
    for parameters in PULLS[name]:
        if "horizon" in jd.policies.parameters(name):
            parameters = {"horizon": LONG, **parameters}
        policy = jd.policies.make(name, num_arms=2, **parameters)
        usual = {"horizon": LONG, "num_seeds": 50, "lanes": 50, "checkpoints": times}
        skipped, plain = (jd.simulate(policy, arms, skip_quiet=s, **usual) for s in (True, False))
        assert np.array_equal(skipped.plays, plain.plays)
        assert np.array_equal(skipped.regret, plain.regret)
        assert turns.pop() < 0.2 * 50 * LONG


@pytest.mark.usefixtures("quick_compilation")
def test_pulls_whose_rewards_are_recorded_are_not_skipped(turns):
    arms = jd.problems.gaussian([0.8, 0.0])
    result = jd.simulate("detc", arms, 3_000, 20, record_outcomes=True)
    plain = jd.simulate("detc", arms, 3_000, 20, record_outcomes=True, skip_quiet=False)
    assert np.array_equal(result.outcomes, plain.outcomes)
    assert turns == []


@st.composite
def _made(draw):
    """An instance with certain and even pairs among its pairs."""
    num = draw(st.integers(2, NUM))
    entries = st.sampled_from([0.0, 0.05, 0.2, 0.4, 0.5, 0.6, 0.9, 1.0])
    upper = np.triu(draw(hnp.arrays(np.float64, (num, num), elements=entries)), 1)
    return jd.problems.from_matrix(upper + np.tril(1 - upper.T, -1) + np.eye(num) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_skipping_changes_no_play_of_made_instances(name):
    @settings(
        max_examples=5,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(_made())
    def check(problem):
        _check(name, problem, [50, 51, 100, 1_000, 2_000, 2_001, LONG], 64)

    check()
