"""Quiet runs of policies that commit: skipped or not, a run is the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import jaxduel as jd
from jaxduel.policies.base import Duel, SupportsSkip
from jaxduel.policies.copeland.scb import SCB, Round, SCBState
from jaxduel.policies.copeland.score_elimination import no_rewards
from tests.policies.quiet_cases import ARMS, TIMES, both_ways, compare_states, made_instances
from tests.policies.quiet_cases import small_instances as instances

pytestmark = pytest.mark.usefixtures("quick_compilation")

KEY = jax.random.key(0)
POLICIES = {
    "btm": {"horizon": 1_000, "gamma": 1.0, "scale": 0.3, "self_comparisons": False},
    "savage": {"horizon": 2, "test": "copeland"},
    "pbr": {"horizon": 2},
    "interleaved-filter": {"horizon": 2},
    "scb": {"scale": 0.1, "first_length": 20},
}
"""Parameters with which they commit within some hundreds of comparisons."""

MOSTLY_SLOW = [
    name if name in ("btm", "savage") else pytest.param(name, marks=pytest.mark.slow)
    for name in POLICIES
]
"""Fast tests are of two of them."""

VARIANTS = [
    ("btm", {"self_comparisons": True}),
    ("savage", {"test": "condorcet"}),
    ("interleaved-filter", {"variant": "if1"}),
]
ROUNDS = np.cumsum([20, 20**2, 20**4])
"""When SCB's rounds end."""


def _policy(name, **changed):
    return jd.policies.make(name, num_arms=ARMS, **(POLICIES[name] | changed))


def _runs(policy, given, seed=0, times=TIMES):
    """Compares runs; but for the last of SCB's rounds, skipping must simulate only comparisons of
    different arms, and BTM's of an arm with itself where these count."""
    informative, steps = both_ways(policy, given, seed, times)
    spare = np.searchsorted(ROUNDS, times[-1], "right") if isinstance(policy, SCB) else 0
    if getattr(policy, "self_comparisons", False):
        spare = 1.1 * informative + 100  # of two arms, b meets itself every other time
    assert (steps >= informative).all()
    assert (steps <= informative + spare).all()
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_runs_are_the_same(name):
    policy, times = _policy(name), TIMES[:3] if name == "scb" else TIMES
    steps = _runs(policy, instances(), times=times)
    assert np.mean(steps < times[-1]) >= 0.25

    @settings(max_examples=3, deadline=None, derandomize=True)
    @given(made_instances())
    def check(made):
        _runs(policy, made, times=times)

    check()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changed"), [*((name, {}) for name in POLICIES), *VARIANTS])
def test_long_runs_are_the_same(name, changed):
    policy = _policy(name, **changed)
    for seed in range(16):
        _runs(policy, instances(), seed, np.array([1_000, 8_000, 8_420, 20_000], np.int32))


@pytest.mark.parametrize("name", MOSTLY_SLOW)
def test_states_are_the_same(name):
    quiet = 0
    for start in (100, 700):
        n, limits = compare_states(_policy(name), instances(), start, seed=start)
        assert ((n == 0) | (n == limits)).all() or name == "scb"
        quiet += (n > 0).sum()
    assert quiet >= 10


def test_a_round_of_scb_ends_with_a_step():
    policy, zero = SCB(num_arms=ARMS, active_arms=jnp.ones(ARMS, bool)), jnp.int32(0)
    tally = no_rewards(jnp.ones(ARMS, bool))
    for left, limit, expected in ((9, 20, 8), (9, 5, 5), (1, 5, 0), (9, 0, 0)):
        duel = Duel(jnp.int32(3), jnp.int32(3))
        here = Round(jnp.int32(2), jnp.int32(left), tally, duel, zero, zero, zero)
        table = jnp.zeros((ARMS, ARMS), jnp.int8)
        after, run = policy.quiet(SCBState(table, here), jnp.int32(limit), KEY)
        assert (int(run.arm), int(run.n)) == (3, expected)
        assert int(after.round.left) == left - expected


def test_an_arm_alone_stays_whatever_the_radius():
    policy = _policy("btm", scale=1e-12)
    state = policy.init(KEY)._replace(working=jnp.arange(ARMS) == 4)
    four = Duel(jnp.int32(4), jnp.int32(4))
    state = jax.jit(policy.update)(state, four, jnp.int32(1), KEY)
    assert np.flatnonzero(state.working).tolist() == [4]


def test_policies_that_every_comparison_teaches_have_no_quiet_runs():
    for name in ("sparring", "multisbm"):
        assert not isinstance(jd.policies.make(name, num_arms=3), SupportsSkip)
    for name in POLICIES:
        assert isinstance(_policy(name), SupportsSkip)
