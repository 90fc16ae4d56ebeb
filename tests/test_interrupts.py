"""Ctrl-C at any moment: one line, code 130, within seconds, and nothing lost or left behind."""

import contextlib
import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import jaxduel as jd
from jaxduel import interrupts

GRID = """
seeds = 4096
lanes = 64
horizons = [20000]
[[policies]]
name = ["rucb", "sparring"]
[[problems]]
name = "arxiv"
"""
SCRIPT = """
import jaxduel as jd
policy = jd.policies.make("sparring", num_arms=6)
try:
    jd.simulate(policy, jd.problems.load("arxiv"), 10**9, num_seeds=64)
except KeyboardInterrupt:
    print("caught")
"""
COMMANDS = {
    "run": "run --policy dts --problem arxiv --horizon 1e5 --seeds 4000 --out {}/r.nc",
    "worst-case": "worst-case --policy scomp2 --set num_batches=4 --family btl --num-arms 6 "
    "--horizon 1e5 --out {}/worst",
    "sweep": "sweep {}/grid.toml --out {}/results",
    "reproduce": "reproduce batched-dueling --figure 1a --out {}/figures",
    "check": "check copeland500",
}
LINE = re.compile(r"jaxduel: (interrupted|stopped)[^\n]*\n\Z")
COMPILATION = 30.0
"""Seconds that a compilation takes at most on a busy machine."""


def wait_until_it_answers(process):
    """Returns when a command has blocked SIGINT, to answer it in its own thread. Before that Python
    itself answers, with a traceback, and on a busy machine it takes long to start."""
    status = Path(f"/proc/{process.pid}/status")
    while status.exists() and process.poll() is None:  # systems without /proc do not wait
        blocked = int(status.read_text().partition("SigBlk:")[2].split()[0], 16)
        if blocked & 1 << (signal.SIGINT - 1):
            return
        time.sleep(0.01)


def interrupted(arguments, seconds):
    """Exit code, output, errors, and seconds to its end of a process that is interrupted.

    The signal is sent that many `seconds` after a command has begun to answer it, or after a script
    was started. In a script, before `simulate` has begun, JAX swallows a signal that comes while it
    collects garbage, and Python says so: then it is sent again, as one would.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if arguments[0] == "-m":
        wait_until_it_answers(process)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    try:
        out, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired as still:
        if b"_xla_gc_callback" not in (still.stderr or b""):
            raise
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors, time.monotonic() - began


def said_one_line(code, out, errors, begun="jaxduel: "):
    """True if a command ended with code 130 and one line, beside warnings and kept results."""
    lines = [line for line in errors.splitlines() if line.startswith(begun)]
    lines = [line for line in lines if not line.startswith("jaxduel: warning: ")]
    kept = [line for line in lines if ("interrupted: " in line and "returned" in line)]
    return code == 130 and len(lines) - len(kept) == 1 and "Traceback" not in errors + out


def test_the_first_signal_sets_the_event_and_the_second_interrupts():
    stop = threading.Event()
    with interrupts.stops(stop):
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_handlers_of_the_signal_are_left_alone():
    caught, stop = [], threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: caught.append(1))
    try:
        with interrupts.stops(stop):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught == [1]
    assert not stop.is_set()


def test_signals_are_left_alone_in_other_threads():
    before, seen = signal.getsignal(signal.SIGINT), []

    def inside():
        with interrupts.stops(threading.Event()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [before]


def test_workers_are_waited_for_unless_they_are_stopped_and_busy():
    stop, release, done = threading.Event(), threading.Event(), []
    interrupts.Workers(3, done.append, stop).wait()
    assert sorted(done) == [0, 1, 2]
    busy = interrupts.Workers(1, lambda _: release.wait(), stop)
    stop.set()
    busy.wait(patience=0.01)
    release.set()
    busy.wait()


@pytest.fixture
def interrupted_here():
    """Simulates SPARRING, compiled before, and interrupts that after some seconds."""
    policy, arxiv = jd.policies.make("sparring", num_arms=6), jd.problems.load("arxiv")
    jd.simulate(policy, arxiv, 3000, num_seeds=128, lanes=64)  # on both devices
    threads = threading.active_count()

    def simulate(horizon, num_seeds, seconds):
        timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            return jd.simulate(policy, arxiv, horizon, num_seeds=num_seeds, lanes=64)
        finally:
            timer.join()
            assert threading.active_count() == threads

    return simulate


def test_long_runs_are_interrupted_between_chunks(interrupted_here):
    with pytest.raises(KeyboardInterrupt):
        interrupted_here(2**31 - 1, 64, 1.0)


def test_of_many_short_runs_what_has_finished_is_returned(interrupted_here):
    def some():
        for seconds in (1.0, 4.0, 16.0):  # on a busy machine nothing may have finished at first
            with contextlib.suppress(KeyboardInterrupt):
                return interrupted_here(3000, 100_000, seconds)
        return pytest.fail("nothing has finished")

    with pytest.warns(UserWarning, match="interrupted: [0-9]+ of 100000 seeds"):
        result = some()
    assert 0 < result.num_seeds < 100_000
    again = jd.simulate("sparring", "arxiv", 3000, num_seeds=64, lanes=64)
    np.testing.assert_array_equal(result.regret[:64], again.regret)


@pytest.mark.parametrize("seconds", [0.0, 0.15, 0.6, 2.0])
def test_a_command_ends_in_one_line(tmp_path, seconds):
    command = COMMANDS["run"].format(tmp_path).split()
    *found, _ = interrupted(["-m", "jaxduel", *command], seconds)
    assert said_one_line(*found), found
    assert not list(tmp_path.iterdir())


def test_a_terminal_that_closes_ends_its_command():
    """By the kernel's SIGHUP; there is no place left for the line."""
    ours, theirs = os.openpty()

    def control() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # else ignored where the tests run under nohup
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [sys.executable, "-m", "jaxduel", *COMMANDS["run"].format(os.devnull).split()[:-2]],
        start_new_session=True, preexec_fn=control,
        stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(theirs)
    assert os.read(ours, 1)  # of the line that says what it compiles
    os.close(ours)
    assert (process.communicate(timeout=120)[0], process.returncode) == ("", 129)


