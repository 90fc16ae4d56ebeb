"""Reprs of policies: `DTS(num_arms=6, alpha=0.6)`, and a table in notebooks.

`register` gives these two methods to a class that has only what `dataclass` generates, which prints
every array of a policy in full.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np

from jaxduel.display import html_table, is_known, value_text


def install(policy_class: type) -> None:
    """Sets `__repr__` and `_repr_html_` of a policy class, but for those it defines itself."""
    if _is_generated(policy_class.__repr__):
        policy_class.__repr__ = text  # type: ignore[method-assign]
    if not hasattr(policy_class, "_repr_html_"):
        policy_class._repr_html_ = html  # type: ignore[attr-defined]


def text(policy: Any) -> str:
    """The class, the number of arms, and what differs from the defaults: inactive arms and
    parameters. Arrays that are traced, long or stacked are shown by dtype and shape."""
    parts = [f"num_arms={policy.num_arms}"]
    if not _all_active(policy.active_arms):
        parts.append(f"active_arms={_mask_text(policy.active_arms)}")
    parts += [f"{name}={value}" for name, value, default in _parameters(policy) if value != default]
    return f"{type(policy).__qualname__}({', '.join(parts)})"


def html(policy: Any) -> str:
    """An HTML table of all parameters beside their defaults."""
    arms = str(policy.num_arms)
    if not _all_active(policy.active_arms):
        arms += f", active {_mask_text(policy.active_arms)}"
    rows = [["num_arms", arms, ""]]
    rows += [[name, value, default or ""] for name, value, default in _parameters(policy)]
    return html_table(type(policy).__qualname__, rows, ["parameter", "value", "default"])


def _is_generated(method: Any) -> bool:
    """True if `dataclasses` made a `__repr__`: wrapped, and without a source file."""
    code = getattr(inspect.unwrap(method), "__code__", None)
    return hasattr(method, "__wrapped__") and code is not None and code.co_filename == "<string>"


def _parameters(policy: Any) -> list[tuple[str, str, str | None]]:
    """Names, values and defaults (None where there is none), as text."""
    found = []
    for field in dataclasses.fields(policy):
        if field.repr and field.name not in ("num_arms", "active_arms"):
            default = None
            if field.default is not dataclasses.MISSING:
                default = value_text(field.default)
            elif field.default_factory is not dataclasses.MISSING:
                default = value_text(field.default_factory())
            found.append((field.name, value_text(getattr(policy, field.name, None)), default))
    return found


def _all_active(mask: Any) -> bool:
    return is_known(mask) and bool(np.all(mask))


def _mask_text(mask: Any) -> str:
    """A mask that is not all True."""
    if is_known(mask) and np.ndim(mask) == 1:
        return f"{np.sum(np.asarray(mask))} of {np.size(mask)}"
    return value_text(mask)
