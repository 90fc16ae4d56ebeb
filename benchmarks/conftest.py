"""Fixtures of all benchmarks, their smallest size for CI, and a table of results at the end."""

import os
import platform
import time

import jax
import pytest

from jaxduel.simulation.memory_maps import forget_programs


def pytest_addoption(parser):
    parser.addoption(
        "--smallest",
        action="store_true",
        help="one case of each benchmark, in a size that takes seconds: does it work, and compute "
        "what is right? Its times say nothing.",
    )


def pytest_configure(config):
    os.environ["JAXDUEL_CACHE"] = "off"  # programs of an earlier day would be found
    if config.getoption("--smallest"):
        config.option.benchmark_disable = True
        jax.config.update("jax_num_cpu_devices", 2)
        jax.config.update("jax_disable_most_optimizations", True)  # compiles in half the time
        os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # also where a benchmark starts Python


def pytest_collection_modifyitems(config, items):
    """With --smallest: the cases that a benchmark's marker names, else its first."""
    if not config.getoption("--smallest"):
        return
    kept, seen = [], set()
    for item in items:
        mark = item.get_closest_marker("smallest")
        function = item.nodeid.partition("[")[0]
        if item.callspec.id in mark.args if mark else function not in seen:
            kept.append(item)
        seen.add(function)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_benchmark_update_machine_info(machine_info):
    device = jax.devices()[0]
    machine_info["jax"] = jax.__version__
    machine_info["device"] = f"{device.device_kind} ({device.platform})"


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    rows = [(b.name, b.extra_info) for b in getattr(session, "benchmarks", []) if b.extra_info]
    if not rows:
        return
    device = jax.devices()[0]
    terminalreporter.section("jaxduel")
    terminalreporter.write_line(
        f"jax {jax.__version__}, {device.device_kind} ({device.platform}), "
        f"{platform.machine()}, Python {platform.python_version()}"
    )
    for name, info in rows:
        values = ", ".join(f"{key} {value:,.4g}" for key, value in info.items())
        terminalreporter.write_line(f"{name:44s} {values}")


@pytest.fixture(autouse=True)
def _from_cold():
    """Every benchmark begins with no compiled programs. With many of others, the simulator would
    forget them (`simulation/memory_maps.py`), perhaps between a first call and one that is timed.
    """
    forget_programs()


@pytest.fixture
def size(request):
    """`size(usual, smallest)`: the second with --smallest."""
    return lambda usual, smallest: smallest if request.config.getoption("--smallest") else usual


@pytest.fixture
def rounds(benchmark, size):
    """`rounds(call, number, clock)`: what the last of that many calls returned, and the seconds of
    each; one call with --smallest."""

    def of(call, number=1, clock=time.perf_counter):
        seconds = []

        def once():
            begun = clock()
            found = call()
            seconds.append(clock() - begun)
            return found

        found = benchmark.pedantic(once, rounds=size(number, 1), iterations=1)
        assert len(seconds) == size(number, 1)
        assert min(seconds) > 0
        return found, seconds

    return of
