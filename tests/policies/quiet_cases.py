"""What quiet runs are tested on, and the two ways to a state: skipped and played."""

import dataclasses
from functools import partial

import chex
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from jax import lax

import jaxduel as jd
from tests.policies.quiet_runs import compare, plain, skipping

ARMS, INSTANCES, LANES = 9, 16, 64
TIMES = np.array([60, 420, 421, 2_000], np.int32)


def _padded(preferences):
    """(K, K) preferences among ARMS arms, float32; arms that do not exist draw."""
    add = ARMS - len(preferences)
    return np.pad(preferences, (0, add), constant_values=0.5).astype(np.float32)


def _instances(tables):
    """The masks of the arms that exist, (LANES, K) bool, and the preferences, (LANES, K, K)."""
    assert len(tables) == INSTANCES
    tables = tables * (LANES // INSTANCES)
    sizes = np.array([len(table) for table in tables])
    return np.arange(ARMS) < sizes[:, None], np.stack([_padded(table) for table in tables])


def _complete(upper):
    """Preferences from what is above the diagonal."""
    upper = np.triu(upper, 1)
    return upper + np.tril(1 - upper.T, -1) + np.eye(len(upper)) / 2


def small_instances():
    """All instances of the catalogue with at most ARMS arms, and random ones, most pairs uneven."""
    catalogue = [jd.problems.load(x.name) for x in jd.problems.entries() if x.num_arms <= ARMS]
    rng = np.random.default_rng(0)
    sizes = [2, 3, 4, 6, 9, 2, 9][: INSTANCES - len(catalogue)]
    entries = [0.0, 0.05, 0.1, 0.3, 0.45, 0.8, 0.9, 1.0]
    chance = [_complete(rng.choice(entries, (num, num))) for num in sizes]
    return _instances([*(np.asarray(problem.preferences) for problem in catalogue), *chance])


@st.composite
def made_instances(draw):
    """A matrix made by hypothesis: its leading submatrices of 2 to ARMS arms, each twice."""
    entries = st.sampled_from([0.0, 0.05, 0.2, 0.4, 0.5, 0.6, 0.9, 1.0])
    whole = _complete(draw(hnp.arrays(np.float64, (ARMS, ARMS), elements=entries)))
    return _instances([whole[:num, :num] for num in range(2, ARMS + 1)] * 2)


@partial(jax.jit, static_argnames="policy_class")
def _both(policy, masks, preferences, keys, times, *, policy_class):
    """`plain` and `skipping`, each with a policy of its own arms per lane."""

    def run(active, p, key):
        given = dataclasses.replace(policy, active_arms=active), p[None], key[None], times
        ways = (way(*given, policy_class=policy_class) for way in (plain, skipping))
        return tuple(jax.tree.map(lambda x: x[0], way) for way in ways)

    return jax.vmap(run)(masks, preferences, keys)


def both_ways(policy, instances, seed=0, times=TIMES):
    """Runs of a policy with and without skipping; their plays must be the same.

    Returns:
      (LANES,) numbers: comparisons of different arms, comparisons that skipping simulated.
    """
    keys = jax.random.split(jax.random.key(seed), LANES)
    (plays, informative), (skipped, steps) = jax.tree.map(
        np.asarray, _both(policy, *instances, keys, times, policy_class=type(policy))
    )
    compare(plays, skipped, times)
    for of_arms in (plays.others, plays.selves):
        assert not np.where(instances[0][:, None], 0, of_arms).any()
    return informative, steps


def check_runs(policy, instances, seed=0, times=TIMES, spare=lambda informative, last: 0):
    """Compares runs. Skipping must simulate only comparisons of different arms, and a few to spare.

    Args:
      spare: how many, given those of different arms, (LANES,), and the last time.

    Returns:
      (LANES,) comparisons that skipping simulated.
    """
    informative, steps = both_ways(policy, instances, seed, times)
    assert (steps >= informative).all()
    assert (steps <= informative + spare(informative, times[-1])).all()
    return steps


def check_made_runs(policy, **options):
    """`check_runs` on instances made by hypothesis."""

    @settings(max_examples=3, deadline=None, derandomize=True)
    @given(made_instances())
    def check(made):
        check_runs(policy, made, **options)

    check()


def check_long_runs(policy, **options):
    """`check_runs` on all instances, 16 seeds of each."""
    times = np.array([1_000, 8_000, 8_420, 20_000], np.int32)
    for seed in range(16):
        check_runs(policy, small_instances(), seed, times, **options)


def check_commitment(policy, times=TIMES, **options):
    """`check_runs` of a policy that commits; a quarter of its runs or more must fall quiet."""
    steps = check_runs(policy, small_instances(), times=times, **options)
    assert np.mean(steps < times[-1]) >= 0.25
    check_made_runs(policy, times=times, **options)


@partial(jax.jit, static_argnames="policy_class")
def _states(policy, masks, preferences, keys, starts, limits, *, policy_class):
    """Plays some comparisons, then the quiet run that comes next, skipped and played; one that is
    drawn, as comparisons of its arm."""

    def run(active, p, key, start, limit):
        here = dataclasses.replace(policy, active_arms=active)

        def step(carry):
            t, state, skipped, quiet, same = carry
            own = jax.random.fold_in(key, t + 1)
            duel = here.act(state, own)
            drawn = jnp.array(False) if quiet.weights is None else t >= start
            duel = jax.tree.map(lambda arm: jnp.where(drawn, quiet.arm, arm), duel)
            luck, told = jax.random.uniform(jax.random.fold_in(own, 99), (2,), jnp.float32)
            outcome = jnp.where(luck < p[duel.left, duel.right], 1, -1).astype(jnp.int32)
            outcome = jnp.where((t >= start) & (told < 0.2), 0, outcome)
            same &= (t < start) | ((duel.left == quiet.arm) & (duel.right == quiet.arm))
            state, t = here.update(state, duel, outcome, own), t + 1
            asked = here.quiet(state, jnp.where(t == start, limit, 0), own)
            skipped, quiet = jax.tree.map(
                lambda new, old: jnp.where(t == start, new, old), asked, (skipped, quiet)
            )
            return t, state, skipped, quiet, same

        state = here.init(key)
        _, run = jax.eval_shape(here.quiet, state, jnp.int32(0), key)
        none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), run)
        begin = jnp.int32(0), state, state, none, jnp.array(True)

        def goes_on(carry):
            t, _, _, run, _ = carry
            return t < start + run.n

        return lax.while_loop(goes_on, step, begin)[1:]

    return jax.vmap(run)(masks, preferences, keys, starts, limits)


