"""The policy interface: pure state-transition functions over fixed-shape arrays.

A policy is a frozen dataclass registered as a pytree, by `jaxduel.pytrees` in the package; for your
own policy `jax.tree_util.register_dataclass` is enough. Numbers to sweep are leaves, so a policy
can be stacked and vmapped; the number of arms and switches are static. The methods describe ONE
seed: no batch axis, ever. The loops of `jaxduel.simulation` add seeds, hyper-parameters and
instances with `jax.vmap`.

Arms are numbered 0..K-1. `active_arms`, a (K,) bool leaf of every policy, says which of them exist:
arms that pad an instance to a larger K form a suffix of inactive arms and are never played.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

Key = jax.Array
State = Any
"""A NamedTuple of fixed-shape arrays, one seed's."""


class Duel(NamedTuple):
    """A plan for one comparison: `left` against `right` (equal: an arm against itself).

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("savage", num_arms=3, horizon=1_000)
      >>> key = jax.random.key(0)
      >>> left, right = policy.act(policy.init(key), key)
      >>> int(left), int(right)
      (0, 1)
    """

    left: jax.Array  # () int32
    right: jax.Array  # () int32


class Batch(NamedTuple):
    """A plan for one round: how often each pair is compared, all committed to before any outcome.

    Entries with i < j count comparisons of (i, j), the diagonal counts an arm against itself, and
    the lower triangle is zero. Within the round, pairs are compared in lexicographic order,
    self-comparisons included at their place. The entries sum to at most the comparisons that are
    left.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("pcomp", num_arms=3, horizon=10_000, num_batches=4)
      >>> key = jax.random.key(0)
      >>> batch = policy.act(policy.init(key), key)
      >>> batch.counts.tolist(), int(batch.counts.sum())  # every pair 10 times
      ([[0, 10, 10], [0, 0, 10], [0, 0, 0]], 30)
    """

    counts: jax.Array  # (K, K) int32


class Pull(NamedTuple):
    """A plan for one pull of an arm with rewards.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("ucb1", num_arms=3, horizon=1_000)
      >>> key = jax.random.key(0)
      >>> int(policy.act(policy.init(key), key).arm)
      0
    """

    arm: jax.Array  # () int32


class PullBatch(NamedTuple):
    """A plan for one round of pulls: how often each arm is pulled, all committed to before any
    outcome.

    Within the round arms are pulled in the order of their numbers. The entries sum to at most the
    pulls that are left.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("successive-elimination", num_arms=3, horizon=1_000)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # every arm once
      [1, 1, 1]
    """

    counts: jax.Array  # (K,) int32


Plan = Duel | Pull | Batch | PullBatch


class Feedback(NamedTuple):
    """Outcomes of many ordered duels, as a delayed policy receives them.

    `left_wins[i, j]` counts duels with i on the left and j on the right that i won, `right_wins[i,
    j]` duels of the same ordered pair that j won.

    Example:
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> left_wins, right_wins = jnp.array([[0, 3], [1, 0]]), jnp.array([[0, 2], [4, 0]])
      >>> jd.policies.Feedback(left_wins, right_wins).wins().tolist()  # 3 + 4 and 1 + 2
      [[0, 7], [3, 0]]
    """

    left_wins: jax.Array  # (K, K) int32
    right_wins: jax.Array  # (K, K) int32

    def wins(self) -> jax.Array:
        """Wins of i over j, whichever side i stood on: (K, K) int32 with a zero diagonal."""
        total = self.left_wins + self.right_wins.T
        return jnp.where(jnp.eye(total.shape[-1], dtype=bool), 0, total)


class RewardFeedback(NamedTuple):
    """Rewards of many pulls, as a delayed policy receives them.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("ucb1", num_arms=2, horizon=1_000)
      >>> state = policy.init(jax.random.key(0))
      >>> pulls, totals = jnp.array([3, 1]), jnp.array([1.5, 2.0])
      >>> policy.learn(state, jd.policies.RewardFeedback(pulls, totals)).mean.tolist()
      [0.5, 2.0]
    """

    pulls: jax.Array  # (K,) int32
    totals: jax.Array  # (K,) float32: sums of their rewards


