"""Checks cells, stacks them if there are several, runs them in blocks, and makes their results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel import interrupts
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
from jaxduel.policies.checks import MAX_HORIZON, require_horizon, require_policy, require_whole
from jaxduel.problems import ArmsProblem, DuelingProblem, Problem, broken_assumptions
from jaxduel.simulation import blocks, checkpoints, events, regret
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.devices import Device, warn_if_idle
from jaxduel.simulation.instances import instance_of
from jaxduel.simulation.keys import GENERATORS, root_key
from jaxduel.simulation.lanes import default_lanes
from jaxduel.simulation.memory_maps import CompileCacheGuard
from jaxduel.simulation.progress import Simulating
from jaxduel.simulation.record import Record
from jaxduel.simulation.result import Result

_GUARD = CompileCacheGuard()
WINNERS = "winners"
"""The value of `skip_quiet` with which winners that share a quiet run are not told apart."""
_MOST_LANES = 2**20
"""Most lanes: a block of more would not fit the memory of any device."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a run; documented at `simulate`, but for four.

    Attributes:
      table_budget: as there, but None keeps the rows of all seeds, whatever they take.
      of_outcomes: reduces recorded outcomes: a function from some rows of `Result.outcomes` to an
        array of as many rows; all of them are kept if None.
      part: amount of the run in the `Progress` around it, in that one's unit.
      stop: once it is set, the run ends with its next chunk; what had finished is dropped.
    """

    num_seeds: int = 100
    seed: int | jax.Array = 0
    checkpoints: Any = None
    regret: str | None = None
    shuffle_arms: bool = True
    delay: int = 1
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
    part: float = 0.0
    stop: threading.Event | None = None

    def validate(self) -> None:
        """Raises InputError for settings out of range."""
        for name in ("num_seeds", "delay", "lanes", "memory_budget", "table_budget"):
            value = getattr(self, name)
            require_whole(value, 1, f"{name} must be a whole number of at least 1")
            if np.ndim(value) > 0:
                raise InputError(f"{name} must be one whole number, not {value!r}.")
        if self.lanes is not None and self.lanes > _MOST_LANES:
            raise InputError(f"lanes must be at most {_MOST_LANES:,}, not {self.lanes:,}.")
        require_whole(self.first_seed, 0, "first_seed must be a whole number of at least 0")
        if self.first_seed + self.num_seeds > MAX_HORIZON:
            raise InputError(
                f"seeds are numbered up to 2^31 - 2, and first_seed + num_seeds is "
                f"{self.first_seed + self.num_seeds}."
            )
        if self.skip_quiet not in (True, False, WINNERS):
            raise InputError(
                f"skip_quiet must be True, False or {WINNERS!r}, not {self.skip_quiet!r}."
            )
        if self.skip_quiet == WINNERS and (self.record_pairs or self.record_outcomes):
            raise InputError(
                f"skip_quiet={WINNERS!r} does not tell which winner was played: record_pairs and "
                "record_outcomes must be False."
            )
        if self.regret is not None:
            regret.needs_pairs(self.regret)
        if self.devices is not None and not _are_devices(self.devices):
            raise InputError(
                "devices must be a list of JAX's devices, such as jax.devices('gpu'), not "
                f"{self.devices!r}."
            )

    def exact(self) -> Settings:
        """These settings with integers for whole numbers that were given as floats."""
        names = ("num_seeds", "delay", "lanes", "memory_budget", "table_budget", "first_seed")
        given = {name: getattr(self, name) for name in names}
        return replace(self, **{k: v if v is None else int(v) for k, v in given.items()})

    @property
    def counts_pairs(self) -> bool:
        """True if plays of pairs are counted: they are asked for, or the regret needs them."""
        return self.record_pairs or self.regret == "weak"


class CheckedCell:
    """A cell with checked arguments: a policy on an instance up to a horizon.

    Attributes:
      policy: the policy, its leaves of 32 bits.
      kind: type of its plans: Duel, Pull, Batch or PullBatch.
      problem: the instance.
      horizon: T.
      grid: (M,) int64, the checkpoints.
      definition: of the regret.
      among: (K,) bool, the problem's arms that may share a quiet run; at most one is True if runs
        are never shared.
    """

    def __init__(
        self,
        policy: Any,
        problem: Problem,
        horizon: int | None,
        times: Any,
        settings: Settings,
    ) -> None:
        require_policy(policy, "simulate")
        _require_problem(problem)
        registry.validate(policy)
        self.kind = blocks.plan_kind(policy)
        self.problem = problem
        self._require_matching_problem(policy, settings)
        self.horizon = horizon_of(policy, horizon)
        self.grid = checkpoints.resolve(times, self.horizon)
        active = int(np.sum(policy.active_arms))
        if active != problem.num_arms:
            raise InputError(
                f"simulate: the policy has {active} arms and the problem '{problem.name}' has "
                f"{problem.num_arms}."
            )
        self._require_what_it_can_do(policy, settings)
        self.definition = settings.regret or regret.default_of(problem)
        problem.gaps(self.definition)
        if isinstance(problem, DuelingProblem):
            for sentence in broken_assumptions(problem, getattr(policy, "assumes", ())):
                warn_caller(f"{registry.name_of(policy)}: {sentence}", AssumptionWarning)
        self.policy = registry.to_32_bits(policy)
        self.among = self._arms_of_runs(settings)

    def _require_matching_problem(self, policy: Any, settings: Settings) -> None:
        """Raises InputError unless what the policy plans can be played, and counted as asked."""
        name, problem = registry.name_of(policy), self.problem
        pulls = self.kind in (Pull, PullBatch)
        if pulls and not isinstance(problem, ArmsProblem):
            raise InputError(
                f"{name} pulls arms that have rewards, and '{problem.name}' is a matrix of "
                "preferences: arms with rewards are such as gaussian[0.6,0.5] or "
                "bernoulli[0.6,0.5]."
            )
        if not pulls and isinstance(problem, ArmsProblem):
            raise InputError(
                f"{name} compares arms in pairs, and '{problem.name}' has arms with rewards: a "
                "matrix of preferences, such as arxiv or one from a file, is needed."
            )
        if pulls and settings.record_pairs:
            raise InputError(f"{name} pulls single arms: record_pairs must be False.")

    def _require_what_it_can_do(self, policy: Any, settings: Settings) -> None:
        """Raises InputError for a delay that the policy cannot have, or a misplaced `quiet`."""
        name, is_duel = registry.name_of(policy), self.kind is Duel
        if settings.delay > 1 and not (is_duel and isinstance(policy, SupportsDelay)):
            why = "it has no method `learn`" if is_duel else f"it plans a {self.kind.__name__}"
            raise InputError(f"{name} cannot learn late: delay must be 1 ({why}).")
        if not is_duel and isinstance(policy, SupportsSkip):
            raise InputError(
                f"{name} has a method `quiet` and plans a {self.kind.__name__}: only policies that "
                "plan a Duel may have it."
            )

    def _arms_of_runs(self, settings: Settings) -> np.ndarray:
        """Arms that may share a quiet run: Copeland winners, if the policy tells which of them it
        plays; arms without regret, if they need not be told apart; else none."""
        if isinstance(self.policy, SupportsSharedSkip) and settings.skip_quiet:
            if self.policy.tells_which:
                return self.problem.gaps("copeland") == 0
            if settings.skip_quiet == WINNERS:
                return self.problem.gaps(self.definition) == 0
        return np.zeros(self.problem.num_arms, bool)

    def to_cell(self, points: int, among: bool) -> Cell:
        """The cell for the loops: the instance padded to the policy's arms with arms that are never
        played, the checkpoints to `points` by repeating the last; with `among` if asked for.
        """
        grid = np.pad(self.grid, (0, points - len(self.grid)), mode="edge").astype(np.int32)
        policy = jax.tree.map(np.asarray, self.policy)
        instance = instance_of(self.problem, self.policy.num_arms)
        padded = np.pad(self.among, (0, self.policy.num_arms - len(self.among)))
        return Cell(policy, instance, grid, np.int32(len(self.grid)), padded if among else None)


def _require_problem(problem: Any) -> None:
    """Raises InputError for anything but a problem, such as a problem's name or a matrix."""
    if not isinstance(problem, Problem):
        raise InputError(
            "simulate: the problem must be one that jaxduel.problems.load, from_matrix or gaussian "
            f"returns, not one of type {type(problem).__name__}."
        )


