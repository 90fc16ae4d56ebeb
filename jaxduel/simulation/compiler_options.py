"""Options of the compiler for each platform, as far as it knows them."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np

from jaxduel.numerics.target import gpu_loops

Settings = tuple[tuple[str, Any], ...]
"""Options of the compiler."""

_LASTING: Settings = (
    ("xla_backend_optimization_level", 1),
    ("xla_cpu_prefer_vector_width", 512),
)
"""Options on a CPU for long runs. Less optimisation takes up to a third less time for compilation,
to the same bits, and the loops of most policies run as fast or up to twice as fast (RMED1, BTM,
CCB); those of Gaussian Thompson sampling at K = 16 take a quarter more. Vectors are as wide as
AVX-512 has them, where XLA takes half of that: D-TS and RCS at K = 16 and 64 make 1.4 to 1.6 times
as many steps a second, most others a tenth more; Versatile-DB, MergeDTS and Gaussian Thompson
sampling round otherwise in places."""

_QUICK: Settings = (*_LASTING, ("xla_cpu_use_fusion_emitters", False))
"""Options on a CPU for all else: half the time for compilation, again to the same bits, by XLA's
older code generator. The loop from one informative comparison to the next is as fast, within a
tenth; steps with few arms take half more, batches with many twice as long."""

_ONE_CORE: Settings = (("xla_disable_hlo_passes", "cpu-parallel-task-assigner"),)
"""Options where the CPU is several devices, each busy with a block: no operation is split into
tasks for all cores, which XLA does by the size of an operand though one number is read. The same
bits; where states are large, 1.1 to 1.7 times as fast on two cores."""

_UNTUNED: Settings = (("xla_gpu_autotune_level", 0),)
"""Options on a GPU: the compiler does not try kernels on the device, which takes longer than it
gains here, and chooses by their timing, so that a program might round differently each time."""

_GRAPH: Settings = (
    *_UNTUNED,
    (
        "xla_gpu_enable_command_buffer",
        "FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL,CONDITIONAL,DYNAMIC_SLICE_FUSION,WHILE",
    ),
    ("xla_gpu_graph_min_graph_size", 1),
)
"""Options on a GPU: a program is one CUDA graph, its loops included."""


def wanted(platform: str, lasting: bool) -> tuple[Settings, ...]:
    """Options for a platform, the best first and then those in their place where the compiler does
    not know them; none if JAX was told not to optimise, which goes further."""
    config: Any = jax.config
    if config.read("jax_disable_most_optimizations"):
        return ((),)
    if platform == "gpu":
        return (_GRAPH, _UNTUNED, ()) if gpu_loops() == "graph" else (_UNTUNED, ())
    if platform != "cpu":
        return ((),)
    settings = (_LASTING,) if lasting else (_QUICK, _LASTING)
    if jax.local_device_count("cpu") > 1:
        return *((*some, *_ONE_CORE) for some in settings), *settings
    return settings


@cache
def known(settings: tuple[Settings, ...]) -> Settings:
    """The first of these options that the compiler knows; the last need not be tried."""
    for some in settings[:-1]:
        try:
            jax.jit(lambda: np.int32(0), compiler_options=dict(some)).lower().compile()
        except jax.errors.JaxRuntimeError:
            continue
        return some
    return settings[-1]
