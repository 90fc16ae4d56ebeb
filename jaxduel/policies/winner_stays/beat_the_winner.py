"""Beat the Winner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError
from jaxduel.numerics import count_true
from jaxduel.numerics.choice import random_order
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

VARIANTS = ("btw", "btwr")


class BeatTheWinnerState(NamedTuple):
    """One seed's state. Wins are those of the present round, of known outcome."""

    incumbent: jax.Array  # () int32
    queue: jax.Array  # (K - 1,) int32: a ring of the other arms, then arms that do not exist
    front: jax.Array  # () int32: the place of the challenger in the ring; the queue begins after it
    held: jax.Array  # () int32: wins of the incumbent
    taken: jax.Array  # () int32: wins of the challenger
    round: jax.Array  # () int32: l, from 1


@register("beat-the-winner", "Beat the Winner")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class BeatTheWinner:
    """Beat the Winner, Pekoez, Ross and Zhang (2020), for weak regret.

    All arms queue in random order. The first is the incumbent, the second the challenger, l = 1.

    1. The incumbent and the challenger duel until one of them has won l times.
    2. The loser goes to the back of the queue, the winner is the incumbent, the arm at the front of
       the queue the challenger. l grows by 1; in the variant BTWR it is 1 again if the incumbent
       lost.

    The source is a public program, kolpaczki/Piecwise-Stationary-Dueling-Bandits, which names the
    algorithm, the variant and the authors. The paper itself was not read: its theorems and their
    assumptions are not stated here, and `assumes` has what weak regret itself needs.

    Outcomes that are withheld change nothing, so that the pair goes on until they are told. If both
    arms have won l times by then, the one that has won more often wins the round; if they have won
    equally often, they go on. A step costs O(1). No arm ever meets itself.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      variant: "btw" or "btwr".

    `init` draws the order of the arms; `act` draws nothing.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("beat-the-winner", num_arms=6, variant="btwr")
      BeatTheWinner(num_arms=6, variant='btwr')
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    variant: str = field(default="btw", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for an unknown variant."""
        if self.variant not in VARIANTS:
            raise InputError(
                f"beat-the-winner: variant must be 'btw' or 'btwr', not {self.variant!r}."
            )

    def init(self, key: Key) -> BeatTheWinnerState:
        """The arms in random order."""
        order = random_order(jnp.asarray(self.active_arms), key)
        none = jnp.int32(0)
        return BeatTheWinnerState(order[0], order[1:], none, none, none, jnp.int32(1))

    def act(self, state: BeatTheWinnerState, key: Key) -> Duel:
        """The incumbent and the challenger."""
        return Duel(state.incumbent, state.queue[state.front])

    def update(
        self, state: BeatTheWinnerState, plan: Duel, outcome: jax.Array, key: Key
    ) -> BeatTheWinnerState:
        """Line 1 and, at its end, line 2."""
        return self._known(state, outcome > 0, outcome < 0)

    def learn(self, state: BeatTheWinnerState, feedback: Feedback) -> BeatTheWinnerState:
        """Takes in withheld outcomes."""
        pair = state.incumbent, state.queue[state.front]
        return self._known(state, feedback.left_wins[pair], feedback.right_wins[pair])

    def _known(
        self, state: BeatTheWinnerState, held: jax.Array, taken: jax.Array
    ) -> BeatTheWinnerState:
        """The state after more wins of the incumbent and of the challenger."""
        held, taken = state.held + held, state.taken + taken
        ends = (jnp.maximum(held, taken) >= state.round) & (held != taken)
        lost = taken > held  # by the incumbent
        challenger = state.queue[state.front]
        winner, loser = (
            jnp.where(lost, *arms)
            for arms in ((challenger, state.incumbent), (state.incumbent, challenger))
        )
        # the challenger's place in the ring is the back of the queue
        after = (state.front + 1) % (count_true(jnp.asarray(self.active_arms)) - 1)
        number = state.round + 1
        if self.variant == "btwr":
            number = jnp.where(lost, 1, number)
        return BeatTheWinnerState(
            incumbent=jnp.where(ends, winner, state.incumbent),
            queue=state.queue.at[state.front].set(jnp.where(ends, loser, challenger)),
            front=jnp.where(ends, after, state.front),
            held=jnp.where(ends, 0, held),
            taken=jnp.where(ends, 0, taken),
            round=jnp.where(ends, number, state.round),
        )
