"""`Fit`: a posterior distribution over instances, of votes."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.policies.checks import whole_number
from jaxduel.problems.dueling import DuelingProblem, from_matrix
from jaxduel.problems.strengths import (
    Mode,
    Posterior,
    coherent,
    davidson,
    mode_of,
    preferences,
)
from jaxduel.simulation.keys import host_generator
from jaxduel.votes import free
from jaxduel.votes.counts import Votes, arm_number
from jaxduel.votes.design import Spread, spread_of, widened
from jaxduel.votes.misfit import Misfit, misfit_of
from jaxduel.votes.models import Model, Side, compared
from jaxduel.votes.pairs import pairs
from jaxduel.votes.posterior import Difference, Draws, differences, draws_of
from jaxduel.votes.ranks import ranks
from jaxduel.votes.ratings import ratings

if TYPE_CHECKING:
    import pandas as pd
    from jax import Array
    from matplotlib.figure import Figure

_NO_STRENGTHS = "the free model has no strengths to compare: fit btl, for example."
_LEVEL = 1e-10
"""Difference of strengths at the mode below which arms are level."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The posterior distribution over instances, given votes.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 60, 70], [40, 0, 60], [30, 40, 0]])
      >>> fit = jd.votes.fit(votes, "btl")
      >>> fit.problem
      DuelingProblem('votes (btl)', K=3, Condorcet winner 0, smallest gap 0.1...)
      >>> fit.strengths[[0, 2]].round(1).tolist()
      [0.4, -0.4]
      >>> fit.sample(jax.random.key(0), 5).shape
      (5, 3, 3)
      >>> print(fit)
      Fit of btl to Votes('votes', K=3, 300 votes, 0 of them ties): '0' best with probability 0.99
    """

    votes: Votes
    """The votes."""
    model: Model
    """The name of the model."""
    posterior: Posterior | None
    """The posterior of strengths; None for the free model, whose pairs are independent Beta
    variables."""
    mode: Mode | None
    """The mode of the posterior of strengths; None for the free model."""

    @cached_property
    def draws(self) -> Draws | None:
        """Draws from the posterior of strengths (`jaxduel.votes.posterior`), where voters are known
        as wide as they make it (`jaxduel.votes.design`); None for the free model."""
        if self.posterior is None or self.mode is None:
            return None
        draws = draws_of(self.posterior, self.mode)
        if self._spread is None:
            return draws
        return widened(draws, self.posterior, self.mode, self._spread)

    @cached_property
    def _spread(self) -> Spread | None:
        """Variances by the sandwich; None where voters are not known, and for the free model."""
        if self.votes.voters is None or self.posterior is None:
            return None
        return spread_of(*self._certain(), self.votes.voters)

    @cached_property
    def design_effect(self) -> float | None:
        """Variance of differences of strengths over that of as many independent votes: the mean
        over pairs that met, weighted by precision. None where voters are not known, and for the
        free model. Intervals have the ratio of their own direction, and at least 1."""
        return None if self._spread is None else self._spread.design_effect(*self._certain())

    @cached_property
    def side(self) -> Side | None:
        """The effect of the left side; None unless it was fitted."""
        if self.draws is None or self.mode is None or not self.sided:
            return None
        moved = float(np.abs(self.mode.strengths - self.mode_with_sides(False).strengths).max())
        low, high = self.draws.intervals95(self.draws.side[:, None])[0].tolist()
        above = min(float(self.draws.weights @ (self.draws.side > 0)), 1.0)
        return Side(float(self.mode.parameters[-1]), low, high, above, moved)

    @property
    def sided(self) -> bool:
        """True where the fit has an effect of sides."""
        return self.posterior is not None and self.posterior.votes.sided

    def mode_with_sides(self, sided: bool) -> Mode:
        """The mode of the same model with or without an effect of sides.

        Raises:
          InputError: the free model.
        """
        _, mode = self._certain()
        return mode if sided == self.sided else mode_of(self.posterior_with_sides(sided))

    def posterior_with_sides(self, sided: bool) -> Posterior:
        """The posterior of the same model with or without an effect of sides.

        Raises:
          InputError: the free model.
        """
        posterior, _ = self._certain()
        return dataclasses.replace(posterior, votes=compared(self.votes, self.model, sided))

    @cached_property
    def problem(self) -> DuelingProblem:
        """The posterior mean of the preferences.

        Preferences are of decisive votes; with davidson a tie counts as half a vote for either arm,
        and the problem has `ties`.
        """
        ties = None
        if self.draws is None or self.strengths is None:
            mean = free.mean(self.votes.wins)
        else:
            level = np.abs(self.strengths[:, None] - self.strengths) < _LEVEL
            mean, ties = self.draws.mean_preferences(self.model)
            mean = np.where(level, 0.5, mean)
        name = f"{self.votes.name} ({self.model})"
        return from_matrix(mean, name=name, ties=ties, arms=self.votes.arms)

    def sample(self, key: Array, n: int, *, decisive: bool = False) -> np.ndarray:
        """Preferences drawn from the posterior.

        Args:
          key: a key of JAX. Draws are a function of it, `n` and the votes, within a version of
            NumPy. Strengths are resampled from `draws` by weight: some repeat.
          n: number of draws, at least 1.
          decisive: preferences of decisive votes; otherwise half of davidson's ties counts for
            either arm.

        Returns:
          (n, K, K) float64, p + p.T = 1; each is a matrix for `jd.problems.from_matrix`.
        """
        if self.posterior is None:
            return free.drawn(host_generator(key), self.votes.wins, whole_number(n, 1, "n"))
        model = "btl" if decisive and self.model == "davidson" else self.model
        return coherent(preferences(model, *self._drawn(key, n)))

    def instances(self, key: Array, n: int) -> list[DuelingProblem]:
        """`sample` as problems; those of davidson have `ties`.

        Example:
          >>> import jax
          >>> import jaxduel as jd
          >>> votes = jd.votes.from_counts([[0, 70], [30, 0]], ties=[[0, 50], [50, 0]])
          >>> jd.votes.fit(votes, "davidson").instances(jax.random.key(0), 1)
          [DuelingProblem('votes', K=2, Condorcet winner 0, smallest gap 0.1..., ties up to 0.3...)]
        """
        drawn = self.sample(key, n)
        ties: Any = [None] * len(drawn)
        if self.model == "davidson":
            ties = davidson(*self._drawn(key, n))[2] * (1 - np.eye(self.votes.num_arms))
        name, arms = self.votes.name, self.votes.arms
        return [from_matrix(p, name, q, arms) for p, q in zip(drawn, ties, strict=True)]

    def _drawn(self, key: Array, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Differences of drawn strengths, (n, K, K), and log nu, (n, 1, 1)."""
        n, rng = whole_number(n, 1, "n"), host_generator(key)
        strengths, log_nu = self._comparable()[1].resampled(rng, n)
        return strengths[:, :, None] - strengths[:, None, :], log_nu[:, None, None]

    @cached_property
    def best(self) -> np.ndarray:
        """Posterior probability of each arm that it is the best: (K,) float64.

        In the free model the best arm is a Copeland winner: there may be several, and the sum may
        exceed 1. In other models it is the strongest. Estimated from draws, the same in every
        process: standard errors are at most 1 / (2 sqrt(`effective_draws`)).
        """
        return free.best(self.votes.wins) if self.draws is None else self.draws.best()

    @property
    def effective_draws(self) -> float:
        """Number of independent, unweighted draws that tell as much as those of `best`: 20,000 of
        pairs, otherwise fewer, at least 1,000."""
        return free.DRAWS if self.draws is None else self.draws.effective

    @property
    def prior_std(self) -> float | None:
        """Standard deviation of the priors of strengths; None for the free model."""
        return None if self.posterior is None else self.posterior.prior_std

    @property
    def strengths(self) -> np.ndarray | None:
        """Strengths at the mode, their mean 0: (K,) float64; None for the free model."""
        return None if self.mode is None else self.mode.strengths

    @cached_property
    def strength_intervals(self) -> np.ndarray | None:
        """95 % intervals of the strengths, relative to the mean of all: (K, 2); None for the free
        model.

        Their ends are the 2.5 and 97.5 % quantiles of the posterior.
        """
        return None if self.draws is None else self.draws.intervals95(self.draws.strengths)

    def difference(self, first: int | str, second: int | str) -> Difference:
        """Difference between the strengths of two arms, its 95 % interval and probability.

        The intervals of two strengths may overlap where the interval of their difference excludes
        0.

        Args:
          first: the arm, by its number or name.
          second: the other arm.

        Raises:
          InputError: the free model, which has no strengths, an unknown arm, or one arm twice.

        Example:
          >>> import jaxduel as jd
          >>> votes = jd.votes.from_counts([[0, 70, 60], [40, 0, 50], [40, 50, 0]])
          >>> jd.votes.fit(votes).difference(0, "1").above > 0.99
          True
        """
        comparable = self._comparable()
        i, j = (arm_number(self.votes, arm) for arm in (first, second))
        if i == j:
            raise InputError(f"the arm '{shorten(self.votes.arms[i])}' is compared with itself.")
        numbers = differences(*comparable, i, np.array([j]))
        return Difference((self.votes.arms[i], self.votes.arms[j]), *numbers[:, 0].tolist())

    def elo(self, anchor: int | str | None = None, rating: float = 1000.0) -> pd.DataFrame:
        """Ratings on the scale of Elo with 95 % intervals: a row for each arm, the strongest first.

        A unit of strength is 400 / ln 10 points: 400 points are odds of 10 to 1 among decisive
        votes in btl and davidson, and of 93 to 1 in thurstone. In davidson a tie moves ratings as
        half a win and half a loss do, as in Elo; btl and thurstone leave ties out.

        Args:
          anchor: the arm, by its number or name, to which intervals are relative; the mean of all
            arms if None.
          rating: rating of the anchor, or of the mean, from -1e6 to 1e6.

        Returns:
          Columns arm, elo (at the mode), elo_low and elo_high.

        Raises:
          InputError: the free model, an unknown arm, or a rating out of range.

        Example:
          >>> import jaxduel as jd
          >>> votes = jd.votes.from_counts([[0, 60], [40, 0]], arms=["ada", "bea"])
          >>> jd.votes.fit(votes).elo("bea").round(-1).values.tolist()
          [['ada', 1070.0, 1000.0, 1140.0], ['bea', 1000.0, 1000.0, 1000.0]]
        """
        comparable = self._comparable()
        number = None if anchor is None else arm_number(self.votes, anchor)
        return ratings(self.votes.arms, *comparable, number, rating)

    def between(self, *arms: int | str) -> pd.DataFrame:
        """The arms in pairs, with 95 % intervals: a row for each pair, in the order given.

        Args:
          *arms: two arms or more, by number or name; all arms if left out.

        Returns:
          Columns first, second, gap, gap_low, gap_high and gap_above (their `difference`),
          preference, preference_low and preference_high: the probability that the first wins a
          vote against the second, its mean as in `problem`; half of davidson's ties counts.

        Raises:
          InputError: the free model, an unknown arm, a single arm, or one arm twice.
        """
        comparable = self._comparable()
        chosen = [arm_number(self.votes, arm) for arm in arms or range(self.votes.num_arms)]
        return pairs(self.votes.arms, chosen, self.model, *comparable, self.problem.preferences)

    @cached_property
    def stronger(self) -> np.ndarray | None:
        """Posterior probability of each arm that it is stronger than each other: (K, K) float64,
        1/2 on the diagonal; None for the free model."""
        return None if self.draws is None else self.draws.stronger()

    def ranks(self, top: int = 3) -> pd.DataFrame:
        """Ranks of the arms, 1 the strongest's, and their chances to be near the top.

        Args:
          top: places that count as the top, at least 1.

        Returns:
          A row for each arm, the strongest first. Columns: arm, rank (by strength at the mode,
          shared by level arms), rank_low and rank_high (ranges that hold for all arms at once with
          posterior probability .95), and `top_3`, or with another number in its name: the
          probability to be in one of these places.

        Raises:
          InputError: the free model, or `top` is no whole number of at least 1.
        """
        return ranks(self.votes.arms, *self._comparable(), top)

    def _certain(self) -> tuple[Posterior, Mode]:
        """Posterior and mode of the strengths; InputError for the free model."""
        if self.posterior is None or self.mode is None:
            raise InputError(_NO_STRENGTHS)
        return self.posterior, self.mode

    def _comparable(self) -> tuple[Mode, Draws]:
        """Mode and draws of the strengths; InputError for the free model."""
        if self.mode is None or self.draws is None:
            raise InputError(_NO_STRENGTHS)
        return self.mode, self.draws

    @property
    def nu(self) -> float | None:
        """Davidson's parameter of ties at the mode: equal arms tie with probability nu / (2 + nu);
        None for other models."""
        if self.mode is None or self.model != "davidson":
            return None
        return float(np.exp(self.mode.parameters[self.mode.num_arms]))

    @cached_property
    def misfit(self) -> Misfit:
        """Misfit of the model, or of btl where the model is free."""
        tested: Model = "btl" if self.model == "free" else self.model
        read = compared(self.votes, tested, self.sided)
        return misfit_of(self.votes, tested, read, free.in_favour(self.votes.wins))

    def table(self) -> pd.DataFrame:
        """A row for each arm, the best first: by strength, or by Copeland and Borda scores.

        Columns: arm, votes, wins, ties, copeland (arms that it beats), borda (mean preference), for
        models of strengths strength, low and high (95 % interval), gap, gap_low, gap_high and
        gap_above (the first arm's `difference` to this one), and best, a probability.
        """
        import pandas as pd

        wins, ties = self.votes.wins, self.votes.ties
        columns: dict[str, Any] = {
            "arm": self.votes.arms,
            "votes": (self.votes.decisive + ties).sum(axis=1).round(9),
            "wins": wins.sum(axis=1).round(9),
            "ties": ties.sum(axis=1).round(9),
            "copeland": self.problem.copeland_scores,
            "borda": self.problem.borda_scores,
        }
        order = ["copeland", "borda"]
        if self.strengths is not None and self.strength_intervals is not None:
            low, high = self.strength_intervals.T
            columns |= {"strength": self.strengths, "low": low, "high": high}
            order = ["strength"]
            first = int(np.argmax(self.strengths))
            others = np.flatnonzero(np.arange(self.votes.num_arms) != first)
            gaps = np.full((4, self.votes.num_arms), np.nan)
            gaps[:, others] = differences(*self._comparable(), first, others)
            columns |= dict(zip(("gap", "gap_low", "gap_high", "gap_above"), gaps, strict=True))
        table = pd.DataFrame(columns | {"best": self.best})
        return table.sort_values(order, ascending=False, kind="stable", ignore_index=True)

    def plot(self, anchor: int | str | None = None, rating: float = 1000.0) -> Figure:
        """Ratings as of `elo` with their intervals, or Borda scores of the free model, best first;
        in two columns from 61 arms on."""
        from jaxduel.plotting.intervals import intervals_figure
        from jaxduel.votes.figures import ratings_panel

        is_free = self.posterior is None and anchor is None
        scores = self.table() if is_free else self.elo(anchor, rating)
        who = None if anchor is None else self.votes.arms[arm_number(self.votes, anchor)]
        panel = ratings_panel(scores, who, rating)
        return intervals_figure(panel.parts(max(60, -(-self.votes.num_arms // 2))))

    def plot_matrix(self) -> Figure:
        """A heat map of the preferences of `problem`, the best arm first; in the free model pairs
        without decisive votes are grey."""
        from jaxduel.plotting.matrices import matrix_figure
        from jaxduel.votes.figures import preferences_panel

        order = [self.votes.arms.index(arm) for arm in self.table()["arm"]]
        known = True if self.posterior else self.votes.decisive > 0
        preferences = np.where(known, self.problem.preferences, np.nan)
        return matrix_figure(preferences_panel(self.votes.arms, preferences, order))

    def __repr__(self) -> str:
        first = int(np.argmax(self.best))
        return (
            f"Fit of {self.model} to {self.votes}: '{self.votes.arms[first]}' best with "
            f"probability {self.best[first]:.2f}"
        )