WITHHELD, TIED = 0, 2
"""Outcomes of a duel: withheld from the policy (for now), and a tie, where policies are told of
ties; +1 is a win of the left arm, -1 of the right. A withheld reward of a pull is NaN."""


@runtime_checkable
class Policy(Protocol):
    """Interface that the simulation needs of a policy.

    The class attribute `max_arms` limits the number of arms: a policy with more is refused. A
    policy that learns from ties has `hears_ties = True`: `ties="tell"` tells it of ties.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("savage", num_arms=3, horizon=1_000)
      >>> isinstance(policy, jd.policies.Policy)
      True
      >>> key = jax.random.key(0)
      >>> state = policy.init(key)
      >>> plan = policy.act(state, key)
      >>> int(plan.left), int(plan.right)
      (0, 1)
      >>> policy.update(state, plan, 1, key).wins.tolist()  # arm 0 won
      [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    """

    num_arms: int
    active_arms: jax.Array
    assumes: ClassVar[tuple[str, ...]]
    """Assumptions of its guarantee, by their names in `jaxduel.problems.broken_assumptions`."""

    def init(self, key: Key) -> State:
        """The state before the first comparison or pull."""
        ...

    def act(self, state: State, key: Key) -> Plan:
        """The next plan. Pure; must not depend on anything but its arguments."""
        ...

    def update(self, state: State, plan: Any, outcome: jax.Array, key: Key) -> State:
        """The state after `plan` was carried out with `outcome`.

        Args:
          state: the state that `act` saw.
          plan: the plan that `act` returned.
          outcome: for a `Duel`, () int32: +1 the left arm won, -1 the right arm won, `WITHHELD` (0)
            the policy is not told (delayed feedback): clocks and loops advance, nothing is learnt;
            `TIED` (2) a tie, for a policy with `hears_ties`. A duel of an arm with itself has a
            fair coin as outcome, which most policies ignore. For a `Batch`, (K, K) int32: wins of i
            over j in this round, both triangles, zero diagonal. For a `Pull`, () float32: the
            reward, NaN if it is withheld. For a `PullBatch`, (K,) float32: the sum of the rewards
            of each arm's pulls in this round, 0 where it was not pulled.
          key: the same key that `act` was given.

        Returns:
          The next state, of the same shapes and dtypes.
        """
        ...


class Quiet(NamedTuple):
    """A quiet run: comparisons of an arm with itself, or pulls of an arm, whose outcomes do not
    matter.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("rmed1", num_arms=3)
      >>> state = jd.policies.state_from_wins(policy, [[0, 9, 9], [0, 0, 5], [0, 4, 0]])
      >>> state, run = policy.quiet(state, limit=1_000, key=jax.random.key(0))
      >>> int(run.arm), int(run.n)  # arm 0 meets itself 181 times; then another arm is tried
      (0, 181)
    """

    arm: jax.Array  # () int32
    n: jax.Array  # () int32: length of the run that comes next; 0 if there is none
    weights: jax.Array | None = None
    """(K,) float32, not negative: every comparison's arm is drawn in proportion to the weights,
    independently of everything else; a single positive weight is `arm`'s. None: always `arm`."""


@runtime_checkable
class SupportsSkip(Protocol):
    """A policy that can tell how long it will only compare an arm with itself, or only pull an
    arm, whatever the outcomes.

    Example:
      >>> import jaxduel as jd
      >>> isinstance(jd.policies.make("dts", num_arms=3), jd.policies.SupportsSkip)
      True
      >>> isinstance(jd.policies.make("sparring", num_arms=3), jd.policies.SupportsSkip)
      False
    """

    def quiet(self, state: State, limit: jax.Array, key: Key) -> tuple[State, Quiet]:
        """The quiet run that comes next, and the state after it.

        Skipping must keep the law: with `limit` comparisons (or pulls) left, the policy would make
        n of the arm with itself, whose outcomes and keys change nothing, and go on from the
        returned state. A policy that draws nothing keeps its trajectory bit for bit.

        Args:
          state: before the next comparison.
          limit: () int32, at least 0: the largest n. A longer run is cut there, and the rest is
            asked for anew.
          key: source of the run's length, if that is random: a key of the time before the run,
            used for nothing else.

        Returns:
          The state, its clock n comparisons later, and the run. Fields that are None otherwise may
          hold what the run decides about the next comparison: `update` makes them None again.
        """
        ...


