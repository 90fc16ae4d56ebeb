"""Kernels and host syncs of the simulator's loops on a GPU, by compiling for one that is not there.

    python -m venv ~/cuda && ~/cuda/bin/pip install '.[test]' 'jax[cuda12]'
    JAX_PLATFORMS=cpu ~/cuda/bin/python -m benchmarks.gpu_kernels --arms 5 16 64 --out now.json
    JAX_PLATFORMS=cpu ~/cuda/bin/python -m benchmarks.gpu_kernels --against before.json

A row is a step (a turn of the event loop, a round) of a policy: kernels of the step itself; those
of a turn of each inner loop, nested, and how many turns these take, counted by running the same
code on the CPU with few lanes; host syncs, scatters and sorts; bytes of state and bytes moved in a
step, a lane; seconds to compile; comparisons a second by a model (`gpu_programs`) whose constants
are assumed: one NVIDIA H200 made up to 2.1 times less.
"""

import argparse
import json
import os
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

_DUMPED = tempfile.TemporaryDirectory()
os.environ["XLA_FLAGS"] = (
    "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false --xla_dump_hlo_as_text "
    f"--xla_dump_to={_DUMPED.name} --xla_dump_hlo_module_re=jit_advance"
)

import jax  # noqa: E402  (after the flags)
import numpy as np  # noqa: E402
from jax.experimental import topologies  # noqa: E402

import jaxduel as jd  # noqa: E402
from benchmarks.gpu_programs import Loop, program_of  # noqa: E402
from benchmarks.stepping import HORIZON, job_of  # noqa: E402
from jaxduel.numerics.target import LOOPS_VARIABLE, tracing_for  # noqa: E402
from jaxduel.policies import Batch, PullBatch, SupportsSkip  # noqa: E402
from jaxduel.simulation import blocks, events, rounds, steps  # noqa: E402

_FEW_LANES, _BEGUN, _COUNTED = 1024, 1000, 8
"""Lanes, the time from which, and the steps or turns in which turns of inner loops are counted."""


class Loops:
    """The compiled loops of a policy: their arguments' shapes with any number of lanes."""

    def __init__(self, name, num_arms, lanes):
        given = {"num_batches": 8} if "num_batches" in jd.policies.parameters(name) else {}
        policy = jd.policies.make(name, num_arms=num_arms, horizon=HORIZON, **given)
        self.lanes = lanes
        self.by_rounds = blocks.plan_kind(policy) in (Batch, PullBatch)
        self.skips = isinstance(policy, SupportsSkip)
        self.jobs = {
            skips: job_of(policy, HORIZON, _FEW_LANES, skip_quiet=skips) for skips in (False, True)
        }

    def names(self):
        """The loops that the policy has."""
        if self.by_rounds:
            return ["round"]
        return ["step", "turn"] if self.skips else ["step"]

    def calls(self, loop):
        """A loop's function, its arguments for few lanes, and the job's program."""
        job = self.jobs[loop == "turn"]
        if loop == "round":
            of_block, number = blocks.ROUNDS.start(job, 0), np.int32(64)
            return rounds.advance, (job.cell, *of_block, number, number), job.program
        setups, lanes = blocks.STEPS.start(job, 0)
        timeless = job.cell._replace(checkpoints=None, points=None)
        numbers = np.int32(0), np.int32(_BEGUN)
        if loop == "step":
            return steps.advance, (timeless, setups, lanes, *numbers), job.program
        at = np.int32(_BEGUN), np.int32(0)
        lanes = steps.advance(timeless, setups, lanes, *numbers, program=job.program)
        block = events.begin(job.cell, setups, lanes, *at, program=job.program)
        slots = events.Slots(np.arange(_FEW_LANES, dtype=np.int32), block)
        return events.advance, (job.cell, slots, np.int32(64)), job.program

    def compiled(self, loop, device):
        """The loop compiled for a GPU: its tree, bytes of a lane's state, and seconds."""
        function, arguments, program = self.calls(loop)
        sharding = jax.sharding.SingleDeviceSharding(device)

        def shape(x, of_lanes):
            wide = (self.lanes, *x.shape[1:]) if of_lanes and x.ndim else x.shape
            return jax.ShapeDtypeStruct(wide, x.dtype, sharding=sharding)

        changing = 1 if loop == "turn" else 2  # the argument that the loop changes
        shapes = [
            jax.tree.map(lambda x, i=i: shape(x, 1 <= i <= changing), argument)
            for i, argument in enumerate(arguments)
        ]
        for file in Path(_DUMPED.name).glob("*jit_advance*.txt"):
            file.unlink()
        began = time.perf_counter()
        function.on("gpu").lower(*shapes, program=program).compile()
        seconds = time.perf_counter() - began
        texts = [
            next(Path(_DUMPED.name).glob(f"*{name}")).read_text()
            for name in ("thunk_sequence_after_thunk_passes.txt", "gpu_after_optimizations.txt")
        ]
        state = sum(x.size * max(x.dtype.itemsize, 1) for x in jax.tree.leaves(arguments[changing]))
        return program_of(*texts), state / _FEW_LANES, seconds

    def turns(self, loop):
        """Turns of the inner loops of some steps, with few lanes on the CPU."""
        function, arguments, program = self.calls(loop)
        if loop == "step":
            end = np.int32(_BEGUN + _COUNTED)
            arguments = (
                *arguments[:2],
                function(*arguments, program=program),
                arguments[4],
                end,
                *arguments[5:],
            )
        else:
            arguments = *arguments[:-1], np.int32(_COUNTED)
        counted = Turns()
        with tracing_for("gpu"), counted.patched():
            advance = jax.jit(partial(function.__wrapped__, program=program))
            jax.block_until_ready(advance(*arguments))
        return counted


