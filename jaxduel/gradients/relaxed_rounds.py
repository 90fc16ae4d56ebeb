"""PCOMP, SCOMP and SCOMP2 with every decision smooth: the rounds of the relaxed simulator.

Paper: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), Algorithms 1 to 3, in
the reading of `jaxduel.policies`.

A statement that is true or false becomes a weight in [0, 1]: "arm i is active", "i surely beats j",
"PCOMP has taken over". And is a product, not is 1 - x, or is 1 - prod(1 - x), if-then-else is the
mixture. A test "evidence > radius" weighs sigmoid((evidence / radius - 1) / temperature). At
temperature 0 all weights are 0 or 1, and each step below is the policy's, with two exceptions: sums
are normal, and the last arm left meets itself after all rounds instead of in them, which makes the
same plays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics import normal
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.policies import PCOMP, SCOMP, SCOMP2
from jaxduel.policies.batched_dueling import scomp, scomp2
from jaxduel.policies.batched_dueling.rounds import Terms, kl_threshold, margin
from jaxduel.policies.batched_dueling.seeds import sample_seeds, switches_by_kl

_NO_COUNT = 1e-3
"""Comparisons below this number are no evidence, and a quotient by them would have no gradient."""
_NO_WEIGHT = 1e-9
"""Added to weights that are divided by their sum: where PCOMP has taken over, no arm is a seed."""


class SmoothTests(NamedTuple):
    """The policy's tests in a round, with their temperature."""

    temperature: jax.Array  # ()
    threshold: jax.Array  # (): of the KL criterion, in nats
    margin: jax.Array  # (): gamma of one comparison; gamma_r = margin / sqrt(c_r)

    @classmethod
    def of(cls, policy: Any, temperature: jax.Array, terms: Terms) -> SmoothTests:
        """The tests with this round's K and T."""
        dtype = temperature.dtype
        return cls(
            temperature,
            kl_threshold(policy, terms).astype(dtype),
            margin(policy, jnp.int32(1), terms).astype(dtype),
        )

    def passes(self, ratio: jax.Array) -> jax.Array:
        """The weight of "evidence > radius" for their ratio."""
        return jax.nn.sigmoid((ratio - 1.0) / self.temperature)


class RelaxedState(NamedTuple):
    """One seed between rounds; arms in the order that the policy sees."""

    active: jax.Array  # (K,) in [0, 1]: A, or A' after the switch
    switched: jax.Array  # () in [0, 1]: PCOMP has taken over
    lead: jax.Array  # (K, K): wins of i over j minus wins of j over i, all rounds
    counts: jax.Array  # (K, K) symmetric: comparisons of i and j, all rounds
    remaining: jax.Array  # (): comparisons left of T
    plays: jax.Array  # (K,): a comparison plays two arms
    candidate: jax.Array  # (K,): SCOMP2's in the previous round; 0 in the first
    terms: Terms  # K and T, ()


class Luck(NamedTuple):
    """The random numbers of one round."""

    noise: jax.Array  # (batches, K, K) antisymmetric standard normals
    u: jax.Array  # () uniform: the choice of the candidate


