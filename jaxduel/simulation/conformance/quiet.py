"""Checks that `quiet` and `quiet_among` skip exactly what the policy would have done.

Seeds are brought to states of their own by plain steps, and go on from there twice: by plain steps,
and from one quiet run to the next. Where runs draw nothing, both must make the same comparisons;
where they are drawn, as many of each ordered pair in the mean. If the policy has `learn`, the
same must hold where `learn` is told the outcomes of each run, after the comparison that follows.
Last come checks of `learn` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.binomial import multinomial
from jaxduel.policies.base import (
    WITHHELD,
    Duel,
    Feedback,
    Pull,
    Quiet,
    RewardFeedback,
    SupportsDelay,
    SupportsSharedSkip,
)
from jaxduel.simulation.conformance.shapes import change_of

_LANES = 2_048
_BEFORE, _AFTER = 200, 100
"""Comparisons up to the states, and from there on."""
_CUTS = (_AFTER, 3, 0)
"""Limits on the length of runs: as by the horizon, as by delayed feedback, and no time for any."""
_TOLD = (_AFTER, 3)
"""The limits that are also tried with `learn` told the outcomes of the runs."""
_STRONG = 0.9
"""The chance that an arm beats one that is listed after it."""
_STANDARD_ERRORS = 5.0
_PATIENCE = 200
"""Comparisons by which one should teach, as few do of a policy that seldom explores."""


class _Path(NamedTuple):
    """The comparisons of a seed from its state on."""

    pairs: jax.Array  # (K, K) int32: comparisons of ordered pairs
    valid: jax.Array  # () bool: every run was a permitted one
    drawn: jax.Array  # () bool: a run depended on its key, or was of several arms


def methods_of(policy: Any) -> tuple[str, ...]:
    """The methods of a policy that has `quiet` by which runs can be skipped with nothing lost."""
    tells = isinstance(policy, SupportsSharedSkip) and policy.tells_which
    return ("quiet", "quiet_among") if tells else ("quiet",)


def wrong_type(policy: Any, method: str) -> str | None:
    """A sentence on wrong shapes or dtypes of a policy's quiet run; None if nothing is wrong.

    `method` is one of `methods_of`, here and below.
    """
    key = jax.random.key(0)
    before = jax.eval_shape(policy.init, key)
    limit = jax.ShapeDtypeStruct((), jnp.int32)
    found = jax.eval_shape(_bound(policy, method), before, limit, key)
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Quiet)):
        return f"{method} must return a state and a Quiet, not {type(found).__name__}"
    decided, run = found
    after = jax.eval_shape(partial(_compared, policy), decided, key)
    if (change := change_of(before, after)) is not None:
        return f"update after {method} {change}"
    scalar, vector = ((), jnp.int32), ((policy.num_arms,), jnp.float32)
    if _kind(run.arm) != scalar or _kind(run.n) != scalar:
        return f"{method} must return an arm and a number of comparisons that are () int32"
    if run.weights is not None and _kind(run.weights) != vector:
        return f"the weights that {method} returns must be (K,) float32"
    return None


def wrong_law(policy: Any, method: str) -> str | None:
    """A sentence on a wrong law of the comparisons that are skipped; None if nothing is wrong.

    Args:
      policy: has `quiet`; a suffix of its arms may be inactive.
      method: the method that skips them.
    """
    ways = [(cut, False) for cut in _CUTS]
    if isinstance(policy, SupportsDelay):
        ways += [(cut, True) for cut in _TOLD]
    arguments = *map(jnp.array, zip(*ways, strict=True)), jax.random.key(0)
    both = _both(policy, *arguments, policy_class=type(policy), method=method)
    plain, paths = jax.device_get(both)
    if not paths.valid.all():
        return (
            f"{method} returned a run with n not within 0 .. limit, or of an arm that is inactive "
            "or has no positive weight"
        )
    for (cut, tells), pairs, drawn in zip(ways, paths.pairs, paths.drawn.any(axis=1), strict=True):
        apart = (pairs - plain).astype(np.float64)
        error = apart.std(axis=0) / np.sqrt(_LANES)
        far = np.abs(apart.mean(axis=0)) > _STANDARD_ERRORS * error
        if far.any() or (not drawn and apart.any()):
            left, right = np.argwhere(far if far.any() else apart.any(axis=0))[0]
            told = ", of which `learn` is told" if tells else ""
            means = [table[:, left, right].mean() for table in (pairs, plain)]
            return (
                f"with quiet runs of at most {cut}{told}, arm {left} is compared with arm {right} "
                f"{means[0]:.5g} times in {_AFTER} comparisons, without them {means[1]:.5g} times"
                f"{'' if far.any() else f', and {method} draws nothing'}"
            )
    return None


def _bound(policy: Any, method: str) -> Callable[..., Any]:
    """The method by its name; all active arms may share a run of `quiet_among`."""
    if method == "quiet_among":
        return partial(policy.quiet_among, among=jnp.asarray(policy.active_arms))
    return policy.quiet


@partial(jax.jit, static_argnames=("policy_class", "method"))
def _both(
    policy: Any,
    cuts: jax.Array,
    tells: jax.Array,
    key: jax.Array,
    *,
    policy_class: type,
    method: str,
) -> tuple[jax.Array, _Path]:
    """Comparisons of ordered pairs by plain steps, (lanes, K, K), and paths with quiet runs,
    (ways, lanes); a way is a cut, and whether `learn` is told.

    JAX may take policies of two classes for one (`jaxduel.simulation.cells.Program`), so that the
    class is an argument.
    """
    keys = jax.random.split(key, _LANES)
    times = lax.iota(jnp.int32, _BEFORE + _AFTER)

    def lead_up(key: jax.Array) -> tuple[Any, jax.Array]:
        def step(carry: tuple[Any, jax.Array], t: jax.Array) -> tuple[Any, None]:
            state, pairs = carry
            state, pair = _step(policy, key, state, t)
            return (state, pairs + jnp.where(t >= _BEFORE, pair, 0)), None

        start = policy.init(jax.random.fold_in(key, _BEFORE + _AFTER))
        none = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
        there = lax.scan(step, (start, none), times[:_BEFORE])[0]
        return there[0], lax.scan(step, there, times[_BEFORE:])[0][1]

    states, plain = jax.vmap(lead_up)(keys)
    path = jax.vmap(partial(_path, policy, _bound(policy, method)), in_axes=(None, None, 0, 0))
    return plain, lax.map(lambda way: path(way[0], way[1], states, keys), (cuts, tells))


def _compared(policy: Any, state: Any, key: jax.Array) -> Any:
    """The state after one comparison, which the left arm wins, or a pull with a reward of 1."""
    plan = policy.act(state, key)
    outcome = jnp.int32(1) if isinstance(plan, Duel) else jnp.float32(1)
    return policy.update(state, plan, outcome, key)


def _step(policy: Any, key: jax.Array, state: Any, t: jax.Array) -> tuple[Any, jax.Array]:
    """One comparison: the state after it, and its ordered pair as a 1 in a (K, K) int32 table; or a
    pull, counted on the diagonal."""
    ours, theirs = jax.random.split(jax.random.fold_in(key, t))
    plan = policy.act(state, ours)
    table = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
    if isinstance(plan, Pull):
        reward = jax.random.normal(theirs, (), jnp.float32) - plan.arm.astype(jnp.float32)
        return policy.update(state, plan, reward, ours), table.at[plan.arm, plan.arm].set(1)
    order = jnp.sign(plan.right - plan.left)
    chance = 0.5 + (_STRONG - 0.5) * order
    outcome = jnp.where(jax.random.uniform(theirs, (), jnp.float32) < chance, 1, -1)
    after = policy.update(state, plan, outcome.astype(jnp.int32), ours)
    return after, table.at[plan.left, plan.right].set(1)


def _path(
    policy: Any,
    quiet: Callable[..., Any],
    cut: jax.Array,
    tells: jax.Array,
    state: Any,
    key: jax.Array,
) -> _Path:
    """The path from a state, quiet runs skipped; if `tells`, `learn` is told their outcomes."""
    end = _BEFORE + _AFTER

    def turn(loop: tuple[Any, jax.Array, _Path]) -> tuple[Any, jax.Array, _Path]:
        before, t, path = loop
        limit = jnp.minimum(end - t, cut)
        again, among = jax.random.split(jax.random.fold_in(key, end + 1 + t))
        twice = jax.vmap(quiet, in_axes=(None, None, 0))
        both = twice(before, limit, jax.random.split(again))
        (state, run), other = (jax.tree.map(lambda x, i=i: x[i], both) for i in range(2))
        drawn = _differ((state, run), other)
        n = jnp.clip(run.n, 0, limit)
        t = t + n
        alone = lax.iota(jnp.int32, policy.num_arms) == run.arm
        weights = alone if run.weights is None else run.weights
        allowed = weights[run.arm] > 0
        allowed &= jnp.all((weights == 0) | (policy.active_arms & (weights > 0)))
        selves = jnp.where(alone, n, 0) if run.weights is None else multinomial(among, n, weights)
        drawn |= (n > 0) & (count_true(weights > 0) > 1)
        after, pair = _step(policy, key, state, t)
        plan = jax.eval_shape(policy.act, state, key)
        if isinstance(policy, SupportsDelay):
            told = policy.learn(after, _of_run(plan, selves, again))
            after = jax.tree.map(partial(jnp.where, tells & (n > 0)), told, after)
        goes_on = t < end
        path = _Path(
            path.pairs + jnp.diag(selves) + jnp.where(goes_on, pair, 0),
            path.valid & (run.n == n) & (allowed | (n == 0)),
            path.drawn | drawn,
        )
        return after, t + goes_on, path

    empty = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
    start = _Path(empty, jnp.bool_(True), jnp.bool_(False))
    return lax.while_loop(lambda loop: loop[1] < end, turn, (state, jnp.int32(_BEFORE), start))[2]


def _of_run(plan: Any, selves: jax.Array, key: jax.Array) -> Feedback | RewardFeedback:
    """Outcomes of a quiet run with so many comparisons, or pulls, of each arm, (K,) int32."""
    if isinstance(plan, Pull):
        n = selves.astype(jnp.float32)
        return RewardFeedback(selves, jnp.sqrt(n) * jax.random.normal(key, n.shape, jnp.float32))
    lost = selves // 2
    return Feedback(jnp.diag(selves - lost), jnp.diag(lost))


def _differ(one: Any, other: Any) -> jax.Array:
    """True if two trees differ in any number: () bool."""
    different = jax.tree.map(lambda a, b: jnp.any(a != b), one, other)
    return jax.tree.reduce(jnp.logical_or, different, jnp.bool_(False))


def _kind(leaf: Any) -> tuple[tuple[int, ...], Any]:
    return leaf.shape, leaf.dtype


def wrong_learn(policy: Any) -> str | None:
    """A sentence on a state that `learn` returns in another form; None if nothing is wrong."""
    before = jax.eval_shape(policy.init, jax.random.key(0))
    plan = jax.eval_shape(policy.act, before, jax.random.key(0))
    change = change_of(
        before, jax.eval_shape(policy.learn, before, shapes_of_feedback(policy, plan))
    )
    return None if change is None else f"learn {change}"


def shapes_of_feedback(policy: Any, plan: Any) -> Feedback | RewardFeedback:
    """Shapes of what `learn` of a policy with such plans is given."""
    num = policy.num_arms
    counts: Any = jax.ShapeDtypeStruct((num,) if isinstance(plan, Pull) else (num, num), jnp.int32)
    totals: Any = jax.ShapeDtypeStruct((num,), jnp.float32)
    return RewardFeedback(counts, totals) if isinstance(plan, Pull) else Feedback(counts, counts)


def wrong_lesson(policy: Any) -> str | None:
    """A sentence on a withheld reward that enters the policy's state; or on the first outcome that
    changes the state if it is told at once, if it does not where it is told later; None if nothing
    is wrong."""
    act, update, learn = jax.jit(policy.act), jax.jit(policy.update), jax.jit(policy.learn)
    state = jax.jit(policy.init)(jax.random.key(0))
    for t in range(_PATIENCE):
        key = jax.random.key(t)
        plan = act(state, key)
        is_pull = isinstance(plan, Pull)
        told = [jnp.float32(x) if is_pull else jnp.int32(x) for x in (1, -1)]
        none = jnp.float32(jnp.nan) if is_pull else jnp.int32(WITHHELD)
        withheld, *at_once = (update(state, plan, x, key) for x in (none, *told))
        if any(jnp.isnan(x).any() for x in jax.tree.leaves(withheld) if is_pull and _is_real(x)):
            return "update lets a withheld reward, NaN, into the state"
        if not _are_equal(*at_once):
            later = [learn(withheld, _of_one(policy, plan, x)) for x in told]
            wrong = "update learns from the outcome of a play, but learn, told it later, does not"
            return wrong if _are_equal(*later) else None
        state = withheld
    return None


def _of_one(policy: Any, plan: Any, outcome: jax.Array) -> Feedback | RewardFeedback:
    """One outcome, as `learn` is told it."""
    num = policy.num_arms
    if isinstance(plan, Pull):
        one = jnp.zeros(num, jnp.int32).at[plan.arm].set(1)
        return RewardFeedback(one, one * outcome)
    none = jnp.zeros((num, num), jnp.int32)
    one = none.at[plan.left, plan.right].set(1)
    return Feedback(one, none) if outcome > 0 else Feedback(none, one)


def _is_real(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


def _are_equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))
