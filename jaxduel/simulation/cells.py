"""Cells: a policy on an instance, with checkpoints; several of one kind can run as one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from jaxduel.simulation.instances import Instance


class Poll(NamedTuple):
    """Votes as a cell's clock, of arms with rewards pulls: a run ends with the last checkpoint in
    votes, or at its horizon."""

    checkpoints: Any  # (M,) int32: increasing numbers of votes
    start: Any = None
    """(K, K) int32: wins of the problem's arms that the policy starts from; None: none."""
    before: Any = None
    """(K, K) int32: wins before the run that the rule counts; None: none."""
    needed: Any = None
    """(N + 1,) int32: the wins over an opponent among n votes between the two that make a rule name
    an arm, if it has them over every opponent; of arms with rewards () float32, the level of
    `jaxduel.simulation.likelihood_ratio`; None: no rule."""
    asks: Any = None
    """() bool, True: a run ends once the policy has an answer (`jaxduel.policies.SupportsAnswer`).
    None: it is not asked."""

    @property
    def stops(self) -> bool:
        """True if a rule, or the policy, names an arm at a time of its own."""
        return self.needed is not None or self.asks is not None


class Cell(NamedTuple):
    """A policy on an instance, with the times to record; stacked cells have one more axis."""

    policy: Any
    instance: Instance
    checkpoints: Any
    """(M,) int32, increasing; the last is the horizon, repeated so that M is one of few sizes. None
    in the step loop, where the host keeps them."""
    points: Any
    """() int32, number of checkpoints that count, padding left out; None in the step loop."""
    among: Any = None
    """(K,) bool, the problem's arms that may share a quiet run; None unless `Program.among`."""
    poll: Any = None
    """`Poll`; None where comparisons are the clock."""
    tells_ties: Any = None
    """() bool, True: the policy is told of ties; None: there are none, or they are withheld."""
    delay: Any = None
    """() int32: outcomes reach the policy after every so many comparisons or pulls; None unless
    `Program.delayed`."""


class Program(NamedTuple):
    """Static argument of a compiled loop: all it depends on besides shapes of other arguments.

    The policy's class is part of it because JAX does not reliably tell two dataclasses apart: in
    version 0.10 the structures of different registered dataclasses with equal static fields compare
    equal (their hashes differ), so that a cache of compiled functions now and then takes one policy
    for another.
    """

    policy_class: type
    stacked: bool = False
    """True if there are several cells."""
    shuffle: bool = True
    """True if each seed has its own order of the arms."""
    pairs: bool = False
    """True if plays of pairs are recorded."""
    outcomes: bool = False
    """True if outcomes are recorded."""
    delayed: bool = False
    """True if feedback is delayed."""
    skips: bool = False
    """True if quiet runs are skipped."""
    among: bool = False
    """True if several arms may share a quiet run (`jaxduel.policies.SupportsSharedSkip`)."""


def each_lane(f: Callable[..., Any], program: Program) -> Callable[..., Any]:
    """`f(cell, setup, lane)` for all lanes, and for all cells if they are stacked.

    The loops over time stay outside, so that the clock and the loop conditions, which all lanes
    share, are not batched.
    """
    lanes = jax.vmap(f, in_axes=(None, 0, 0))
    return jax.vmap(lanes, in_axes=(0, 0, 0)) if program.stacked else lanes
