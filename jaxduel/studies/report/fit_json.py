"""A fit of votes as JSON: the content of fit.json, and its schema."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxduel.simulation.identity import versions

if TYPE_CHECKING:
    import pandas as pd

    from jaxduel.votes import Fit

FORMAT = 1
"""Number of the schema: it changes with the meaning of a field, not where fields are added."""


@dataclasses.dataclass(frozen=True)
class ArmRecord:
    """An arm. Fields of strengths, ratings and ranks are null in the free model.

    Attributes:
      arm: its name.
      votes: number of its votes, ties included.
      wins: number of votes that it won.
      ties: number of its ties.
      copeland: number of arms that it beats in the preferences.
      borda: its mean preference against the others.
      best: posterior probability that it is the best.
      strength: at the mode, relative to the mean of all; a unit is odds of e to 1 in btl.
      strength_low: 2.5 % quantile of the strength.
      strength_high: 97.5 % quantile of the strength.
      gap: strength of the first arm less that of this one; null for the first.
      gap_low: 2.5 % quantile of the gap.
      gap_high: 97.5 % quantile of the gap.
      gap_above: posterior probability that the first arm is stronger.
      elo: rating, 400 / ln 10 points a unit of strength.
      elo_low: lower end of its 95 % interval, relative to `elo_anchor`.
      elo_high: upper end.
      rank: by strength, 1 the strongest's, shared by level arms.
      rank_low: first rank of its range; all ranges hold at once with probability 0.95.
      rank_high: last rank of its range.
      top: posterior probability to be among the first `top` arms.
    """

    arm: str
    votes: float
    wins: float
    ties: float
    copeland: int
    borda: float
    best: float
    strength: float | None = None
    strength_low: float | None = None
    strength_high: float | None = None
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    gap_above: float | None = None
    elo: float | None = None
    elo_low: float | None = None
    elo_high: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    top: float | None = None


@dataclasses.dataclass(frozen=True)
class PairRecord:
    """A pair of arms.

    Attributes:
      first: name of an arm.
      second: name of the other arm.
      gap: strength of the first less that of the second.
      gap_low: 2.5 % quantile of the gap.
      gap_high: 97.5 % quantile of the gap.
      gap_above: posterior probability that the first is stronger.
      preference: probability that the first wins a vote against the second.
      preference_low: 2.5 % quantile of the preference.
      preference_high: 97.5 % quantile of the preference.
    """

    first: str
    second: str
    gap: float
    gap_low: float
    gap_high: float
    gap_above: float
    preference: float
    preference_low: float
    preference_high: float


@dataclasses.dataclass(frozen=True)
class MisfitRecord:
    """The test of the model against the free model.

    Attributes:
      model: the model tested; btl for the free model.
      fits: whether the p-value is at least 0.01; null where nothing is tested.
      p_value: of the deviance; null where nothing is tested.
      deviance: twice the difference of the log-likelihoods.
      degrees_of_freedom: of the deviance.
      expected: mean of the deviance if the model is true.
      std: its standard deviation then.
      worst_pair: the pair that the model misses by most: names of the arm that wins more often than
        it should and of the other; null without degrees of freedom.
      worst_observed: share of their decisive votes that the first of these won.
      worst_expected: the model's probability for it.
      worst_errors: the difference of both, in standard errors of the model.
      cycles: number of triples that are cyclic in the majorities of their votes.
      expected_cycles: mean of that number if the model is true.
      triples: number of triples of which all pairs have a decisive vote.
      never_compared: number of pairs without votes.
    """

    model: str
    fits: bool | None
    p_value: float | None
    deviance: float
    degrees_of_freedom: int
    expected: float
    std: float
    worst_pair: tuple[str, str] | None
    worst_observed: float | None
    worst_expected: float | None
    worst_errors: float | None
    cycles: int
    expected_cycles: float
    triples: int
    never_compared: int


@dataclasses.dataclass(frozen=True)
class FitRecord:
    """A fit of votes. Matrices have the arms in the order of `arms`.

    Attributes:
      format: number of this schema.
      name: name of the votes, such as the file's.
      num_votes: number of votes, ties included.
      num_ties: number of ties.
      facts: lines about the fit as a whole: the votes, the model, and how the file was read.
      model: free, btl, thurstone or davidson.
      prior_std: standard deviation of the priors of strengths; null in the free model.
      nu: davidson's parameter of ties; null in other models.
      side: the effect of the left side, value, low, high, above and moved; null unless fitted.
      design_effect: variance of strengths over that of independent votes; null without voters.
      effective_draws: number of unweighted draws that tell as much as those behind probabilities.
      arms: the arms, the best first.
      elo_anchor: name of the arm that ratings are relative to; null for the mean of all.
      elo_rating: its rating.
      top: places that count as the top.
      pairs: each arm and the next, or the pairs asked for; empty in the free model.
      preferences: probability that the arm of the row wins a vote against that of the column; half
        of davidson's ties counts.
      stronger: posterior probability that the arm of the row is stronger than that of the column,
        1/2 on the diagonal; null in the free model.
      misfit: the test of the model.
      versions: of jaxduel, jax, jaxlib, numpy, scipy and python.
      command: the command line; empty if there was none.
    """

    format: int
    name: str
    num_votes: float
    num_ties: float
    facts: tuple[str, ...]
    model: str
    prior_std: float | None
    nu: float | None
    side: dict[str, float] | None
    design_effect: float | None
    effective_draws: float
    arms: tuple[ArmRecord, ...]
    elo_anchor: str | None
    elo_rating: float
    top: int
    pairs: tuple[PairRecord, ...]
    preferences: tuple[tuple[float, ...], ...]
    stronger: tuple[tuple[float, ...], ...] | None
    misfit: MisfitRecord
    versions: dict[str, str]
    command: str


def fit_json(
    fit: Fit,
    said: Sequence[str],
    arms: pd.DataFrame,
    pairs: pd.DataFrame,
    anchor: str | None,
    rating: float,
    top: int,
    command: str,
) -> str:
    """The text of fit.json, by `schema`.

    Args:
      fit: the fit.
      said: lines of `jaxduel.votes.facts.facts`.
      arms: rows of `Fit.table`, the best first, with the columns of `Fit.elo` and `Fit.ranks`.
      pairs: rows of `Fit.between`.
      anchor: the anchor's name, or None.
      rating: its rating.
      top: places that count as the top.
      command: the command line, or "".
    """
    names = {"low": "strength_low", "high": "strength_high", f"top_{top}": "top"}
    arms = arms.rename(columns=names)
    order = [fit.votes.arms.index(arm) for arm in arms["arm"]]
    record = FitRecord(
        format=FORMAT,
        name=fit.votes.name,
        num_votes=fit.votes.num_votes,
        num_ties=fit.votes.num_ties,
        facts=tuple(said),
        model=fit.model,
        prior_std=fit.prior_std,
        nu=fit.nu,
        side=None if fit.side is None else fit.side._asdict(),
        design_effect=fit.design_effect,
        effective_draws=fit.effective_draws,
        arms=tuple(ArmRecord(**row) for row in _rows(arms)),
        elo_anchor=anchor,
        elo_rating=rating,
        top=top,
        pairs=tuple(PairRecord(**row) for row in _rows(pairs)),
        preferences=fit.problem.preferences[order][:, order].tolist(),
        stronger=None if fit.stronger is None else fit.stronger[order][:, order].tolist(),
        misfit=_misfit(fit),
        versions=versions(),
        command=command,
    )
    return json.dumps(record, default=vars, allow_nan=False)


def schema() -> dict[str, Any]:
    """The JSON schema of fit.json.

    Example:
      >>> from jaxduel.studies.report.fit_json import schema
      >>> schema()["properties"]["model"]["description"]
      'free, btl, thurstone or davidson.'
    """
    from pydantic import TypeAdapter

    found = TypeAdapter(FitRecord).json_schema()
    for record in (FitRecord, ArmRecord, PairRecord, MisfitRecord):
        described = found if record is FitRecord else found["$defs"][record.__name__]
        text, _, attributes = str(inspect.getdoc(record)).partition("\n\nAttributes:")
        described["description"] = " ".join(text.split())
        for name, words in re.findall(r"\n  (\w+): (.+(?:\n    .+)*)", attributes):
            described["properties"][name]["description"] = " ".join(words.split())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def _misfit(fit: Fit) -> MisfitRecord:
    misfit, arms = fit.misfit, fit.votes.arms
    worst = misfit.worst
    return MisfitRecord(
        model=misfit.model,
        fits=misfit.fits,
        p_value=None if misfit.fits is None else misfit.p_value,
        deviance=misfit.deviance,
        degrees_of_freedom=misfit.degrees_of_freedom,
        expected=misfit.expected,
        std=float(misfit.std),
        worst_pair=None if worst is None else (arms[worst.arms[0]], arms[worst.arms[1]]),
        worst_observed=None if worst is None else worst.observed,
        worst_expected=None if worst is None else worst.expected,
        worst_errors=None if worst is None else worst.errors,
        cycles=misfit.num_cycles,
        expected_cycles=misfit.expected_cycles,
        triples=misfit.num_triples,
        never_compared=len(misfit.never_compared),
    )


def _rows(table: pd.DataFrame) -> Iterable[Mapping[str, Any]]:
    """Rows of a table, NaN as None."""
    for row in table.to_dict("records"):
        yield {
            str(name): None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
