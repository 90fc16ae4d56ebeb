"""Measures the constants of the model in `gpu_programs`: bytes a second, and the prices of kernels,
of turns of loops, and of questions from the host.

A turn of a tiny loop has n kernels that do almost nothing and one that counts turns; one more
compares, unless the number of turns is known when the loop is compiled. (Counted in what XLA
compiles for an H200.)
"""

import os
import time
from functools import partial
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks import gpu_programs
from jaxduel.numerics.target import LOOPS_VARIABLE
from jaxduel.simulation.compiling import compiled_once

KERNELS = 1, 8, 18
KINDS = {
    "loose, known turns": ("", True),
    "loose, the host asks": ("", False),
    "static": ("static", True),
    "dynamic": ("dynamic", False),
    "graph": ("graph", False),
}
"""Kinds of loops: the way of running them as in JAXDUEL_GPU_LOOPS, with the simulator's own options
of the compiler ("" for options that forbid graphs); and whether the number of turns is known when
the loop is compiled."""


@compiled_once(static_argnames=("kernels", "turns"))
def _turned(x, number, *, kernels, turns):
    def turn(_, x):
        for _ in range(kernels):
            x = lax.optimization_barrier(x + 1)
        return x

    return lax.fori_loop(0, number if turns is None else turns, turn, x)


def best_of(call, times=5):
    """Seconds of the fastest of some calls, after one that does not count."""
    spent = []
    for _ in range(times + 1):
        before = time.perf_counter()
        jax.block_until_ready(call())
        spent.append(time.perf_counter() - before)
    return min(spent[1:])


def copy_rate(size):
    """Bytes read and written in a second by copying an array of that many bytes."""
    x = jnp.zeros(size // 4, jnp.float32)
    copied = jax.jit(lambda x: x + 1)
    return 2 * x.nbytes / best_of(lambda: copied(x))


def microseconds(kind, turns):
    """Microseconds a turn of a kind of loop, for each of `KERNELS`."""
    loops, known = KINDS[kind]
    platform = jax.default_backend()
    if loops:
        with mock.patch.dict(os.environ, {LOOPS_VARIABLE: loops}):
            call = _turned.on(platform)
    else:
        options = {"xla_gpu_enable_command_buffer": ""} if platform == "gpu" else {}
        static = "kernels", "turns"
        call = jax.jit(_turned.__wrapped__, static_argnames=static, compiler_options=options)
    x, number = jnp.zeros(1024, jnp.float32), jnp.int32(turns)
    found = {}
    for kernels in KERNELS:
        once = partial(call, x, number, kernels=kernels, turns=turns if known else None)
        np.testing.assert_array_equal(once(), kernels * turns)
        found[kernels] = best_of(once) / turns * 1e6
    return found


def constants(measured):
    """The model's constants in microseconds, each beside the one assumed.

    Args:
      measured: of each of `KINDS`, what `microseconds` has found.
    """
    known, asked, static, _, graph = (
        np.array([measured[kind][n] for n in KERNELS]) for kind in KINDS
    )
    launch, _ = np.polyfit(KERNELS, known, 1)
    node, turn = np.polyfit([n + 2 for n in KERNELS], graph, 1)
    found = {
        "loose launch": (launch, gpu_programs.LOOSE_LAUNCH),
        "graph node": (node, gpu_programs.GRAPH_NODE),
        "host sync": ((asked - known).mean() - launch, gpu_programs.HOST_SYNC),
        "device turn": (turn, gpu_programs.DEVICE_TURN),
    }
    beside = {}
    for name, (seen, assumed) in found.items():
        beside |= {f"{name} us": float(seen), f"assumed {name} us": assumed * 1e6}
    beside["launch of a graph us"] = float(static[-1] - (KERNELS[-1] + 1) * node)
    return beside
