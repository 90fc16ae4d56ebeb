"""Rewards that are told late: all of them, in time, exactly; and never those of quiet runs."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback, Pull
from jaxduel.simulation import blocks, events, skip_heuristic
from jaxduel.simulation.withheld import LateRewards, feedback_of, is_any_withheld, withhold
from tests.choice import some

pytestmark = pytest.mark.usefixtures("quick_compilation")

LATE = ("d-ucb", "detc", "detc-anytime", "detc-minimax", "sw-ucb", "thompson-gaussian", "ucb1")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Herald:
    """Pulls the arm whose number is the sum of the rewards that it knows, by tens."""

    num_arms: int = dataclasses.field(default=5, metadata={"static": True})
    active_arms: Any

    def init(self, key):
        return {"pulls": jnp.zeros(self.num_arms, jnp.int32), "sum": jnp.float32(0)}

    def act(self, state, key):
        arm = jnp.minimum(state["sum"].astype(jnp.int32) // 10, self.num_arms - 1)
        return Pull(jnp.where(jnp.sum(state["pulls"]) == state["sum"], arm, 0))

    def update(self, state, plan, outcome, key):
        known = ~jnp.isnan(outcome)
        pulls = state["pulls"].at[plan.arm].add(known.astype(jnp.int32))
        return {"pulls": pulls, "sum": state["sum"] + jnp.where(known, outcome, 0.0)}

    def learn(self, state, feedback):
        return {
            "pulls": state["pulls"] + feedback.pulls,
            "sum": state["sum"] + jnp.sum(feedback.totals),
        }


@pytest.mark.parametrize("delay", [1, 3, 20, 500])
def test_rewards_are_told_after_every_d_pulls(delay, monkeypatch):
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 13)
    sure = jd.problems.bernoulli(np.ones(5))
    times = np.arange(1, 101)
    result = jd.simulate(
        Herald(active_arms=np.ones(5, bool)), sure, 100, 2, checkpoints=times, delay=delay,
        shuffle_arms=False, record_outcomes=True,
    )  # fmt: skip
    pulled = np.diff(result.plays, axis=1, prepend=0).argmax(axis=2)
    known = (times - 1) // delay * delay
    np.testing.assert_array_equal(pulled, [np.minimum(known // 10, 4)] * 2)
    assert (result.outcomes == 0).all()
    assert result.made_by["delay"] == delay
    assert ("delay=" in result.summary()[0]) == (delay > 1)


@pytest.mark.parametrize("num_arms", [3, 20])
def test_sums_of_withheld_rewards_do_not_stall(num_arms):
    zeros = jnp.zeros(num_arms, jnp.float32)
    pending = LateRewards(jnp.zeros(num_arms, jnp.int32), zeros.at[1].set(2.0**24), zeros)
    assert not is_any_withheld(pending)
    for _ in range(4):
        pending, told = withhold(pending, Pull(jnp.int32(1)), jnp.float32(1))
        assert np.isnan(told)
    pending, _ = withhold(pending, Pull(jnp.int32(2)), jnp.float32(-0.5))
    assert is_any_withheld(pending)
    feedback = feedback_of(pending)
    assert feedback.pulls.tolist()[:3] == [0, 4, 1]
    assert feedback.totals.tolist()[:3] == [0, 2.0**24 + 4, -0.5]


def test_withheld_duels_are_counted_by_sides():
    table = jnp.zeros((3, 3), jnp.int32)
    pending = Feedback(table, table)
    for outcome in (1, -1, -1):
        pending, told = withhold(pending, Duel(jnp.int32(2), jnp.int32(0)), jnp.int32(outcome))
        assert told == jd.policies.WITHHELD
    assert (int(pending.left_wins[2, 0]), int(pending.right_wins[2, 0])) == (1, 2)
    assert is_any_withheld(pending)
    assert not is_any_withheld(Feedback(table, table))


@pytest.mark.parametrize("delay", some([3, 40], [40]))
@pytest.mark.parametrize("name", some(("detc", "detc-minimax"), ("detc",)))
def test_skipping_changes_no_play(name, delay, monkeypatch):
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)
    monkeypatch.setattr(events, "MOST_SLOTS", 4)
    problem = jd.problems.gaussian([0.5, 0.0])
    policy = jd.policies.make(name, num_arms=2, horizon=3_000, commit_pulls=50)
    skipped, plain = (
        jd.simulate(policy, problem, 3_000, 16, delay=delay, skip_quiet=skip)
        for skip in (True, False)
    )
    assert np.array_equal(skipped.plays, plain.plays)
    assert (plain.plays[:, -1, 0] > 2_000).sum() > 12


@pytest.mark.parametrize("name", some(LATE, ("ucb1",)))
def test_a_delay_of_one_is_none_and_a_longer_one_costs_regret(name):
    two = name.startswith("detc")
    problem = jd.problems.gaussian([2.0, 0.0] if two else [1.0, 0.0, 0.5])
    more = {"commit_pulls": 20} if name in ("detc", "detc-minimax") else {}
    policy = jd.policies.make(name, num_arms=problem.num_arms, horizon=2_000, **more)
    at_once, again, late = (
        jd.simulate(policy, problem, 2_000, 128, **settings)
        for settings in ({}, {"delay": 1}, {"delay": 500})
    )
    assert np.array_equal(at_once.plays, again.plays)
    assert late.mean[-1] > at_once.mean[-1] + 4 * np.hypot(late.sem[-1], at_once.sem[-1])


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(LATE, ("thompson-gaussian",)))
def test_late_cells_of_several_delays_keep_their_bits(name):
    two = name.startswith("detc")
    arms = [jd.problems.bernoulli(means) for means in ([0.8, 0.2], [0.1, 0.6])]
    if not two:
        arms = [jd.problems.bernoulli(means) for means in ([0.8, 0.2, 0.1], [0.1, 0.6, 0.2])]
    problem = jd.problems.piecewise(arms, [150])
    policy = jd.policies.make(name, num_arms=problem.num_arms, horizon=300)
    settings = {"num_seeds": 4, "lanes": 4, "checkpoints": [150, 300], "delay": 7}
    together = jd.simulate_many([policy, policy], [problem, arms[0]], 300, **settings)
    for instance, result in zip((problem, arms[0]), together, strict=True):
        alone = jd.simulate(policy, instance, 300, **settings)
        np.testing.assert_array_equal(alone.plays, result.plays)
