"""Statistics of all seeds of a run, where not all of them have rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxduel.stats import Moments, merge, moments_of


class Totals(NamedTuple):
    """Statistics of all seeds, where not all of them have rows."""

    regret: Moments  # of (M,)
    plays: np.ndarray  # (M, K) int64, sums over seeds
    batches: int | None  # sum over seeds
    most_batches: int | None


def total_of(
    plays: np.ndarray, values: np.ndarray, batches: np.ndarray | None, own: slice
) -> Totals:
    """The statistics of some seeds: of their plays and regrets, and of `own` among the batches."""
    return Totals(
        regret=moments_of(values),
        plays=plays.sum(axis=0),
        batches=None if batches is None else int(batches[own].sum(dtype=np.int64)),
        most_batches=None if batches is None else int(batches[own].max()),
    )


def merged(parts: Sequence[Totals]) -> Totals:
    """The statistics of all seeds from those of disjoint parts."""
    batches = [part.batches for part in parts if part.batches is not None]
    most = [part.most_batches for part in parts if part.most_batches is not None]
    return Totals(
        regret=merge(part.regret for part in parts),
        plays=np.sum([part.plays for part in parts], axis=0),
        batches=sum(batches) if batches else None,
        most_batches=max(most) if most else None,
    )