def job_of(
    checked: Sequence[CheckedCell],
    settings: Settings,
    *,
    stacked: bool,
    roots: Sequence[jax.Array] | None = None,
    points: int = 1,
) -> blocks.Job:
    """The job of simulating cells, with its number of lanes; arguments as in `prepare`."""
    points = checkpoints.padded_size(max(points, *(len(c.grid) for c in checked)))
    runner = blocks.runner_for(checked[0].kind)
    platform = _devices(settings)[0].platform
    among = any(c.among.sum() > 1 for c in checked)
    cells = [c.to_cell(points, among) for c in checked]
    job = blocks.Job(
        cell=_stack(cells, runner) if stacked else cells[0],
        first_seed=settings.first_seed,
        program=Program(
            policy_class=type(checked[0].policy),
            stacked=stacked,
            shuffle=settings.shuffle_arms,
            pairs=settings.counts_pairs,
            outcomes=settings.record_outcomes,
            delayed=settings.delay > 1,
            skips=bool(settings.skip_quiet) and isinstance(checked[0].policy, SupportsSkip),
            among=among,
        ),
        root=root_key(settings.seed, settings.prng) if roots is None else jnp.stack(roots),
        lanes=1,
        delay=settings.delay,
        slots=1,
        tick=lambda _: None,
        compiles=lambda: None,
        stop=settings.stop or threading.Event(),
    )
    lanes = settings.lanes
    if lanes is None:
        _, shapes = jax.eval_shape(lambda: runner.start(job, 0))
        lanes = default_lanes(shapes, platform, settings.num_seeds, settings.memory_budget)
    return job._replace(lanes=lanes, slots=events.slots_for(lanes, platform))


