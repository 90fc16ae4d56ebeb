"""The conformance suite: checks that every policy must pass, each callable on its own.

`check_policy(make)` runs all of `CHECKS`; each takes a `make` and raises `ConformanceError` with a
sentence. A policy that passes can be simulated, swept, padded and vmapped like those of the papers.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import AssumptionWarning, InputError
from jaxduel.policies.base import (
    Batch,
    Duel,
    Pull,
    PullBatch,
    SupportsAnswer,
    SupportsDelay,
    SupportsSkip,
    SupportsWarmStart,
)
from jaxduel.policies.registry import to_32_bits, validate
from jaxduel.problems import Problem, arithmetic, gaussian
from jaxduel.simulation.blocks import plan_kind
from jaxduel.simulation.conformance import answer, quiet
from jaxduel.simulation.conformance.shapes import (
    change_of,
    difference,
    failure_of,
    is_same_each_time,
    wide_state,
    wrong_counts,
    wrong_plan,
)
from jaxduel.simulation.regret import PlaysError
from jaxduel.simulation.simulate import simulate
from jaxduel.simulation.traces import outcome_of

Make = Callable[..., Any]
"""`make(num_arms=K, horizon=T, active_arms=mask or None)` returns a policy."""

_ARMS, _HORIZON, _SEEDS = 5, 300, 4


class ConformanceError(AssertionError):
    """A policy does not do what the simulator relies on."""


def check_policy(make: Make) -> None:
    """Runs every check of the conformance suite.

    Args:
      make: called as `make(num_arms=K, horizon=T, active_arms=None or a (K,) bool mask)`; for a
        registered policy, `functools.partial(jaxduel.policies.make, name)`.

    Raises:
      ConformanceError: at the first check that fails, with what was found.
      InputError: if `make` cannot be called so, as a policy's class, or `simulate` refuses what it
        makes.

    Example:
      >>> from dataclasses import dataclass
      >>> import jaxduel as jd
      >>> @dataclass
      ... class Mine:
      ...     num_arms: int
      >>> jd.check_policy(lambda num_arms, horizon, active_arms: Mine(num_arms))
      Traceback (most recent call last):
          ...
      jaxduel.simulation.conformance.suite.ConformanceError: the policy must be a frozen dataclass.
    """
    try:
        inspect.signature(make).bind(num_arms=_ARMS, horizon=_HORIZON, active_arms=None)
    except TypeError as error:
        raise InputError(
            "check_policy needs a function of num_arms, horizon and active_arms that makes a "
            f"policy, not {make!r} ({error})."
        ) from None
    for check in CHECKS:
        check(make)


def is_frozen_pytree(make: Make) -> None:
    """The policy is a frozen dataclass and a pytree of numbers; K is static, the mask a leaf."""
    policy = _policy(make)
    settings = getattr(type(policy), "__dataclass_params__", None)
    _expect(settings is not None and settings.frozen, "the policy must be a frozen dataclass")
    leaves = jax.tree.leaves(policy)
    _expect(
        not any(leaf is policy for leaf in leaves),
        "the policy must be registered with jax.tree_util.register_dataclass",
    )
    _expect(isinstance(policy.num_arms, int), "num_arms must be a static int")
    masks = [leaf for leaf in leaves if np.shape(leaf) == (policy.num_arms,)]
    is_there = any(np.asarray(leaf).dtype == bool for leaf in masks)
    _expect(is_there, "active_arms must be a (K,) bool leaf")
    validate(policy)


def keeps_shapes_and_dtypes(make: Make) -> None:
    """`update` returns the shapes and dtypes of `init`, with 32 bits, whether or not x64 is on.

    All methods that the policy has can be traced, if it plays one comparison, or pull, at a time.
    """
    for x64 in _precisions():
        policy, key = _policy(make), jax.random.key(0)
        before = _shapes(policy, "init", key)
        _expect_none(wide_state(before), f" ({x64})")
        plan = _shapes(policy, "act", before, key)
        _expect_none(wrong_plan(plan, policy.num_arms), f" ({x64})")
        after = _shapes(policy, "update", before, plan, jax.eval_shape(outcome_of, plan), key)
        _same_shapes(before, after, f"update ({x64})")
        table: Any = jax.ShapeDtypeStruct((policy.num_arms, policy.num_arms), jnp.int32)
        number = jax.ShapeDtypeStruct((), jnp.int32)
        for method, arguments in (
            ("learn", (before, quiet.shapes_of_feedback(policy, plan))),
            ("quiet", (before, number, key)),
            ("from_wins", (table, key)),
            ("answer", (before,)),
        ):
            if isinstance(plan, Duel | Pull) and hasattr(policy, method):
                try:
                    _shapes(policy, method, *arguments)
                except ConformanceError as error:
                    refuses = method == "from_wins" and isinstance(error.__cause__, InputError)
                    if not refuses:  # as `arena` does with variances that counts do not tell
                        raise


def is_pure_and_compiles_once(make: Make) -> None:
    """A jitted step, fed with its own output, is traced once, and always to the same program."""
    policy = _policy(make)
    traces = []

    def step(policy: Any, state: Any, key: jax.Array) -> Any:
        traces.append(1)
        plan = policy.act(state, key)
        return plan, policy.update(state, plan, outcome_of(plan), key)

    compiled = jax.jit(step)
    state = jax.jit(lambda policy, key: policy.init(key))(policy, jax.random.key(0))
    for t in range(3):
        _, state = compiled(policy, state, jax.random.key(t))
    _expect(len(traces) == 1, f"a step was traced {len(traces)} times, not once")
    _expect(
        is_same_each_time(step, policy, state, jax.random.key(0)),
        "act or update depends on more than its arguments, such as numpy.random or a list that "
        "grows: tracing it twice gives two programs",
    )


def is_vmappable_over_leaves(make: Make) -> None:
    """Any one leaf can be vmapped over; with all of them stacked, a step gives the same.

    A step may also be a branch of a `lax.cond` that is vmapped.
    """
    policy, key = _policy(make), jax.random.key(1)

    def step(policy: Any) -> Any:
        state = policy.init(key)
        plan = policy.act(state, key)
        return policy.update(state, plan, outcome_of(plan), key)

    leaves, tree = jax.tree.flatten(policy)
    plain = jax.eval_shape(step, policy)
    for i, leaf in enumerate(leaves):
        stacked = [*leaves[:i], jnp.stack([leaf, leaf]), *leaves[i + 1 :]]
        axes = jax.tree.unflatten(tree, [0 if j == i else None for j in range(len(leaves))])
        batched = jax.vmap(step, in_axes=(axes,))
        after = jax.eval_shape(batched, jax.tree.unflatten(tree, stacked))
        one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), after)
        _same_shapes(plain, one, f"vmapping over leaf number {i}")
    _vmaps_under_a_condition(policy)
    twice = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), policy)
    alone, both = jax.jit(lambda one, two: (step(one), jax.vmap(step)(two)))(policy, twice)
    first = jax.tree.map(lambda leaf: leaf[0], both)
    _expect_none(difference(alone, first, "a vmapped step"))


def _vmaps_under_a_condition(policy: Any) -> None:
    def step(state: Any, key: jax.Array) -> Any:
        plan = policy.act(state, key)
        return policy.update(state, plan, outcome_of(plan), key)

    def perhaps(goes_on: jax.Array, key: jax.Array) -> Any:
        return lax.cond(goes_on, step, lambda state, _: state, policy.init(key), key)

    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0)))
    try:
        jax.eval_shape(jax.vmap(perhaps), jax.ShapeDtypeStruct((2,), bool), keys)
    except Exception as error:
        raise ConformanceError(
            f"a step in a branch of a vmapped lax.cond ends in {type(error).__name__}: {error}"
        ) from error


def plays_only_arms_that_exist(make: Make) -> None:
    """Every arm that is played is active, padded or not, K = 2 included: plays sum to 2 T, or T for
    pulls.

    A batched plan fits what is left; counts of pairs are an upper triangle.
    """
    most = _most_arms(make)
    for size, padding in dict.fromkeys(((2, 0), (most, 0), (min(3, most), 2), (2, 3))):
        mask = np.arange(size + padding) < size
        policy = to_32_bits(make(num_arms=size + padding, horizon=_HORIZON, active_arms=mask))
        _simulate(policy, where=f"with {size} arms and {padding} of padding, ")
    policy = _policy(make)
    if plan_kind(policy) in (Batch, PullBatch):
        _expect_none(wrong_counts(policy, _HORIZON))


def learns_late(make: Make) -> None:
    """`learn`, if the policy has it and plays one comparison, or pull, at a time, keeps the state's
    shapes and dtypes, and learns from an outcome if `update` does; a withheld reward, NaN, does not
    enter the state; with delayed feedback the policy runs.
    """
    policy = _policy(make)
    if not _can_be_told_late(policy):
        return
    for x64 in _precisions():
        _expect_none(quiet.wrong_learn(policy), f" ({x64})")
    _expect_none(quiet.wrong_lesson(policy))
    _simulate(policy, where="with delayed feedback, ", **_with_philox(policy))


def repeats_itself(make: Make) -> None:
    """The same seed gives the same plays, alone or among others, for every supported generator.

    With one of them feedback is delayed, if the policy has `learn`.
    """
    policy = _policy(make)
    for settings in ({"prng": "threefry2x32"}, _with_philox(policy)):
        few = _simulate(policy, num_seeds=2, **settings)
        many = _simulate(policy, num_seeds=7, **settings)
        _expect(
            np.array_equal(few.plays, many.plays[:2]),
            f"seeds 0 and 1 differ between 2 and 7 seeds ({settings['prng']})",
        )


def starts_from_wins(make: Make) -> None:
    """`from_wins`, if the policy has it, returns the shapes and dtypes of `init`, vmapped or not.

    With 32 bits, whether or not x64 is on.
    """
    policy = _policy(make)
    init, shape = policy.init, (2, policy.num_arms, policy.num_arms)
    if not isinstance(policy, SupportsWarmStart):
        return
    for x64 in _precisions():
        key, wins = jax.random.key(0), jax.ShapeDtypeStruct(shape, jnp.int32)
        both = jax.eval_shape(jax.vmap(policy.from_wins, in_axes=(0, None)), wins, key)
        one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), both)
        _same_shapes(jax.eval_shape(init, key), one, f"from_wins ({x64})")


def keeps_its_word_when_quiet(make: Make) -> None:
    """`quiet`, if the policy has it, skips exactly what the policy would have done.

    Bit for bit where runs draw nothing; where they are drawn, comparisons of every ordered pair
    within 5 standard errors, over 2,048 seeds. If it has `learn`, the same must hold where
    `learn` is told the outcomes of each run, after the comparison that follows. One of five arms
    at least is padding. All this also holds for `quiet_among`, if it tells which arms meet
    themselves.
    """
    if not isinstance(_policy(make), SupportsSkip):
        return
    mask = np.arange(_ARMS) < min(_ARMS - 1, _most_arms(make))
    policy = to_32_bits(make(num_arms=_ARMS, horizon=_HORIZON, active_arms=mask))
    for method in quiet.methods_of(policy):
        for x64 in _precisions():
            _expect_none(quiet.wrong_type(policy, method), f" ({x64})")
        _expect_none(quiet.wrong_law(policy, method))


def keeps_its_answer(make: Make) -> None:
    """`answer`, if the policy has it, comes where a lower number always wins, or has the larger
    rewards, and stays; one arm then meets itself, or is pulled: the one named. Of policies that
    compare pairs in batches only its type is checked.
    """
    if not isinstance(_policy(make), SupportsAnswer):
        return
    policy = _policy(make)
    for x64 in _precisions():
        _expect_none(answer.wrong_type(policy), f" ({x64})")
    if plan_kind(policy) is not Batch:
        _expect_none(answer.wrong_course(policy))


CHECKS: tuple[Callable[[Make], None], ...] = (
    is_frozen_pytree,
    keeps_shapes_and_dtypes,
    is_pure_and_compiles_once,
    is_vmappable_over_leaves,
    plays_only_arms_that_exist,
    learns_late,
    repeats_itself,
    starts_from_wins,
    keeps_its_word_when_quiet,
    keeps_its_answer,
)


def _policy(make: Make) -> Any:
    return to_32_bits(make(num_arms=_most_arms(make), horizon=_HORIZON, active_arms=None))


def _most_arms(make: Make) -> int:
    """Five, or as many as the policy's class takes."""
    policy = make(num_arms=2, horizon=_HORIZON, active_arms=None)
    return min(_ARMS, getattr(policy, "max_arms", _ARMS))


