"""Two CPU devices for the whole test session, so that placement on devices can be tested; and
signals that interrupt: workers of pytest-xdist, and the processes they start, ignore SIGINT."""

import hashlib
import json
import os
import signal
from pathlib import Path

import jax
import pytest

from jaxduel.problems import downloads
from jaxduel.simulation.memory_maps import forget_programs
from tests.shares import pytest_addoption as pytest_addoption
from tests.shares import pytest_collection_modifyitems as pytest_collection_modifyitems

_DATA = (
    "MSLR_Informational_PMat.npz",
    "MSLR_Navigational_PMat.npz",
    "MSLR_Perfect_PMat.npz",
    "sushi16.csv",
    "chatbotarena_20240814.json",
)

jax.config.update("jax_num_cpu_devices", 2)
os.environ["JAXDUEL_CACHE"] = "off"  # the user's folder stays as it is
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", autouse=True)
def _forget_programs():
    """A module's compiled programs go with it: all of them together exceed what a process may
    map (65,530 pieces of memory on Linux), and the compiler crashes."""
    yield
    forget_programs()


@pytest.fixture(scope="module")
def quick_compilation():
    """Programs are compiled with few optimisations, in about half the time.

    For modules whose tests run short programs: `pytestmark = pytest.mark.usefixtures(...)`. What
    users run, optimised, is what the laws, the samplers and other programs' numbers are tested on.
    """
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture
def full_compilation():
    """One test of such a module is compiled as usual: its time is that of its program."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture
def data_folder() -> Path:
    """The folder of the files that the package does not ship."""
    folder = os.environ.get("JAXDUEL_DATA")
    if not folder or not all((Path(folder) / file).is_file() for file in _DATA):
        pytest.skip("$JAXDUEL_DATA names no folder with the MSLR, sushi and arena files")
    return Path(folder)


@pytest.fixture
def small_arena(tmp_path, monkeypatch) -> Path:
    """A made-up file of four models in the layout of the arena's, found in its place."""
    content = {
        "models": ["Ada", "bea", "cyd", "dan"],
        "X": [[0, 1], [0, 2], [1, 2], [2, 3]],
        "Y": [[60, 50, 7, 3], [80, 30, 0, 1], [55, 45, 2, 0], [4, 0, 5, 0]],
    }
    path = tmp_path / "chatbotarena_20240814.json"
    path.write_text(json.dumps(content))
    monkeypatch.setenv("JAXDUEL_DATA", str(tmp_path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(downloads, "_ARENA_SHA256", digest)
    return path
