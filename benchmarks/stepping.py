"""The step loop alone, after compilation: what both benchmarks of comparisons measure."""

import threading
import time

import jax
import jax.numpy as jnp

import jaxduel as jd
from jaxduel.policies import Pull
from jaxduel.simulation import blocks, run, steps
from jaxduel.simulation.cells import Program
from jaxduel.simulation.lanes import default_lanes


class Stepper:
    """Lanes of a policy that go on where they stopped, on a BTL instance or, if it pulls arms, on
    one better arm.

    Attributes:
      lanes: how many; the simulator's own choice where 0 was asked for.
      compile_seconds: of the first call, compilation included.
    """

    def __init__(self, policy, lanes=0, prng="threefry2x32"):
        if blocks.plan_kind(policy) is Pull:
            problem = jd.problems.one_better_arm(policy.num_arms)
        else:
            problem = jd.problems.btl(jax.random.key(1), policy.num_arms)
        checked = run.CheckedCell(policy, problem, 100_000, run.Settings())
        self.job = blocks.Job(
            cell=checked.to_cell(len(checked.grid)),
            program=Program(
                type(policy),
                stacked=False,
                shuffle=True,
                pairs=False,
                outcomes=False,
                delayed=False,
                skips=False,
            ),
            root=jax.random.key(0, impl=prng),
            lanes=1,
            delay=1,
            slots=1,
            tick=lambda _: None,
            stop=threading.Event(),
        )
        if not lanes:
            _, shapes = jax.eval_shape(lambda: blocks.STEPS.start(self.job, 0))
            lanes = default_lanes(shapes, jax.devices()[0].platform)
        self.lanes, self.job, self.t = lanes, self.job._replace(lanes=lanes), 0
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
        """Seconds for `number` steps: processor time on a CPU, else wall time."""
        clock = time.process_time if jax.devices()[0].platform == "cpu" else time.perf_counter
        before = clock()
        self.advance(number)
        return clock() - before

    def rate(self, spent, number):
        """Million steps per second, all lanes."""
        return number * self.lanes / spent / 1e6
