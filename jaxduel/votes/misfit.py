"""Misfit of models of strengths: deviances, cyclic triples, pairs never compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxduel.problems.strengths import Comparisons, Posterior, mode_of, preferences
from jaxduel.votes.counts import Votes
from jaxduel.votes.deviance import moments_of_deviance

_NO_PRIOR = 1e3
"""Standard deviation of a prior that leaves the largest likelihood unchanged, to about 1e-5."""
_THRESHOLD = 0.01
"""P-value below which a model is said not to fit."""
_CERTAIN = 1e-3
"""Deviations below this share of the mean, and means below it, make a deviance certain. A smaller
deviance is 0 but for rounding."""


class Cycle(NamedTuple):
    """Three arms of which each beats the next, and the last the first, in most of their votes.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 6, 4], [4, 0, 6], [6, 4, 0]])
      >>> cycle, = jd.votes.fit(votes).misfit.cycles
      >>> cycle.arms, round(cycle.probability, 2)
      ((0, 1, 2), 0.42)
    """

    arms: tuple[int, int, int]
    """The first is the smallest number."""
    probability: float
    """Posterior probability, in the free model, that the three are cyclic (in either sense)."""


class Residual(NamedTuple):
    """The pair that a model of strengths misses by most."""

    arms: tuple[int, int]
    """The arm that wins more often than it should stands first."""
    observed: float
    """Share of the pair's decisive votes that the first arm won."""
    expected: float
    """The model's probability that it wins."""
    errors: float
    """Their difference in standard errors of the model."""


@dataclasses.dataclass(frozen=True, eq=False)
class Misfit:
    """Misfit of a model of strengths to votes.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 70, 30], [30, 0, 70], [70, 30, 0]])  # each beats one
      >>> misfit = jd.votes.fit(votes, "btl").misfit
      >>> misfit.degrees_of_freedom, round(misfit.deviance, 1), misfit.p_value < 1e-9
      (1, 49.4, True)
      >>> misfit.cycles
      [Cycle(arms=(0, 1, 2), probability=0.99...)]
    """

    votes: Votes
    model: str
    """The model that is compared with the free model."""
    deviance: float
    """Twice the log-likelihood of the free model (each pair's shares) minus the model's largest."""
    degrees_of_freedom: int
    """Free probabilities of the pairs that were compared, less free parameters of the model."""
    expected: float
    """Mean of the deviance if the model is true: the degrees of freedom where all pairs have many
    votes (`jaxduel.votes.deviance`)."""
    std: float
    """Standard deviation of the deviance; 0 where no pair has two votes, or the model explains
    all."""
    expected_cycles: float
    """Mean number of `cycles` if the model is true, at its largest likelihood, which sets arms too
    far apart where votes are few: for btl (K = 10, deviation of strengths 0.8, 60 votes) 3.1 was
    measured in place of 4.3. With 300 votes (K = 6) no such bias was seen."""
    worst: Residual | None
    """The pair that the model misses by most; None without degrees of freedom."""
    in_favour: np.ndarray  # (K, K) float64
    """Posterior probability that p_ij > 1/2 in the free model."""

    @property
    def p_value(self) -> float:
        """Probability that a gamma law with mean `expected` and deviation `std` exceeds the
        deviance; with many votes a pair the law is chi-square. 1 for a deviance of 0, and NaN
        without degrees of freedom.
        """
        from scipy.stats import gamma

        if self.degrees_of_freedom == 0:
            return np.nan
        if self.deviance < _CERTAIN:
            return 1.0
        if self.std < _CERTAIN * self.expected or self.expected < _CERTAIN:
            return float(self.deviance < self.expected + 4 * self.std + _CERTAIN)
        shape = (self.expected / self.std) ** 2
        return float(gamma.sf(self.deviance, shape, scale=self.expected / shape))

    @property
    def fits(self) -> bool | None:
        """True if the p-value is at least 0.01; None where the model is not tested."""
        return self.p_value >= _THRESHOLD if self.degrees_of_freedom else None

    @cached_property
    def cycles(self) -> list[Cycle]:
        """Triples that are cyclic in the majorities of their votes, the most probable first."""
        return self._likeliest_cycles()

    @property
    def num_cycles(self) -> int:
        """Number of `cycles`, counted without listing them."""
        beats = (self.votes.wins > self.votes.wins.T).astype(float)
        return round(float(((beats @ beats) * beats.T).sum()) / 3)

    def _likeliest_cycles(self, most: int | None = None) -> list[Cycle]:
        beats = self.votes.wins > self.votes.wins.T
        q = self.in_favour
        found = []
        for i in range(self.votes.num_arms):  # i is the smallest of the three
            after, before = i + 1 + np.flatnonzero(beats[i, i + 1 :]), np.flatnonzero(beats[:, i])
            before = before[before > i]
            places, others = np.nonzero(beats[np.ix_(after, before)])
            j, k = after[places], before[others]
            chance = q[i, j] * q[j, k] * q[k, i] + q[j, i] * q[k, j] * q[i, k]
            chosen = np.argsort(-chance, kind="stable")[:most]
            columns = j[chosen].tolist(), k[chosen].tolist(), chance[chosen].tolist()
            found += [Cycle((i, *pair), p) for *pair, p in zip(*columns, strict=True)]
        return sorted(found, key=lambda cycle: (-cycle.probability, cycle.arms))[:most]

    @property
    def num_triples(self) -> int:
        """Number of triples of which all pairs have a decisive vote."""
        met = (self.votes.decisive > 0).astype(float)
        return round(float(((met @ met) * met).sum()) / 6)

    @property
    def never_compared(self) -> np.ndarray:
        """Pairs without any vote, (n, 2) int64, i < j."""
        met = self.votes.decisive + self.votes.ties > 0
        return np.argwhere(np.triu(~met, 1))

    def lines(self, names: Sequence[str] = ()) -> list[str]:
        """The misfit as lines of text; `names` are shown in place of the arms' own."""
        names = names or self.votes.arms
        pairs = self.votes.num_arms * (self.votes.num_arms - 1) // 2
        return [
            f"{self.model} against free: {self._deviance()}",
            *self._worst(names),
            f"cyclic triples: {self.num_cycles:,} of {self.num_triples:,}; "
            f"{self.expected_cycles:,.1f} expected by the model",
            *(
                f"  {' > '.join(names[arm] for arm in (*cycle.arms, cycle.arms[0]))}: "
                f"cyclic with probability {cycle.probability:.2f}"
                for cycle in self._likeliest_cycles(3)
            ),
            f"pairs never compared: {len(self.never_compared):,} of {pairs:,}",
        ]

    def _deviance(self) -> str:
        if not self.votes.whole:
            return "not tested, as there are fractions of votes"
        if self.votes.voters is not None:
            return "not tested, as votes of one voter are not independent"
        if self.degrees_of_freedom == 0:
            return "no pair more than the model needs, nothing to test"
        verdict = (
            f">= {_THRESHOLD}: no sign of a misfit"
            if self.fits
            else f"< {_THRESHOLD}: does not fit"
        )
        return (
            f"deviance {self.deviance:,.1f}, {self.expected:,.1f} +- {self.std:,.1f} expected, "
            f"p = {self.p_value:.2g} {verdict}"
        )

    def _worst(self, names: Sequence[str]) -> list[str]:
        if self.worst is None:
            return []
        i, j = self.worst.arms
        return [
            f"  worst pair: {names[i]} beats {names[j]} in "
            f"{self.worst.observed:.3f} of their votes, {self.worst.expected:.3f} by the model "
            f"({self.worst.errors:.1f} standard errors)"
        ]


