"""`Found`: the arms that were named after so many votes or pulls, and how good they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxduel.arguments import require_known
from jaxduel.display import counted, html_table
from jaxduel.equality import same
from jaxduel.errors import unknown_name
from jaxduel.policies.base import NO_WINNER
from jaxduel.problems import ArmsProblem, DuelingProblem
from jaxduel.simulation.provenance import (
    all_changed,
    changed_parameters,
    changed_settings,
    policy_text,
    seed_numbers,
)
from jaxduel.stats import wilson95
from jaxduel.votes.recommending import votes_needed

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from jaxduel.plotting.line import Line

TARGETS = ("copeland", "borda", "condorcet", "mean")
"""Criteria of the best arm, by name; "mean" of arms with rewards, the others of arms that are
compared."""


def targets_of(rewards: bool) -> tuple[str, ...]:
    """The targets of arms with rewards, or of arms that are compared; the default is the first."""
    return TARGETS[-1:] if rewards else TARGETS[:-1]


class Truth(NamedTuple):
    """Worth of an instance's arms."""

    target: str
    scores: np.ndarray  # (K,) float64, the larger the better
    best: tuple[int, ...]
    gaps: np.ndarray  # (K,) float64, 0 for the best

    def are_best(self, arms: np.ndarray) -> np.ndarray:
        """True where n arms, (..., n), are n of the best, whatever their order: (...) bool."""
        least = np.sort(self.scores)[-arms.shape[-1]]
        return np.all(self.scores[arms] >= least - 1e-12, axis=-1)

    def is_right(self, answers: np.ndarray) -> np.ndarray:
        """True where an answer is one of the best arms, or, if there is none, `NO_WINNER`: of the
        shape of `answers`, bool."""
        return np.isin(answers, self.best or (NO_WINNER,))


class Stops(NamedTuple):
    """Votes, or pulls, at which a rule, or the policy, stopped, and the arms named then."""

    at: np.ndarray  # (S,) int64: votes cast, or pulls made, then; -1 where it never stopped
    named: np.ndarray  # (S,) int32: the arm; `UNDECIDED` (-1) where it never stopped; `NO_WINNER`


