"""Fixtures for files that the package does not ship."""

import os
from pathlib import Path

import pytest

_FILES = (
    "MSLR_Informational_PMat.npz",
    "MSLR_Navigational_PMat.npz",
    "MSLR_Perfect_PMat.npz",
    "sushi16.csv",
)


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("JAXDUEL_DATA")
    if not folder or not all((Path(folder) / file).is_file() for file in _FILES):
        pytest.skip("$JAXDUEL_DATA names no folder with the MSLR and sushi files")
    return Path(folder)
