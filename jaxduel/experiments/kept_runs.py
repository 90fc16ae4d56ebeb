"""The curves of a reproduction on disk: the same command, given again, goes on where it ended.

A curve is taken from disk only where all that determines its numbers is the same: the instance, the
policy and how it is played, keys, versions, the processor's kind, and the code that simulates.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
import zipfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxduel
from jaxduel.experiments import samples, tasks
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.sweep.cells import digest_of_json
from jaxduel.experiments.sweep.problem_specs import digest_of
from jaxduel.experiments.tasks import Task

_ROOMS = ("numerics", "problems", "policies", "simulation")
"""The packages whose code determines what a simulation gives, with that of tasks and samples."""
_ARRAYS = ("checkpoints", "regret", "groups", "batches", "selves")


class KeptRuns:
    """A folder with a file for each curve that was simulated for one output folder.

    Files appear in it whole or not at all, so that processes may share it.

    Args:
      folder: it is created with the first curve.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, task: Task) -> Sample | None:
        """The runs of a task; None if there are none, or other ones, or the file is damaged."""
        try:
            with np.load(self.folder / _name(task), allow_pickle=False) as stored:
                if str(stored["identity"]) != identity_of(task):
                    return None
                arrays = {name: stored[name] for name in _ARRAYS if name in stored}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        entry = task.competitor
        return Sample(entry.name, entry.label, separate=entry.per_horizon, **arrays)

    def keep(self, task: Task, sample: Sample) -> None:
        """Writes the runs of a task, in the place of others of its name.

        Raises:
          InputError: if it cannot be written.
        """
        arrays = {name: getattr(sample, name) for name in _ARRAYS}
        content = io.BytesIO()
        np.savez_compressed(
            content,
            identity=np.array(identity_of(task)),
            **{name: array for name, array in arrays.items() if array is not None},
        )
        OutputFolder(self.folder).write(_name(task), content.getvalue())


def identity_of(task: Task) -> str:
    """A hash of all that determines a task's numbers: 16 hexadecimal digits."""
    entry = task.competitor
    return digest_of_json(
        {
            "code": _code(),
            "versions": [version(name) for name in ("jaxduel", "jax", "jaxlib", "numpy")],
            "processor": [platform.system(), platform.machine()],
            "policy": [
                entry.policy,
                {k: np.asarray(v).tolist() for k, v in entry.parameters.items()},
            ],
            "modes": [entry.delay, entry.shuffle_arms, entry.per_horizon, entry.record_pairs],
            "times": [task.horizon, task.checkpoints.tolist()],
            "regret": task.regret,
            "lanes": task.lanes,
            "draws": [
                [digest_of(draw.problem), _numbers(draw.key), draw.num_runs]
                for draw in task.data.draws
            ],
        }
    )


def _name(task: Task) -> str:
    return re.sub(r"[^\w.+-]+", "_", "--".join(task.key), flags=re.ASCII) + ".npz"


def _numbers(key: jax.Array) -> list[Any]:
    return [str(jax.random.key_impl(key)), jax.random.key_data(key).tolist()]


@cache
def _code() -> str:
    """A hash of the source that simulates."""
    package = Path(jaxduel.__file__).parent
    files = [file for room in _ROOMS for file in (package / room).rglob("*.py")]
    content = hashlib.sha256()
    for file in [*sorted(files), Path(samples.__file__), Path(tasks.__file__)]:
        content.update(f"{file.relative_to(package).as_posix()}\n".encode() + file.read_bytes())
    return content.hexdigest()