def relaxed_plays(
    policy: Any,
    sizes: jax.Array,
    horizon: jax.Array,
    drift: jax.Array,
    key: jax.Array,
    temperature: jax.Array,
) -> jax.Array:
    """Plays of one seed after T comparisons.

    Args:
      policy: a PCOMP, SCOMP or SCOMP2.
      sizes: (R + 1,), c_(r - 1) and c_r for each round r = 1 .. R that T may take.
      horizon: () T.
      drift: (K, K) antisymmetric, p_ij - p_ji.
      key: () typed key of this seed.
      temperature: () positive.

    Returns:
      (K,) plays of the drift's dtype, with sum 2 T up to rounding.
    """
    dtype, num = drift.dtype, policy.num_arms
    order_key, seeds_key, luck_key = jax.random.split(key, 3)
    mask = jnp.asarray(policy.active_arms)
    places = jnp.where(mask, jax.random.uniform(order_key, (num,), jnp.float32), 2.0)
    order = jnp.argsort(places)
    drift = drift[order][:, order]
    temperature = jnp.asarray(temperature, dtype)
    seeds = None
    if not isinstance(policy, PCOMP):
        seeds = sample_seeds(policy, seeds_key).astype(dtype)

    def advance(
        state: RelaxedState, turn: tuple[jax.Array, jax.Array, Luck]
    ) -> tuple[RelaxedState, None]:
        before, size, luck = turn
        tests = SmoothTests.of(policy, temperature, state.terms)
        size = size + (before - size) * state.switched
        if seeds is None:
            return _pcomp_round(policy, tests, state, size, drift, luck), None
        relaxed_round = _scomp_round if isinstance(policy, SCOMP) else _scomp2_round
        after = relaxed_round(policy, tests, state, size, drift, luck, seeds)
        return _called(state, after, seeds), None

    start = RelaxedState(
        active=mask.astype(dtype),
        switched=jnp.zeros((), dtype),
        lead=jnp.zeros((num, num), dtype),
        counts=jnp.zeros((num, num), dtype),
        remaining=jnp.asarray(horizon, dtype),
        plays=jnp.zeros(num, dtype),
        candidate=jnp.zeros(num, dtype),
        terms=Terms(jnp.sum(mask, dtype=dtype), jnp.asarray(policy.horizon, dtype)),
    )
    batches = 2 if isinstance(policy, SCOMP2) else 1
    luck = _draw(luck_key, (len(sizes) - 1, batches), num, dtype)
    sizes = jnp.asarray(sizes, dtype)
    end, _ = lax.scan(advance, start, (sizes[:-1], sizes[1:], luck))
    alone = 2.0 * end.remaining * end.active / jnp.sum(end.active)
    return (end.plays + alone)[jnp.argsort(order)]


def _pcomp_round(
    policy: Any,
    tests: SmoothTests,
    state: RelaxedState,
    size: jax.Array,
    drift: jax.Array,
    luck: Luck,
) -> RelaxedState:
    """Algorithm 1, lines 4 to 7."""
    rates = _all_pairs(state.active)
    state, excess = _play(state, rates, size, drift, luck.noise[0])
    return state._replace(active=_left(policy, tests, state, excess, size))


def _scomp_round(
    policy: Any,
    tests: SmoothTests,
    state: RelaxedState,
    size: jax.Array,
    drift: jax.Array,
    luck: Luck,
    sampled: jax.Array,
) -> RelaxedState:
    """Algorithm 2, lines 5 to 12, mixed with Algorithm 1 by the weight `switched`."""
    active, gamma = state.active, tests.margin / jnp.sqrt(size)
    seeds = sampled * active
    seeding = (1.0 - state.switched) * _any(seeds)
    with_seed = jnp.maximum(sampled[:, None], sampled[None, :])
    rates = _all_pairs(active) * (1.0 - seeding * (1.0 - with_seed))
    state, excess = _play(state, rates, size, drift, luck.noise[0])

    def beat_all_seeds(ratio: jax.Array) -> jax.Array:
        fails = 1.0 - tests.passes(ratio)
        return active * jnp.prod(1.0 - seeds[None, :] * fails, axis=1)

    switching, joining = _leads(policy, tests, state, excess, gamma, scomp.PRINTED)
    left = _left(policy, tests, state, excess, size)
    if policy.elimination == "hoeffding":
        surely = tests.passes(excess / (3.0 * gamma))
        left = left + seeding * (_kept(active, active * _escape(seeds, surely)) - left)
    switch = seeding * _any(beat_all_seeds(switching))
    return state._replace(
        active=left + switch * (beat_all_seeds(joining) - left), switched=state.switched + switch
    )


