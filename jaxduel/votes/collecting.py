"""Orders of the arms from the votes, or the rewards, of blocks of seeds, as the simulation finishes
them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxduel.problems import ArmsProblem, Problem
from jaxduel.simulation.ballots import Ballots
from jaxduel.simulation.cells import Poll
from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.instances import totals_of
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.provenance import provenance, request_of
from jaxduel.votes.found import Found, Stops, Truth
from jaxduel.votes.recommending import kendall_tau, order
from jaxduel.votes.rewards import order_of_rewards


class Orders:
    """Orders of the arms by each rule, for many seeds.

    Args:
      problem: the instance, if it has arms with rewards; else anything.
      poll: the checkpoints, the wins before the run, and whether a rule stops.
      truth: the worth of the K arms.
      rules: the rules that order them.
      num_seeds: number of seeds.
      root: the root key of the noise that breaks ties.
      first_seed: the number of the first seed.
      top: as in `jaxduel.identify`.
    """

    def __init__(
        self,
        problem: Problem | None,
        poll: Poll,
        truth: Truth,
        rules: list[str],
        num_seeds: int,
        root: jax.Array,
        first_seed: int = 0,
        top: int | None = None,
    ) -> None:
        self._problem, self._poll, self._truth, self._root = problem, poll, truth, root
        self._first_seed, self._how_many = first_seed, top
        table = (num_seeds, len(poll.checkpoints))
        self._named = {rule: np.zeros(table, np.int32) for rule in rules}
        self._tau = {rule: np.zeros(table, np.float32) for rule in rules}
        self._top = {rule: np.zeros(table, bool) for rule in rules} if top else None
        self._cast, self._stops = np.zeros(num_seeds, np.int64), None
        if poll.stops:
            self._stops = Stops(np.zeros(num_seeds, np.int64), np.zeros(num_seeds, np.int32))

    def keep(self, first: int, ballots: Ballots) -> None:
        """Enters a block of seeds: `first` is the number of its first seed, from 0; `ballots`, on
        the host, include padding."""
        rows = slice(first, min(first + len(ballots.votes), len(self._cast)))
        own, num = slice(0, rows.stop - first), len(self._truth.scores)
        self._cast[rows] = np.minimum(ballots.votes[own], self._poll.checkpoints[-1])
        if self._stops is not None:
            self._stops.at[rows] = ballots.stopped[own]
            self._stops.named[rows] = ballots.named[own]
        points = len(self._poll.checkpoints)
        ordered = self._by_rule(jax.tree.map(lambda x: x[own, :points], ballots.wins))
        noise = noise_of(self._root, self._first_seed + first, rows.stop - first, num)
        noise = np.broadcast_to(noise[:, None, :], (len(noise), points, num))
        for rule in self._named:
            arms = ordered(rule, noise)
            self._named[rule][rows] = arms[..., 0]
            self._tau[rule][rows] = kendall_tau(arms, self._truth.scores)
            if self._top is not None:
                self._top[rule][rows] = self._truth.are_best(arms[..., : self._how_many])

    def _by_rule(self, seen: Any) -> Callable[[str, np.ndarray], np.ndarray]:
        """The function of a rule and noise that orders the arms, of the wins, or the pulls and
        rewards, between checkpoints."""
        num, problem = len(self._truth.scores), self._problem
        if isinstance(problem, ArmsProblem):
            pulls = np.cumsum(seen.pulls[..., :num], axis=1, dtype=np.int64)
            totals = np.cumsum(totals_of(problem, seen.rewards, seen.pulls), axis=1)
            return lambda rule, noise: order_of_rewards(rule, problem, pulls, totals, noise)
        wins = np.cumsum(seen[..., :num, :num], axis=1, dtype=np.int64)
        wins += 0 if self._poll.before is None else self._poll.before
        return lambda rule, noise: order(rule, wins, noise)

    def found(self, done: int, policy: str, problem: str, made_by: dict[str, Any]) -> Found:
        """The result of the first `done` seeds."""
        rows = slice(0, done)
        return Found(
            policy=policy,
            problem=problem,
            unit="pulls" if isinstance(self._problem, ArmsProblem) else "votes",
            checkpoints=np.asarray(self._poll.checkpoints, np.int64),
            truth=self._truth,
            named={rule: named[rows] for rule, named in self._named.items()},
            tau={rule: tau[rows] for rule, tau in self._tau.items()},
            top=self._top and {rule: right[rows] for rule, right in self._top.items()},
            cast=self._cast[rows],
            stops=self._stops and Stops(*(values[rows] for values in self._stops)),
            made_by=made_by,
        )


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
        self._cell, self._settings, self._also = cell, settings, also
        seeds = settings.num_seeds, root, settings.first_seed
        rules = also["recommend"]
        self._orders = Orders(cell.problem, cell.poll, truth, rules, *seeds, also["top"])

    def keep(self, first: int, record: Recorded) -> None:
        """Orders the arms of the block whose first seed is `first`."""
        assert record.ballots is not None
        self._orders.keep(first, record.ballots)

    def result(self, done: int, lanes: int) -> Found:
        """The result of the first `done` seeds."""
        cell = self._cell
        request = request_of(cell.policy, cell.problem, cell.horizon, self._settings, cell.grid)
        made_by = provenance({**request, **self._also}, lanes)
        return self._orders.found(done, request["policy"]["name"], cell.problem.name, made_by)


def noise_of(root: jax.Array, first: int, count: int, num_arms: int) -> np.ndarray:
    """Uniform numbers that break ties: (count, K) float64, for seeds from number `first` on. A
    function of the root key and the seed's number."""
    words = np.asarray(jax.random.key_data(root)).ravel()
    key = int.from_bytes(words.astype("<u4").tobytes(), "little")
    streams = (np.random.Philox(key=key, counter=n << 128) for n in range(first, first + count))
    return np.stack([np.random.Generator(stream).random(num_arms) for stream in streams])
