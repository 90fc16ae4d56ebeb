"""Batch sizes, commitment to a round and elimination tests shared by PCOMP, SCOMP and SCOMP2.

Paper: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), Section 3 and, for the
KL criterion, Section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import InputError, unknown_name
from jaxduel.numerics import count_true
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.numerics.choice import pack_bits
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.marked import MANY_SLOTS, where_marked
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.pairs import across
from jaxduel.numerics.target import for_accelerator
from jaxduel.policies.base import Batch
from jaxduel.policies.checks import require, require_horizon, require_whole

_TIE = 1.0 + 1e-6
"""Evidence equal to the threshold does not eliminate: for K = 2^m, 2 m losses without a win weigh
exactly 2 log K, and float32 rounding must not decide."""

_SIXTH = (1 / 30, math.log(2) - 1 / 2 - 1 / 12)
"""Coefficients of x^6 in bounds of the evidence: see `losers_by_kl`."""
_SLACK = 1e-5
"""More than float32 rounds the evidence and its bounds."""
TOGETHER = 1024
"""Lanes that compute what few lanes need together, times arms."""
_FEW_ARMS = 16
"""Up to so many arms the evidence of all pairs costs less than a choice among them."""

ELIMINATIONS = ("kl", "kl-safe", "kl-log-horizon", "hoeffding")


@dataclass(frozen=True, kw_only=True)
class BatchedSettings:
    """The inputs of the three algorithms.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, comparisons in all.
      num_batches: B, from 1 to T.
      elimination: who goes after a round.
        "hoeffding": the algorithms as printed, with p_hat of that round alone and margins of
        gamma_r.
        "kl": the experiments. N and p_hat are cumulative over all rounds and phases, and an active
        arm i goes if some active arm j has p_hat_ij < 1/2 and N_ij d(p_hat_ij, 1/2) > threshold =
        2 log K. The text prints "> log(T delta)" with delta = 1 / (T K^2), which is negative; its
        absolute value makes the paper's claims come out. On six rankers 3 % (PCOMP) to 19 %
        (SCOMP2) of the runs lose the best arm with it.
        "kl-safe": the same with log(1 / delta) = log(T K^2), the threshold that has a guarantee.
        "kl-log-horizon": the same with log T.
      threshold: KL threshold, in nats; None: elimination's.
      q: growth of the batches, T^(1/B) if None. Round r has c_r = max(1, floor(q^r)) comparisons of
        a pair. With a smaller q there may be more batches than B stands for.
      delta: gamma_r = sqrt(log(1 / delta) / (2 c_r)); None: the paper's. That is 1 / (6 T K^2 B)
        for "hoeffding" (the theory) and 1 / (T K^2) for the KL criteria (the experiments).
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    num_batches: int | jax.Array
    elimination: str = field(default="kl", metadata={"static": True})
    threshold: float | jax.Array | None = None
    q: float | jax.Array | None = None
    delta: float | jax.Array | None = None

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        name = type(self).__name__.lower()
        require_horizon(self.horizon, name)
        require_whole(
            self.num_batches, 1, f"{name}: num_batches must be a whole number of at least 1"
        )
        if (np.asarray(self.num_batches) > np.asarray(self.horizon)).any():
            raise InputError(
                f"{name}: num_batches must be at most the horizon {self.horizon}, "
                f"not {self.num_batches}."
            )
        if self.elimination not in ELIMINATIONS:
            raise unknown_name("elimination", self.elimination, ELIMINATIONS)
        require(self.threshold, lambda x: x > 0, f"{name}: threshold must be positive")
        require(self.q, lambda x: x >= 1, f"{name}: q must be at least 1")
        require(self.delta, lambda x: (x > 0) & (x < 1), f"{name}: delta must be in (0, 1)")


class BatchedState(NamedTuple):
    """Fields common to the three states (PCOMP's state)."""

    active: jax.Array  # (K,) bool: A
    wins: jax.Array  # (K, K) int32: wins of i over j, all rounds
    batch: jax.Array  # () int32: r, from 1
    remaining: jax.Array  # () int32: comparisons left of T
    rounds: jax.Array  # () int32: batches used, those without a comparison not counted


class Terms(NamedTuple):
    """K and T of line 2: those of the run, or those that PCOMP is called with after a switch."""

    arms: jax.Array  # () int32: K
    horizon: jax.Array  # () int32: T


def terms_of(settings: BatchedSettings) -> Terms:
    """K and T of the whole run."""
    return Terms(count_true(settings.active_arms), jnp.asarray(settings.horizon, jnp.int32))


