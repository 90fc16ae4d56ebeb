"""Orders of the arms from the votes of blocks of seeds, as the simulation finishes them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.provenance import provenance, request_of
from jaxduel.votes.found import Found, Stops, Truth
from jaxduel.votes.recommending import kendall_tau, order


class FoundCollector:
    """Orders the arms of a cell's seeds block by block."""

    def __init__(
        self,
        cell: CheckedCell,
        settings: Settings,
        truth: Truth,
        root: jax.Array,
        also: dict[str, Any],
    ) -> None:
        assert cell.poll is not None
        self._cell, self._settings, self._truth, self._also = cell, settings, truth, also
        seeds, points = settings.num_seeds, len(cell.poll.checkpoints)
        table, rules = (seeds, points), also["recommend"]
        self._named = {rule: np.zeros(table, np.int32) for rule in rules}
        self._tau = {rule: np.zeros(table, np.float32) for rule in rules}
        self._top = {rule: np.zeros(table, bool) for rule in rules} if also["top"] else None
        self._cast = np.zeros(seeds, np.int64)
        self._stops = None
        if cell.poll.needed is not None:
            self._stops = Stops(np.zeros(seeds, np.int64), np.zeros(seeds, np.int32))
        self._root = root

    def keep(self, first: int, record: Recorded) -> None:
        """Orders the arms of the block whose first seed is `first`."""
        ballots, poll, num = record.ballots, self._cell.poll, self._cell.problem.num_arms
        assert ballots is not None
        assert poll is not None
        rows = slice(first, min(first + len(ballots.votes), self._settings.num_seeds))
        own = slice(0, rows.stop - first)
        wins = np.cumsum(ballots.wins[own, :, :num, :num], axis=1, dtype=np.int64)
        wins += 0 if poll.before is None else poll.before
        self._cast[rows] = np.minimum(ballots.votes[own], poll.checkpoints[-1])
        if self._stops is not None:
            self._stops.votes[rows] = ballots.stopped[own]
            self._stops.named[rows] = ballots.named[own]
        noise = noise_of(self._root, self._settings.first_seed + first, rows.stop - first, num)
        noise = np.broadcast_to(noise[:, None, :], wins.shape[:-1])
        for rule in self._named:
            arms = order(rule, wins, noise)
            self._named[rule][rows] = arms[..., 0]
            self._tau[rule][rows] = kendall_tau(arms, self._truth.scores)
            if self._top is not None:
                self._top[rule][rows] = self._truth.are_best(arms[..., : self._also["top"]])

    def result(self, done: int, lanes: int) -> Found:
        """The result of the first `done` seeds."""
        cell, settings, rows = self._cell, self._settings, slice(0, done)
        assert cell.poll is not None
        request = request_of(cell.policy, cell.problem, cell.horizon, settings, cell.grid)
        return Found(
            policy=request["policy"]["name"],
            problem=cell.problem.name,
            votes=np.asarray(cell.poll.checkpoints, np.int64),
            truth=self._truth,
            named={rule: named[rows] for rule, named in self._named.items()},
            tau={rule: tau[rows] for rule, tau in self._tau.items()},
            top=self._top and {rule: right[rows] for rule, right in self._top.items()},
            cast=self._cast[rows],
            stops=self._stops and Stops(*(values[rows] for values in self._stops)),
            made_by=provenance({**request, **self._also}, lanes),
        )


def noise_of(root: jax.Array, first: int, count: int, num_arms: int) -> np.ndarray:
    """Uniform numbers that break ties: (count, K) float64, of seeds from number `first` on. They
    are a function of the root key and the seed's number."""
    words = np.asarray(jax.random.key_data(root)).ravel()
    key = int.from_bytes(words.astype("<u4").tobytes(), "little")
    streams = (np.random.Philox(key=key, counter=n << 128) for n in range(first, first + count))
    return np.stack([np.random.Generator(stream).random(num_arms) for stream in streams])
