"""Job arrays: plain processes on one folder, shares without locks, deadlines, status."""

import random
import re
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.cli.options import _shard, _time
from jaxduel.studies.engine import executor, locks
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep import read_grid, run_sweep
from tests.cli.command_line import outcome

pytestmark = pytest.mark.usefixtures("quick_compilation")

GRID = """
seeds = {seeds}
lanes = 2
horizons = [{horizon}]
[[policies]]
name = ["rucb", "rmed1"]
[[problems]]
name = "arxiv"
"""


@pytest.fixture
def grid(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(GRID.format(seeds=8, horizon=60))
    return file


def blocks_of(folder):
    return {path.name: path.read_bytes() for path in (folder / "blocks").iterdir()}


def test_shares_run_without_locks_to_the_same_bits(capsys, tmp_path, grid, monkeypatch):
    run_sweep(grid, tmp_path / "whole")

    def no_locks(*_):
        raise OSError(37, "No locks available")

    with monkeypatch.context() as patch:
        patch.setattr(locks.fcntl, "flock", no_locks)
        code, _, errors = outcome(capsys, "sweep", grid, "--out", tmp_path / "shares")
        assert code == 2
        assert "No locks available" in errors
        for share in (1, 2, 3):
            out = "--out", tmp_path / "shares", "--shard", f"{share}/3"
            code, text, errors = outcome(capsys, "sweep", grid, *out)
            assert code == 0, errors
            if share < 3:
                assert f"{3 * share} of 8 blocks are stored" in text
                assert f"--shard {share}/3" in text
    assert "finished: 8 blocks" in text
    assert blocks_of(tmp_path / "shares") == blocks_of(tmp_path / "whole")


@pytest.mark.parametrize("share", ["0/3", "4/3", "1", "a/b", "1/2/3"])
def test_a_share_that_is_none_is_refused(capsys, tmp_path, grid, share):
    code, _, errors = outcome(capsys, "sweep", grid, "--out", tmp_path / "o", "--shard", share)
    assert code == 2
    assert "--shard takes I/N, two whole numbers with I from 1 to N" in errors
    assert not (tmp_path / "o").exists()


def test_shares_are_of_one_process_each(tmp_path, grid):
    assert _shard(["2/8"]) == (2, 8)
    with pytest.raises(jd.InputError, match=r"i from 1 to n, not \(3, 2\)"):
        run_sweep(grid, tmp_path / "o", shard=(3, 2))
    assert not (tmp_path / "o").exists()


def test_no_block_begins_that_cannot_finish(capsys, tmp_path, grid, monkeypatch):
    """Each takes a second by the clock, and the time is over in two and a half."""
    now = [1000.0]
    monkeypatch.setattr(executor.time, "monotonic", lambda: now[0])
    simulated = executor.simulated

    def slowly(*args):
        now[0] += 1.0
        return simulated(*args)

    monkeypatch.setattr(executor, "simulated", slowly)
    until = datetime.now() + timedelta(seconds=2.5)
    found = run_sweep(grid, tmp_path / "o", devices=jax.local_devices()[:1], until=until)
    assert (found.finished, found.complete, found.interrupted) == (2, False, False)
    monkeypatch.undo()
    code, text, _ = outcome(capsys, "sweep", grid, "--out", tmp_path / "o", "--until", "2000-01-01")
    assert code == 0
    assert "2 of 8 blocks are stored" in text
    assert "to go on: jaxduel sweep" in text
    assert run_sweep(grid, tmp_path / "o").complete


def test_a_time_of_day_is_the_next_one():
    now = datetime.now()
    for text in ("00:00", "12:30", "23:59:59"):
        then = _time([text])
        assert timedelta(0) < then - now <= timedelta(days=1)
        assert then.strftime("%H:%M:%S").startswith(text)
    assert _time(["2031-02-03T04:05"]) == datetime(2031, 2, 3, 4, 5)


@pytest.mark.parametrize("when", ["25:00", "soon", "7.45", "0001-01-01"])
def test_a_time_that_is_none_is_refused(capsys, tmp_path, grid, when):
    code, _, errors = outcome(capsys, "sweep", grid, "--out", tmp_path / "o", "--until", when)
    assert code == 2
    assert "--until takes a time of day such as 07:45:00" in errors


def test_options_of_local_devices_are_not_for_a_scheduler(capsys, tmp_path, grid):
    for option in (("--shard", "1/2"), ("--until", "23:00")):
        out = "--out", tmp_path / "o", "--scheduler", "local:2"
        code, _, errors = outcome(capsys, "sweep", grid, *out, *option)
        assert code == 2
        assert "are for local devices" in errors


def test_the_status_counts_blocks_and_cells(capsys, tmp_path, grid):
    out = tmp_path / "o"
    run_sweep(grid, out, shard=(1, 2))
    code, text, _ = outcome(capsys, "sweep", "--status", out)
    assert code == 0
    assert text.splitlines() == [
        f"4 of 8 blocks are stored in {out}; 0 blocks run now",
        "  rucb: 2 of 4 blocks, 0 of 1 cells whole",
        "  rmed1: 2 of 4 blocks, 0 of 1 cells whole",
    ]
    held = locks.try_claim(out / "claims" / "0123456789abcdef")
    with held:
        _, text, _ = outcome(capsys, "sweep", "--status", out)
    assert "1 block runs now" in text
    run_sweep(grid, out)
    _, text, _ = outcome(capsys, "sweep", "--status", out)
    assert text.startswith(f"8 of 8 blocks are stored in {out}; finished\n")


def test_a_sweep_needs_a_grid_or_a_folder_to_look_at(capsys, tmp_path):
    code, _, errors = outcome(capsys, "sweep")
    assert code == 2
    assert "needs a grid" in errors
    code, _, errors = outcome(capsys, "sweep", "--status", tmp_path)
    assert code == 2
    assert "holds no sweep" in errors


@pytest.mark.slow
def test_eight_processes_and_random_kills_on_one_folder(tmp_path):
    """A job array: processes come, are killed with signal 9 at random times, and come again."""
    file = tmp_path / "grid.toml"
    file.write_text(GRID.format(seeds=40, horizon=20_000))
    run_sweep(read_grid(file), tmp_path / "whole")
    folder, rng = tmp_path / "array", random.Random(7)
    command = [sys.executable, "-m", "jaxduel", "sweep", str(file), "--out", str(folder)]
    command += ["--devices", "1"]

    def begin():
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    running = [begin() for _ in range(8)]
    for _ in range(20):
        time.sleep(rng.uniform(0.0, 3.0))
        victim = rng.randrange(8)
        running[victim].send_signal(signal.SIGKILL)
        running[victim].wait()
        running[victim] = begin()
    errors = [process.communicate(timeout=500)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 8, errors
    assert not any(re.search("Traceback", text) for text in errors)
    assert blocks_of(folder) == blocks_of(tmp_path / "whole")
    assert not Store.open(folder).claimed()  # a file may be left, of a kill after the block's end
    data = jd.open_sweep(folder)
    assert np.isfinite(data.final_regret.sel(policy="rucb")).all()
