"""Policies and oracles of random settings, and batches that the oracles judge: for tests."""

import jax
import numpy as np

from tests.policies.arms.histories import pull_batch_histories, random_arms, stacked

PADDED = 6
"""Arms of a policy of which some histories use only the first ones."""
ROUNDS = 41
"""Rounds of a history on a named grid: no history has as many batches."""

WHOLE = np.random.default_rng(0)
"""For rewards that are whole numbers: float32 adds them exactly, so ties are ties."""


GAMMAS = (1.0, 0.5, 0.1, 0.01, 1e-4, 1e-12)


def mask(active, num_arms):
    return np.arange(num_arms) < active


def run_keys(num, seed):
    return jax.random.split(jax.random.key(seed), num)


def sizes(num, num_arms, seed):
    """A number of active arms: 2 to all where arms are padded, all of them elsewhere."""
    if num_arms < PADDED:
        return np.full(num, num_arms)
    return np.random.default_rng(seed).integers(2, num_arms + 1, num)


def horizons(num, seed, least, most):
    """Log-uniform whole numbers; a tenth of them the least."""
    rng = np.random.default_rng(seed)
    times = np.exp(rng.uniform(np.log(least), np.log(most), num)).astype(np.int64)
    return np.where(rng.random(num) < 0.1, least, np.clip(times, least, most))


def pair(policy_class, oracle_class, k, num_arms, horizon, rng=None, **fields):
    """A policy with k active arms, and its oracle."""
    policy = policy_class(
        num_arms=num_arms, active_arms=mask(k, num_arms), horizon=horizon, **fields
    )
    return policy, oracle_class(k, horizon, rng=rng, **fields)


def replay(cases, active, num_arms, rounds, seed, grain=0.0):
    """Plays one history of each policy and lets its oracle judge each batch.

    Args:
      cases: pairs of a policy and its oracle.
      active: their numbers of active arms.
      num_arms, rounds, seed, grain: of the histories.

    Returns:
      The oracles, after T pulls.
    """
    policies, oracles = zip(*cases, strict=True)
    num = len(policies)
    arms = random_arms(num_arms, num, seed, grain)
    counts, sums = pull_batch_histories(stacked(policies), arms, run_keys(num, seed), rounds)
    assert counts.dtype == np.int32
    for run, oracle in enumerate(oracles):
        k, horizon = active[run], oracle.T
        assert not counts[run, :, k:].any(), f"run {run}: an arm that does not exist is pulled"
        for r in range(rounds):
            plan, allowed = tuple(counts[run, r, :k].tolist()), oracle.allowed()
            assert plan in allowed, f"run {run}, batch {r + 1}: {plan} not in {allowed}"
            if not any(plan):
                assert not counts[run, r:].any()
                break
            oracle.play(plan, sums[run, r, :k].tolist())
        assert oracle.used == counts[run].sum(dtype=np.int64) == horizon
    return oracles


def check_pulls(oracles, arms, rewards):
    """Every pull of `pull_histories` is one that its run's oracle allows."""
    assert arms.dtype == np.int32
    for run, oracle in enumerate(oracles):
        pulls = zip(arms[run].tolist(), rewards[run].tolist(), strict=True)
        for t, (arm, reward) in enumerate(pulls):
            allowed = oracle.allowed()
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, reward)


@jax.jit
def against(policy, means):
    """The arms pulled where pull t of arm i gives exactly means[t, i]."""
    key = jax.random.key(0)

    def step(state, now):
        plan = policy.act(state, key)
        return policy.update(state, plan, now[plan.arm], key), plan.arm

    return jax.lax.scan(step, policy.init(key), means)[1]


def random_case(k, rng):
    """Horizon and number of batches of one history: as users have them, or extreme."""
    kind = rng.random()
    if kind < 0.6:
        T = int(np.exp(rng.uniform(np.log(k), np.log(1e5))))
        return T, int(rng.integers(1, min(T, 12) + 1))
    if kind < 0.85:  # as many batches as pulls, one batch, grids that begin below K
        T = int(rng.integers(k, ROUNDS))
        return T, int(rng.choice([T, T, T - 1, min(T, 3), 1]))
    T = int(rng.choice([10**9, 2**31 - 1, 2**30, rng.integers(10**8, 2**31)]))
    return T, int(rng.integers(1, ROUNDS))


def own_grids(num, num_batches, active, longest, seed):
    """Strictly increasing times of which the first is at least K."""
    rng = np.random.default_rng(seed)
    grids = []
    for k in active.tolist():
        last = int(np.exp(rng.uniform(np.log(k + num_batches), np.log(longest))))
        inner = np.exp(rng.uniform(np.log(k), np.log(last), 4 * num_batches)).astype(int)
        inner = rng.permutation(np.unique(inner[(inner >= k) & (inner < last)]))
        inner = np.sort(inner[: num_batches - 1])
        while len(inner) < num_batches - 1:  # a grid without gaps, at the end
            inner = np.arange(last - num_batches + 1, last)
        grids.append([*inner.tolist(), last])
    return grids
