"""A store of made-up blocks."""

import pytest

from jaxduel.studies.engine.store import Store
from tests.studies.engine import stored


@pytest.fixture
def store(tmp_path):
    return Store.create_or_open(tmp_path / "s", stored.manifest())


@pytest.fixture
def first(store):
    return stored.blocks(store.manifest)[0]