@runtime_checkable
class SupportsSharedSkip(Protocol):
    """A duel policy with quiet runs of several arms, too, such as tied Copeland winners.

    A separate method, because it takes longer to compile and most instances have one winner.

    Attributes:
      tells_which: True if its runs have weights. Otherwise the arm that meets itself is unknown,
        and only `simulate(skip_quiet="winners")` asks for such runs.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("dts", num_arms=3)
      >>> isinstance(policy, jd.policies.SupportsSharedSkip), policy.tells_which
      (True, True)
      >>> isinstance(jd.policies.make("rucb", num_arms=3), jd.policies.SupportsSharedSkip)
      False
    """

    tells_which: ClassVar[bool]

    def quiet_among(
        self, state: State, limit: jax.Array, key: Key, among: jax.Array
    ) -> tuple[State, Quiet]:
        """As `SupportsSkip.quiet`, but several arms, `arm` among them, may share a run: in each
        comparison one of these arms meets itself. Other runs are those of `quiet`.

        Args:
          state, limit, key: as in `SupportsSkip.quiet`.
          among: (K,) bool, the arms that may share a run.
        """
        ...


@runtime_checkable
class SupportsDelay(Protocol):
    """A policy that plays one duel, or pull, at a time and can be told outcomes later, as
    `simulate(delay=d)` needs.

    Example:
      >>> import jaxduel as jd
      >>> isinstance(jd.policies.make("dts", num_arms=3), jd.policies.SupportsDelay)
      True
      >>> policy = jd.policies.make("pcomp", num_arms=3, horizon=1_000, num_batches=4)
      >>> isinstance(policy, jd.policies.SupportsDelay)  # outcomes come at a batch's end anyway
      False
    """

    def learn(self, state: State, feedback: Any) -> State:
        """The state once the outcomes in `feedback`, a `Feedback` of duels or a `RewardFeedback` of
        pulls, withheld so far, are known.

        Outcomes of skipped quiet runs are left out; without other outcomes `learn` is not called:
        skipped outcomes alone must not change behaviour. Simulations call it after a comparison,
        never between a quiet run and the comparison after it.
        """
        ...


UNDECIDED, NO_WINNER = -1, -2
"""Answers of a policy before it has stopped, and if it has found that no Condorcet winner
exists."""


@runtime_checkable
class SupportsAnswer(Protocol):
    """A policy that stops and names an arm, as `identify(stop="policy")` needs.

    An answer is final: from there on the policy compares the named arm with itself, or pulls it, to
    the end. Where no arm is named it compares some arm with itself.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("nts", num_arms=3)
      >>> isinstance(policy, jd.policies.SupportsAnswer)
      True
      >>> int(policy.answer(policy.init(jax.random.key(0))))  # none yet
      -1
    """

    def answer(self, state: State) -> jax.Array:
        """The arm that it names, `UNDECIDED` before it has stopped, or `NO_WINNER`: () int32."""
        ...


@runtime_checkable
class SupportsWarmStart(Protocol):
    """A duel policy that can go on from win counts, as `state_from_wins` needs.

    Example:
      >>> import jaxduel as jd
      >>> isinstance(jd.policies.make("dts", num_arms=3), jd.policies.SupportsWarmStart)
      True
      >>> isinstance(jd.policies.make("sparring", num_arms=3), jd.policies.SupportsWarmStart)
      False
    """

    def from_wins(self, wins: jax.Array, key: Key) -> State:
        """The state after exactly the comparisons counted in `wins`, its clock at their number.

        Counts hold neither sides nor order. So the law of the next comparisons must depend on the
        counts alone, except for a memory that begins anew, as if the algorithm were started with
        these counts: a list that is worked through pass by pass, RUCB's hypothesis. Zero counts
        give the state of `init`. Works under jit and vmap.

        Args:
          wins: (K, K) int32, wins of i over j; 0 on the diagonal (an arm against itself is not
            counted) and for inactive arms.
          key: source of a random first state.

        Returns:
          The state, of the shapes and dtypes of `init`.
        """
        ...
