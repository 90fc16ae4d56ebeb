"""Sweeps: a thousand cells from cold, what storing them costs, what a second device brings.

    JAX_NUM_CPU_DEVICES=2 python -m pytest -n 0 benchmarks/test_sweeps.py

Seconds by the clock: the machine should have nothing else to do.
"""

import dataclasses
import resource
import time

import jax
import numpy as np
import pytest

from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep import (
    Grid,
    PolicyEntry,
    ProblemEntry,
    examples,
    open_sweep,
    read_grid,
    run_sweep,
)

pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")


@pytest.fixture
def storing(monkeypatch):
    """Seconds that the store takes, all calls together."""
    spent = []

    def timed(name):
        original = getattr(Store, name)

        def call(*args, **settings):
            begun = time.perf_counter()
            try:
                return original(*args, **settings)
            finally:
                spent.append(time.perf_counter() - begun)

        monkeypatch.setattr(Store, name, call)

    for name in ("add", "claim", "finished"):
        timed(name)
    return spent


def smallest(grid):
    """Four of its cells, ten seeds each."""
    return dataclasses.replace(
        grid,
        policies=PolicyEntry(name="pcomp"),
        problems=ProblemEntry(generator="btl", parameters={"num_arms": (4,)}),
        horizons=grid.horizons[:2],
        batches=grid.batches[:2],
        num_seeds=10,
    )


def test_a_thousand_cells(rounds, benchmark, size, tmp_path, storing):
    """The packaged grid of batched policies: 975 cells, 1,000 seeds each, up to T = 1e9. Memory is
    the most that the process has had: run it alone."""
    grid = read_grid(next(path for path in examples() if path.name == "batched.toml"))
    grid = size(grid, smallest(grid))
    _, seconds = rounds(lambda: run_sweep(grid, tmp_path))
    benchmark.extra_info["minutes"] = seconds[0] / 60
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    benchmark.extra_info["GiB at most"] = peak / 2**20
    benchmark.extra_info["seconds for the store"] = sum(storing)
    begun = time.perf_counter()
    data = open_sweep(tmp_path)
    benchmark.extra_info["seconds to open"] = time.perf_counter() - begun
    assert (data.num_seeds == grid.num_seeds).all()
    assert data.num_seeds.size == size(975, 4)
    assert np.isfinite(data.regret_mean.isel(checkpoint=0)).all()
    begun = time.perf_counter()
    run_sweep(grid, tmp_path)
    benchmark.extra_info["seconds to find it finished"] = time.perf_counter() - begun


HOST = ("plan", "check and stack", "reduce", "encode", "write")
"""Parts of a sweep (`jaxduel sweep --profile`) that are the host's alone."""


@pytest.mark.parametrize("num_seeds", [512, 10_000])
def test_the_work_of_the_host(rounds, benchmark, size, tmp_path, num_seeds):
    """A thousand cells of PCOMP, up to T = 1e9: the seconds of each part, summed over threads."""
    grid = Grid(
        policies=PolicyEntry(name="pcomp"),
        problems=ProblemEntry(
            generator="btl",
            parameters={"num_arms": size((4, 6, 8, 12, 16, 24, 32, 40, 48, 64), (4,))},
        ),
        horizons=size(tuple(int(T) for T in np.logspace(3, 9, 10)), (1_000, 10_000)),
        batches=size((2, 3, 4, 6, 8, 10, 12, 16, 20, 24), (2, 3)),
        num_seeds=size(num_seeds, 300),
    )
    outcome, _ = rounds(lambda: run_sweep(grid, tmp_path, devices=jax.local_devices()[:1]))
    assert outcome.complete
    assert all(outcome.seconds[part] > 0.0 for part in (*HOST, "compile", "device loops"))
    benchmark.extra_info.update(outcome.seconds)
    host = sum(outcome.seconds[part] for part in HOST)
    benchmark.extra_info["the host"] = host
    benchmark.extra_info["blocks"] = outcome.blocks
    folder = open_sweep(tmp_path)
    assert folder.num_seeds.size == size(1_000, 4)
    assert (folder.num_seeds == grid.num_seeds).all()


@pytest.mark.parametrize("name", ["dts", "scomp2"])
def test_two_devices(benchmark, size, tmp_path, name):
    """Four blocks on one device and on two, each compiled before."""
    if len(jax.local_devices()) < 2:
        pytest.skip("JAX has one device: set JAX_NUM_CPU_DEVICES=2")
    grid = Grid(
        policies=PolicyEntry(name=name),
        problems=ProblemEntry(generator="btl", parameters={"num_arms": (16,)}),
        horizons=(size(10_000, 200),),
        batches=(8,),
        num_seeds=4 * size(256, 4),
        lanes=size(256, 4),
    )
    devices, seconds, blocks = jax.local_devices(), {}, {}

    def both():
        for number in (1, 2):
            for attempt in ("cold", "warm"):
                folder = tmp_path / f"{number} {attempt}"
                begun = time.perf_counter()
                run_sweep(grid, folder, devices=devices[:number])
                seconds[number] = time.perf_counter() - begun
                blocks[number] = sorted(path.name for path in (folder / "blocks").iterdir())

    benchmark.pedantic(both, rounds=1, iterations=1)
    assert blocks[1] == blocks[2]
    assert len(blocks[1]) == 4
    benchmark.extra_info["seconds on one"], benchmark.extra_info["on two"] = seconds.values()
    benchmark.extra_info["times faster"] = seconds[1] / seconds[2]
