"""Policies by name."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np

from jaxduel.errors import InputError, shorten, unknown_name
from jaxduel.policies import arguments, display
from jaxduel.policies.base import Policy
from jaxduel.problems.catalogue import as_problem

_Class = TypeVar("_Class", bound=type)

_REGISTRY: dict[str, type] = {}
_LABELS: dict[str, str] = {}
_MEANT = {"K": "num_arms", "arms": "num_arms", "T": "horizon", "B": "num_batches"}
"""Other names that people use for parameters."""


def register(name: str, label: str | None = None) -> Callable[[_Class], _Class]:
    """Class decorator: adds a policy to the registry of this process, so that `make` and grids of
    sweeps know it by name, and lets its constructor do without `active_arms`.

    The class is a frozen dataclass, registered with `jax.tree_util.register_dataclass`, with the
    methods of `Policy`, and keyword fields `num_arms` and `active_arms`. One that is defined anew
    under its own name, as where a notebook's cell is run again, replaces the one that was
    registered before. Where its `__repr__` is the one that `dataclass` generates, it gets a shorter
    one, of what is not at its default, and a table for notebooks.

    Args:
      name: lower case, as users will write it.
      label: as papers write it, for figures; the name in capitals if None.

    Returns:
      A function that registers the class it is given, and returns it. It raises InputError for a
      class that is no policy, or a name that is taken by another class.

    Raises:
      InputError: `name` is no such text.

    Example:
      >>> from dataclasses import dataclass, field
      >>> import jax
      >>> import jaxduel as jd
      >>> @jd.policies.register("winner-stays")
      ... @jax.tree_util.register_dataclass
      ... @dataclass(frozen=True, kw_only=True)
      ... class WinnerStays:
      ...   num_arms: int = field(metadata={"static": True})
      ...   active_arms: jax.Array
      ...   def init(self, key):
      ...     return jax.numpy.int32(0)  # the state: the arm that won last
      ...   def act(self, state, key) -> jd.policies.Duel:
      ...     other = jax.random.randint(key, (), 0, self.active_arms.sum(), "int32")
      ...     return jd.policies.Duel(state, other)
      ...   def update(self, state, plan, outcome, key):
      ...     return jax.numpy.where(outcome < 0, plan.right, plan.left)
      >>> jd.policies.make("winner-stays", num_arms=6)  # jd.simulate takes it like any other
      WinnerStays(num_arms=6)
    """

    arguments.require_name(name)

    def add(policy_class: _Class) -> _Class:
        arguments.require_class(name, policy_class)
        there = _REGISTRY.get(name, policy_class)
        if _full_name(there) != _full_name(policy_class):
            raise InputError(f"the policy name '{name}' is taken by {there.__qualname__}.")
        display.install(policy_class)
        _install_mask(policy_class)
        _REGISTRY[name] = policy_class
        _LABELS[name] = label or name.upper()
        return policy_class

    return add


def _install_mask(policy_class: type) -> None:
    """Lets the constructor of a policy class do without `active_arms`: all arms are active."""
    construct = policy_class.__init__  # type: ignore[misc]

    @functools.wraps(construct)
    def with_mask(self: Any, *args: Any, **values: Any) -> None:
        if "active_arms" not in values and "num_arms" in values:
            values["active_arms"] = np.ones(values["num_arms"], bool)
        construct(self, *args, **values)

    policy_class.__init__ = with_mask  # type: ignore[misc]


def _full_name(policy_class: type) -> tuple[str, str]:
    return policy_class.__module__, policy_class.__qualname__


def names() -> tuple[str, ...]:
    """The registered names, sorted.

    Example:
      >>> import jaxduel as jd
      >>> [name for name in jd.policies.names() if "rmed" in name]
      ['cw-rmed', 'ecw-rmed', 'rmed1', 'rmed2', 'rmed2fh']
    """
    return tuple(sorted(_REGISTRY))


def policy_class(name: str) -> type:
    """The class registered under `name`.

    Raises:
      InputError: if there is none; it suggests the nearest name.
    """
    if not isinstance(name, str) or name not in _REGISTRY:
        raise unknown_name("policy", name, _REGISTRY)
    return _REGISTRY[name]


def is_of_package(policy_class: type) -> bool:
    """True for a policy of the package, False for one of a user's own."""
    return policy_class.__module__.startswith("jaxduel.")


def registered_name(policy_class: type) -> str | None:
    """The name under which a class is registered, or None."""
    return next((name for name, known in _REGISTRY.items() if known is policy_class), None)


def label(name: str) -> str:
    """A policy's name as papers write it; the name itself if no policy is registered under it.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.label("dts"), jd.policies.label("rucb")
      ('D-TS', 'RUCB')
    """
    return _LABELS.get(name, name)


def name_of(policy: Any) -> str:
    """The registered name of a policy's class, or the class's own."""
    return registered_name(type(policy)) or type(policy).__name__


def parameters(name: str) -> dict[str, Any]:
    """The policy's parameters and their defaults (`dataclasses.MISSING` where one must be
    given).

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.parameters("rmed1")
      {'scale': 0.3, 'exponent': 1.01}
    """
    fields = dataclasses.fields(policy_class(name))
    return {f.name: _default(f) for f in fields if f.name not in ("num_arms", "active_arms")}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is dataclasses.MISSING:
        return field.default
    return field.default_factory()


