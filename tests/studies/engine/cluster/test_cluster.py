from __future__ import annotations

import dataclasses
import importlib.metadata
import logging
import os
import platform
import signal
import sys
import threading
import time
from types import SimpleNamespace

import dask
import distributed
import jax
import numpy as np
import pytest
from distributed import LocalCluster

import jaxduel
from jaxduel.errors import InputError, StorageError
from jaxduel.simulation.devices import MEMORY_BYTES
from jaxduel.studies.engine import cluster_worker
from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.cluster import connect, platform_of, run_on_cluster
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores
from tests.studies.engine import stored
from tests.studies.engine.cluster.sweeps import run

pytestmark = pytest.mark.usefixtures("quick_compilation")


def made_up(task, device):
    """In place of `carry_out`: nothing is simulated."""
    group = task.group
    shape = (len(group.cells), 1, group.block_seeds, group.num_checkpoints)
    regret = np.random.default_rng(int(task.key, 16)).random(shape)
    arrays = {
        "regret_count": np.int64(group.block_seeds),
        "regret_mean": regret.mean(axis=2),
        "regret_m2": regret.var(axis=2),
        "final_regret": regret[..., -1],
        "plays_mean": np.zeros((shape[0], shape[3], group.num_arms)),
    }
    return Block(task.key, group.key, task.number, task.first_seed, arrays)