def _scomp2_round(
    policy: Any,
    tests: SmoothTests,
    state: RelaxedState,
    size: jax.Array,
    drift: jax.Array,
    luck: Luck,
    sampled: jax.Array,
) -> RelaxedState:
    """Algorithm 3, lines 5 to 14, mixed with Algorithm 1 by the weight `switched`.

    The candidate is a point of the simplex: see `_member`.
    """
    active, gamma = state.active, tests.margin / jnp.sqrt(size)
    seeds = sampled * active
    rates = (1.0 - state.switched) * _all_pairs(seeds)
    state, excess = _play(state, rates, size, drift, luck.noise[0])
    undefeated = seeds * _escape(seeds, tests.passes(excess / gamma))
    weights = _kept(seeds, undefeated) + _NO_WEIGHT * sampled
    candidate = _member(weights, luck.u, tests.temperature)
    if policy.candidate == "kept":
        kept = state.candidate * undefeated
        candidate = kept + (1.0 - jnp.sum(kept)) * candidate

    seeding = (1.0 - state.switched) * _any(seeds)
    with_candidate = candidate[:, None] * active[None, :]
    with_candidate = with_candidate + with_candidate.T
    rates = _all_pairs(active)
    rates = rates + seeding * (with_candidate - rates)
    state, excess = _play(state, rates, size, drift, luck.noise[1])

    def beat_candidate(ratio: jax.Array) -> jax.Array:
        return active * tests.passes(ratio @ candidate)

    switching, joining = _leads(policy, tests, state, excess, gamma, scomp2.PRINTED)
    left = _left(policy, tests, state, excess, size)
    if policy.elimination == "hoeffding":
        escape = 1.0 - tests.passes(-(excess @ candidate) / (5.0 * gamma))
        left = left + seeding * (_kept(active, active * escape) - left)
    switch = seeding * _any(beat_candidate(switching))
    return state._replace(
        active=left + switch * (beat_candidate(joining) - left),
        switched=state.switched + switch,
        candidate=candidate,
    )


def _leads(
    policy: Any,
    tests: SmoothTests,
    state: RelaxedState,
    excess: jax.Array,
    gamma: jax.Array,
    printed: tuple[float, float],
) -> tuple[jax.Array, jax.Array]:
    """Leads of i over j as multiples of two thresholds, for the switch and for joining A': (K, K)
    each."""
    switching, joining = printed
    share = joining / switching if policy.width is None else policy.width
    ratio = excess / (switching * gamma)
    if switches_by_kl(policy):
        ratio = _evidence_ratio(tests, state)
    return ratio, ratio / share


def _called(before: RelaxedState, after: RelaxedState, sampled: jax.Array) -> RelaxedState:
    """Moves K and T of line 2 to |A| and the remaining comparisons, by the weight with which PCOMP
    is called in this round."""
    seeding = (1.0 - before.switched) * _any(sampled * before.active)
    called = seeding - (1.0 - after.switched) * _any(sampled * after.active)
    arms = before.terms.arms + called * (jnp.sum(after.active) - before.terms.arms)
    horizon = before.terms.horizon + called * (after.remaining - before.terms.horizon)
    # One arm left meets no test; the floor keeps the gradient of a threshold of log 1 finite.
    return after._replace(terms=Terms(jnp.maximum(arms, 2.0), jnp.maximum(horizon, 1.0)))


def _play(
    state: RelaxedState, rates: jax.Array, size: jax.Array, drift: jax.Array, noise: jax.Array
) -> tuple[RelaxedState, jax.Array]:
    """Plays a batch: pair {i, j} is compared c_r times its rate, in lexicographic order until T is
    reached.

    Returns:
      The state; (K, K) excess of the batch's means over 1/2, p_hat_ij - 1/2, times the rate.
    """
    wanted = jnp.triu(size * rates, 1)
    ends = jnp.cumsum(wanted.ravel()).reshape(wanted.shape)
    counts = jnp.clip(state.remaining - (ends - wanted), 0.0, wanted)
    remaining = state.remaining - jnp.sum(counts)
    counts = counts + counts.T
    variance = counts * (1.0 - drift * drift)
    random = variance > 0.0
    spread = jnp.where(random, jnp.sqrt(jnp.where(random, variance, 1.0)), 0.0)
    lead = jnp.clip(counts * drift + spread * noise, -counts, counts)
    state = state._replace(
        lead=state.lead + lead,
        counts=state.counts + counts,
        remaining=remaining,
        plays=state.plays + jnp.sum(counts, axis=1),
    )
    return state, lead / (2.0 * size)