def comparisons_per_pair(settings: BatchedSettings, batch: jax.Array) -> jax.Array:
    """c_r = max(1, floor(q^r)), exactly: () int32.

    In float64 whatever the global setting, since floor(T^(r/B)) is an integer of up to 31 bits. The
    mathematical floor is meant: 1000^(1/3) is 10, though rounded arithmetic says 9.999..., hence
    the guard of a few float64 roundings.
    """
    with jax.enable_x64(True):
        horizon = jnp.asarray(settings.horizon).astype(jnp.float64)
        if settings.q is None:
            log_q = jnp.log(horizon) / jnp.asarray(settings.num_batches).astype(jnp.float64)
        else:
            log_q = jnp.log(jnp.asarray(settings.q).astype(jnp.float64))
        power = jnp.exp(jnp.asarray(batch).astype(jnp.float64) * log_q)
        size = jnp.clip(jnp.floor(power * (1.0 + 1e-13)), 1.0, horizon).astype(jnp.int32)
    return size


def margin(settings: BatchedSettings, per_pair: jax.Array, terms: Terms) -> jax.Array:
    """gamma_r for c_r = `per_pair`: () float32; float64 where the terms are."""
    if settings.delta is not None:
        log_inverse_delta = -jnp.log(jnp.float32(settings.delta))
    else:
        log_inverse_delta = 2.0 * _log(terms.arms) + _log(terms.horizon)
        if settings.elimination == "hoeffding":
            log_inverse_delta += jnp.log(6.0 * jnp.float32(settings.num_batches))
    return jnp.sqrt(log_inverse_delta / (2.0 * per_pair.astype(jnp.float32)))


def commit(pairs: jax.Array, active: jax.Array, per_pair: jax.Array, remaining: jax.Array) -> Batch:
    """A round: each pair `per_pair` times in lexicographic order until T is reached.

    Args:
      pairs: (K, K) bool, the pairs {i, j} to compare, at (i, j) with i < j; other entries are
        ignored.
      active: (K,) bool; if one arm is left, it plays itself with all that remains.
      per_pair: () int32, at least 1.
      remaining: () int32, comparisons left.

    Returns:
      The counts; their sum is at most `remaining`, and no intermediate number exceeds int32.
    """
    pairs = jnp.triu(pairs, 1)
    in_rows = lax.population_count(jax.vmap(pack_bits)(pairs))
    number = jnp.sum(in_rows.astype(jnp.int32), axis=1, dtype=jnp.int32)
    whole = remaining // per_pair
    left = whole - (jnp.cumsum(number, dtype=jnp.int32) - number)  # of the whole pairs, by rows
    is_cut = (left >= 0) & (left < number)
    cut = pairs.at[count_true(left >= number)].get(mode="clip")
    rank = jnp.cumsum(cut, dtype=jnp.int32) - cut
    part = remaining - whole * per_pair
    last = jnp.sum(jnp.where(is_cut, left, 0), dtype=jnp.int32)
    in_cut = jnp.where(rank < last, per_pair, jnp.where(rank == last, part, 0))
    in_row = jnp.where(left >= number, per_pair, 0)
    counts = jnp.where(is_cut[:, None], in_cut, in_row[:, None])
    alone = count_true(active) == 1
    itself = jnp.diag(jnp.where(active & alone, remaining, 0))
    return Batch(jnp.where(pairs & ~alone, counts, 0) + itself)


def all_pairs(active: jax.Array) -> jax.Array:
    """The pairs of active arms: (K, K) bool."""
    return active[:, None] & active[None, :]


