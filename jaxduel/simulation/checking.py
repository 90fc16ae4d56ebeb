"""Checks of what is to be simulated: settings, and cells."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from jaxduel.arguments import entries_of, require_known
from jaxduel.errors import AssumptionWarning, InputError, warn_caller
from jaxduel.policies import registry
from jaxduel.policies.base import (
    Duel,
    Pull,
    PullBatch,
    SupportsDelay,
    SupportsSharedSkip,
    SupportsSkip,
)
from jaxduel.policies.checks import MAX_HORIZON, require_horizon, require_policy, whole_number
from jaxduel.problems import (
    DuelingProblem,
    PiecewiseProblem,
    Problem,
    broken_assumptions,
)
from jaxduel.problems.piecewise import require_problem, rewards_of
from jaxduel.simulation import blocks, checkpoints, regret
from jaxduel.simulation.cells import Cell, Poll
from jaxduel.simulation.devices import Device
from jaxduel.simulation.instances import instance_of, require_in_float32
from jaxduel.simulation.keys import GENERATORS, require_root
from jaxduel.simulation.lanes import WIDEST_LANES

TIES = ("coin", "drop", "tell")
"""The values of `ties`."""
WINNERS = "winners"
"""The value of `skip_quiet` with which winners that share a quiet run are not told apart."""
_LEAST = {
    **dict.fromkeys(("num_seeds", "delay", "lanes", "memory_budget", "table_budget"), 1),
    "first_seed": 0,
}
"""The least value of each whole number."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a run; documented at `simulate`, but for five.

    Attributes:
      table_budget: as there, but None keeps the rows of all seeds, whatever they take.
      of_outcomes: reduces recorded outcomes: a function from some rows of `Result.outcomes` to an
        array of as many rows; all of them are kept if None.
      poll: checkpoints in votes, which are the clock then; None where comparisons are.
      part: amount of the run in the `Progress` around it, in that one's unit.
      stop: once it is set, the run ends with its next chunk; what had finished is dropped.
    """

    num_seeds: int = 100
    seed: int | jax.Array = 0
    checkpoints: Any = None
    regret: str | None = None
    shuffle_arms: bool = True
    delay: int = 1
    ties: str = TIES[0]
    first_seed: int = 0
    record_pairs: bool = False
    record_outcomes: bool = False
    of_outcomes: Callable[[np.ndarray], np.ndarray] | None = None
    skip_quiet: bool | str = True
    lanes: int | None = None
    memory_budget: int | None = None
    table_budget: int | None = None
    devices: Sequence[Device] | None = None
    prng: str = GENERATORS[0]
    progress: bool | None = False
    poll: Poll | None = None
    part: float = 0.0
    stop: threading.Event | None = None

    def checked(self) -> Settings:
        """These settings, with integers for whole numbers that were given as floats, and Python's
        booleans for NumPy's.

        Raises:
          InputError: for settings out of range.
        """
        whole: dict[str, int | None] = {}
        for name, least in _LEAST.items():
            value = getattr(self, name)
            left_out = value is None and getattr(Settings, name) is None
            whole[name] = None if left_out else whole_number(value, least, name)
        switches: dict[str, bool] = {}
        for name in ("shuffle_arms", "record_pairs", "record_outcomes"):
            value = getattr(self, name)
            if not _is_among(value, (True, False)):
                raise InputError(f"{name} must be True or False, not {value!r}.")
            switches[name] = bool(value)
        for name, most in (("lanes", WIDEST_LANES), ("delay", MAX_HORIZON)):
            if (value := whole[name]) is not None and value > most:
                raise InputError(f"{name} must be at most {most:,}, not {value:,}.")
        if self.first_seed + self.num_seeds > MAX_HORIZON:
            raise InputError(
                f"seeds are numbered up to 2^31 - 2, and first_seed + num_seeds is "
                f"{self.first_seed + self.num_seeds}."
            )
        if not _is_among(self.skip_quiet, (True, False, WINNERS)):
            raise InputError(
                f"skip_quiet must be True, False or {WINNERS!r}, not {self.skip_quiet!r}."
            )
        if self.skip_quiet == WINNERS and (self.record_pairs or self.record_outcomes):
            raise InputError(
                f"skip_quiet={WINNERS!r} does not tell which winner was played: record_pairs and "
                "record_outcomes must be False."
            )
        require_known("value of ties", self.ties, TIES)
        require_root(self.seed, self.prng)
        if self.regret is not None:
            regret.needs_pairs(self.regret)
        if self.devices is not None and not _are_devices(self.devices):
            raise InputError(
                "devices must be a list of JAX's devices, such as jax.devices('gpu'), not "
                f"{self.devices!r}."
            )
        return replace(self, **whole, **switches)

    @property
    def counts_pairs(self) -> bool:
        """True if plays of pairs are counted: they are asked for, or the regret needs them."""
        return self.record_pairs or self.regret in regret.OF_PAIRS


class CheckedCell:
    """A cell with checked arguments: a policy on an instance up to a horizon.

    Attributes:
      policy: the policy, its leaves of 32 bits.
      kind: type of its plans: Duel, Pull, Batch or PullBatch.
      problem: the instance.
      horizon: T.
      grid: (M,) int64, the checkpoints.
      definition: of the regret.
      delay: outcomes reach the policy after every so many comparisons or pulls.
      among: (K,) bool, the problem's arms that may share a quiet run; at most one is True if runs
        are never shared.
      knows_ties: True if there are ties, and they are no coins.
      poll: where votes are the clock, as in `Settings`.
    """

    def __init__(
        self,
        policy: Any,
        problem: Problem,
        horizon: float | None,
        times: Any,
        settings: Settings,
    ) -> None:
        require_policy(policy, "simulate")
        require_problem(problem, "simulate")
        registry.validate(policy)
        self.kind = blocks.plan_kind(policy)
        self.problem = problem
        self._require_matching_problem(policy, settings)
        self.horizon = horizon_of(policy, horizon)
        self.grid = checkpoints.resolve(times, self.horizon, problem)
        if isinstance(problem, PiecewiseProblem):
            problem.require_among(self.grid)
        active = int(np.sum(policy.active_arms))
        if active != problem.num_arms:
            raise InputError(
                f"simulate: the policy has {active} arms and the problem '{problem.name}' has "
                f"{problem.num_arms}."
            )
        self.delay = settings.delay
        self._require_what_it_can_do(policy, settings)
        self.knows_ties = settings.ties != "coin" and getattr(problem, "ties", None) is not None
        self.tells_ties = settings.ties == "tell"
        self.poll = settings.poll
        self.definition = settings.regret or regret.default_of(problem)
        problem.gaps(self.definition)
        for one in problem.stretches if isinstance(problem, PiecewiseProblem) else (problem,):
            if not isinstance(one, DuelingProblem):
                require_in_float32(one)
                continue
            for sentence in broken_by(one, getattr(policy, "assumes", ()), settings.ties):
                warn_caller(f"{registry.name_of(policy)}: {sentence}", AssumptionWarning)
        self.policy = registry.to_32_bits(policy)
        self.among = self._arms_of_runs(settings)

    def _require_matching_problem(self, policy: Any, settings: Settings) -> None:
        """Raises InputError unless what the policy plans can be played, and counted as asked."""
        name, problem = registry.name_of(policy), self.problem
        pulls = self.kind in (Pull, PullBatch)
        if pulls and rewards_of(problem) is None:
            raise InputError(
                f"{name} pulls arms that have rewards, and '{problem.name}' is a matrix of "
                "preferences: arms with rewards are such as gaussian[0.6,0.5] or "
                "bernoulli[0.6,0.5]."
            )
        if not pulls and rewards_of(problem) is not None:
            raise InputError(
                f"{name} compares arms in pairs, and '{problem.name}' has arms with rewards: a "
                "matrix of preferences, such as arxiv or one from a file, is needed."
            )
        if pulls and settings.record_pairs:
            raise InputError(f"{name} pulls single arms: record_pairs must be False.")

    def _require_what_it_can_do(self, policy: Any, settings: Settings) -> None:
        """Raises InputError for a delay that the policy cannot have, or a misplaced `quiet`."""
        name, is_single = registry.name_of(policy), self.kind in (Duel, Pull)
        if settings.delay > 1 and not (is_single and isinstance(policy, SupportsDelay)):
            why = (
                "it has no method `learn`: see jaxduel.policies.SupportsDelay"
                if is_single
                else "the outcomes of a batch come at its end anyway"
            )
            raise InputError(f"{name} cannot learn late: delay must be 1 ({why}).")
        if settings.ties == "tell" and not getattr(policy, "hears_ties", False):
            raise InputError(no_ties(name))
        if settings.ties == "tell" and settings.delay > 1:
            raise InputError("ties can be told at once alone: delay must be 1.")
        if not is_single and isinstance(policy, SupportsSkip):
            raise InputError(
                f"{name} has a method `quiet` and plans a {self.kind.__name__}: only policies that "
                "plan a Duel or a Pull may have it."
            )

    def _arms_of_runs(self, settings: Settings) -> np.ndarray:
        """Arms that may share a quiet run: Copeland winners, if the policy tells which of them it
        plays; arms without regret, if they need not be told apart; else none, as where they
        change."""
        changes = isinstance(self.problem, PiecewiseProblem)
        if isinstance(self.policy, SupportsSharedSkip) and settings.skip_quiet and not changes:
            if self.policy.tells_which:
                return self.problem.gaps("copeland") == 0
            if settings.skip_quiet == WINNERS:
                return self.problem.gaps(self.definition) == 0
        return np.zeros(self.problem.num_arms, bool)

    @property
    def amount(self) -> int:
        """Comparisons, pulls or, where these are the clock, votes of a seed."""
        return int(self.grid[-1] if self.poll is None else self.poll.checkpoints[-1])

    def to_cell(self, points: int, among: bool, with_ties: bool, delayed: bool) -> Cell:
        """The cell for the loops: the instance padded to the policy's arms with arms that are never
        played, the checkpoints to `points` by repeating the last; with `among`, ties and the delay
        if asked for.
        """
        grid = np.pad(self.grid, (0, points - len(self.grid)), mode="edge").astype(np.int32)
        policy = jax.tree.map(np.asarray, self.policy)
        instance = instance_of(self.problem, self.policy.num_arms, with_ties)
        extra = self.policy.num_arms - len(self.among)
        shared = np.pad(self.among, (0, extra)) if among else None
        poll = self.poll
        if poll is not None:
            start, before = (x if x is None else np.pad(x, (0, extra)) for x in poll[1:3])
            poll = poll._replace(start=start, before=before)
        told = np.bool_(True) if with_ties and self.tells_ties else None
        late = np.int32(self.delay) if delayed else None
        return Cell(policy, instance, grid, np.int32(len(self.grid)), shared, poll, told, late)


def broken_by(problem: DuelingProblem, assumed: Sequence[str], ties: str) -> list[str]:
    """`broken_assumptions` of the instance as policies hear of it: with ties if these are told."""
    heard = problem if ties == "tell" else replace(problem, ties=None)
    return broken_assumptions(heard, assumed)


def no_ties(policy: str) -> str:
    """Says that a policy, by name, does not learn from ties."""
    return f"{policy} does not learn from ties: they can be 'coin' or 'drop'."


def _is_among(value: Any, known: Sequence[Any]) -> bool:
    """True for one of the known values; False for arrays of them."""
    return entries_of(value).ndim == 0 and value in known


def _are_devices(devices: Any) -> bool:
    """True for a list of devices, at least one."""
    if not isinstance(devices, Sequence) or isinstance(devices, str):
        return False
    return bool(devices) and all(hasattr(device, "platform") for device in devices)


def horizon_of(policy: Any, horizon: float | None) -> int:
    """T, checked against the policy's own, which is taken if None is given.

    Raises:
      InputError: where there is none, or it is out of range or exceeds the policy's own.
    """
    own = getattr(policy, "horizon", None)
    chosen: Any = own if horizon is None else horizon
    if chosen is None:
        raise InputError(f"{registry.name_of(policy)} has no horizon of its own: give one.")
    require_horizon(chosen, "simulate")
    if np.ndim(chosen) > 0:
        raise InputError(f"the horizon must be one whole number, not {chosen!r}.")
    if own is not None and chosen > int(own):
        raise InputError(
            f"the horizon {chosen} exceeds the {int(own)} that {registry.name_of(policy)} was made "
            "for."
        )
    return int(chosen)
