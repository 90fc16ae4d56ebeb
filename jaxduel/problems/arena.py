"""Chatbot Arena: counted votes between 129 language models, and instances made from them.

The counts are of the anonymous battles, without duplicates, that were public on 14 August 2024
(`jaxduel.problems.downloads`): 1,670,250 votes, of which 1,093,875 are decisive, 281,121 are ties
and 295,254 say that both answers are bad.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from jaxduel.problems.core import complete_core
from jaxduel.problems.downloads import arena_file
from jaxduel.problems.strengths import coherent, fit_btl, preferences

_AT_LEAST = 100
"""Decisive votes of every pair of the core."""


class Counts(NamedTuple):
    """Counts of the K models' votes."""

    models: tuple[str, ...]
    wins: np.ndarray  # (K, K) int64: votes for i over j
    ties: np.ndarray  # (K, K) int64, symmetric
    both_bad: np.ndarray  # (K, K) int64, symmetric


def counts() -> Counts:
    """The counts of the file, its models in alphabetical order, capitals first.

    Raises:
      InputError: the file can neither be found nor downloaded, or is not the one expected.
    """
    content = json.loads(arena_file().read_text(encoding="utf-8"))
    i, j = np.array(content["X"]).T  # each pair once
    won, lost, tied, bad = np.array(content["Y"]).T
    wins, ties, both_bad = np.zeros((3, len(content["models"]), len(content["models"])), np.int64)
    wins[i, j], wins[j, i] = won, lost
    ties[i, j] = ties[j, i] = tied
    both_bad[i, j] = both_bad[j, i] = bad
    return Counts(tuple(content["models"]), wins, ties, both_bad)


def core_preferences() -> tuple[np.ndarray, tuple[str, ...]]:
    """Shares of decisive votes, wins_ij / (wins_ij + wins_ji), in the complete core: (31, 31); and
    its models."""
    models, wins, *_ = counts()
    core = complete_core(wins + wins.T, _AT_LEAST)
    wins = wins[np.ix_(core, core)]
    decisive = wins + wins.T
    shares = np.divide(wins, decisive, out=np.full(wins.shape, 0.5), where=decisive > 0)
    return shares, tuple(models[arm] for arm in core)


def btl_preferences() -> tuple[np.ndarray, tuple[str, ...]]:
    """Preferences by the strengths at the mode of `jaxduel.votes.fit`'s btl: (129, 129); and the
    models.

    Strengths are rounded to 6 decimals and preferences to 10, so that all machines give the same
    bits.
    """
    models, wins, *_ = counts()
    strengths = fit_btl(wins).round(6)
    return coherent(preferences("btl", strengths[:, None] - strengths, np.nan).round(10)), models