def misfit_of(votes: Votes, model: str, compared: Comparisons, in_favour: np.ndarray) -> Misfit:
    """The misfit of a model of strengths at its largest likelihood, without the prior.

    Davidson is tested on its three probabilities if there are ties, and is btl otherwise.

    Args:
      votes: the votes.
      model: name of the model.
      compared: the votes as the model reads them, of pairs or of ordered pairs.
      in_favour: (K, K) posterior probability that p_ij > 1/2 in the free model.
    """
    with_ties = model == "davidson" and votes.num_ties > 0
    name = f"{model} with sides" if compared.sided else model
    if not len(compared.first):
        return Misfit(votes, name, 0.0, 0, 0.0, 0.0, 0.0, None, in_favour)
    tested = "btl" if model == "davidson" and not with_ties else model
    posterior = Posterior(tested, compared, _NO_PRIOR)
    x = mode_of(posterior).parameters
    wins, losses, ties = compared[2:5]
    free = _entropy(np.stack([wins, losses, ties])).sum() - _entropy(wins + losses + ties).sum()
    deviance = 2 * (free - float(posterior.log_likelihood(x)))
    independent = votes.whole and votes.voters is None
    parameters = posterior.num_comparable + with_ties
    freedom = ((1 + with_ties) * len(wins) - parameters) * independent
    mean, variance = moments_of_deviance(posterior, x, freedom) if freedom else (0.0, 0.0)
    expected = _expected(votes, posterior, x)
    return Misfit(
        votes,
        name,
        max(float(deviance), 0.0),
        freedom,
        mean,
        np.sqrt(variance),
        _expected_cycles(votes.decisive, expected),
        _worst(votes, expected) if freedom else None,
        in_favour,
    )


def _expected(votes: Votes, posterior: Posterior, x: np.ndarray) -> np.ndarray:
    """The model's share of each arm in a pair's decisive votes, 1/2 without any: (K, K)."""
    compared = posterior.votes
    model = "btl" if posterior.model == "davidson" else posterior.model
    decisive = compared.wins + compared.losses
    p = preferences(model, posterior.differences @ x, np.nan)
    won = np.zeros((2, votes.num_arms, votes.num_arms))
    won[0, compared.first, compared.second] = decisive * p
    won[1, compared.second, compared.first] = decisive * (1 - p)
    return np.divide(
        won.sum(axis=0), votes.decisive, where=votes.decisive > 0, out=np.full_like(won[0], 0.5)
    )


def _expected_cycles(decisive: np.ndarray, p: np.ndarray) -> float:
    """Mean number of triples that are cyclic in the majorities of independent votes."""
    from scipy.stats import binom

    decisive = np.rint(decisive)
    q = np.where(decisive > 0, binom.sf(decisive // 2, decisive, p), 0.0)
    return float(((q @ q) * q.T).sum()) / 3


def _worst(votes: Votes, expected: np.ndarray) -> Residual | None:
    decisive = votes.decisive
    if not decisive.any():
        return None
    spread = np.sqrt(np.maximum(decisive * expected * (1 - expected), 1e-12))
    errors = np.where(decisive > 0, (votes.wins - decisive * expected) / spread, -np.inf)
    i, j = map(int, np.unravel_index(int(np.argmax(errors)), errors.shape))
    share = float(votes.wins[i, j] / decisive[i, j])
    return Residual((i, j), share, float(expected[i, j]), float(errors[i, j]))


def _entropy(counts: np.ndarray) -> np.ndarray:
    """n log n, 0 where n is 0."""
    from scipy.special import xlogy

    return xlogy(counts, counts)
