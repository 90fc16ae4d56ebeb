"""Prints what the benchmarks put into `extra_info` as one table at the end of a run."""

import platform

import jax
import pytest


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
    jax.clear_caches()


@pytest.fixture
def platform_name() -> str:
    return jax.devices()[0].platform
