"""Sparring: two bandit machines that duel each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.condorcet.sbm import require_settings, select
from jaxduel.policies.counts import add_at
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SparringState(NamedTuple):
    """One seed's state: a record for the machine on the left and one for that on the right."""

    left_played: jax.Array  # (K,) int32: the left machine's plays of known outcome
    left_reward: jax.Array  # (K,) int32: number of them that it won
    right_played: jax.Array  # (K,) int32: the same of the right machine
    right_reward: jax.Array  # (K,) int32
    t: jax.Array  # () int32: comparisons made, hence the plays of either machine


@register("sparring", label="Sparring")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class Sparring:
    """Sparring, Ailon, Karnin and Joachims (ICML 2014), with UCB machines.

    Two machines each choose an arm, without regard to the other; the arms duel. The machine whose
    arm wins gets the reward 1, the other one 0. Either maximises mean_k + sqrt(exploration log n /
    N_k), N_k its plays of arm k and n its plays of all arms so far; arms never played come first,
    in index order, and ties go to the lowest index. So both begin with the same arms, each against
    itself; an arm against itself is a fair coin that teaches both machines.

    The paper has UCB with (alpha + 2) / 2 for exploration. The program of Wu and Liu takes alpha =
    3, hence 2.5, as does the library of RMED's authors; but in the former an arm never played has
    index 1, so that it waits until the others fall below: `unplayed=1.0`. Its n counts the play
    being chosen; here n does not, as in that library and in UCB1. The paper proves nothing of
    Sparring; it wants arms with utilities, of which the Condorcet winner has the largest.

    A machine's clock n also counts plays whose outcome is withheld, its means do not. A step costs
    O(K).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      exploration: the factor of log n in the index; 2.5 in the literature's experiments.
      unplayed: the index of an arm never played; infinity plays each arm once first.

    Draws nothing: given the outcomes it is deterministic. It has no quiet runs: an arm against
    itself teaches both machines and changes what they play next.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("sparring", num_arms=6)
      >>> key = jax.random.key(0)
      >>> left, right = policy.act(policy.init(key), key)
      >>> int(left), int(right)  # both machines begin with the first arm
      (0, 0)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    exploration: float | jax.Array = 2.5
    unplayed: float | jax.Array = float("inf")

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_settings(self.exploration, self.unplayed, "sparring")

    def init(self, key: Key) -> SparringState:
        """No plays."""
        none = jnp.zeros(self.num_arms, jnp.int32)
        return SparringState(none, none, none, none, jnp.int32(0))

    def act(self, state: SparringState, key: Key) -> Duel:
        """The arm of the largest index of either machine."""
        settings = self.active_arms, self.exploration, self.unplayed
        return Duel(
            select(state.left_played, state.left_reward, state.t, *settings),
            select(state.right_played, state.right_reward, state.t, *settings),
        )

    def update(
        self, state: SparringState, plan: Duel, outcome: jax.Array, key: Key
    ) -> SparringState:
        """Rewards the winner's machine."""
        left, right = plan
        return SparringState(
            left_played=add_at(state.left_played, left, outcome != 0),
            left_reward=add_at(state.left_reward, left, outcome > 0),
            right_played=add_at(state.right_played, right, outcome != 0),
            right_reward=add_at(state.right_reward, right, outcome < 0),
            t=state.t + 1,
        )

    def learn(self, state: SparringState, feedback: Feedback) -> SparringState:
        """Takes in withheld outcomes."""
        left_wins, right_wins = feedback
        duels = left_wins + right_wins
        return SparringState(
            left_played=state.left_played + jnp.sum(duels, axis=1, dtype=jnp.int32),
            left_reward=state.left_reward + jnp.sum(left_wins, axis=1, dtype=jnp.int32),
            right_played=state.right_played + jnp.sum(duels, axis=0, dtype=jnp.int32),
            right_reward=state.right_reward + jnp.sum(right_wins, axis=0, dtype=jnp.int32),
            t=state.t,
        )
