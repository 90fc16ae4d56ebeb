"""Fixtures of the problems' tests."""

from tests.problems.conftest import data_folder as data_folder
