"""Files are written whole or not at all, also where the disk is full."""

import errno
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import StorageError
from jaxduel.files import (
    csv_text,
    named_text,
    read_whole,
    require_writable_file,
    spreadsheet_text,
    write_whole,
)
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, read_grid, run_sweep
from tests.choice import some
from tests.cli.command_line import outcome

RUN = "run --policy rmed1 --problem arxiv --horizon 1e2 --seeds 2 --out {}/r.nc"
GRID = """
seeds = 2
horizons = [60]
[[policies]]
name = "rucb"
[[problems]]
name = "arxiv"
"""
WRITING = {
    "run": RUN,
    "worst-case": "worst-case --policy rmed1 --family btl --num-arms 3 --horizon 100 --starts 1 "
    "--steps 1 --seeds 8 --fresh-seeds 8 --out {}",
    "sweep": "sweep {}/../grid.toml --out {}",
    "reproduce": "reproduce batched-mab --figure 1a --runs 2 --out {}",
    "fit": "fit {}/../votes.csv --out {}/fitted.csv",
}


def sweep_into(folder):
    policy, problem = PolicyEntry("rucb"), ProblemEntry(name="gap")
    return run_sweep(Grid(policies=policy, problems=problem, horizons=10), folder)


@pytest.mark.parametrize("path", [None, 5, 0.5, ["a"], "a\0b", "\ud800"])
@pytest.mark.parametrize(
    "take",
    [
        *(jd.open_sweep, jd.load_result, jd.votes.read, jd.problems.from_file),
        *(read_grid, run_sweep, sweep_into),
    ],
)
def test_what_is_no_path_is_refused(take, path):
    arguments = (path, "made") if take is run_sweep else (path,)
    with pytest.raises(jd.InputError, match="takes the path of a file or folder, not"):
        take(*arguments)


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_text_for_spreadsheets_is_no_formula_and_numbers_are_numbers():
    texts = ["=1+1", "+a", "-a", "@a", "\ta", "\ra", "\na", "＝1"]
    cells = [spreadsheet_text(text) for text in texts]
    assert cells == [f"'{text}" for text in texts]
    assert [named_text(cell) for cell in cells] == texts
    kept = ["", "a=1", "'=1", " =1", "-1.5", "+1e3", "-inf", -1.5, np.float64(-2), -3, None]
    assert [spreadsheet_text(entry) for entry in kept] == kept
    rows = [("=cmd|' /C calc'!A0", -1.5), ("-0.1", float("nan"))]
    assert csv_text(["@x", "y"], rows) == "'@x,y\n'=cmd|' /C calc'!A0,-1.5\n-0.1,nan\n"
    assert csv_text(["@x"], [("=a",)], for_spreadsheets=False) == "@x\n=a\n"


def test_text_that_cannot_be_encoded_is_written_as_escapes(tmp_path):
    assert write_whole(tmp_path / "x.txt", "é\udcff").read_bytes() == "é\\udcff".encode()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    assert write_whole(path, "old") == path
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(StorageError, match=r"x.txt' cannot be written: No space left on device\.$"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", some(WRITING, ("run", "sweep", "fit")))
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_a_full_disk_is_one_sentence(name, capsys, tmp_path, monkeypatch):
    folder = tmp_path / "results"
    folder.mkdir()
    (tmp_path / "grid.toml").write_text(GRID)
    (tmp_path / "votes.csv").write_text("winner,loser\nada,bob\n")
    monkeypatch.setattr(os, "fsync", full_disk)
    code, _, errors = outcome(capsys, *WRITING[name].replace("{}", str(folder)).split())
    assert code == 2
    (line,) = [line for line in errors.splitlines() if line.startswith("jaxduel: error")]
    assert "No space left on device" in line
    assert "Traceback" not in errors
    left = [path for path in folder.rglob("*") if path.is_file() and "lock" not in path.name]
    assert left == []


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("mount") is None, reason="needs a file system to fill")
def test_a_small_file_system_that_is_full(tmp_path):
    """HDF5 itself ends the process with a segmentation fault there."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (tmp_path / "filler").write_bytes(b"0" * 50_000)
        done = subprocess.run(
            [sys.executable, "-m", "jaxduel", *RUN.format(tmp_path).split()],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert done.stderr.splitlines()[-1].endswith("No space left on device.")
        assert [path.name for path in tmp_path.iterdir()] == ["filler"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    assert require_writable_file(tmp_path / "r.nc") == tmp_path / "r.nc"
    with pytest.raises(jd.InputError, match="'-' is no file's name"):
        require_writable_file("-")
    with pytest.raises(jd.InputError, match="is a folder"):
        require_writable_file(tmp_path)
    with pytest.raises(jd.InputError, match="no folder"):
        require_writable_file(tmp_path / "missing" / "r.nc")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(jd.InputError, match="is a device or a pipe"):
        require_writable_file(tmp_path / "pipe")
    log = tmp_path / "log.csv"
    (tmp_path / "link.csv").symlink_to(log)
    for same in (log, tmp_path / "link.csv", tmp_path / ".." / tmp_path.name / "log.csv"):
        with pytest.raises(jd.InputError, match="is read or written for something else"):
            require_writable_file(same, tmp_path / "other.csv", log)


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in ("one", "two"):
        assert write_whole(tmp_path / "link", content) == tmp_path / "file"
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_text() == content


@pytest.mark.parametrize("size", [0, 10])
def test_a_regular_file_is_read_whole_through_a_link_too(tmp_path, size):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"x" * size)
    link.symlink_to(path)
    assert read_whole(path, 10) == read_whole(link, 10) == b"x" * size


def test_a_file_over_the_limit_is_not_read(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="more than 10 bytes"):
        read_whole(tmp_path / "file", 10)


def test_what_is_no_regular_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(OSError, match="not a regular file"):
            read_whole(tmp_path / name, 10)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path, 10)
