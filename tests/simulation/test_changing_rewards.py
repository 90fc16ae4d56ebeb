"""Arms with rewards that change: rewards and regret of each stretch, and commitments skipped."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Pull, PullBatch
from jaxduel.simulation import blocks, events, skip_heuristic
from jaxduel.simulation.instances import instance_of
from tests.choice import some
from tests.simulation.toys import PullCycle, PullRounds

pytestmark = pytest.mark.usefixtures("quick_compilation")

ALL = np.ones(3, bool)
MEANS = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])


def _sure(law):
    """Arms whose rewards are their means, which change after pulls 7 and 60."""
    make = {"gaussian": lambda x: jd.problems.gaussian(x, 1e-6), "bernoulli": jd.problems.bernoulli}
    return jd.problems.piecewise([make[law](means) for means in MEANS], [7, 60])


SURE = [_sure("gaussian"), _sure("bernoulli")]
LAWS = pytest.mark.parametrize("problem", SURE, ids=lambda problem: problem.rewards)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Echo:
    """Pulls arm 1 if the last reward was 1, else arm 0: plays tell rewards."""

    num_arms: int = dataclasses.field(default=3, metadata={"static": True})
    active_arms: Any

    def init(self, key):
        return jnp.int32(0)

    def act(self, state, key):
        return Pull(state)

    def update(self, state, plan, outcome, key):
        return (outcome > 0.5).astype(jnp.int32)


def _echoes(times):
    """The arms that `Echo` pulls at times 1 .. n."""
    arms = [0]
    for t in times[:-1].tolist():
        arms.append(int(MEANS[(t > 7) + (t > 60), arms[-1]]))
    return np.array(arms)


@LAWS
def test_each_pull_is_of_its_stretch(problem, monkeypatch):
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 13)
    times = np.arange(1, 101)
    result = jd.simulate(
        Echo(active_arms=ALL), problem, 100, 2, checkpoints=times, shuffle_arms=False
    )
    played = np.diff(result.plays, axis=1, prepend=0).argmax(axis=2)
    np.testing.assert_array_equal(played, [_echoes(times)] * 2)


@pytest.mark.thorough
@LAWS
def test_pulls_of_a_round_are_of_their_stretch(problem):
    instance = jax.tree.map(jnp.asarray, instance_of(problem, 3))
    counts, arms = np.array([31, 1, 51]), np.array([1, 2, 0])
    plan, key = PullBatch(jnp.asarray(counts, jnp.int32)), jax.random.key(0)
    draw = jax.jit(lambda made: instance.of_arms(jnp.array(arms)).sample_batch(key, plan, made))
    for made in (0, 3, 7, 20, 55, 60, 61):
        times = made + 1 + np.arange(counts.sum())
        pulled = np.repeat(np.arange(3), counts)
        rewards = MEANS[(times > 7).astype(int) + (times > 60), arms[pulled]]
        np.testing.assert_allclose(draw(jnp.int32(made)), np.bincount(pulled, rewards), atol=1e-3)


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_rounds_draw_each_stretch_by_its_law(law):
    arms = [getattr(jd.problems, law)(means) for means in ([0.8, 0.5], [0.3, 0.5])]
    variance = 1_000 * 0.16 + 3_000 * 0.21
    if law == "gaussian":
        arms[1] = jd.problems.gaussian([0.3, 0.5], std=[2.0, 1.0])
        variance = 1_000 + 3_000 * 4
    instance = jax.tree.map(jnp.asarray, instance_of(jd.problems.piecewise(arms, [1_000]), 2))
    plan = PullBatch(jnp.array([4_000, 0], jnp.int32))
    draw = jax.vmap(lambda key: instance.sample_batch(key, plan, jnp.int32(0)))
    sums = np.asarray(jax.jit(draw)(jax.random.split(jax.random.key(0), 400)))[:, 0]
    assert abs(sums.mean() - 1_700) < 4 * np.sqrt(variance / 400)
    assert abs(sums.var(ddof=1) / variance - 1) < 4 * np.sqrt(2 / 399)


@pytest.mark.thorough
@LAWS
@pytest.mark.parametrize(
    "policy",
    [
        PullCycle(active_arms=ALL, arms=(0, 1, 2)),
        PullRounds(active_arms=ALL, horizon=100, counts=np.array([7, 0, 5], np.int32)),
    ],
    ids=["pulls", "rounds"],
)
def test_rewards_are_counted_from_the_means_of_their_stretch(problem, policy):
    result = jd.simulate(policy, problem, 100, 3, checkpoints=[7, 60, 99], record_outcomes=True)
    np.testing.assert_allclose(result.outcomes, 0, atol=1e-4)


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("name", some(("base", "ucb1"), ("base",)))
def test_recorded_rewards_add_up_to_nothing_on_average(name, law):
    arms = [getattr(jd.problems, law)(means) for means in ([0.6, 0.5, 0.1], [0.1, 0.2, 0.7])]
    batches = {"num_batches": 5} if name == "base" else {}
    policy = jd.policies.make(name, num_arms=3, horizon=300, **batches)
    problem = jd.problems.piecewise(arms, [100])
    result = jd.simulate(policy, problem, 300, 1_000, checkpoints=[100, 300], record_outcomes=True)
    last = result.outcomes[:, -1]
    assert (np.abs(last.mean(axis=0)) < 4 * last.std(axis=0) / np.sqrt(1_000)).all()


def test_regret_is_against_the_best_arm_of_each_stretch_and_against_any_fixed_arm():
    arms = [jd.problems.gaussian(means) for means in ([0.5, 0.1, 0.0], [0.0, 0.4, 0.1])]
    problem = jd.problems.piecewise(arms, [60])
    policy = PullCycle(active_arms=ALL, arms=(0, 1, 2))
    result = jd.simulate(policy, problem, 90, 2, checkpoints=3, shuffle_arms=False)
    assert result.definition == "pulls"
    assert {60, 90} <= set(result.checkpoints.tolist())
    assert result.regret[:, -1] == pytest.approx(20 * (0.4 + 0.5) + 10 * (0.4 + 0.3))
    against = problem.regret_against(result.checkpoints, result.plays)[0, -1]
    made = 20 * 0.6 + 10 * 0.5
    np.testing.assert_allclose(
        against, [60 * 0.5 - made, 60 * 0.1 + 30 * 0.4 - made, 30 * 0.1 - made]
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(("detc", "detc-minimax"), ("detc-minimax",)))
def test_a_commitment_is_skipped_across_a_change(name, monkeypatch):
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)
    monkeypatch.setattr(events, "MOST_SLOTS", 4)
    arms = [jd.problems.gaussian(means) for means in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0])]
    problem = jd.problems.piecewise(arms, [700, 1_900])
    policy = jd.policies.make(name, num_arms=2, horizon=3_000, commit_pulls=50)
    skipped, plain = (
        jd.simulate(policy, problem, 3_000, 16, skip_quiet=skip) for skip in (True, False)
    )
    assert np.array_equal(skipped.plays, plain.plays)
    assert np.array_equal(skipped.regret, plain.regret)
    at = skipped.checkpoints.searchsorted([700, 1_900])
    rise = np.diff(np.median(skipped.regret, axis=0)[at])
    assert rise == pytest.approx(1_200)  # committed to what has become the worse arm


@pytest.mark.parametrize("name", some(("base", "thompson-gaussian", "ucb1"), ("base", "ucb1")))
def test_padded_arms_are_never_pulled(name):
    arms = [jd.problems.gaussian(means) for means in ([0.5, 0.1, 0.0], [0.0, 0.4, 0.1])]
    batches = {"num_batches": 5} if name == "base" else {}
    policy = jd.policies.make(name, num_arms=3, horizon=300, **batches)
    padded = dataclasses.replace(policy, num_arms=5, active_arms=np.arange(5) < 3)
    problem = jd.problems.piecewise(arms, [100])
    settings = {"num_seeds": 8, "record_outcomes": True, "shuffle_arms": False}
    result, wider = (jd.simulate(one, problem, 300, **settings) for one in (policy, padded))
    assert wider.plays.shape == result.plays.shape
    assert (wider.plays.sum(axis=2) == wider.checkpoints).all()
    if name == "ucb1":
        np.testing.assert_array_equal(wider.plays, result.plays)
        np.testing.assert_array_equal(wider.outcomes, result.outcomes)


@pytest.mark.parametrize("name", some(("base", "ucb1"), ("ucb1",)))
@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_a_change_to_the_same_arms_changes_nothing(name, law):
    arms = getattr(jd.problems, law)([0.75, 0.5, 0.25])
    batches = {"num_batches": 5} if name == "base" else {}
    policy = jd.policies.make(name, num_arms=3, horizon=500, **batches)
    settings = {"num_seeds": 8, "checkpoints": [10, 100, 500], "record_outcomes": True}
    same = jd.problems.piecewise([arms, arms], [100])
    plain, changing = (jd.simulate(policy, x, 500, **settings) for x in (arms, same))
    if name == "ucb1" or law == "gaussian":  # a round of coins is drawn stretch by stretch
        assert np.array_equal(plain.plays, changing.plays)
        np.testing.assert_allclose(plain.regret, changing.regret)
        np.testing.assert_allclose(plain.outcomes, changing.outcomes, atol=1e-3)
    else:
        assert plain.plays.sum() == changing.plays.sum()


@pytest.mark.thorough
def test_many_cells_share_a_program_and_keep_their_bits():
    arms = [[0.7, 0.5, 0.1], [0.1, 0.2, 0.7]]
    pieces = [jd.problems.bernoulli(means) for means in arms]
    problems = [
        jd.problems.piecewise(pieces, [100]),
        jd.problems.piecewise(pieces[::-1], [200]),
        jd.problems.piecewise([jd.problems.gaussian(means) for means in arms], [100]),
        jd.problems.piecewise([*pieces, pieces[0]], [100, 200]),
    ]
    policy = jd.policies.make("ucb1", num_arms=3, horizon=300)
    settings = {"num_seeds": 4, "lanes": 4, "checkpoints": [100, 200, 300]}
    together = jd.simulate_many([policy] * 4, problems, **settings)
    for problem, result in zip(problems, together, strict=True):
        alone = jd.simulate(policy, problem, **settings)
        np.testing.assert_array_equal(alone.plays, result.plays)
        np.testing.assert_array_equal(alone.regret, result.regret)


def test_results_are_stored_and_read(tmp_path):
    policy = jd.policies.make("ucb1", num_arms=3, horizon=100)
    result = jd.simulate(policy, SURE[1], 100, 3, record_outcomes=True)
    again = jd.load_result(result.save(tmp_path / "r.nc"))
    np.testing.assert_array_equal(again.outcomes, result.outcomes)
    assert again.made_by == result.made_by
    other = jd.simulate(policy, SURE[0], 100, 3)
    assert other.made_by["problem"]["digest"] != result.made_by["problem"]["digest"]


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("rucb", "rucb compares arms in pairs, and 'piecewise' has arms with rewards"),
        ("pcomp", "pcomp compares arms in pairs"),
    ],
)
def test_policies_that_compare_arms_are_refused(policy, sentence):
    more = {"num_batches": 3} if policy == "pcomp" else {}
    made = jd.policies.make(policy, num_arms=3, horizon=100, **more)
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate(made, SURE[0], 100, 2)


@pytest.mark.parametrize("name", ["rucb", "ucb1"])
def test_a_change_after_the_horizon_is_refused(name):
    pieces = jd.problems.load("cyclic"), jd.problems.load("cyclic")
    if name == "ucb1":
        pieces = jd.problems.gaussian([1, 0, 0, 0]), jd.problems.gaussian([0, 0, 0, 1])
    problem = jd.problems.piecewise(pieces, [61])
    sentence = "'piecewise' changes after 61, beyond the horizon 60"
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate(name, problem, 60, 2)
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate_many([name] * 2, problem, [61, 60])
