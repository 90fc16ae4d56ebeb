"""Two CPU devices for the whole test session, so that placement on devices can be tested."""

import jax
import pytest

jax.config.update("jax_num_cpu_devices", 2)


@pytest.fixture(scope="module", autouse=True)
def _forget_programs():
    """A module's compiled programs go with it: all of them together exceed what a process may
    map (65,530 pieces of memory on Linux), and the compiler crashes."""
    yield
    jax.clear_caches()