class Turns:
    """Counts turns of the loops that are traced meanwhile, nested as they are."""

    def __init__(self):
        self.seen, self.inner = [], []

    @property
    def mean(self):
        """Mean turns of the slowest lane."""
        return sum(self.seen) / len(self.seen)

    @contextmanager
    def patched(self):
        """Context in which `lax.while_loop` counts."""
        original, around = jax.lax.while_loop, [self]

        def counting(condition, body, start):
            here = Turns()
            around[-1].inner.append(here)

            def one(loop):
                around.append(here)
                here.inner.clear()
                try:
                    return loop[0] + 1, body(loop[1])
                finally:
                    around.pop()

            def record(turns):
                here.seen.append(int(np.max(turns)))
                return turns

            turns, end = original(lambda loop: condition(loop[1]), one, (np.int32(0), start))
            shape = jax.ShapeDtypeStruct((), np.int32)
            turns = jax.pure_callback(record, shape, turns, vmap_method="broadcast_all")
            # every value waits for the callback, which else would be left out
            return jax.tree.map(
                lambda x: jax.numpy.where(turns < 0, jax.numpy.zeros_like(x), x), end
            )

        jax.lax.while_loop = counting
        try:
            yield
        finally:
            jax.lax.while_loop = original

    def executed(self):
        """The loops among these that ran."""
        return [loop for loop in self.inner if loop.seen]


def with_turns(loops, turns):
    """The inner loops of a compiled one, each with its mean turns; None where the trees differ."""
    found = turns.executed() if turns else []
    known = found if len(found) == len(loops) else [None] * len(loops)
    return list(zip(loops, known, strict=True))


def total(loop, turns, of):
    """A number of a turn of a loop with its inner loops, each by its turns (one if unknown)."""
    return of(loop) + sum(
        (each.mean if each else 1.0) * total(inner, each, of)
        for inner, each in with_turns(loop.inner, turns)
    )


def outline(loop, turns):
    """Kernels of a turn of each inner loop, times its turns, nested: "7 x 2.1, 12 (9 x 3) x 1"."""
    return ", ".join(
        f"{inner.kernels}"
        + (f" ({outline(inner, each)})" if inner.inner else "")
        + (f" x {each.mean:.2g}" if each else "")
        for inner, each in with_turns(loop.inner, turns)
    )


def rows_of(name, num_arms, lanes, device):
    """The table's rows of a policy, one for each of its loops."""
    loops = Loops(name, num_arms, lanes)
    for loop in loops.names():
        tree, state, seconds = loops.compiled(loop, device)
        turns, around = loops.turns(loop), tree.inner[0]
        step = around.inner[0] if loop == "step" else around
        while step.is_branch:
            step = step.inner[0]
        spent = total(step, turns, Loop.own_seconds)
        if loop == "step":
            spent += around.own_seconds() / steps.STRETCH
        yield {
            "policy": name,
            "arms": num_arms,
            "lanes": lanes,
            "loop": loop,
            "kernels": step.kernels,
            "inner kernels": outline(step, turns),
            "syncs": total(step, turns, lambda loop: loop.syncs),
            "scatters": step.total("scatters"),
            "sorts": step.total("sorts"),
            "state bytes": round(state),
            "moved bytes": round(total(step, turns, lambda loop: loop.work.moved) / lanes),
            "compile seconds": round(seconds, 1),
            "million a second": round(lanes / spent / 1e6, 1),
        }


def show(row, before):
    """Prints a row, with the numbers of an earlier table in brackets where they differ."""

    def text(key):
        value, old = row[key], before.get(key, row[key])
        shown = f"{value:,.3g}" if isinstance(value, float) else str(value)
        return (
            shown
            if value == old
            else f"{shown} [{old:,.3g}]"
            if not isinstance(old, str)
            else f"{shown} [{old}]"
        )

    print(" | ".join(text(key) for key in row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policies", nargs="+", default=list(jd.policies.names()))
    parser.add_argument("--arms", nargs="+", type=int, default=[16])
    parser.add_argument("--lanes", type=int, default=65_536)
    parser.add_argument("--out", type=Path, help="file for the table as JSON")
    parser.add_argument("--against", type=Path, help="an earlier table, to compare with")
    parser.add_argument("--loops", choices=("graph", "static", "dynamic"), default="graph")
    options = parser.parse_args()
    os.environ[LOOPS_VARIABLE] = options.loops
    identity = "policy", "arms", "lanes", "loop"
    earlier = json.loads(options.against.read_text()) if options.against else []
    before = {tuple(row[key] for key in identity): row for row in earlier}
    described = Path(__file__).with_name("h200.txtpb").read_text()
    topology = topologies.get_topology_desc(
        platform="cuda", target_config=described, topology="1x1x1"
    )
    table = []
    for name in options.policies:
        for num_arms in options.arms:
            for row in rows_of(name, num_arms, options.lanes, topology.devices[0]):
                if not table:
                    print(" | ".join(row), flush=True)
                show(row, before.get(tuple(row[key] for key in identity), {}))
                table.append(row)
                if options.out:
                    options.out.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
