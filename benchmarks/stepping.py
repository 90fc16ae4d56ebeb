"""The step loop alone, after compilation, for the benchmarks that count comparisons or pulls."""

import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxduel as jd
from benchmarks.clocks import work_seconds
from jaxduel.policies import Pull
from jaxduel.simulation import blocks, run, steps


class Stepper:
    """Lanes of a policy that go on where they stopped, on a BTL instance or, if it pulls arms, on
    one better arm.

    Attributes:
      lanes: how many; the simulator's own choice where 0 was asked for.
      compile_seconds: of the first call, compilation included.
    """

    def __init__(self, policy, lanes=0, prng="threefry2x32"):
        self.plays_per_step = 1 if blocks.plan_kind(policy) is Pull else 2
        if self.plays_per_step == 1:
            problem = jd.problems.one_better_arm(policy.num_arms)
        else:
            problem = jd.problems.btl(jax.random.key(1), policy.num_arms)
        settings = run.Settings(prng=prng, lanes=lanes or None, skip_quiet=False)
        checked = run.CheckedCell(policy, problem, 100_000, None, settings)
        self.job = run.job_of([checked], settings, stacked=False)
        self.lanes, self.t = self.job.lanes, 0
        self.setups, self.state = jax.block_until_ready(blocks.STEPS.start(self.job, 0))
        began = time.perf_counter()
        self.advance(32)
        self.compile_seconds = time.perf_counter() - began

    def advance(self, number):
        """Makes that many comparisons or pulls in every lane."""
        bounds = jnp.int32(self.t), jnp.int32(self.t + number), jnp.int32(1)
        cell = self.job.cell._replace(checkpoints=None)
        self.state = steps.advance(cell, self.setups, self.state, *bounds, program=self.job.program)
        jax.block_until_ready(self.state)
        self.t += number

    def timed(self, number):
        """Seconds for `number` steps, as `work_seconds` counts them."""
        before = work_seconds()
        self.advance(number)
        return work_seconds() - before

    def rate(self, spent, number):
        """Million steps per second, all lanes."""
        return number * self.lanes / spent / 1e6

    def check(self):
        """Asserts that every lane has made every step, of arms that exist."""
        plays = np.asarray(self.state.tallies.plays)
        assert (plays >= 0).all()
        assert plays.shape[0] == self.lanes
        np.testing.assert_array_equal(plays.sum(axis=1), self.plays_per_step * self.t)
