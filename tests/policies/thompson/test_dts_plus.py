"""D-TS+: the oracle by hand, its samples about ties."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.thompson import sampling
from tests.oracles.choices import Choices
from tests.oracles.divergence import kl_half
from tests.oracles.thompson.dts import DTS, DTSPlus
from tests.policies.oracle_runs import seen
from tests.policies.thompson.cases import CYCLE, samples

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_dts_plus_takes_the_tied_arm_of_least_regret():
    theta1 = samples(
        {(0, 1): 0.9, (0, 2): 0.6, (0, 3): 0.2, (1, 2): 0.7, (1, 3): 0.8, (2, 3): 0.9}, 4
    )
    # votes (2, 2, 1, 1); R_0 = (1/6) (1 / D(.6) + 1 / D(.2)), R_1 = (1/6) (1 / D(.7) + 1 / D(.8))
    assert 1 / kl_half(0.6) + 1 / kl_half(0.2) > 1 / kl_half(0.7) + 1 / kl_half(0.8)
    assert DTS(4).allowed(theta1, np.zeros((4, 4))) == {(0, 0), (1, 1)}
    assert DTSPlus(4).allowed(theta1, np.zeros((4, 4))) == {(1, 1)}


def test_dts_plus_breaks_ties_of_regret_at_random():
    assert DTSPlus(3).allowed(CYCLE, np.zeros((3, 3))) == {(0, 0), (1, 1), (2, 2)}  # R = 0


@pytest.mark.parametrize(("over_candidates", "first"), [(False, 1), (True, 0)])
def test_dts_plus_best_score_of_all_arms_or_of_the_candidates(over_candidates, first):
    """Arm 3 has most votes, and is no candidate.

    The others have one vote each. Over all arms zeta* = 1: R_0 has 1 / D(.4) where R_1 has
    1 / D(.1). Over the candidates zeta* = 1/3: R_i = -(1/3) / D(theta_i3).
    """
    oracle = DTSPlus(4, over_candidates=over_candidates)
    wins = np.zeros((4, 4), int)
    wins[0, 2] = wins[1, 3] = 20
    seen(oracle, wins.tolist(), 41)
    theta1 = samples(
        {(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.1, (0, 3): 0.4, (1, 3): 0.1, (2, 3): 0.1}, 4
    )
    assert oracle.candidates(Choices()) == [0, 1]
    assert oracle.allowed(theta1, np.zeros((4, 4))) == {(first, first)}


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_ties_are_sampled_once_per_pair_and_read_both_ways():
    policy = jd.policies.make("dts+", num_arms=4)
    state = policy.init(jax.random.key(0))
    seed, tied = words_of(jax.random.key(1)), jnp.array([True, False, True, True])
    wins = jax.jit(sampling.sampled_wins)(seed, state)

    @jax.jit
    def about(tied):
        return policy._about_ties(seed, state, wins, tied, jnp.ones_like(wins), lambda y: y)

    drawn = np.asarray(about(tied)) > 0
    expected = [[0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    assert drawn.astype(int).tolist() == expected
    assert not np.asarray(about(tied & (jnp.arange(4) == 2))).any()
