"""A cell is what the seeds of a run have in common; several cells of one kind can run as one
program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax


class Cell(NamedTuple):
    """A policy on an instance, with the times to record. Stacked cells have one more axis in
    front."""

    policy: Any
    preferences: jax.Array  # (K, K) float32
    checkpoints: jax.Array  # (M,) int32, strictly increasing; the last is the horizon


def each_lane(f: Callable[..., Any], cells: bool) -> Callable[..., Any]:
    """`f(cell, setup, lane)` for all lanes, and for all cells if they are stacked.

    The loops over time stay outside: what all lanes share (the clock, loop conditions) is not
    batched.
    """
    lanes = jax.vmap(f, in_axes=(None, 0, 0))
    return jax.vmap(lanes, in_axes=(0, 0, 0)) if cells else lanes
