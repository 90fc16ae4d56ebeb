"""Files that were damaged at random: the same numbers are read, or none, with a sentence."""

from __future__ import annotations

import faulthandler
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.program_folder import ProgramFolder
from jaxduel.simulation.regret import regret_of
from jaxduel.simulation.result import Result
from jaxduel.studies.engine.store import Store
from tests.studies.engine import stored

SECONDS = 60
"""After which a file that is still being read hangs: the process ends, with a traceback."""


def flip(content: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice([1, 1, 2, 8])):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def overwrite(content: bytearray, draw: random.Random) -> None:
    size = draw.choice([1, 4, 64, 512])
    start = draw.randrange(len(content))
    size = min(size, len(content) - start)
    content[start : start + size] = draw.choice([bytes(size), b"\xff" * size, draw.randbytes(size)])


def truncate(content: bytearray, draw: random.Random) -> None:
    del content[draw.choice([0, draw.randrange(len(content)), len(content) - draw.randrange(99)]) :]


def swap(content: bytearray, draw: random.Random) -> None:
    """Two pieces of the file, in each other's place."""
    size = min(draw.choice([1, 8, 100]), len(content) // 2)
    one, two = sorted(draw.randrange(len(content) - size + 1) for _ in range(2))
    two = max(two, one + size)
    if two + size <= len(content):
        content[one : one + size], content[two : two + size] = (
            content[two : two + size],
            content[one : one + size],
        )


KINDS: dict[str, Callable[[bytearray, random.Random], None]] = {
    "bits": flip,
    "bytes": overwrite,
    "truncation": truncate,
    "swap": swap,
}


def result_of(seeds: int, definition: str, **settings: Any) -> Result:
    """Plays at random on arxiv, as if a policy had made them."""
    problem, times = jd.problems.load("arxiv"), np.array([20, 100, 300])
    rng = np.random.default_rng(seeds)
    share = np.full(36, 1 / 36)
    steps = [rng.multinomial(t, share, seeds) for t in np.diff(times, prepend=0)]
    pairs = np.cumsum(steps, axis=0).swapaxes(0, 1).reshape(seeds, 3, 6, 6)
    plays = pairs.sum(axis=2) + pairs.sum(axis=3)
    regret = regret_of(problem, definition, times, plays, pairs)
    rucb = {"name": "rucb", "num_arms": 6, "parameters": {"alpha": 0.6}, "changed": ["alpha"]}
    asked = {"policy": rucb, "horizon": 300, "num_seeds": seeds, "seed": 5, "first_seed": 0}
    given = {"pairs": pairs} if definition == "weak" else {}
    instance = {"name": "arxiv", "digest": problem_digest(problem), "num_arms": 6}
    made = {**asked, "problem": instance, "regret": definition, "checkpoints": times.tolist()}
    return Result(
        "rucb", "arxiv", 300, 5, definition, times, regret, plays, **given, made_by=made, **settings
    )


def damage(whole: bytes, kind: str, draw: random.Random) -> bytes:
    """The content of a file, damaged so that it differs."""
    content = bytearray(whole)
    while content == whole:
        KINDS[kind](content, draw)
    return bytes(content)


@contextmanager
def damaged(path: Path, kind: str, draw: random.Random) -> Iterator[None]:
    """Context in which a file is damaged; it is whole again at the end."""
    whole = path.read_bytes()
    path.write_bytes(damage(whole, kind, draw))
    try:
        yield
    finally:
        path.write_bytes(whole)


def read_at_once(read: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The content as read, None for an InputError of one line, and the texts of warnings."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                return read(), [str(one.message) for one in told]
            except jd.InputError as error:
                sentence = str(error)
        assert "\n" not in sentence
        assert len(sentence) < 1_000
        return None, []
    finally:
        faulthandler.cancel_dump_traceback_later()


def of_results(folder: Path, number: int, draw: random.Random) -> None:
    results = [result_of(20, "copeland"), result_of(3, "weak")]
    paths = [one.save(folder / f"{i}.nc") for i, one in enumerate(results)]
    for i in range(number):
        path = draw.choice(paths)
        with damaged(path, list(KINDS)[i % len(KINDS)], draw):
            assert read_at_once(lambda path=path: jd.load_result(path)) == (None, [])
    for path, result in zip(paths, results, strict=True):
        assert jd.load_result(path).to_xarray().identical(result.to_xarray())


def of_manifests(folder: Path, number: int, draw: random.Random) -> None:
    store = Store.create_or_open(folder / "s", stored.manifest())
    stored.fill(store)
    whole = jd.open_sweep(store.folder).load()
    for i in range(number):
        with damaged(store.folder / "manifest.json", list(KINDS)[i % len(KINDS)], draw):
            assert read_at_once(lambda: jd.open_sweep(store.folder)) == (None, [])
    assert jd.open_sweep(store.folder).identical(whole)


def of_blocks(folder: Path, number: int, draw: random.Random) -> None:
    """Before the sweep is opened and, for some, after."""
    store = Store.create_or_open(folder / "s", stored.manifest())
    stored.fill(store)
    paths, without = sorted((store.folder / "blocks").iterdir()), {}
    for path in paths:
        path.rename(folder / "elsewhere")
        without[path] = jd.open_sweep(store.folder).load()
        (folder / "elsewhere").rename(path)
    for i in range(number):
        kind, path = list(KINDS)[i % len(KINDS)], draw.choice(paths)
        opened = jd.open_sweep(store.folder) if i % 8 < 2 else None
        with damaged(path, kind, draw):
            before = path.read_bytes()
            if opened is not None:
                found, told = read_at_once(lambda opened=opened: opened["final_regret"].values)
                np.testing.assert_array_equal(found, without[path]["final_regret"])
            else:
                found, told = read_at_once(lambda: jd.open_sweep(store.folder).load())
                assert found.identical(without[path])
            (sentence,) = told
            assert f"'{path}' is left out" in sentence
            assert path.read_bytes() == before
        assert sorted(paths[0].parent.iterdir()) == paths


def of_programs(folder: Path, number: int, draw: random.Random) -> None:
    """A damaged program, or another in its place, is none: it is compiled and written anew."""
    programs = ProgramFolder(folder, "one", 10**6)
    contents = {f"{i:064x}": draw.randbytes(900) for i in range(3)}
    for i in range(number):
        for name, content in contents.items():
            programs.write(name, content)
        kind, name = list(KINDS)[i % len(KINDS)], draw.choice(list(contents))
        path = folder / "one" / f"{name}.program"
        if i % 8 == 7:
            (other,) = draw.sample(sorted(contents.keys() - {name}), 1)
            path.write_bytes(path.with_name(f"{other}.program").read_bytes())
        else:
            path.write_bytes(damage(path.read_bytes(), kind, draw))
        assert read_at_once(lambda name=name: programs.read(name)) == (None, [])
        assert not path.exists()
        programs.write(name, contents[name])
        assert programs.read(name) == contents[name]


TARGETS = {
    "results": of_results,
    "manifests": of_manifests,
    "blocks": of_blocks,
    "programs": of_programs,
}


@pytest.mark.parametrize("number", [24, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", TARGETS)
def test_no_damage_gives_other_numbers_a_traceback_or_a_hang(tmp_path, target, number):
    TARGETS[target](tmp_path, number, random.Random(number))