def _left(
    policy: Any, tests: SmoothTests, state: RelaxedState, excess: jax.Array, size: jax.Array
) -> jax.Array:
    """The arms left after a round in which any active arm can eliminate: (K,) weights."""
    if policy.elimination == "hoeffding":
        ratio = excess * jnp.sqrt(size) / tests.margin
    else:
        ratio = _evidence_ratio(tests, state)
    left = state.active * _escape(state.active, tests.passes(ratio))
    return _kept(state.active, left)


def _evidence_ratio(tests: SmoothTests, state: RelaxedState) -> jax.Array:
    """Signed square root of (KL evidence that i beats j) / threshold: (K, K)."""
    n = jnp.maximum(state.counts, _NO_COUNT)
    return _signed_root(state.lead / n) * jnp.sqrt(n / tests.threshold)


def _signed_root(x: jax.Array) -> jax.Array:
    """Square root of d((1 + x) / 2, 1/2) with the sign of x: x / sqrt(2) near 0."""
    near = jnp.abs(x) < 1e-4
    root = jnp.sqrt(divergence_from_half(jnp.where(near, 0.5, x)))
    return jnp.where(near, x * np.sqrt(0.5), jnp.sign(x) * root)


def _escape(rivals: jax.Array, surely: jax.Array) -> jax.Array:
    """(K,) weights of "no rival i surely beats j", from the weights of "i surely beats j"."""
    others = 1.0 - jnp.eye(len(rivals), dtype=rivals.dtype)
    return jnp.prod(1.0 - others * rivals[:, None] * surely, axis=0)


def _kept(before: jax.Array, left: jax.Array) -> jax.Array:
    """The arms left, mixed with `before` by the weight that none is left."""
    return left + (1.0 - _any(left)) * (before - left)


def _any(weights: jax.Array) -> jax.Array:
    """() weight of "at least one is true"."""
    return 1.0 - jnp.prod(1.0 - weights)


def _member(weights: jax.Array, u: jax.Array, temperature: jax.Array) -> jax.Array:
    """The member of a set that the uniform number selects: (K,) weights with sum 1.

    With F the cumulative shares of the weights, i is selected as far as u is above F_(i - 1) and
    below F_i.
    """
    ends = jnp.cumsum(weights) / jnp.sum(weights)
    ends = jnp.concatenate([jnp.zeros(1, ends.dtype), ends])
    above = jax.nn.sigmoid((ends - u) / temperature)
    return (above[1:] - above[:-1]) / (above[-1] - above[0])


def _all_pairs(active: jax.Array) -> jax.Array:
    """(K, K) weights of "both are active"."""
    return active[:, None] * active[None, :]


def _draw(key: jax.Array, shape: tuple[int, int], num: int, dtype: Any) -> Luck:
    """The random numbers of all rounds; the shape is (rounds, batches in a round)."""
    noise_key, u_key = jax.random.split(key)
    pairs = num * (num - 1) // 2
    place = np.zeros((num, num), np.int32)
    place[np.triu_indices(num, 1)] = np.arange(pairs)
    sign = np.sign(np.arange(num)[None, :] - np.arange(num)[:, None])
    drawn = normal(noise_key, (*shape, pairs)).astype(dtype)
    return Luck(
        noise=drawn[..., place + place.T] * jnp.asarray(sign, dtype),
        u=jax.random.uniform(u_key, shape[:1], jnp.float32).astype(dtype),
    )
