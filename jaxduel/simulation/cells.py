"""A cell is what the seeds of a run have in common; several of one kind can run as one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from jaxduel.simulation.instances import Instance


class Cell(NamedTuple):
    """A policy on an instance, with the times to record; stacked cells have one more axis."""

    policy: Any
    instance: Instance
    checkpoints: Any
    """(M,) int32, increasing; the last is the horizon, repeated so that M is one of few sizes. None
    in the step loop, where the host keeps them."""
    points: Any
    """() int32: how many of them count; None in the step loop."""
    among: Any = None
    """(K,) bool, the problem's arms that a quiet run may be of several of; None unless
    `Program.among`."""


class Program(NamedTuple):
    """What a compiled loop depends on besides the shapes of its arguments: its static argument.

    The policy's class is among it because JAX does not reliably tell two dataclasses apart: in
    version 0.10 the structures of different registered dataclasses with equal static fields compare
    equal (their hashes differ), so that a cache of compiled functions now and then takes one policy
    for another.
    """

    policy_class: type
    stacked: bool
    """Whether there are several cells."""
    shuffle: bool
    """Whether each seed has an order of the arms of its own."""
    pairs: bool
    """Whether plays of pairs are recorded."""
    outcomes: bool
    """Whether outcomes are recorded."""
    delayed: bool
    """Whether outcomes are withheld for a while."""
    skips: bool
    """Whether quiet runs are skipped."""
    among: bool = False
    """Whether quiet runs may be of several arms (`jaxduel.policies.SupportsSharedSkip`)."""


def each_lane(f: Callable[..., Any], program: Program) -> Callable[..., Any]:
    """`f(cell, setup, lane)` for all lanes, and for all cells if they are stacked.

    The loops over time stay outside: what all lanes share (the clock, loop conditions) is not
    batched.
    """
    lanes = jax.vmap(f, in_axes=(None, 0, 0))
    return jax.vmap(lanes, in_axes=(0, 0, 0)) if program.stacked else lanes
