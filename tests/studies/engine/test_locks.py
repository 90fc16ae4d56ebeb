from __future__ import annotations

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from jaxduel.errors import InputError
from jaxduel.studies.engine.locks import try_claim
from jaxduel.studies.engine.manifest import read_manifest
from jaxduel.studies.engine.store import Store
from tests.studies.engine import stored


def test_a_claim_keeps_others_out_until_it_is_released(store, first):
    other = Store.open(store.folder)
    claim = store.claim(first.key)
    assert claim
    assert other.claim(first.key) is None
    assert not other.has_ended([first.key])
    claim.close()
    claim.close()
    assert other.has_ended([first.key])
    with pytest.raises(KeyboardInterrupt), other.claim(first.key):
        raise KeyboardInterrupt
    assert store.claim(first.key)


def test_claims_can_be_looked_at_without_the_right_to_write(store, first, monkeypatch):
    def read_only(path, flags, *more, real=os.open):
        assert not flags & os.O_RDWR
        return real(path, flags, *more)

    with store.claim(first.key) as claim:
        assert claim
        monkeypatch.setattr(os, "open", read_only)
        assert store.claimed() == {first.key}
        monkeypatch.undo()
    (store.folder / "claims").rmdir()
    assert store.claimed() == set()


def test_a_pipe_in_the_place_of_a_claim_does_not_hang(store, first):
    os.mkfifo(store.folder / "claims" / first.key)
    assert store.claimed() == set()
    with store.claim(first.key) as claim:
        assert claim
    (store.folder / "claims" / first.key).mkdir()
    assert store.claimed() == set()


def test_a_lock_on_a_file_that_has_lost_its_name_is_no_claim(tmp_path, monkeypatch):
    path = tmp_path / "task"
    before = try_claim(path)
    assert before

    def flock(handle, how, real=fcntl.flock):
        before.close()  # after the other has opened the file
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with try_claim(path) as after:
        assert after
        assert path.exists()
        assert try_claim(path) is None


def test_what_is_finished_cannot_be_claimed(store, first):
    with store.claim(first.key):
        Store.open(store.folder).add(first)
        assert Store.open(store.folder).has_ended([first.key])
    assert store.claim(first.key) is None
    assert not list((store.folder / "claims").iterdir())


def test_a_writer_killed_in_mid_write_leaves_nothing_that_is_trusted(store, first):
    script = """
import os, time
store = Store.open(sys.argv[2])
block = stored.blocks(store.manifest)[0]
def half(handle):
    os.ftruncate(handle, os.fstat(handle).st_size // 2)
    print("writing", flush=True)
    time.sleep(60)
os.fsync = half
with store.claim(block.key):
    store.add(block)
"""
    with stored.python(script, str(store.folder)) as writer:
        assert writer.stdout.readline() == "writing\n", writer.stderr.read()
        (part,) = stored.contents(store.folder)
        assert part.endswith(".part")
        assert store.finished() == set()
        assert store.claim(first.key) is None
        assert not store.has_ended([first.key])
        writer.kill()
    assert store.has_ended([first.key])
    with store.claim(first.key) as claim:
        assert claim
        assert not stored.contents(store.folder)
        store.add(first)
    assert store.finished() == {first.key}


@pytest.mark.thorough
def test_two_processes_share_the_work(tmp_path):
    script = """
import time
print("ready", flush=True)
sys.stdin.readline()
store = Store.create_or_open(sys.argv[2], stored.manifest(seeds=60))
tasks = {block.key: block for block in stored.blocks(store.manifest)}
while tasks := {key: tasks[key] for key in tasks.keys() - store.finished()}:
    ran = False
    for key, block in tasks.items():
        claim = store.claim(key)
        if claim is not None:
            ran = True
            with claim:
                print(key, flush=True)
                time.sleep(0.01)
                store.add(block)
    if not ran:
        time.sleep(0.01)
"""
    folder = tmp_path / "s"
    both = [stored.python(script, str(folder)) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    ran = [output.split() for output, _ in outputs]
    manifest = stored.manifest(seeds=60)
    assert sorted(ran[0] + ran[1]) == sorted(block.key for block in stored.blocks(manifest))
    assert all(ran)
    alone = Store.create_or_open(tmp_path / "alone", manifest)
    stored.fill(alone)
    assert stored.contents(folder) == stored.contents(alone.folder)
    assert not list((folder / "claims").iterdir())


def test_one_of_many_that_create_a_folder_at_once_wins(tmp_path):
    def create(seeds):
        try:
            return Store.create_or_open(tmp_path / "s", stored.manifest(seeds))
        except InputError:
            return None

    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(create, [10, 11, 12, 13] * 8))
    outcomes = {store and store.manifest.seeds for store in stores}
    assert outcomes == {None, read_manifest(tmp_path / "s").seeds}
    assert {path.name for path in (tmp_path / "s").iterdir()} == {
        "manifest.json",
        "blocks",
        "claims",
    }