def _are_devices(devices: Any) -> bool:
    """True for a list of devices, at least one."""
    if not isinstance(devices, Sequence) or isinstance(devices, str):
        return False
    return bool(devices) and all(hasattr(device, "platform") for device in devices)


def _devices(settings: Settings) -> list[Device]:
    """Devices to run on: all local ones unless some are given."""
    return list(settings.devices) if settings.devices is not None else jax.local_devices()


class Prepared(NamedTuple):
    """Checked cells, and the job that simulates them, for any number of runs."""

    checked: tuple[CheckedCell, ...]
    job: blocks.Job
    settings: Settings


def prepare(
    policies: Sequence[Any],
    problems: Sequence[Problem],
    horizons: Sequence[int | None],
    settings: Settings,
    *,
    stacked: bool,
    times: Sequence[Any] | None = None,
    roots: Sequence[jax.Array] | None = None,
    points: int = 1,
) -> Prepared:
    """Checks cells: one, or several to be stacked into one program.

    Args:
      policies, problems, horizons: of the cells.
      settings: shared by the cells.
      stacked: whether they are one program with an axis for cells.
      times: the checkpoints of each cell, instead of those of `settings`.
      roots: a () typed key for each of several stacked cells, instead of the seed of `settings`:
        then what seed i draws in one cell is independent of what it draws in another.
      points: number of checkpoints that the program has room for, if more than any cell has.

    Raises:
      InputError: for arguments out of range, or cells that cannot be stacked.
    """
    settings.validate()
    settings = settings.exact()
    if times is None:
        times = [settings.checkpoints] * len(policies)
    checked = tuple(
        CheckedCell(*cell, settings)
        for cell in zip(policies, problems, horizons, times, strict=True)
    )
    job = job_of(checked, settings, stacked=stacked, roots=roots, points=points)
    return Prepared(checked, job, settings)