def truth_of(problem: DuelingProblem | ArmsProblem, target: str) -> Truth:
    """The worth of an instance's arms by a target.

    Raises:
      InputError: an unknown target, or one of arms of the other kind.
    """
    require_known("target", target, targets_of(isinstance(problem, ArmsProblem)))
    if isinstance(problem, ArmsProblem):
        means = np.asarray(problem.means, float)
        return Truth(target, means, problem.best_arms, problem.gaps())
    if target == "borda":
        scores, best = problem.borda_scores, problem.borda_winners
    else:
        scores, best = problem.copeland_scores, problem.copeland_winners
    if target == "condorcet" and problem.condorcet_winner is None:
        best = ()
    gaps = problem.gaps("borda" if target == "borda" else "copeland")
    return Truth(target, np.asarray(scores, float), best, gaps)


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """The arms that rules name after so many votes, of arms with rewards pulls, for many seeds.

    Example:
      >>> import jaxduel as jd
      >>> problem, policy = jd.problems.load("cyclic"), jd.policies.make("uniform", num_arms=4)
      >>> found = jd.identify(policy, problem, votes=500, num_seeds=50, checkpoints=[100, 500])
      >>> found.named["btl"].shape, found.simple_regret("btl").shape  # seeds x checkpoints
      ((50, 2), (50, 2))
      >>> value, low, high = found.needed("copeland", 0.5)
      >>> bool(low <= value <= high)
      True
    """

    policy: str
    """The policy's name."""
    problem: str
    """The instance's name."""
    unit: str
    """The unit of the checkpoints: "votes", or "pulls" of arms with rewards."""
    checkpoints: np.ndarray  # (M,) int64
    """The checkpoints, in votes or pulls."""
    truth: Truth
    """Worth of the arms."""
    named: Mapping[str, np.ndarray]  # rule -> (num_seeds, M) int32
    """The arm that each rule names."""
    tau: Mapping[str, np.ndarray]  # rule -> (num_seeds, M) float32
    """Kendall's tau of each rule's order and the true one, pairs tied in truth left out."""
    top: Mapping[str, np.ndarray] | None  # rule -> (num_seeds, M) bool
    """Whether the first `top` arms of each rule's order are the best; None unless asked for."""
    cast: np.ndarray  # (num_seeds,) int64
    """Votes cast, or pulls made: up to the last checkpoint, or fewer where a seed ended before
    it."""
    stops: Stops | None
    """Stops of the rule, or of the policy, if asked for."""
    made_by: Mapping[str, Any] = field(default_factory=dict)
    """Provenance, as of `jaxduel.Result`, with the arguments of `jaxduel.identify`."""

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    @property
    def num_seeds(self) -> int:
        """Number of seeds that ran to the end."""
        return len(self.cast)

    @cached_property
    def correct(self) -> dict[str, np.ndarray]:
        """Whether the named arm is one of the best, by rule: (num_seeds, M) bool."""
        return {rule: np.isin(arms, self.truth.best) for rule, arms in self.named.items()}

    def probability(self, rule: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The share of seeds for which a rule names one of the best arms, and the lower and upper
        end of its 95 % interval (Wilson): (M,) float64 each."""
        correct = self.correct[self._known(rule)]
        return (correct.mean(axis=0), *wilson95(correct.sum(axis=0), len(correct)))

    def needed(self, rule: str, target: float) -> tuple[float, float, float]:
        """Votes, or pulls, after which a rule names one of the best arms with probability `target`,
        and a 95 % interval; inf where the last checkpoint is not enough
        (`jaxduel.votes.recommending.votes_needed`)."""
        return votes_needed(self.checkpoints, self.correct[self._known(rule)], target)

    def simple_regret(self, rule: str) -> np.ndarray:
        """The gap of the named arm, by the target ("condorcet": a Copeland gap): (num_seeds, M)
        float64."""
        return self.truth.gaps[self.named[self._known(rule)]]

    def _known(self, rule: str) -> str:
        if not isinstance(rule, str) or rule not in self.named:
            raise unknown_name("rule", rule, tuple(self.named))
        return rule

    @property
    def variant(self) -> str:
        """The policy with its parameters that are not at their defaults."""
        return policy_text(self.policy, self.made_by)

    @property
    def changed(self) -> dict[str, str]:
        """Parameters and settings that are not at their defaults, as text."""
        return all_changed(self.made_by)

    def summary(self) -> list[str]:
        """Lines of text: the run, each rule after the last vote, and what stopped."""
        lines = [self._what]
        for rule in self.named:
            share, low, high = (values[-1] for values in self.probability(rule))
            tau = self.tau[rule][:, -1].mean()
            lines.append(
                f"{rule}: best arm named with probability {share:.3f} [{low:.3f}, {high:.3f}] "
                f"after {self.checkpoints[-1]:,} {self.unit}, Kendall's tau {tau:.3f}"
            )
        ended = self.cast < self.checkpoints[-1]
        if self.made_by.get("stop") == "policy" and self.stops is not None:
            ended &= self.stops.at < 0
        if ended.any():
            least = int(self.cast[ended].min())
            runs, votes = counted(int(ended.sum()), "run"), counted(least, self.unit[:-1])
            lines.append(f"{runs} ended before that, with {votes} or more")
        if self.stops is not None:
            stopped = self.stops.at >= 0
            wrong = stopped & ~self.truth.is_right(self.stops.named)
            lines.append(f"stopped: {stopped.mean():.1%} of runs, {wrong.mean():.2%} wrongly")
            if stopped.any():
                low, middle, high = np.quantile(self.stops.at[stopped], [0.25, 0.5, 0.75])
                then = f"median {middle:,.0f}, quartiles {low:,.0f}, {high:,.0f}"
                lines.append(f"{self.unit} then: {then}")
        return lines

    @property
    def _what(self) -> str:
        settings = [f", {name}={text}" for name, text in changed_settings(self.made_by).items()]
        runs = counted(self.num_seeds, "run")
        budget = counted(int(self.checkpoints[-1]), self.unit[:-1])
        return f"{self.variant} on {self.problem}: {runs} of {budget}{''.join(settings)}"

    def __repr__(self) -> str:
        return "<Found: " + "\n".join(self.summary()) + ">"

    def _repr_html_(self) -> str:
        return html_table("Found", [line.split(": ", 1) for line in self.summary() if ": " in line])

    def plot(self) -> Figure:
        """The probability of naming the best arm against votes or pulls, a line for each rule."""
        from jaxduel.plotting.figures import draw
        from jaxduel.plotting.line import votes_panels

        return draw(votes_panels({self.problem: self.lines()}, [self.num_seeds], self.unit))

    def lines(self, label: str | None = None) -> list[Line]:
        """The lines of `plot`, one for each rule; the label is the policy's by default."""
        from jaxduel.plotting.line import votes_line
        from jaxduel.plotting.words import names_of

        name, own = names_of(self.policy, self.changed)
        return [
            votes_line(name, label or own, self.checkpoints, self.probability(rule), rule)
            for rule in self.named
        ]

    def to_xarray(self) -> xarray.Dataset:
        """A data set with dimensions rule, seed (numbered from `first_seed` on) and the unit, votes
        or pulls; `made_by` is an attribute in JSON."""
        import xarray

        axes, rules = ("rule", "seed", self.unit), list(self.named)
        seeds = seed_numbers(self.made_by, self.num_seeds)
        variables: dict[str, Any] = {
            "named": (axes, np.stack([self.named[rule] for rule in rules])),
            "correct": (axes, np.stack([self.correct[rule] for rule in rules])),
            "simple_regret": (axes, np.stack([self.simple_regret(rule) for rule in rules])),
            "tau": (axes, np.stack([self.tau[rule] for rule in rules])),
            "cast": (("seed",), self.cast),
        }
        if self.top is not None:
            variables["top"] = (axes, np.stack([self.top[rule] for rule in rules]))
        if self.stops is not None:
            variables["stopped"] = (("seed",), self.stops.at)
            variables["stopped_named"] = (("seed",), self.stops.named)
        return xarray.Dataset(
            variables,
            coords={"rule": rules, "seed": seeds, self.unit: self.checkpoints},
            attrs={
                "policy": self.policy,
                "problem": self.problem,
                "target": self.truth.target,
                "made_by": json.dumps(dict(self.made_by)),
            },
        )

    def to_frame(self) -> pandas.DataFrame:
        """A row for each rule and checkpoint: policy, parameters, problem, num_arms, rule, votes or
        pulls, num_seeds, probability, lower95, upper95, simple_regret and tau (means)."""
        import pandas

        changed = changed_parameters(self.made_by)
        rows = []
        for rule in self.named:
            share, low, high = self.probability(rule)
            columns = {
                "policy": self.policy,
                "parameters": ", ".join(f"{name}={changed[name]}" for name in sorted(changed)),
                "problem": self.problem,
                "num_arms": len(self.truth.scores),
                "rule": rule,
                self.unit: self.checkpoints,
                "num_seeds": self.num_seeds,
                **{"probability": share, "lower95": low, "upper95": high},
                "simple_regret": self.simple_regret(rule).mean(axis=0),
                "tau": self.tau[rule].mean(axis=0),
            }
            rows.append(pandas.DataFrame(columns))
        return pandas.concat(rows, ignore_index=True)
