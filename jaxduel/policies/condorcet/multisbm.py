"""MultiSBM: a bandit machine for every arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError
from jaxduel.numerics import masked_choice
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.condorcet.sbm import require_settings, select
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

CLOCKS = ("own", "global")


class MultiSBMState(NamedTuple):
    """One seed's state. Row x is the record of the machine S_x."""

    played: jax.Array  # (K, K) int32: plays of y by S_x of known outcome
    reward: jax.Array  # (K, K) int32: number of them that y won
    turns: jax.Array  # (K,) int32: plays of S_x, of known outcome or not
    left: jax.Array  # () int32: x of the next comparison


@register("multisbm", label="MultiSBM")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class MultiSBM:
    """MultiSBM, Ailon, Karnin and Joachims (ICML 2014), with UCB machines.

    There is a machine S_x for every arm x, and x_1 is uniform. S_x chooses the arm y of the largest
    index mean_y + sqrt(exploration log n / N_y), from its own plays only: arms never played come
    first, in index order, and ties go to the lowest index. x duels y; S_x gets the reward 1 if y
    beats x, else 0; y is the next x. An arm against itself is a fair coin, which teaches its
    machine.

    n counts the plays of S_x so far (`clock="own"`, the paper). In the program of Wu and Liu n is
    the number t of the comparison being chosen, whichever machine chooses (`clock="global"`), and
    the index of an arm never played is 1 (`unplayed=1.0`), not infinite.

    A machine's clock also counts plays whose outcome is withheld, its means do not. A step costs
    O(K).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      exploration: the factor of log n in the index, (alpha + 2) / 2 in the paper; 2.5 in the
        literature's experiments.
      unplayed: the index of an arm never played; infinity plays each arm once first.
      clock: "own" or "global".

    `init` reads one uniform number of its key: the choice of x_1. `act` draws nothing. It has no
    quiet runs: an arm against itself teaches its machine and changes what that plays next.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("multisbm", num_arms=6, clock="global", unplayed=1)  # Wu and Liu
      MultiSBM(num_arms=6, unplayed=1.0, clock='global')
      >>> isinstance(jd.policies.make("multisbm", num_arms=6), jd.policies.SupportsSkip)
      False
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    exploration: float | jax.Array = 2.5
    unplayed: float | jax.Array = float("inf")
    clock: str = field(default="own", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet", "sst", "sti")

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_settings(self.exploration, self.unplayed, "multisbm")
        if self.clock not in CLOCKS:
            raise InputError(f"multisbm: clock must be 'own' or 'global', not {self.clock!r}.")

    def init(self, key: Key) -> MultiSBMState:
        """No plays; x_1."""
        num = self.num_arms
        (pick,) = uniforms(key, 1)
        return MultiSBMState(
            played=jnp.zeros((num, num), jnp.int32),
            reward=jnp.zeros((num, num), jnp.int32),
            turns=jnp.zeros(num, jnp.int32),
            left=masked_choice(jnp.asarray(self.active_arms), pick),
        )

    def act(self, state: MultiSBMState, key: Key) -> Duel:
        """x and the choice of S_x."""
        left = state.left
        t = jnp.sum(state.turns, dtype=jnp.int32) + 1
        n = state.turns[left] if self.clock == "own" else t
        settings = self.active_arms, self.exploration, self.unplayed
        return Duel(left, select(state.played[left], state.reward[left], n, *settings))

    def update(
        self, state: MultiSBMState, plan: Duel, outcome: jax.Array, key: Key
    ) -> MultiSBMState:
        """Rewards S_x; y is the next x."""
        told = (outcome != 0).astype(jnp.int32)
        won = (outcome < 0).astype(jnp.int32)
        left, right = plan
        mode = "promise_in_bounds"
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        return MultiSBMState(
            played=state.played.at[left, right].add(told, mode=mode),
            reward=state.reward.at[left, right].add(won, mode=mode),
            turns=state.turns + (arms == left),
            left=right,
        )

    def learn(self, state: MultiSBMState, feedback: Feedback) -> MultiSBMState:
        """Takes in withheld outcomes."""
        left_wins, right_wins = feedback
        return state._replace(
            played=state.played + left_wins + right_wins, reward=state.reward + right_wins
        )
