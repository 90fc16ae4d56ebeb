"""A small sweep whose numbers are drawn, not simulated: manifests, blocks, processes that share a
folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.manifest import CellRecord, GroupRecord, Manifest, task_key
from jaxduel.studies.engine.store import Store

SEEDS = 20
ENVIRONMENT = {
    "jax": "1",
    "jaxlib": "1",
    "code": "c" * 16,
    "device": "cpu",
    "git_revision": None,
    "created": "now",
}


def grid(seeds=SEEDS, **changes):
    return {"seeds": seeds, "seed": 0, "horizons": [100, 1000], "policies": ["a"], **changes}


def manifest(seeds=SEEDS, version="0", environment=None, block_seeds=8, **changes):
    """Three cells of one policy, which differ in B; two of another on problems of 4 and 6 arms,
    with a delay, the first with fewer checkpoints."""
    many, few = (1, 10, 100, 500, 1000), (1, 10, 100)
    both, one = {"definitions": ["average", "copeland"]}, {"definitions": ["copeland"]}
    batched = tuple(
        CellRecord(i, "pcomp", "arxiv", "0a", 1000, {"B": b}, 1, 4, many, {**both, "B": b})
        for i, b in enumerate((2, 4, 8))
    )
    alpha = {"alpha": 0.51}
    steps = (
        CellRecord(3, "dts", "arxiv", "0a", 100, alpha, 4, 4, few, {**one, "parameters": alpha}),
        CellRecord(4, "dts", "big", "0b", 1000, {**alpha, "tie": "low"}, 4, 6, many, one),
    )
    kept = ("seeds", "wins")
    groups = (
        GroupRecord("pcomp", batched, ("average", "copeland"), block_seeds, seeds, 4, kept, [1]),
        GroupRecord("dts", steps, ("copeland",), 6, seeds, 2, kept, [2, ["b"]]),
    )
    return Manifest(grid(seeds, **changes), groups, version, environment or dict(ENVIRONMENT))


def raw(group: GroupRecord, seeds: int):
    """What each of the first seeds of a group does, whatever block it is in: regret (C, D, S, M),
    plays (C, S, M, K), pairs (C, S, M, K, K), batches (C, S)."""
    cells, definitions = len(group.cells), len(group.definitions)
    times = max(len(cell.checkpoints) for cell in group.cells)
    arms = max(cell.num_arms for cell in group.cells)
    rng = np.random.default_rng(int(group.key, 16))
    most = 256
    regret = 1e6 + rng.random((cells, definitions, most, times)).cumsum(-1)
    pairs = rng.integers(0, 100, (cells, most, times, arms, arms)).astype(float)
    plays = pairs.sum(-1) + pairs.sum(-2)
    batches = rng.integers(1, 9, (cells, most))
    return regret[:, :, :seeds], plays[:, :seeds], pairs[:, :seeds], batches[:, :seeds]


def block(group: GroupRecord, number: int) -> Block:
    first = number * group.block_seeds
    seeds = group.seeds_of_block(number)
    regret, plays, pairs, batches = raw(group, first + seeds)
    mine = regret[:, :, first:]
    mean = mine.mean(axis=2)
    arrays = {
        "regret_count": np.int64(seeds),
        "regret_mean": mean,
        "regret_m2": ((mine - mean[:, :, None]) ** 2).sum(axis=2),
        "final_regret": mine[..., -1],
        "plays_mean": plays[:, first:].mean(axis=1),
        "regret": mine,
        "pairs_mean": pairs[:, first:].mean(axis=1),
    }
    if group.policy == "pcomp":
        arrays["batches"] = batches[:, first:]
    return Block(task_key(group.key, number), group.key, number, first, arrays, {"lanes": 8})


def blocks(of: Manifest) -> list[Block]:
    return [
        block(group, number)
        for group in of.groups
        for number in range(-(-group.seeds // group.block_seeds))
    ]


def fill(store: Store) -> int:
    """Adds what is not finished; how many blocks that was."""
    done = store.finished()
    missing = [block for block in blocks(store.manifest) if block.key not in done]
    for one in missing:
        store.add(one)
    return len(missing)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "blocks").iterdir()}


_PRELUDE = """
import sys, types
for name in ("jaxduel", "jaxduel.studies"):  # without what they import at once, such as JAX
    package = types.ModuleType(name)
    package.__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
    sys.modules[name] = package
sys.path.insert(0, sys.argv[1])
from tests.studies.engine import stored
from jaxduel.studies.engine.store import Store
"""


def python(script: str, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen:
    """Another process that runs `script`, with `Store`, `stored` and sys.argv[2:]."""
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        [*before, sys.executable, "-c", _PRELUDE + script, str(root), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
