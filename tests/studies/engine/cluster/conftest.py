import pytest

from tests.studies.engine.cluster.sweeps import undisturbed


@pytest.fixture(scope="module")
def small(tmp_path_factory, quick_compilation):
    return undisturbed(tmp_path_factory.mktemp("undisturbed"), name="interleaved-filter")


@pytest.fixture
def every(small):
    return small.every


@pytest.fixture
def store(small, tmp_path):
    return small.store(tmp_path / "s")