@pytest.mark.thorough
@pytest.mark.parametrize("ignored", [False, True])
def test_a_hangup_is_one_line_unless_it_is_ignored_as_by_nohup(ignored):
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    command = f"run --policy dts --problem arxiv --horizon 1e{4 if ignored else 8} --seeds 64"
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxduel", *command.split()], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, handler),
    )  # fmt: skip
    wait_until_it_answers(process)
    time.sleep(0.6)
    process.send_signal(signal.SIGHUP)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == (0 if ignored else 129)
    assert bool(LINE.search(errors)) != ignored


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, "script"])
def test_signals_at_random_times(tmp_path, name):
    """Twenty each, from the first 0.1 s on."""
    (tmp_path / "grid.toml").write_text(GRID)
    arguments = ["-c", SCRIPT]
    if name != "script":
        arguments = ["-m", "jaxduel", *COMMANDS[name].replace("{}", str(tmp_path)).split()]
    times = random.Random(name)
    late = []
    for _ in range(20):
        seconds = times.choice([times.uniform(0.1, 2.0), times.uniform(2.0, 12.0)])
        code, out, errors, needed = interrupted(arguments, seconds)
        late.append(needed)
        if name == "script" and seconds < 4.0:  # Python's own traceback while it imports jaxduel
            assert code in (0, 1, -signal.SIGINT, 130), (seconds, errors)
            assert "terminate called" not in errors
        elif name == "script":
            assert (code, out) == (0, "caught\n"), (seconds, errors)
        elif code == 0:
            assert out  # it had ended
        else:
            assert said_one_line(code, out, errors), (seconds, code, out, errors)
            assert LINE.search(errors) or "returned" in errors, errors
        strays = [p for p in tmp_path.rglob(".*") if not p.is_dir() and "lock" not in p.name]
        assert not strays or name == "sweep", strays
    assert max(late) < COMPILATION
    assert sorted(late)[len(late) // 2] < 3.0


def test_a_signal_stops_a_scope_inside_another_and_those_that_follow():
    outer, inner, later = threading.Event(), threading.Event(), threading.Event()
    with interrupts.stops(outer):
        with interrupts.stops(inner):
            signal.raise_signal(signal.SIGINT)
            assert inner.is_set()
            assert outer.is_set()
        with interrupts.stops(later):
            assert later.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with interrupts.stops(threading.Event()) as _:
        pass
    assert interrupts._scopes == []
