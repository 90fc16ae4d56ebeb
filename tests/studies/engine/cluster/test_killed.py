"""Workers, clients and schedulers that end in mid-run."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from jaxduel.studies.engine.blocks import decode_block
from jaxduel.studies.engine.cluster import connect
from jaxduel.studies.engine.locks import is_free
from tests.studies.engine import stored
from tests.studies.engine.cluster.sweeps import run, undisturbed

pytestmark = pytest.mark.usefixtures("quick_compilation")


def hang_in_mid_task(pid, file):
    """Sent to workers: the process `pid` never ends its next task, and says so in a file."""

    def patch():
        import os
        import pathlib
        import time

        from jaxduel.studies.engine import cluster_worker

        def hang(*arguments):
            pathlib.Path(file).touch()
            time.sleep(600)

        if os.getpid() == pid:
            cluster_worker.carry_out = hang

    return patch


def kill_a_worker_in_mid_run(folder, sweep, monkeypatch):
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # as `quick_compilation` does here
    store, every, hung = sweep.store(folder / "killed"), sweep.every, folder / "hung"
    with connect("local:2") as client:
        first, second = client.run(os.getpid).values()
        client.run(hang_in_mid_task(first, str(hung)))

        def kill():
            while not hung.exists():
                time.sleep(0.05)
            time.sleep(0.5)
            claims.extend(os.listdir(store.folder / "claims"))
            os.kill(first, signal.SIGKILL)

        claims: list[str] = []
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        done = run(store, every, client)
        killer.join()
        assert claims
        assert sorted(done) == sorted(task.key for task in every)
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)
    assert not os.listdir(store.folder / "claims")
    found = stored.contents(store.folder)
    blocks, expected = by_number(found), by_number(sweep.contents)
    for number in expected:
        assert blocks[number].attributes == expected[number].attributes
        for name, array in expected[number].arrays.items():
            where = f"{name} of block {number}"
            np.testing.assert_array_equal(blocks[number].arrays[name], array, where)
    assert found == sweep.contents  # the names of files hold checksums


def by_number(contents):
    return {block.number: block for block in map(decode_block, contents.values())}


@pytest.mark.thorough
def test_a_worker_killed_in_mid_run_changes_no_bit(small, tmp_path, monkeypatch):
    kill_a_worker_in_mid_run(tmp_path, small, monkeypatch)


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}


def held(store, number):
    """Waits until so many tasks are in hand."""
    folder, end = store.folder / "claims", time.monotonic() + 120
    while sum(not is_free(path) for path in folder.iterdir()) < number:
        assert time.monotonic() < end
        time.sleep(0.1)


SCRIPT = """
import pickle, sys, threading
from jaxduel import interrupts
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.cluster import connect, run_on_cluster

if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        tasks = pickle.load(file)
    stop = threading.Event()
    with interrupts.stops(stop), connect("local:2") as client:
        list(run_on_cluster(Store.open(sys.argv[1]), tasks, client, stop))
"""


@pytest.mark.slow
def test_signals_to_a_client_and_its_local_workers(store, every, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "tasks").write_bytes(pickle.dumps(every))
    command = [sys.executable, tmp_path / "script.py", store.folder, tmp_path / "tasks"]
    scratch = set(Path(tempfile.gettempdir()).glob("jaxduel-*"))
    for number, finished in ((signal.SIGKILL, 0), (signal.SIGINT, 2)):
        with subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True) as client:
            held(store, 2)
            if number == signal.SIGKILL:
                client.kill()
            else:
                os.killpg(client.pid, number)  # as a terminal does
        assert client.returncode == (-number if number == signal.SIGKILL else 0)
        wait_for_the_end_of_group(client.pid)
        assert len(store.finished()) == finished
    left = set(Path(tempfile.gettempdir()).glob("jaxduel-*")) - scratch
    assert len(left) <= 1  # of the client that was killed
    for folder in left:
        shutil.rmtree(folder)


def wait_for_the_end_of_group(group):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("processes are left")


@pytest.mark.slow
def test_a_worker_killed_in_mid_run_changes_no_bit_of_batched_policies(tmp_path, monkeypatch):
    pcomp = undisturbed(tmp_path / "undisturbed", name="pcomp", num_batches=(2, 3))
    kill_a_worker_in_mid_run(tmp_path, pcomp, monkeypatch)


CLUSTER = """
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp",
                      dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@pytest.mark.slow
def test_a_scheduler_killed_in_mid_run(store, every, tmp_path):
    (tmp_path / "script.py").write_text(CLUSTER)
    command = [sys.executable, tmp_path / "script.py"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=ENVIRONMENT, text=True, **pipes) as cluster:
        killer = threading.Thread(target=lambda: (held(store, 1), cluster.kill()))
        killer.start()
        with pytest.raises(ConnectionError, match=r"what is stored is whole"):
            run(store, every, cluster.stdout.readline().strip())
        killer.join()
    assert store.finished() == set()