def make(
    name: str,
    *misplaced: object,
    num_arms: int | None = None,
    problem: Any = None,
    horizon: int | None = None,
    active_arms: Any = None,
    **values: Any,
) -> Policy:
    """A policy by name.

    Args:
      name: one of `names()`.
      *misplaced: none; all that follows is given by name.
      num_arms: K, at least 2.
      problem: in its place the instance, or its name (`jaxduel.problems.load`), which has K arms.
      horizon: T; policies that do not depend on it ignore it.
      active_arms: (K,) bool, the arms that exist; all by default. Arms that do not must be a
        suffix.
      **values: parameters of the policy (`parameters(name)`), one number each.

    Returns:
      The policy, its leaves as NumPy scalars and arrays of 32 bits.

    Raises:
      InputError: for an unknown name or parameter, a missing one, or a value out of range.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("dts", num_arms=6, alpha=0.6)
      DTS(num_arms=6, alpha=0.6)
      >>> jd.policies.make("pcomp", num_arms=6, horizon=10_000, num_batches=4)
      PCOMP(num_arms=6, horizon=10000, num_batches=4)
      >>> jd.policies.make("rucb", problem="arxiv")
      RUCB(num_arms=6)
    """
    chosen = policy_class(name)
    known = parameters(name)
    if misplaced:
        raise InputError(
            f"make takes what follows the policy's name by name, such as num_arms={misplaced[0]!r}."
        )
    for key in values:
        if key not in known:
            accepted = {"num_arms", "problem", "active_arms", "horizon", *known}
            meant = _MEANT.get(key)
            raise unknown_name(
                f"parameter of {name}", key, accepted, meant if meant in accepted else None
            )
    if (num_arms is None) == (problem is None):
        raise InputError(f"{name} needs either the parameter 'num_arms' or a problem.")
    if problem is not None:
        num_arms = as_problem(problem, name).num_arms
    num_arms = arguments.require_num_arms(num_arms, name)
    if "horizon" in known and horizon is not None:
        values["horizon"] = horizon
    for key, default in known.items():
        if default is dataclasses.MISSING and values.get(key) is None:
            raise InputError(f"{name} needs the parameter '{key}'.")
    fields = {field.name: field for field in dataclasses.fields(chosen)}
    values = {
        key: arguments.require_value(fields[key], value, name) for key, value in values.items()
    }
    policy = chosen(num_arms=num_arms, active_arms=_mask(active_arms, num_arms, name), **values)
    validate(policy)
    return to_32_bits(policy)


def as_policy(policy: Any, problem: Any, horizon: Any) -> Any:
    """A policy, returned unchanged, or the one that `make` returns for a name, an instance and a
    horizon (None where there is none)."""
    return make(policy, problem=problem, horizon=horizon) if isinstance(policy, str) else policy


def _mask(active_arms: Any, num_arms: int, name: str) -> np.ndarray:
    """The arms that exist, (K,) bool."""
    try:
        given = np.ones(num_arms, bool) if active_arms is None else np.asarray(active_arms)
    except (TypeError, ValueError):  # a ragged list
        given = np.empty(0, bool)
    numbers = given.dtype.kind in "biuf" and np.isin(given, (0, 1)).all()
    mask = given.astype(bool) if numbers else np.empty(0, bool)
    if mask.shape != (num_arms,) or mask.sum() < 2 or not mask[: mask.sum()].all():
        raise InputError(
            f"{name}: active_arms must be a mask of {num_arms} arms that begins with at least 2 "
            "active ones and has the inactive ones at the end."
        )
    return mask


def validate(policy: Any) -> None:
    """Lets a policy that can check its parameters do so, as they are in 32 bits.

    Raises:
      InputError: for a mask that `make` would refuse, more arms than its class takes, from the
        policy's `validate`, for a leaf that is no number, or for an array in a static field.
    """
    masks = np.atleast_2d(policy.active_arms)
    for mask in masks.reshape(-1, masks.shape[-1]):
        _mask(mask, getattr(policy, "num_arms", mask.size), name_of(policy))
    most = getattr(policy, "max_arms", None)
    if most is not None and (arms := np.max(np.sum(policy.active_arms, axis=-1))) > most:
        raise InputError(f"{name_of(policy)} is for {most} arms, not {arms}.")
    check = getattr(to_32_bits(policy), "validate", None)
    if check is not None:
        check()
    _require_kinds(policy)


def _require_kinds(policy: Any) -> None:
    """Raises InputError for a leaf that is no number, as a text whose field is not static, or an
    array in a field that is."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(policy):
        if not isinstance(leaf, jax.Array | int) and np.asarray(leaf).dtype.kind not in "biuf":
            raise InputError(
                f"{name_of(policy)}: {jax.tree_util.keystr(path).lstrip('.')} must be a number or "
                f"an array of them, not {shorten(repr(leaf))}, unless its field is static: "
                'field(metadata={"static": True}).'
            )
    for field in dataclasses.fields(policy) if dataclasses.is_dataclass(policy) else ():
        value = getattr(policy, field.name)
        if field.metadata.get("static") and isinstance(value, np.ndarray | jax.Array):
            raise InputError(
                f"{name_of(policy)}: {field.name} is an array, and its field must not be static."
            )


def to_32_bits(policy: Any) -> Any:
    """The policy with its leaves as bool, int32 and float32, whatever the global precision is.

    Whole numbers given as floats to fields that are integers become integers exactly. Integers
    beyond int32 stay as they are, for `validate` to refuse.
    """

    def narrow(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array):
            return leaf
        array = np.asarray(leaf)
        if array.dtype.kind == "f":
            return array.astype(np.float32)
        narrowed = array.astype(np.int32) if array.dtype.kind in "iu" else array
        return narrowed if narrowed.dtype.kind in "ib" and (narrowed == array).all() else leaf

    return jax.tree.map(narrow, arguments.with_whole_numbers(policy))
