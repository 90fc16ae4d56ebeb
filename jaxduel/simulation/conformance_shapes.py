"""Shapes and dtypes that must not change."""

from __future__ import annotations

from typing import Any

import jax


def change_of(before: Any, after: Any) -> str | None:
    """The difference in structure, shapes or dtypes of two states, as the end of a sentence; None
    if there is none."""
    if jax.tree.structure(before) != jax.tree.structure(after):
        return "changes the structure of the state"
    paths = jax.tree_util.tree_leaves_with_path(before)
    for (path, old), new in zip(paths, jax.tree.leaves(after), strict=True):
        if old.shape != new.shape or old.dtype != new.dtype:
            return (
                f"changes state{jax.tree_util.keystr(path)} from {old.dtype}{list(old.shape)} to "
                f"{new.dtype}{list(new.shape)}"
            )
    return None
