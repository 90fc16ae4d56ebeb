"""Results in bytes: a NetCDF file followed by its digest; and the invariants that hold between the
tables of any run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from jaxduel.netcdf import read_netcdf, require_readable
from jaxduel.problems import entries
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.provenance import seed_numbers
from jaxduel.simulation.regret import DEFINITIONS, OF_PAIRS, regret_of
from jaxduel.simulation.totals import Totals
from jaxduel.stats import Moments

FORMAT = 2
"""The number of the layout, an attribute of the file; without it, and a digest, in 0.2.0."""
_TABLES = ("regret", "plays", "batches", "pairs", "outcomes")
_SEAL = b"jaxduel result sha256 %s\n"
_SEALED = re.compile(_SEAL % b"([0-9a-f]{64})")
_LENGTH = len(_SEAL) - 2 + 64
_EXACT = 1e-9
"""Relative tolerance of sums that were made in another order."""


def sealed(content: bytes) -> bytes:
    """The content of a file followed by its digest. NetCDF readers ignore bytes after the end of
    the NetCDF file."""
    return content + _SEAL % hashlib.sha256(content).hexdigest().encode()


def decode(content: bytes) -> tuple[dict[str, Any], bool]:
    """The fields of the result in the bytes of a file, and whether a digest confirms them.

    Raises:
      ValueError: if the bytes hold no result, the digest is wrong or was removed, or an invariant
        is broken.
    """
    seal = _SEALED.fullmatch(content[-_LENGTH:])
    if seal is None:
        require_readable(content)
    elif hashlib.sha256(memoryview(content)[:-_LENGTH]).hexdigest().encode() != seal[1]:
        raise ValueError("its digest does not hold, it is not as it was written")
    from pydantic import ValidationError

    from jaxduel.simulation.result_schema import TYPES, Attributes

    types = {**TYPES, "seed": np.int64}
    names = [name for name in Attributes.model_fields if name != "definition"]
    arrays, attributes = read_netcdf(content, types, {"/": names, "regret": ["definition"]})
    missing = {"regret", "plays", "checkpoint", "seed"} - arrays.keys()
    if missing:
        raise ValueError(f"it has no {', '.join(sorted(missing))}")
    try:
        found = Attributes.model_validate(attributes, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
    if found.format > FORMAT:
        raise ValueError(f"it is of format {found.format}, this jaxduel reads up to {FORMAT}")
    if seal is None and found.format == FORMAT:
        raise ValueError("its digest is missing, it is not as it was written")
    result = SimpleNamespace(
        policy=found.policy,
        problem=found.problem,
        horizon=found.horizon,
        seed=found.root_seed,
        definition=found.definition,
        checkpoints=arrays["checkpoint"],
        totals=_totals(arrays),
        made_by=json.loads(attributes["made_by"]),
        **{name: arrays.get(name) for name in _TABLES},
    )
    require_sound(result)
    if not np.array_equal(arrays["seed"], seed_numbers(result.made_by, len(result.regret))):
        raise ValueError("its seeds are numbered otherwise")
    return vars(result), seal is not None


def _totals(arrays: dict[str, Any]) -> Totals | None:
    """Statistics of all seeds; None where every seed has rows."""
    names = [f"total_{name}" for name in ("seeds", "regret_mean", "regret_m2", "plays")]
    some: list[Any] = [arrays.get(name) for name in (*names, "total_batches", "most_batches")]
    if all(array is None for array in some):
        return None
    if any(array is None for array in some[:4]):
        raise ValueError("its totals are not complete")
    if any(array is not None and array.size != 1 for array in (some[0], *some[4:])):
        raise ValueError("its totals are no numbers")
    seeds, mean, m2, plays, *batches = some
    counted = [None if array is None else int(array.item()) for array in batches]
    return Totals(Moments(int(seeds.item()), mean, m2), plays, *counted)


def require_sound(result: Any) -> None:
    """Raises ValueError unless all invariants hold; the message names the broken one.

    Args:
      result: a `jaxduel.Result`, or its fields under their names.
    """
    # a check relies on the checks before it
    for part in (_of_shapes, _of_request, _of_rows, _of_totals):
        for holds, sentence in part(result):
            if not holds:
                raise ValueError(sentence)


def _of_shapes(result: Any) -> Iterator[tuple[Any, str]]:
    times, (seeds, *_) = result.checkpoints, np.shape(result.regret) or (0,)
    arms = result.plays.shape[-1] if result.plays.ndim == 3 else 0
    table = seeds, len(np.atleast_1d(times))
    yield times.ndim == 1 and min(*table, arms) > 0, "a table is empty"
    yield result.regret.shape == table, "regret has another shape"
    yield result.plays.shape == (*table, arms), "plays have another shape"
    yield result.batches is None or result.batches.shape == table[:1], "batches have another shape"
    square = *table, arms, arms
    yield result.pairs is None or result.pairs.shape == square, "pairs have another shape"
    sums = square[: 3 if result.definition == "pulls" else 4]
    yield result.outcomes is None or result.outcomes.shape == sums, "outcomes have another shape"
    if result.totals is not None:
        regret, plays, batches, most = result.totals
        shapes = np.shape(regret.mean), np.shape(regret.m2), np.shape(plays)
        yield shapes == (table[1:], table[1:], (table[1], arms)), "totals have another shape"
        batched = result.batches is not None
        yield batched == (batches is not None) == (most is not None), "totals lack batches"


def _of_request(result: Any) -> Iterator[tuple[Any, str]]:
    """Checks that the result is of the run that its provenance describes."""
    times, made = result.checkpoints, result.made_by
    yield times[0] >= 1 and (np.diff(times) > 0).all(), "checkpoints do not increase"
    yield times[-1] <= result.horizon, "the last checkpoint is after the horizon"
    yield result.definition in DEFINITIONS, "its definition of regret is unknown"
    wanted = {
        "horizon": result.horizon,
        "regret": result.definition,
        "checkpoints": times.tolist(),
        "seed": result.seed if isinstance(result.seed, int) else made.get("seed"),
    }
    for name, value in wanted.items():
        yield made.get(name, value) == value, f"its provenance has another {name}"
    of_policy, of_problem = made.get("policy", {}), made.get("problem", {})
    yield of_policy.get("name", result.policy) == result.policy, "it names another policy"
    yield of_problem.get("name", result.problem) == result.problem, "it names another problem"
    arms = result.plays.shape[-1]
    yield of_problem.get("num_arms", arms) == arms, "its problem has another number of arms"
    yield len(made.get("arms") or range(arms)) == arms, "its arms have another number of names"
    kept, totals = len(result.regret), result.totals
    seeds = kept if totals is None else totals.regret.num_seeds
    yield kept <= seeds <= made.get("num_seeds", seeds), "it has more seeds than were asked for"


def _of_rows(result: Any) -> Iterator[tuple[Any, str]]:
    """Checks of plays, pairs, outcomes and regret of each seed."""
    plays, pairs, times = result.plays, result.pairs, result.checkpoints
    each = times if result.definition == "pulls" else 2 * times
    yield _grows(plays), "plays decrease"
    yield (plays.sum(axis=2) == each).all(), "plays do not add up to the checkpoints"
    if pairs is not None:
        yield _grows(pairs), "pairs decrease"
        both = pairs.sum(axis=2) + pairs.sum(axis=3)
        yield (both == plays).all(), "pairs do not add up to the plays"
    if result.outcomes is not None:
        yield np.isfinite(result.outcomes).all(), "outcomes are not finite"
    if result.outcomes is not None and result.definition != "pulls":
        wins = result.outcomes.astype(np.int64)
        yield _grows(wins), "wins decrease"
        yield (wins.sum(axis=(2, 3)) <= times).all(), "there are more wins than comparisons"
        if pairs is not None:
            fewer = wins + wins.swapaxes(2, 3) <= pairs + pairs.swapaxes(2, 3)
            yield fewer.all(), "there are more wins than comparisons"
    if result.batches is not None:
        yield (result.batches >= 0).all(), "batches are negative"
    yield _can_be(result.regret, result), "regret decreases, or grows faster than it can"
    known = _regret_by_plays(result, plays, pairs)
    yield known is None or _same(result.regret, known), "regret is not that of the plays"


def _of_totals(result: Any) -> Iterator[tuple[Any, str]]:
    """Checks of the sums over all seeds, if not all seeds have rows."""
    if result.totals is None:
        return
    (seeds, mean, m2), plays, batches, most = result.totals
    each = result.checkpoints if result.definition == "pulls" else 2 * result.checkpoints
    yield _grows(plays[None]), "total plays decrease"
    yield (plays.sum(axis=1) == seeds * each).all(), "total plays do not add up"
    yield (plays >= result.plays.sum(axis=0)).all(), "total plays are fewer than those of the rows"
    yield np.isfinite(m2).all() and (m2 >= 0).all(), "squared deviations are out of range"
    yield _can_be(mean[None], result), "mean regret decreases, or grows faster than it can"
    known = _regret_by_plays(result, plays[None], None)
    yield known is None or _same(seeds * mean, known[0]), "mean regret is not that of the plays"
    if result.batches is not None and batches is not None and most is not None:
        there = int(result.batches.sum()), int(result.batches.max())
        yield there[0] <= batches <= seeds * most, "total batches do not add up"
        yield there[1] <= most, "the most batches are fewer than those of a row"


def _grows(counts: np.ndarray) -> bool:
    """True for counts from 0 that never decrease along the checkpoints, axis 1."""
    return bool((counts[:, 0] >= 0).all() and (np.diff(counts, axis=1) >= 0).all())


def _can_be(regret: np.ndarray, result: Any) -> bool:
    """True for finite regret that never decreases and, except with rewards, grows by at most 1 per
    comparison."""
    if not np.isfinite(regret).all():
        return False
    steps = np.diff(regret, axis=1, prepend=0)
    slack = _EXACT * np.abs(regret).max()
    times = np.diff(result.checkpoints, prepend=0)
    most = np.inf if result.definition == "pulls" else times + slack
    return bool((steps >= -slack).all() and (steps <= most).all())


def _regret_by_plays(result: Any, plays: np.ndarray, pairs: np.ndarray | None) -> np.ndarray | None:
    """Regret computed from plays on an instance whose numbers are in the package; else None."""
    made = result.made_by.get("problem", {})
    known = [one for one in entries() if one.name == result.problem and not one.downloaded]
    if not known or (result.definition in OF_PAIRS and pairs is None):
        return None
    problem = known[0].build()
    if problem_digest(problem) != made.get("digest"):
        return None
    return regret_of(problem, result.definition, result.checkpoints, plays, pairs)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.allclose(one, other, rtol=_EXACT, atol=_EXACT * np.abs(other).max())
