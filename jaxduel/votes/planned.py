"""`Plan`: simulated futures of a log of votes, and the votes that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxduel.display import counted, listed
from jaxduel.errors import InputError, unknown_name
from jaxduel.policies.checks import require_probability
from jaxduel.stats import wilson95
from jaxduel.votes.fitted import Fit
from jaxduel.votes.recommending import crossings, order

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

BASELINE = "uniform"
"""The policy that others are compared with."""
_RESAMPLES = 2_000


class Needed(NamedTuple):
    """A number of further votes, and its 95 % interval; inf beyond the simulated votes."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Plan:
    """Simulated futures of a log of votes.

    The instance is unknown: each of `draws` futures has an instance drawn from the posterior, whose
    best arm is to be named. Instances are of two kinds: the arm named now is their best arm, or
    another arm is. The posterior tells how probable either kind is (`now`), so probabilities are
    weighted means over the kinds, however many instances of either were drawn. Intervals are over
    instances and seeds.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 12, 14], [8, 0, 11], [6, 9, 0]])
      >>> plan = jd.votes.plan(
      ...   votes, ["uniform"], max_votes=200, draws=20, seeds=4, checkpoints=[50, 200]
      ... )
      >>> plan.votes.tolist(), plan.correct["uniform"].shape  # further votes; draws x seeds x these
      ([0, 50, 200], (20, 4, 3))
      >>> bool(0 < plan.now <= 1)
      True
    """

    fit: Fit
    """The posterior that instances are drawn from."""
    rule: str
    """The rule that names the best arm, by all votes."""
    votes: np.ndarray  # (M,) int64
    """Checkpoints, in further votes, from 0."""
    targets: tuple[float, ...]
    """Probabilities to reach."""
    correct: Mapping[str, np.ndarray]  # policy -> (draws, seeds, M) bool
    """True where the rule names a best arm."""
    cast: Mapping[str, np.ndarray]  # policy -> (draws, seeds) int64
    """Votes cast: fewer than asked for where a policy's horizon, which counts comparisons of arms
    with themselves, ended first."""
    afresh: tuple[str, ...] = ()
    """Policies that began without the log, as they cannot start from counts."""
    left_out: tuple[str, ...] = ()
    """Policies that an interrupt left out."""

    @cached_property
    def now(self) -> float:
        """Probability that the arm named now is the best, by `fit.best`: a mean where arms tie."""
        return float(self.fit.best[self._named].mean())

    @cached_property
    def _named(self) -> np.ndarray:
        """The arms that the rule may name now: one, or the tied arms that it draws from."""
        wins, favours = self.fit.votes.wins, 1.0 - np.eye(self.fit.votes.num_arms)
        orders = order(self.rule, np.broadcast_to(wins, (len(wins), *wins.shape)), favours)
        return np.unique(orders[:, 0])

    def probability(self, policy: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Probability that the best arm is named, and the ends of its 95 % interval: (M,) each.

        Wilson's intervals of the two kinds of instances and of `now` are combined as if their
        errors were independent (Zou and Donner, Statistics in Medicine 27, 2008). A kind without
        any drawn instance is taken to stay as it is now, and the interval covers whatever may
        become of it.

        Raises:
          InputError: for a policy that is not in the plan.
        """
        mean, slope, below, above, lost, won = np.zeros((6, len(self.votes)))
        later = np.arange(len(self.votes)) > 0
        for chance, first, shares in self._kinds(policy):
            if len(shares):
                share, low, high = _share95(shares)
                below += later * (chance * (share - low)) ** 2
                above += later * (chance * (high - share)) ** 2
            else:
                share = first
                lost += later * chance * first
                won += later * chance * (1 - first)
            mean += chance * share
            slope += (2 * first - 1) * share
        low, high = wilson95(self.now * self.fit.effective_draws, self.fit.effective_draws)
        below += (slope * (self.now - low)) ** 2
        above += (slope * (high - self.now)) ** 2
        low, high = mean - np.sqrt(below) - lost, mean + np.sqrt(above) + won
        return mean, np.clip(low, 0, 1), np.clip(high, 0, 1)

    def _kinds(self, policy: str) -> tuple[tuple[float, float, np.ndarray], ...]:
        """Instances whose best arm is named now, and the others: the probability of the kind, its
        share of right runs at 0 votes, and each instance's share at all checkpoints, (n, M)."""
        self._require(policy)
        each = self.correct[policy].mean(axis=1)
        right = each[:, 0] == 1
        return (self.now, 1.0, each[right]), (1 - self.now, 0.0, each[~right])

    def _require(self, policy: str) -> None:
        if not isinstance(policy, str) or policy not in self.correct:
            raise unknown_name("policy of the plan", policy, self.correct)

    def votes_needed(self, policy: str, target: float) -> Needed:
        """Further votes until the best arm is named with probability `target`.

        Raises:
          InputError: for a policy that is not in the plan, or a target that is no probability.
        """
        return Needed(*crossings(self.votes, *self.probability(policy), target))

    def saved(self, policy: str, target: float) -> Needed:
        """Share of the votes of uniform sampling that a policy saves at a target, with an interval
        by resampling instances; NaN where either policy does not reach it. The ends are NaN where a
        resample does not: then the share alone tells little.

        Raises:
          InputError: as `votes_needed`, and if `uniform` is not among the policies.
        """
        self._require(policy)
        require_probability(target, "target")
        if BASELINE not in self.correct:
            raise InputError(f"votes are saved against {BASELINE}, which this plan is without.")
        needed, others = self._resampled(policy, target), self._resampled(BASELINE, target)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1 - needed / others
            share[~np.isfinite(needed + others + share)] = np.nan
        return Needed(float(share[0]), *map(float, np.quantile(share[1:], [0.025, 0.975])))

    def _resampled(self, policy: str, target: float) -> np.ndarray:
        """Votes needed, (1 + _RESAMPLES,): of all instances, then of resamples within each kind,
        the same for all policies."""
        if (policy, target) not in self._crossings:
            rng, curves = np.random.default_rng(0), np.zeros((1 + _RESAMPLES, len(self.votes)))
            for chance, first, shares in self._kinds(policy):
                if n := len(shares):
                    times = rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES)
                    curves += chance / n * (np.append(np.ones((1, n)), times, axis=0) @ shares)
                else:
                    curves += chance * first
            needed = [crossings(self.votes, c, c, c, target)[0] for c in curves]
            self._crossings[policy, target] = np.array(needed)
        return self._crossings[policy, target]

    @cached_property
    def _crossings(self) -> dict[tuple[str, float], np.ndarray]:
        """Results of `_resampled`."""
        return {}

    def to_frame(self) -> pandas.DataFrame:
        """A row for each policy and checkpoint: policy, rule, votes, probability, lower95,
        upper95."""
        import pandas

        rows = []
        for policy in self.correct:
            mean, low, high = self.probability(policy)
            columns = {"policy": policy, "rule": self.rule, "votes": self.votes}
            columns |= {"probability": mean, "lower95": low, "upper95": high}
            rows.append(pandas.DataFrame(columns))
        return pandas.concat(rows, ignore_index=True)

    def targets_frame(self) -> pandas.DataFrame:
        """A row for each policy and target: votes_needed, and saved where `uniform` is among the
        policies, each with the ends _low and _high of its interval."""
        import pandas

        rows = []
        for policy in self.correct:
            for target in self.targets:
                row: dict[str, Any] = {"policy": policy, "target": target}
                row |= _columns("votes_needed", self.votes_needed(policy, target))
                if BASELINE in self.correct:
                    row |= _columns("saved", self.saved(policy, target))
                rows.append(row)
        return pandas.DataFrame(rows)

    def summary(self) -> list[str]:
        """Lines of text: what is known now, and what each policy needs."""
        votes, most = self.fit.votes, int(self.votes[-1])
        named = listed([f"'{votes.arms[arm]}'" for arm in self._named])
        is_best = " tie; the one drawn is" if len(self._named) > 1 else ", which is"
        title = (
            f"{votes.name}: {votes.num_arms} arms, {counted(votes.num_votes, 'vote')}; model "
            f"{self.fit.model}, arms named by {self.rule}"
        )
        lines = [
            "; ".join([title, *votes.notes]),
            f"now: {named}{is_best} the best with probability {self.now:.3f}",
        ]
        for target in self.targets:
            if self.now >= target:
                lines.append(f"{target:g}: the votes that there are already decide it")
                continue
            for policy in self.correct:
                lines.append(f"{target:g}: {policy} needs {self._needs(policy, target, most)}")
        kinds = [len(shares) for *_, shares in self._kinds(next(iter(self.correct)))]
        if self.now < max(self.targets) and 0 in kinds:
            which = "none" if kinds[0] == 0 else "all"
            lines.append(f"the arm named now is the best of {which} of the instances: draw more")
        if votes.num_ties and self.fit.model != "davidson":
            share = 100 * votes.num_ties / votes.num_votes
            lines.append(
                f"{share:.3g}% of the log's votes are ties, but none of these further votes: with "
                "--model davidson they tie, too"
            )
        if self.left_out:
            lines.append(f"interrupted: without {', '.join(self.left_out)}")
        for policy in self.afresh:
            lines.append(f"{policy} cannot start from counts: it began afresh")
        for policy, cast in self.cast.items():
            if (short := int((cast < most).sum())) > 0:
                lines.append(
                    f"{policy} cast fewer than {most:,} votes in {short:,} runs: it compared arms "
                    "with themselves to the end of its horizon"
                )
        return lines

    def _needs(self, policy: str, target: float, most: int) -> str:
        needed = self.votes_needed(policy, target)
        value, low, high = (f"{ceil(x):,}" if x < inf else f"more than {most:,}" for x in needed)
        text = f"{value} further {'vote' if value.split()[-1] == '1' else 'votes'}"
        if needed.low < inf:
            text += f" [{low}, {high}]"
        if policy == BASELINE or BASELINE not in self.correct:
            return text
        share, *ends = self.saved(policy, target)
        if not isfinite(ends[0]):  # without an interval a share tells nothing
            return text
        if share < 0:
            share, ends, than = -share, [-end for end in reversed(ends)], f"more than {BASELINE}"
        else:
            than = f"saved against {BASELINE}"
        return f"{text}: {share:.0%} [{ends[0]:.0%}, {ends[1]:.0%}] {than}"

    def __repr__(self) -> str:
        return "<Plan: " + "\n".join(self.summary()) + ">"

    def plot(self) -> Figure:
        """The probability of naming the best arm against further votes, a line for each policy."""
        from jaxduel.plotting.figures import draw
        from jaxduel.plotting.line import votes_line, votes_panel
        from jaxduel.plotting.words import plain

        shares = ((policy, self.probability(policy)) for policy in self.correct)
        lines = [votes_line(policy, policy, self.votes, ends) for policy, ends in shares]
        return draw([votes_panel(lines, plain(self.fit.votes.name), self.targets)])


def _share95(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of the shares of right runs of instances, (n, M), and the ends of Wilson's interval.

    The interval is of n trials if each instance is all right or all wrong, and of more trials the
    less instances differ: n times the variance of a coin over that of the instances, both with two
    right and two wrong instances added (Agresti and Coull, 1998), so that neither is 0.
    """
    n, mean = len(shares), shares.mean(axis=0)
    middle = (n * mean + 2) / (n + 4)
    within = np.mean(shares * (1 - shares), axis=0) * n / (n + 4)
    trials = n / (1 - within / (middle * (1 - middle)))
    return mean, *wilson95(trials * mean, trials)


def _columns(name: str, needed: Needed) -> dict[str, float]:
    return {name: needed.value, f"{name}_low": needed.low, f"{name}_high": needed.high}
