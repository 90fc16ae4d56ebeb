"""Simulated curves on disk: a reproduction that is started again goes on where it ended.

A curve is taken from disk only if all that determines its numbers is the same: the instance, the
policy and how it is played, keys, versions, the kind of machine, and the code that simulates.
"""

from __future__ import annotations

import io
import platform
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxduel.experiments import samples, tasks
from jaxduel.experiments.engine.cells import digest_of_json
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.tasks import Task
from jaxduel.simulation.identity import code_digest, problem_digest, versions

_VERSIONS = ("jaxduel", "jax", "jaxlib", "numpy")
"""Packages whose version may change bits of the results; SciPy's and Python's do not."""


class KeptRuns:
    """A folder with one file per simulated curve of an output folder.

    Files appear in it whole or not at all, so that processes may share it. Curves that differ in
    anything have different files.

    Args:
      folder: the folder; it need not exist.
      platform: platform of the devices that simulate (`jax.Device.platform`).
    """

    def __init__(self, folder: Path, platform: str = "cpu") -> None:
        self.folder = folder
        self.platform = platform

    def open(self) -> None:
        """Creates the folder.

        Raises:
          InputError: if it cannot be created or written.
        """
        OutputFolder(self.folder)

    def find(self, task: Task) -> Sample | None:
        """The stored runs of a task; None if there are none, or the file is damaged.

        Runs with pairs recorded also serve a task without.
        """
        found = self._read(task)
        if found is None and not task.competitor.record_pairs:
            entry = replace(task.competitor, record_pairs=True)
            found = self._read(replace(task, competitor=entry))
        return found

    def keep(self, task: Task, sample: Sample) -> None:
        """Stores the runs of a task.

        Raises:
          InputError: if they cannot be written.
        """
        content = io.BytesIO()
        arrays: dict[str, Any] = {
            name: value for name, value in vars(sample).items() if isinstance(value, np.ndarray)
        }
        np.savez_compressed(content, **arrays)
        OutputFolder(self.folder).write(self._name(task), content.getvalue())

    def _name(self, task: Task) -> str:
        readable = re.sub(r"[^\w.+-]+", "_", "--".join(task.key), flags=re.ASCII)
        return f"{readable}.{identity_of(task, self.platform)}.npz"

    def _read(self, task: Task) -> Sample | None:
        try:
            content = (self.folder / self._name(task)).read_bytes()
        except OSError:
            return None
        entry = task.competitor
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            return Sample(entry.name, entry.label, separate=entry.per_horizon, **arrays)
        except Exception:  # a damaged file fails in a dozen ways
            return None


def identity_of(task: Task, place: str) -> str:
    """A hash of all that determines a task's numbers on a platform: 16 hexadecimal digits."""
    entry = task.competitor
    return digest_of_json(
        {
            "code": code_digest(samples.__file__, tasks.__file__),
            "versions": [versions()[name] for name in _VERSIONS],
            "machine": [platform.system(), platform.machine(), place],
            "x64": bool(jax.config.jax_enable_x64),  # type: ignore[attr-defined]
            "policy": [
                entry.policy,
                {k: np.asarray(v).tolist() for k, v in entry.parameters.items()},
            ],
            "modes": [entry.delay, entry.shuffle_arms, entry.per_horizon, entry.record_pairs],
            "times": [task.horizon, task.checkpoints.tolist()],
            "regret": task.regret,
            "lanes": task.lanes,
            "draws": [
                [problem_digest(draw.problem), _numbers(draw.key), draw.num_runs]
                for draw in task.data.draws
            ],
        }
    )


def _numbers(key: jax.Array) -> list[Any]:
    return [str(jax.random.key_impl(key)), jax.random.key_data(key).tolist()]
