"""Sweeps for clusters to run."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import NamedTuple

import jax

from jaxduel.studies.engine.cluster import connect, run_on_cluster
from jaxduel.studies.engine.groups import Task, tasks_of
from jaxduel.studies.engine.manifest import Manifest, read_manifest
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.sweep import groups_of, run_sweep
from tests.studies.engine import stored

SEEDS, LANES = 48, 8


class Sweep(NamedTuple):
    """A finished one that no cluster has seen."""

    manifest: Manifest
    every: tuple[Task, ...]
    contents: dict[str, bytes]

    def store(self, folder):
        return Store.create_or_open(folder, self.manifest)


def undisturbed(folder, **policy):
    """Blocks of 8 seeds, 6 for each group."""
    grid = Grid.from_json(
        {
            "policies": [policy],
            "problems": [{"generator": "btl", "num_arms": 3}],
            "horizons": [200],
            "seeds": SEEDS,
            "lanes": LANES,
            "checkpoints": 5,
        }
    )
    run_sweep(grid, folder, devices=jax.local_devices()[:1])
    every = tasks_of(groups_of(grid, "cpu"))
    return Sweep(read_manifest(folder), every, stored.contents(folder))


def run(store, every, scheduler, stop=None, done=None):
    """Runs a sweep, and returns the keys of its tasks in the order in which they were finished."""
    done = [] if done is None else done
    with connect(scheduler) if isinstance(scheduler, str) else nullcontext(scheduler) as client:
        for task, _ in run_on_cluster(store, every, client, stop or threading.Event()):
            done.append(task.key)
    return done
