"""The simulator's loops alone, after compilation, for the benchmarks that count what they do."""

import time

import jax
import numpy as np

import jaxduel as jd
from benchmarks.clocks import work_seconds
from jaxduel.policies import Pull, PullBatch
from jaxduel.simulation import blocks, events, rounds, run, steps

HORIZON = 100_000
"""Of the step and event loops."""


def job_of(policy, horizon, lanes=0, **settings):
    """The job of one block: a policy on a BTL instance or, if it pulls arms, on one better arm."""
    if blocks.plan_kind(policy) in (Pull, PullBatch):
        problem = jd.problems.one_better_arm(policy.num_arms)
    else:
        problem = jd.problems.btl(jax.random.key(1), policy.num_arms)
    settings = run.Settings(lanes=lanes or None, **settings)
    checked = run.CheckedCell(policy, problem, horizon, None, settings)
    job = run.job_of([checked], settings, stacked=False)
    cell, root = jax.device_put((job.cell, job.root), jax.devices()[0])
    return job._replace(cell=cell, root=root)


class Stepper:
    """Lanes of a policy that go on where they stopped.

    Attributes:
      lanes: how many; the simulator's own choice where 0 was asked for.
      compile_seconds: of the first call, compilation included.
    """

    def __init__(self, policy, lanes=0, prng="threefry2x32", skips=False, delay=1):
        self.plays_per_step = 1 if blocks.plan_kind(policy) is Pull else 2
        self.job = job_of(policy, HORIZON, lanes, prng=prng, skip_quiet=skips, delay=delay)
        self.lanes, self.t = self.job.lanes, 0
        self.setups, self.state = jax.block_until_ready(blocks.STEPS.start(self.job, 0))
        began = time.perf_counter()
        self.advance(steps.STRETCH)
        self.compile_seconds = time.perf_counter() - began

    def advance(self, number):
        """Makes that many comparisons or pulls in every lane."""
        bounds = np.int32(self.t), np.int32(self.t + number)
        cell = self.job.cell._replace(checkpoints=None, points=None)
        self.state = steps.advance(cell, self.setups, self.state, *bounds, program=self.job.program)
        jax.block_until_ready(self.state)
        self.t += number

    def timed(self, number):
        """Seconds for `number` steps, as `work_seconds` counts them."""
        before = work_seconds()
        self.advance(number)
        return work_seconds() - before

    def steps_in(self, seconds):
        """Number of steps that take about so long: a multiple of a stretch, at least one."""
        return steps.STRETCH * max(1, round(seconds / self.timed(steps.STRETCH)))

    def rate(self, spent, number):
        """Million steps per second, all lanes."""
        return number * self.lanes / spent / 1e6

    def check(self):
        """Asserts that every lane has made every step, of arms that exist."""
        plays = np.asarray(self.state.tallies.plays)
        assert (plays >= 0).all()
        assert plays.shape[0] == self.lanes
        np.testing.assert_array_equal(plays.sum(axis=1), self.plays_per_step * self.t)


class Turner:
    """The event loop for lanes of a `Stepper` (with `skips`), which it uses up: for the first ones
    if there are fewer slots than lanes."""

    def __init__(self, stepper, slots=None):
        self.job = stepper.job
        at = np.int32(stepper.t), np.int32(0)
        block = events.begin(
            self.job.cell, stepper.setups, stepper.state, *at, program=self.job.program
        )
        number, program = slots or stepper.lanes, self.job.program
        self.slots = events.occupy(block, np.int32(0), number=number, program=program)

    def timed(self, number):
        """Seconds for `number` turns, as `work_seconds` counts them."""
        before = work_seconds()
        cell, program = self.job.cell, self.job.program
        self.slots = events.advance(cell, self.slots, np.int32(number), program=program)
        jax.block_until_ready(self.slots)
        return work_seconds() - before


class Batches:
    """Blocks of a policy that commits to batches, each run to its horizon."""

    def __init__(self, policy, lanes):
        self.job = job_of(policy, policy.horizon, lanes)

    def timed(self):
        """Seconds of the rounds of a block, as `work_seconds` counts them, and their number."""
        setups, block, waiting = jax.block_until_ready(blocks.ROUNDS.start(self.job, 0))
        number, chunk = np.int32(self.job.seeds), np.int32(64)
        before, finished = work_seconds(), False
        while not finished:
            block, finished, stuck = rounds.advance(
                self.job.cell, setups, block, waiting, number, chunk, program=self.job.program
            )
            assert not stuck
        return work_seconds() - before, int(block.lanes.round.max())