def round_means(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """p_hat of one round's counts, of any shape; 1/2 where nothing was compared."""
    n = wins + losses
    return jnp.where(n > 0, wins / jnp.maximum(n, 1), 0.5)


def kl_threshold(settings: BatchedSettings, terms: Terms) -> jax.Array:
    """The evidence above which the KL criterion eliminates, in nats: () float32; float64 where the
    terms are."""
    if settings.threshold is not None:
        return jnp.float32(settings.threshold)
    if settings.elimination == "kl":
        return 2.0 * _log(terms.arms)
    log_horizon = _log(terms.horizon)
    if settings.elimination == "kl-safe":
        return log_horizon + 2.0 * _log(terms.arms)
    return log_horizon


def evidence_of_losses(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """Evidence that the side of `wins` is the weaker one of a pair, negative where the other side
    has fewer wins: float32."""
    n = jnp.maximum(wins + losses, 1).astype(jnp.float32)
    behind = (losses - wins).astype(jnp.float32)
    return jnp.sign(behind) * n * divergence_from_half(behind / n)


def _opposite(evidence: jax.Array, *_: jax.Array) -> jax.Array:
    return -evidence


def evidence_between(wins: jax.Array, pairs: jax.Array) -> jax.Array:
    """Evidence that i loses to j, (K, K) float32, negative where j loses to i.

    Args:
      wins: (K, K) int32, of all rounds.
      pairs: (K, K) bool, the pairs that are asked for, both ways; the others have 0.
    """
    if len(wins) <= _FEW_ARMS:
        return _evidence_of_all(wins, pairs)
    pairs, nothing = jnp.triu(pairs, 1), jnp.zeros(wins.shape, jnp.float32)
    return where_marked(
        evidence_of_losses, pairs, nothing, wins, across=_opposite, most_slots=MANY_SLOTS
    )


def _evidence_of_all(wins: jax.Array, pairs: jax.Array) -> jax.Array:
    """`evidence_between`, computed for all pairs."""
    evidence = jnp.where(pairs, evidence_of_losses(wins, across(wins)), 0.0)
    return materialize(evidence, wins[0, 0] < 0)


def above(lead: jax.Array, threshold: jax.Array) -> jax.Array:
    """True where evidence exceeds a threshold for sure."""
    return lead > threshold * _TIE


def losers(evidence: jax.Array, threshold: jax.Array) -> jax.Array:
    """The arms that lose to another one with `evidence_between` above a threshold: (K,) bool."""
    # down the columns, which costs a third of along the rows; the evidence is antisymmetric
    return jnp.any(above(-evidence, threshold), axis=0)


def losers_by_kl(wins: jax.Array, pairs: jax.Array, threshold: jax.Array) -> jax.Array:
    """`losers` by the evidence of some pairs: (K,) bool.

    On a CPU bounds without a logarithm decide most arms. With n comparisons and a difference x n of
    wins the evidence is n times x^2 / 2 + x^4 / 12 + x^6 / 30 + ..., all terms positive, those from
    the third one on at most x^6 (log 2 - 1/2 - 1/12).

    Args:
      wins: (K, K) int32, of all rounds.
      pairs: (K, K) bool, the pairs that are asked for, both ways.
      threshold: () float32.
    """
    if for_accelerator():
        return _losers_exactly(jnp.zeros(len(wins), bool), wins, pairs, threshold)
    losses = across(wins)
    n, d = (wins + losses).astype(jnp.float32), (wins - losses).astype(jnp.float32)
    square = (d / jnp.maximum(n, 1.0)) ** 2
    low, high = (n * square * (0.5 + square * (1 / 12 + square * sixth)) for sixth in _SIXTH)
    ahead, limit = pairs & (d > 0), threshold.astype(jnp.float32)
    is_sure, is_possible = low > limit * (1 + _SLACK), high > limit * (1 - _SLACK)
    codes = jnp.where(ahead, is_possible.astype(jnp.int8) + is_sure.astype(jnp.int8), jnp.int8(0))
    found = jnp.max(materialize(codes, wins[0, 0] < 0), axis=0)
    exact = wins, pairs, threshold
    return compacted_cond(
        _losers_exactly, jnp.any(found == 1), found == 2, *exact, together=-(-TOGETHER // len(wins))
    )


def _losers_exactly(
    _: jax.Array, wins: jax.Array, pairs: jax.Array, threshold: jax.Array
) -> jax.Array:
    return losers(_evidence_of_all(wins, pairs), threshold)


def beaten_by_kl(
    settings: BatchedSettings, active: jax.Array, wins: jax.Array, terms: Terms
) -> jax.Array:
    """The active arms that the KL criterion eliminates: (K,) bool."""
    return losers_by_kl(wins, all_pairs(active), kl_threshold(settings, terms))


def beaten_in_round(round_wins: jax.Array, by: jax.Array, bound: jax.Array) -> jax.Array:
    """The arms whose rival among `by`, (K,) bool, had a mean above a bound in a round: (K,)
    bool."""
    wins, n = round_wins.astype(jnp.float32), (round_wins + across(round_wins)).astype(jnp.float32)
    return jnp.any((wins > bound * n) & by[:, None], axis=0)


def beaten_by_hoeffding(
    settings: BatchedSettings,
    active: jax.Array,
    batch: jax.Array,
    round_wins: jax.Array,
    terms: Terms,
) -> jax.Array:
    """The arms that lose to an active one in a round of all pairs (Algorithm 1, lines 5 to 7): (K,)
    bool."""
    gamma = margin(settings, comparisons_per_pair(settings, batch), terms)
    return beaten_in_round(round_wins, active, 0.5 + gamma)


def keep_survivors(active: jax.Array, beaten: jax.Array) -> jax.Array:
    """The arms left; an elimination that would leave none is not made.

    Only a cycle of arms, each beating the next for sure, can ask for that: no instance with a
    Condorcet winner does while its estimates are right, but they may be wrong.
    """
    left = active & ~beaten
    return jnp.where(jnp.any(left), left, active)


def account(remaining: jax.Array, rounds: jax.Array, plan: Batch) -> tuple[jax.Array, jax.Array]:
    """`remaining` and `rounds` after a batch was played."""
    # as the loop over rounds adds them up, and the last of these sums as the largest: XLA makes of
    # a plain sum, or of their last entry, another pass over all pairs
    played = jnp.max(jnp.cumsum(jnp.sum(plan.counts, axis=1, dtype=jnp.int32), dtype=jnp.int32))
    return remaining - played, rounds + (played > 0)


def _log(number: jax.Array) -> jax.Array:
    """The logarithm, of an integer in float32."""
    return jnp.log(number.astype(jnp.promote_types(number.dtype, jnp.float32)))