def compare_states(policy, instances, start, seed=0):
    """The state after a quiet run must be the same in every field, skipped or played.

    Outcomes are withheld now and then while it lasts. The run's limit differs between lanes.

    Returns:
      (LANES,) each: the length of the run and its limit.
    """
    keys = jax.random.split(jax.random.key(seed), LANES)
    starts = np.full(LANES, start, np.int32)
    limits = np.random.default_rng(seed).choice([0, 1, 2, 7, 40, 300], LANES)
    played, skipped, quiet, same = _states(
        policy, *instances, keys, starts, limits.astype(np.int32), policy_class=type(policy)
    )
    if hasattr(played, "awake"):  # what a draw, not a comparison, tells
        played = played._replace(awake=skipped.awake)
    chex.assert_trees_all_equal(skipped, played)
    assert np.asarray(same).all()
    n = np.asarray(quiet.n)
    assert ((n >= 0) & (n <= limits)).all()
    return n, limits


def check_committed_states(policy, lasts=True):
    """`compare_states` of a policy that commits: if that `lasts`, only the limit ends a run."""
    quiet = 0
    for start in (100, 700):
        n, limits = compare_states(policy, small_instances(), start, seed=start)
        assert not lasts or ((n == 0) | (n == limits)).all()
        quiet += (n > 0).sum()
    assert quiet >= 10


def check_states_that_end(policy):
    """`compare_states` of a policy whose runs end by themselves or at the limit: both occur."""
    cut = ended = 0
    for start in (100, 700):
        n, limits = compare_states(policy, small_instances(), start, seed=start)
        cut += ((n > 0) & (n == limits)).sum()
        ended += ((n > 0) & (n < limits)).sum()
    assert min(cut, ended) >= 5
