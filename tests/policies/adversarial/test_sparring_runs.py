"""Quiet runs of Self-Sparring: the bound of a proposal, and the law of the comparison after it."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

import jaxduel as jd
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.adversarial.self_sparring import SelfSparringState
from jaxduel.policies.adversarial.sparring_runs import _log_bound, run_of
from tests.best_of_posterior import assert_found, best_of
from tests.choice import some
from tests.policies.quiet_laws import compare_laws, plain, skipping

pytestmark = pytest.mark.usefixtures("quick_compilation")

LONG = 2**31 - 2
COUNTS = [((100, 3, 2, 3), (60, 10, 9, 12)), ((400, 30, 25, 1), (390, 60, 55, 9))]
"""Wins and losses. An event is proposed in some comparisons, of the first in more and more."""


@jax.jit
def decided(won, lost):
    """The proposal of a run, its stretch, and the bounds of P(y < c) at the ends of that."""
    _, proposal = run_of(words_of(jax.random.key(0)), won, lost, jnp.ones(4, bool), jnp.int32(LONG))
    own = won[proposal.arm], lost[proposal.arm], proposal.level, proposal.tilt
    stretch = jnp.maximum(own[0] // 4, 1)
    with jax.enable_x64(True):
        return proposal, stretch, [_log_bound(*own, n) for n in (0, stretch)]


def test_the_bound_for_the_arm_itself_holds_all_along_a_stretch():
    """At 1e9 comparisons log Gamma is 2e10, of which float64 has 4e-6."""
    rng = np.random.default_rng(0)
    for size in 10.0 ** rng.uniform(0, 9, 300):
        won = rng.binomial(int(size), rng.uniform(0.2, 0.8, 4)).astype(np.int32)
        lost = (int(size) - won).astype(np.int32)
        proposal, stretch, ends = jax.device_get(decided(won, lost))
        s, c = float(proposal.tilt), float(proposal.level)
        n = np.unique(np.linspace(0, stretch, 20).round())
        a, b = won[proposal.arm] + 1 + n, lost[proposal.arm] + 1 + n
        assert 0 <= s <= won[proposal.arm]
        bounds = s * c + special.betaln(a - s, b + s) - special.betaln(a, b)
        np.testing.assert_allclose(ends, bounds[[0, -1]], rtol=1e-9, atol=1e-4)
        assert (bounds <= max(ends) + 1e-4).all()
        below = special.betainc(a, b, special.expit(c))
        assert (below <= np.exp(np.minimum(bounds, 0.0) + 1e-4)).all()
        if s > 0:
            assert ends[0] < -1  # for a normal law -2: c is two deviations or more below the mode


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("counts", "before"), some(product(COUNTS, (0, 8)), [(COUNTS[0], 0), (COUNTS[1], 8)])
)
def test_the_comparison_after_a_run_has_the_law_of_the_posterior(counts, before):
    """Of seeds whose runs are `before` long or longer: in some the next comparison is proposed, in
    others it is quiet; together it has the law that SciPy integrates for the counts by then."""
    number = 2**18
    won, lost = (jnp.asarray([*x, 0], jnp.int32) for x in counts)
    active = jnp.arange(len(won)) < len(won) - 1
    policy = jd.policies.make("self-sparring", num_arms=len(won), active_arms=np.asarray(active))

    @jax.jit
    @jax.vmap
    def compared(key):
        state = SelfSparringState(won, lost)
        state, run = policy.quiet(state, jnp.int32(before + 1), jax.random.fold_in(key, 0))
        duel = policy.act(state, jax.random.fold_in(key, 1))
        proposed = run.n == before
        left, right = (jnp.where(proposed, arm, run.arm) for arm in duel)
        return run.n, left, right, state.proposal.is_made

    n, left, right, made = map(
        np.asarray, compared(jax.random.split(jax.random.key(before), number))
    )
    assert (made == (n <= before)).all()
    assert (n == before).sum() > 1000
    reached = n >= before
    own = np.where(np.arange(len(won)) == 0, before, 0)
    p = best_of(np.asarray(won + own)[:-1], np.asarray(lost + own)[:-1])
    assert_found(left[reached], right[reached], p)


def test_a_run_that_has_decided_is_not_drawn_again():
    quiet = jax.jit(jd.policies.make("self-sparring", num_arms=2).quiet)
    state = SelfSparringState(jnp.array([60, 10]), jnp.array([40, 40]))
    for seed in range(20):
        once, run = quiet(state, jnp.int32(LONG), jax.random.key(seed))
        again, none = quiet(once, jnp.int32(LONG), jax.random.key(100 + seed))
        if once.proposal.is_made:
            jax.tree.map(np.testing.assert_array_equal, once, again)
            assert none.n == 0
        else:  # cut at the end of the stretch
            assert run.n == 15
            assert again.won[0] == 75 + none.n


@pytest.mark.thorough
def test_whole_runs_with_runs_skipped_have_the_law_of_plain_ones(turns):
    """Regret and plays of each arm; seeds for 5 % of the regret to be 4.5 standard errors."""
    problem = jd.problems.btl_from_weights([4, 2, 1])
    times, ways = [500, 5_000], (skipping, plain)
    error = compare_laws("self-sparring", problem, times, 5_000, *ways, parameters={})
    assert error <= 0.05 / 4.5
    assert np.concatenate(turns).mean() < 0.5 * times[-1]
