"""Names of arms: checked, and in sentences, where arms without names are numbers from 0."""

from __future__ import annotations

from typing import Any

from jaxduel.arguments import items_of, require_text
from jaxduel.display import arms_text, listed, short_names
from jaxduel.errors import InputError, shorten


def checked_names(names: Any, num_arms: int, name: str) -> tuple[str, ...] | None:
    """The names of an instance's arms; None for arms that are called "0" to "K - 1".

    Args:
      names: K different texts, or None.
      num_arms: K.
      name: the instance's name.

    Raises:
      InputError: another number of names, an empty one, one twice, or no text.
    """
    if names is None:
        return None
    arms = tuple(items_of(names, f"the names of arms of '{name}'"))
    for arm in arms:
        require_text(arm, f"the name of an arm of '{name}'")
    if len(arms) != num_arms:
        raise InputError(f"matrix '{name}' has {num_arms} arms and {len(arms)} names of arms.")
    if "" in arms:
        raise InputError(f"matrix '{name}' has no name for arm {arms.index('')} (counted from 0).")
    if len(set(arms)) < len(arms):
        twice = next(arm for arm in arms if arms.count(arm) > 1)
        raise InputError(f"matrix '{name}' has two arms called '{shorten(twice)}'.")
    return None if arms == tuple(map(str, range(num_arms))) else arms


def label(named: Any, arm: int) -> str:
    """An arm in a formula: `ada`, or `3`; `named` is what has `arms`, names or None."""
    return str(arm) if named.arms is None else short_names(named.arms)[arm]


def arm_text(named: Any, *arms: int) -> str:
    """Arms in a sentence: `ada, bob`, or `arm 3`, or `arms 0, 1`."""
    return arms_text(arms) if named.arms is None else listed([label(named, arm) for arm in arms])


def pair_text(named: Any, one: int, other: int) -> str:
    """A pair in a sentence: `ada and bob`, or `arms 0 and 1`."""
    pair = f"{label(named, one)} and {label(named, other)}"
    return f"arms {pair}" if named.arms is None else pair


def counting(named: Any) -> str:
    """The end of a sentence that may show numbers of arms: their first number; empty for names."""
    return " (arms counted from 0)" if named.arms is None else ""
