"""Compiled programs are forgotten before the process runs out of memory maps."""

import time

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import devices, memory_maps, run
from jaxduel.studies.stored_runs import StoredRuns
from jaxduel.studies.wanted import Competitor, Draw, Wanted

pytestmark = pytest.mark.usefixtures("quick_compilation")

POLICIES = ("rmed1", "rucb", "sparring")


@pytest.fixture
def limit(tmp_path, monkeypatch):
    """Sets how many pieces of memory the system is said to allow."""
    path = tmp_path / "max_map_count"
    monkeypatch.setattr(memory_maps, "_MOST", path)
    return path.write_text


@pytest.fixture
def clearings(monkeypatch):
    """One entry for each time that the programs were forgotten."""
    seen, clear = [], jax.clear_caches

    def watched():
        seen.append(1)
        clear()

    monkeypatch.setattr(jax, "clear_caches", watched)
    return seen


@pytest.mark.skipif(not memory_maps._MAPPED.exists(), reason="the system does not tell")
def test_programs_hold_pieces_of_memory_until_they_are_forgotten(limit, clearings):
    problem = jd.problems.load("arxiv")
    policy = jd.policies.make("rmed1", num_arms=6)
    jd.simulate(policy, problem, 100, 4, lanes=4)
    full = memory_maps._pieces()
    guard = memory_maps.CompileCacheGuard(seconds=3_600)
    limit(str(2 * full + 2_000))
    guard.make_room()
    assert not clearings
    limit(str(2 * full - 100))
    guard.make_room()
    assert not clearings, "it looked again before its time"
    memory_maps.CompileCacheGuard().make_room()
    assert clearings == [1]
    assert memory_maps._pieces() < full - 50


@pytest.mark.skipif(not memory_maps._MAPPED.exists(), reason="the system does not tell")
def test_what_does_not_help_is_not_done_again_at_once(limit, clearings):
    guard = memory_maps.CompileCacheGuard(seconds=0.1)
    limit("10")
    for _ in range(3):
        guard.make_room()
        time.sleep(0.11)
    assert clearings == [1]


def test_nothing_is_forgotten_where_the_system_does_not_tell(limit, clearings, monkeypatch):
    memory_maps.CompileCacheGuard().make_room()  # there is no such file
    limit("many")
    memory_maps.CompileCacheGuard().make_room()
    limit("10")
    monkeypatch.setattr(memory_maps, "_MAPPED", memory_maps._MOST.parent / "missing")
    memory_maps.CompileCacheGuard().make_room()
    assert not clearings


@pytest.mark.slow
def test_programs_that_are_forgotten_while_others_run_change_no_number(
    limit, clearings, monkeypatch, tmp_path
):
    """Two devices run six tasks; each forgets the programs of both when it begins one."""
    draw = Draw(jd.problems.btl(jax.random.key(3), 4), jax.random.key(4), 8)
    times = np.array([10, 2_000])
    wanted = [
        Wanted(where, where, (draw,), Competitor(name, name, name, {}), 2_000, times, "copeland")
        for where in ("one", "other")
        for name in POLICIES
    ]

    def regrets(folder):
        store = StoredRuns(tmp_path / folder, wanted)
        return {key: runs.regret for key, runs in store.missing(store.progress(False))}

    expected = regrets("before")
    assert len(expected) == 6
    assert not clearings
    limit("10")
    monkeypatch.setattr(run, "_GUARD", memory_maps.CompileCacheGuard(seconds=0))
    found = regrets("after")
    assert len(clearings) == 6
    for key, regret in expected.items():
        np.testing.assert_array_equal(found[key], regret)


@pytest.mark.parametrize(("most", "expected"), [("65530", 15), ("262144", 64), ("100", 1)])
def test_no_more_devices_than_there_is_room_for(limit, monkeypatch, most, expected):
    monkeypatch.setattr(devices.os, "sched_getaffinity", lambda _: range(200), raising=False)
    limit(most)
    assert devices._most_devices() == expected
