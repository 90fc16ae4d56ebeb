"""The mapping of runs that remembers which were read."""

import numpy as np
import pytest

from jaxduel.runs import Runs
from jaxduel.studies.claims import less
from jaxduel.studies.findings import Finder
from jaxduel.studies.reading_runs import ReadRuns


def sample(name):
    return Runs(name, name, np.array([10]), np.ones((4, 1)))


def test_looked_up_keys_are_remembered_and_passing_over_all_is_not():
    runs = ReadRuns({("a", "dts"): sample("dts"), ("b", "dts"): sample("dts")})
    assert len(list(runs.values())) == len(runs.items()) == len(list(runs)) == 2
    assert runs.keys_read == set()
    assert runs.get(("a", "rucb")) is None
    assert ("b", "dts") in runs
    assert runs["a", "dts"].name == "dts"
    with pytest.raises(KeyError):
        runs["b", "ccb"]
    assert runs.keys_read == {("a", "rucb"), ("b", "dts"), ("a", "dts"), ("b", "ccb")}


def test_a_measurement_reads_its_two_policies_alone():
    every = {("a", name): sample(name) for name in ("dts", "rucb", "ccb")}
    runs = ReadRuns(every)
    assert len(Finder(runs).ratios("dts", "rucb", ("a",), less)) == 1
    assert runs.keys_read == {("a", "dts"), ("a", "rucb")}
