"""Reduction of records to the arrays of a block: by the definitions, in whatever parts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.regret import regret_from_pairs, regret_from_plays
from jaxduel.simulation.tallies import Tallies
from jaxduel.studies.engine import reducing
from jaxduel.studies.engine.reducing import Seeds, arrays_of

SEEDS, LANES, POINTS, ARMS = 37, 48, 5, 8
PROBLEMS = [jd.problems.load(name) for name in ("arxiv", "cyclic")]
TIMES = [np.array([1, 10, 20, 50, 100]), np.array([1, 10, 20])]


@pytest.fixture(scope="module")
def record():
    """Of two cells: plays beyond 2^31, lanes, arms and checkpoints of padding with other numbers in
    them."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 2**25, (2, LANES, POINTS, ARMS, ARMS), np.int32)
    plays = rng.integers(0, 2**32, (2, LANES, POINTS, ARMS), np.uint32)
    return Recorded(Tallies(plays, pairs, None), rng.integers(1, 9, (2, LANES), np.int32))


def reduced(record, bounds):
    """The arrays, with the seeds in parts that end at `bounds`."""
    definitions = ("copeland", "weak", "binary strong")
    group: Any = SimpleNamespace(
        cells=[SimpleNamespace(definitions=definitions), SimpleNamespace(definitions=("borda",))],
        definitions=(*definitions, "borda"),
        keep=("seeds", "wins", "selves"),
        num_checkpoints=POINTS,
        num_arms=ARMS,
    )
    checked: Any = [
        SimpleNamespace(problem=problem, grid=times)
        for problem, times in zip(PROBLEMS, TIMES, strict=True)
    ]
    parts = []
    for begin, end in zip((0, *bounds), (*bounds, SEEDS), strict=True):
        pairs, plays = record.tallies.pairs[:, begin:], record.tallies.plays[:, begin:]
        own = Recorded(Tallies(plays, pairs, None), record.batches[:, begin:])
        parts.append(Seeds(end - begin, own))
    return arrays_of(group, [(checked, parts)])


def test_the_numbers_are_those_of_the_definitions(record):
    arrays = reduced(record, ())
    for cell, (problem, times) in enumerate(zip(PROBLEMS, TIMES, strict=True)):
        points, num = len(times), problem.num_arms
        plays = record.tallies.plays[cell, :SEEDS, :points, :num].astype(np.int64)
        pairs = record.tallies.pairs[cell, :SEEDS, :points, :num, :num].astype(np.int64)
        if cell == 0:
            of_pairs = (regret_from_pairs(problem, x, pairs) for x in ("weak", "binary strong"))
            by = [regret_from_plays(problem, "copeland", plays), *of_pairs]
        else:
            by = [regret_from_plays(problem, "borda", plays)]
        values = np.pad(np.stack(by), [(0, 0), (0, 0), (0, POINTS - points)], mode="edge")
        own = arrays["regret"][cell, :3] if cell == 0 else arrays["regret"][cell, 3:]
        np.testing.assert_array_equal(own, values)
        assert np.isnan(
            np.delete(arrays["regret"][cell], (0, 1, 2) if cell == 0 else 3, axis=0)
        ).all()
        np.testing.assert_array_equal(arrays["final_regret"][cell], arrays["regret"][cell, ..., -1])
        np.testing.assert_array_equal(arrays["plays_mean"][cell, :points, :num], plays.mean(axis=0))
        assert not arrays["plays_mean"][cell, points:].any()
        assert not arrays["plays_mean"][cell, :, num:].any()
        mean = arrays["pairs_mean"][cell, :points, :num, :num]
        np.testing.assert_array_equal(mean, pairs.mean(axis=0))
        selves = np.diagonal(pairs[:, -1], axis1=1, axis2=2)
        np.testing.assert_array_equal(arrays["selves"][cell, :, :num], selves)
    np.testing.assert_array_equal(arrays["batches"], record.batches[:, :SEEDS])
    np.testing.assert_array_equal(arrays["regret_mean"], arrays["regret"].mean(axis=2))
    deviations = arrays["regret"] - arrays["regret_mean"][:, :, None]
    np.testing.assert_array_equal(arrays["regret_m2"], (deviations**2).sum(axis=2))
    assert arrays["regret_count"] == SEEDS


def test_an_accelerator_reduces_plays_where_they_lie(record):
    """To the same numbers, whatever lies in the padding; with plays of pairs it does nothing."""
    definitions = ("copeland", "borda")
    group: Any = SimpleNamespace(
        cells=[SimpleNamespace(definitions=definitions), SimpleNamespace(definitions=("borda",))],
        definitions=definitions,
        keep=("seeds",),
        num_checkpoints=POINTS,
        num_arms=ARMS,
    )
    checked: Any = [
        SimpleNamespace(problem=problem, grid=times)
        for problem, times in zip(PROBLEMS, TIMES, strict=True)
    ]
    plays = record.tallies.plays.copy()
    for cell, problem in enumerate(PROBLEMS):
        plays[cell, ..., problem.num_arms :] = 0
    whole = Seeds(SEEDS, Recorded(Tallies(plays, None, None), record.batches))
    parts = [
        Seeds(n, Recorded(Tallies(plays[:, at:], None, None), record.batches[:, at:]))
        for at, n in ((0, 20), (20, SEEDS - 20))
    ]
    sums = [reducing.reduced(part, group, group.cells, checked) for part in parts]
    assert all(part.record.tallies.plays is None for part in sums)
    found, wanted = (arrays_of(group, [(checked, seeds)]) for seeds in (sums, [whole]))
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        exact = name in ("plays_mean", "batches", "regret_count")
        np.testing.assert_allclose(found[name], array, rtol=0.0 if exact else 1e-12, err_msg=name)
    with_pairs = Seeds(SEEDS, record)
    assert reducing.reduced(with_pairs, group, group.cells, checked) is with_pairs


@pytest.mark.parametrize("cache", [1, 2**12])
def test_parts_do_not_change_a_bit(record, cache, monkeypatch):
    whole = reduced(record, ())
    monkeypatch.setattr("jaxduel.studies.engine.reducing._CACHE_BYTES", cache)
    for bounds in ((), (16, 32), (1, 2)):
        parts = reduced(record, bounds)
        assert set(parts) == set(whole)
        for name, array in whole.items():
            np.testing.assert_array_equal(parts[name], array)
