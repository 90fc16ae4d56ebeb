from __future__ import annotations

import os
import re
import resource
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jaxduel.errors import InputError, StorageError
from jaxduel.files import TEMPORARY
from jaxduel.studies.engine.manifest import FILE, read_manifest
from jaxduel.studies.engine.store import Store
from tests.studies.engine import stored


def test_blocks_the_manifest_has_no_place_for_are_refused(store, first):
    other = store.manifest.groups[1].key
    for wrong, message in [
        (replace(first, group="cc"), "no group"),
        (replace(first, group=other), "are not those of its group"),
        (replace(first, first_seed=4), "cannot begin with seed 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            store.add(wrong)
    assert not stored.contents(store.folder)


def test_a_block_is_finished_once_it_is_added_and_its_name_is_its_checksum(store, first):
    assert store.finished() == set()
    path = store.add(first)
    assert re.fullmatch(rf"{first.key}-[0-9a-f]{{16}}\.nc", path.name)
    assert store.finished() == Store.open(store.folder).finished() == {first.key}
    assert store.add(first) == path
    assert len(stored.contents(store.folder)) == 1
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_block_is_on_the_disk_before_it_has_its_name(store, first, monkeypatch):
    calls = []

    def fsync(handle, real=os.fsync):
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real(handle)

    def rename(source, target, real=os.replace):
        calls.append("rename")
        real(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    store.add(first)
    assert calls == ["file", "rename", "folder"]


def test_files_that_are_known_are_not_read_again(store, first, monkeypatch):
    store.add(first)
    store.finished()
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert store.finished() == {first.key}


@pytest.mark.parametrize("damage", ["truncated", "altered", "empty"])
def test_damaged_blocks_are_run_again_with_a_warning(store, first, damage):
    path = store.add(first)
    whole = path.read_bytes()
    middle = len(whole) // 2
    altered = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"truncated": whole[:-1], "altered": altered, "empty": b""}[damage])
    with pytest.warns(UserWarning, match=r"is run again: its checksum does not hold"):
        assert store.finished() == set()
    with store.claim(first.key) as claim:
        assert claim
        assert store.add(first) == path
    assert path.read_bytes() == whole
    assert store.finished() == {first.key}


def test_a_damaged_block_in_a_folder_that_cannot_be_written_is_left_out(store, first, monkeypatch):
    path = store.add(first)
    path.write_bytes(b"")

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.warns(UserWarning, match=r"is left out: its checksum .* \(Permission denied\)"):
        assert store.finished() == set()
    assert path.exists()


def test_a_block_that_was_damaged_since_it_was_stored_is_not_read(store, first):
    store.add(first).write_bytes(b"")
    with pytest.warns(UserWarning, match="is run again: its checksum does not hold"):
        assert store.read(first.key) is None


def test_a_block_under_another_name_is_not_trusted(store, first):
    path = store.add(first)
    path.rename(path.with_name("0" * 16 + path.name[16:]))
    with pytest.warns(UserWarning, match="another block than its name says"):
        assert store.finished() == set()


def test_blocks_without_a_manifest_are_refused(store, first):
    (store.folder / FILE).unlink()
    Store.create_or_open(store.folder, store.manifest).add(first)  # nothing was stored yet
    (store.folder / FILE).unlink()
    with pytest.raises(InputError, match="has blocks but no manifest"):
        Store.create_or_open(store.folder, store.manifest)


def test_an_extended_store_equals_one_that_was_large_from_the_start(tmp_path):
    small = Store.create_or_open(tmp_path / "s", stored.manifest(seeds=12))
    assert stored.fill(small) == 4
    large = Store.create_or_open(tmp_path / "s", stored.manifest(seeds=20), extend=True)
    assert read_manifest(tmp_path / "s").seeds == 20
    # the whole blocks are kept; of aa, block 1 had 4 of 8 seeds
    assert large.finished() == {
        stored.task_key(large.manifest.groups[group].key, number)
        for group, number in [(0, 0), (1, 0), (1, 1)]
    }
    assert stored.fill(large) == 4
    at_once = Store.create_or_open(tmp_path / "t", stored.manifest(seeds=20))
    stored.fill(at_once)
    assert stored.contents(large.folder) == stored.contents(at_once.folder)
    # a process that has not heard of the extension takes larger blocks for finished
    assert small.finished() >= {block.key for block in stored.blocks(small.manifest)}


def test_a_full_disk_leaves_no_half_block(store, first):
    second = stored.blocks(store.manifest)[1]
    store.add(first)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(StorageError, match=r"cannot be written to \(.+\): what is stored"):
            store.add(second)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(stored.contents(store.folder)) == 1
    assert store.finished() == {first.key}
    store.add(second)
    assert store.finished() == {first.key, second.key}


def test_a_sweep_on_a_file_system_that_fills_up(tmp_path):
    inside = ("unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=96k none {tmp_path} && "$@"')
    if not shutil.which("unshare") or subprocess.run([*inside, "-", "true"]).returncode:
        pytest.skip("no file system can be mounted here")
    script = """
import os
from jaxduel.errors import StorageError
store = Store.create_or_open(sys.argv[2], stored.manifest(seeds=60))
added = []
try:
    for block in stored.blocks(store.manifest):
        with store.claim(block.key):
            store.add(block)
        added.append(block.key)
except StorageError as error:
    assert "No space left on device" in str(error), error
    assert store.finished() == Store.open(sys.argv[2]).finished() == set(added)
    assert len(os.listdir(sys.argv[2] + "/blocks")) == len(added)
    print("full after", len(added) > 0)
"""
    process = stored.python(script, str(tmp_path / "s"), before=(*inside, "-"))
    output, errors = process.communicate(timeout=60)
    assert output == "full after True\n", errors


def test_a_manifest_that_another_share_is_writing_is_left_alone(tmp_path):
    part = tmp_path / f".manifest-1{TEMPORARY}"
    for locks, is_there in (False, True), (True, False):
        part.touch()
        Store.create_or_open(tmp_path, stored.manifest(), locks=locks)
        assert part.exists() == is_there


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