def cluster_here(num_workers):
    """A cluster whose workers are threads of this process, so that tests can patch what they do."""
    return LocalCluster(
        n_workers=num_workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=None,
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def address():
    with cluster_here(1) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def pretended(monkeypatch):
    monkeypatch.setattr(cluster_worker, "carry_out", made_up)


def test_a_finished_sweep_runs_nothing_and_one_block_is_mended(store, every, address, pretended):
    assert sorted(run(store, every, address)) == sorted(task.key for task in every)
    before = stored.contents(store.folder)
    assert run(store, every, address) == []
    next((store.folder / "blocks").iterdir()).unlink()
    assert len(run(Store.open(store.folder), every, address)) == 1
    assert stored.contents(store.folder) == before


def test_a_task_of_two_stores_runs_once_and_both_have_it(
    small, every, address, pretended, tmp_path
):
    first, second = (small.store(tmp_path / name) for name in ("first", "second"))
    some = every[:2]
    run(first, some, address)
    both = Stores([(first, every[1:4]), (second, every[:3])])
    assert both.finished() == set()
    asked = every[:4]
    assert sorted(run(both, asked, address)) == sorted(task.key for task in asked)
    assert first.finished() == {task.key for task in asked}
    assert second.finished() == {task.key for task in every[:3]}
    assert both.finished() == {task.key for task in asked}


@pytest.mark.parametrize("found", ["9.9", None])
def test_another_version_is_refused_before_anything_runs(store, every, address, monkeypatch, found):
    def versions(client, packages):
        assert packages == ["jaxduel"]
        return {"workers": {"tcp://a:1": {"packages": {"jaxduel": found}}}}

    monkeypatch.setattr(distributed.Client, "get_versions", versions)
    has = rf"tcp://a:1 has {'jaxduel 9.9' if found else 'no jaxduel'}, and .* run by 0"
    with pytest.raises(InputError, match=has) as refused:
        run(store, every, address)
    assert "\n" not in str(refused.value)
    with connect(address) as client, pytest.raises(InputError, match=has):
        platform_of(client, threading.Event())
    assert stored.contents(store.folder) == {}


def test_the_version_is_the_one_that_workers_have(address, monkeypatch):
    monkeypatch.setattr(jaxduel, "__version__", "9.9", raising=False)
    here = importlib.metadata.version("jaxduel")
    with connect(address) as client, pytest.raises(InputError, match=f"has jaxduel {here}, and "):
        platform_of(client, threading.Event())


def test_other_code_is_refused_before_anything_is_stored(store, every, address, monkeypatch):
    monkeypatch.setattr(cluster_worker, "blocks_code", lambda *_: "0" * 16)
    with pytest.raises(InputError, match=r"has other simulating code \(digest 0{16}\) than") as e:
        run(store, every, address)
    assert "\n" not in str(e.value)
    assert stored.contents(store.folder) == {}


def test_a_worker_that_cannot_start_jax_is_refused(store, every, address, monkeypatch):
    def fail(*arguments, **others):
        raise ImportError("no jaxlib")

    cluster_worker.greet.cache_clear()
    monkeypatch.setattr(cluster_worker, "environment", fail)
    with (
        connect(address) as client,
        pytest.raises(InputError, match=r"cannot run jaxduel \(ImportError: no jaxlib\)"),
    ):
        platform_of(client, threading.Event())
    with pytest.raises(InputError, match=r"cannot run jaxduel \(ImportError: no jaxlib\)"):
        run(store, every, address)  # it joined later


def test_other_versions_of_jax_are_warned_of_once(store, every, address, monkeypatch, pretended):
    real = cluster_worker.greet()
    monkeypatch.setattr(cluster_worker, "greet", lambda: {**real, "jax": "0.0"})
    with pytest.warns(UserWarning, match=r"goes on with 0\.0") as warned:
        run(store, every, address)
    assert len(warned) == 1
    assert len(store.finished()) == len(every)


def test_what_workers_compute_on(address):
    with connect(address) as client:
        found = platform_of(client, threading.Event())
    assert found == {
        "jax": jax.__version__,
        "jaxlib": importlib.metadata.version("jaxlib"),
        "numpy": np.__version__,
        "device": jax.local_devices()[0].device_kind,
        "processor": platform.machine(),
        "x64": 0,
        "platform": "cpu",
        "memory": MEMORY_BYTES,
    }


def test_a_folder_that_workers_do_not_see(store, every, address, monkeypatch, pretended):
    monkeypatch.setattr(cluster_worker, "SECONDS_TO_APPEAR", 0.3)
    environment = {**store.manifest.environment, "created": "on another machine"}
    elsewhere = Store(store.folder, dataclasses.replace(store.manifest, environment=environment))
    with pytest.raises(InputError, match=r"does not see the study in .* same path") as refused:
        run(elsewhere, every, address)
    assert str(store.folder) in str(refused.value)


@pytest.mark.parametrize("kind", [StorageError, MemoryError, InputError, ZeroDivisionError])
def test_errors_of_a_task_come_back_as_themselves(store, every, address, monkeypatch, kind):
    def fail(task, *others):
        if task.number == 2:
            raise kind("what went wrong.")
        return made_up(task, *others)

    monkeypatch.setattr(cluster_worker, "carry_out", fail)
    done = []
    with pytest.raises(kind, match=r"^what went wrong\.$"):
        run(store, every, address, done=done)
    assert store.finished() == set(done) == {task.key for task in every[:2]}
    assert not os.listdir(store.folder / "claims")


def test_after_a_stop_only_blocks_in_flight_are_finished(store, every, address, monkeypatch):
    stop, begun = threading.Event(), []

    def stopped(task, *others):
        begun.append(task.key)
        if len(begun) == 2:
            stop.set()
            time.sleep(0.5)
        return made_up(task, *others)

    monkeypatch.setattr(cluster_worker, "carry_out", stopped)
    assert run(store, every, address, stop) == begun
    assert len(begun) == 2
    assert store.finished() == set(begun)


def test_what_another_process_has_is_left_to_it_and_taken_over(store, every, address, pretended):
    theirs = Store.open(store.folder)
    first, second = theirs.claim(every[0].key), theirs.claim(every[1].key)
    assert first
    assert second

    done = []
    with connect(address) as client:
        for task, _ in run_on_cluster(store, every, client, threading.Event()):
            done.append(task.key)
            if len(done) == len(every) - 2:
                first.close()  # its process died
                theirs.add(made_up(every[1], None))
                second.close()
    assert set(done[:-2]) == {task.key for task in every[2:]}
    assert set(done[-2:]) == {every[0].key, every[1].key}
    assert len(store.finished()) == len(every)


def test_a_scheduler_that_does_not_answer_is_one_sentence(store, every):
    class Client:
        status, loop = "connecting", object()
        scheduler = SimpleNamespace(address="tcp://a:1")

        def nthreads(self):
            raise TimeoutError

    with pytest.raises(ConnectionError, match=r"^the scheduler at tcp://a:1 is gone") as lost:
        run(store, every, Client())
    assert "\n" not in str(lost.value)


def test_no_workers_are_waited_for(store, every):
    with cluster_here(0) as cluster:
        stop = threading.Event()
        for wait in (
            lambda client: platform_of(client, stop),
            lambda client: run(store, every, client, stop),
        ):
            stop.clear()
            threading.Timer(0.3, stop.set).start()
            with (
                connect(cluster.scheduler_address) as client,
                pytest.warns(UserWarning, match="has no workers yet"),
            ):
                wait(client)


def test_schedulers_that_are_none(store, every, monkeypatch):
    for text in ("local:0", "local:", "host", "4"):
        with pytest.raises(InputError, match=rf"or local:N .* not '{text}'"):
            run(store, every, text)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "300ms"}),
        pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1:"),
    ):
        run(store, every, "tcp://127.0.0.1:1")
    with pytest.raises(InputError, match=r"no scheduler answers at nonsense://a:1"):
        run(store, every, "nonsense://a:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'jaxduel\[cluster\]'"):
        run(store, every, "local:2")


def test_ctrl_c_on_a_terminal_spares_local_workers(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    platforms = jax.config.jax_platforms
    try:
        cluster_worker.dask_setup(None)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert jax.config.jax_platforms == "cpu"
    finally:
        signal.signal(signal.SIGINT, before)
        jax.config.update("jax_platforms", platforms)