def run_prepared(
    prepared: Prepared, settings: Settings, keep: Callable[[int, blocks.Recorded], None]
) -> int:
    """Simulates prepared cells.

    Args:
      prepared: the cells.
      settings: those that they were prepared with; others may be `num_seeds`, `first_seed`,
        `devices`, `part` and `stop`.
      keep: takes each finished block of lanes, as soon as it is finished: the number of its first
        seed, from 0, and its record, padding included.

    Returns:
      The number of seeds that are finished, the first ones.

    Raises:
      KeyboardInterrupt: if it was interrupted before any seed had finished, or stopped before all
        had.
    """
    _GUARD.make_room()
    checked, job = prepared.checked, prepared.job
    job = job._replace(first_seed=settings.first_seed, stop=settings.stop or threading.Event())
    num_blocks = -(-settings.num_seeds // job.lanes)
    warn_if_idle(settings.devices, num_blocks)
    with interrupts.stops(job.stop), _progress(checked, settings) as shown:
        steps = num_blocks * int(max(c.grid[-1] for c in checked))
        job = job._replace(tick=lambda n: shown.tick(n / steps), compiles=shown.compiles)
        finished = blocks.run_blocks(
            blocks.runner_for(checked[0].kind),
            job,
            num_blocks,
            _devices(settings),
            lambda number, record: keep(number * job.lanes, record),
        )
    done = min(finished * job.lanes, settings.num_seeds)
    stopped = settings.stop is not None and settings.stop.is_set()
    if done == 0 or (done < settings.num_seeds and stopped):
        raise KeyboardInterrupt
    if done < settings.num_seeds:
        warn_caller(f"interrupted: {done} of {settings.num_seeds} seeds are returned.")
    return done


def compile_ahead(prepared: Prepared, device: Device) -> None:
    """Compiles the programs with which a run of prepared cells begins, for a device."""
    _GUARD.make_room()
    with blocks.placed_on(device, prepared.job) as job:
        blocks.runner_for(prepared.checked[0].kind).compile(job)


def run_cells(
    policies: Sequence[Any],
    problems: Sequence[Problem],
    horizons: Sequence[int | None],
    settings: Settings,
    *,
    stacked: bool,
    roots: Sequence[jax.Array] | None = None,
) -> list[Result]:
    """Simulates cells: one, or several stacked into one program; arguments as in `prepare`.

    Raises:
      InputError: before anything is computed.
      KeyboardInterrupt: as `run_prepared`.
    """
    prepared = prepare(policies, problems, horizons, settings, stacked=stacked, roots=roots)
    checked, settings = prepared.checked, prepared.settings
    batched = blocks.runner_for(checked[0].kind) is blocks.ROUNDS
    budget = settings.table_budget and settings.table_budget // len(checked)
    seeds = [settings.seed] * len(checked) if roots is None else roots
    records = [
        Record(cell, replace(settings, seed=seed), batched, budget)
        for cell, seed in zip(checked, seeds, strict=True)
    ]
    fewest = min(record.rows for record in records)
    if fewest < settings.num_seeds:
        warn_caller(
            f"tables of {settings.num_seeds:,} seeds would exceed table_budget: regret and plays "
            f"are kept of the first {fewest:,}, mean, std and sem are of all."
        )

    def keep(first: int, block: blocks.Recorded) -> None:
        block = block.fetched()
        for i, record in enumerate(records):
            record.keep(first, jax.tree.map(itemgetter(i), block) if stacked else block)

    done = run_prepared(prepared, settings, keep)
    return [record.result(done, prepared.job.lanes) for record in records]


def _progress(checked: Sequence[CheckedCell], settings: Settings) -> Simulating:
    """Progress of simulating cells, counted in comparisons or pulls of all seeds, those of quiet
    runs that are skipped included."""
    name = registry.name_of(checked[0].policy)
    where = f"on {checked[0].problem.name}" if len(checked) == 1 else f"in {len(checked)} cells"
    unit = "pulls" if checked[0].kind in (Pull, PullBatch) else "comparisons"
    total = settings.num_seeds * int(sum(c.grid[-1] for c in checked))
    return Simulating(f"{name} {where}", name, total, unit, settings.progress, settings.part)


def horizon_of(policy: Any, horizon: int | None) -> int:
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
        raise InputError(f"simulate: the horizon must be one whole number, not {chosen!r}.")
    if own is not None and chosen > int(own):
        raise InputError(
            f"simulate: the horizon {chosen} exceeds the {int(own)} that the policy was made for."
        )
    return int(chosen)


def _stack(cells: Sequence[Cell], runner: blocks.Runner) -> Cell:
    """Stacks cells of one kind into one, with an axis for cells in front."""
    kinds = {
        (type(c.policy), jax.tree.structure(c), tuple(x.shape for x in jax.tree.leaves(c)))
        for c in cells
    }
    if len(kinds) > 1:
        raise InputError(
            "simulate_many: the policies must be of one class, with the same number of arms, the "
            "same switches and the same parameters given."
        )
    grids = np.stack([c.checkpoints for c in cells])
    if runner is not blocks.ROUNDS and (grids != grids[0]).any():
        raise InputError(
            "simulate_many: policies that make one comparison at a time must share the horizon."
        )
    return jax.tree.map(lambda *leaves: np.stack(leaves), *cells)