def _instance(policy: Any) -> Problem:
    """An instance of the policy's arms of the kind that it plays."""
    size = int(np.sum(policy.active_arms))
    if plan_kind(policy) in (Duel, Batch):
        return arithmetic(size)
    return gaussian(np.linspace(1.0, 0.0, size))


def _with_philox(policy: Any) -> dict[str, Any]:
    """Settings for a run with the other generator, and with delays where the policy can have them:
    one program for two checks.
    """
    return {"prng": "philox4x32", "delay": 7 if _can_be_told_late(policy) else 1}


def _can_be_told_late(policy: Any) -> bool:
    """True if the policy has `learn` and plays one comparison, or pull, at a time."""
    return isinstance(policy, SupportsDelay) and plan_kind(policy) in (Duel, Pull)


def _simulate(policy: Any, num_seeds: int = _SEEDS, where: str = "", **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            return simulate(
                policy,
                _instance(policy),
                horizon=_HORIZON,
                num_seeds=num_seeds,
                checkpoints=[1, 10, 100, _HORIZON],
                lanes=4,
                devices=jax.local_devices()[:1],
                **settings,
            )
        except PlaysError as error:
            raise ConformanceError(f"{where}{error}") from error


def _shapes(policy: Any, method: str, *arguments: Any) -> Any:
    """Shapes and dtypes of what a method returns."""
    try:
        return jax.eval_shape(getattr(policy, method), *arguments)
    except Exception as error:
        raise ConformanceError(f"{failure_of(policy, method, error)}.") from error


def _precisions() -> Iterator[str]:
    """Names of both global precisions, each while it is on."""
    for x64 in (False, True):
        with jax.enable_x64(x64):
            yield f"x64 {'on' if x64 else 'off'}"


def _expect(right: bool, sentence: str) -> None:
    if not right:
        raise ConformanceError(f"{sentence}.")


def _expect_none(sentence: str | None, where: str = "") -> None:
    _expect(sentence is None, f"{sentence}{where}")


def _same_shapes(before: Any, after: Any, what: str) -> None:
    change = change_of(before, after)
    _expect(change is None, f"{what} {change}")
