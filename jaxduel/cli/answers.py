"""Answers of `jaxduel fit` about ratings, pairs and ranks: lines, and columns of its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jaxduel.errors import InputError, shorten

if TYPE_CHECKING:
    import pandas as pd

    from jaxduel.votes import Fit


class Answer(NamedTuple):
    """An answer to one question."""

    lines: list[str]
    columns: pd.DataFrame
    """Columns for the table of the fit, and arm."""


def answers_of(
    fitted: Fit,
    elo: bool,
    anchor: str | None,
    between: tuple[str, ...] | None,
    top: int | None,
) -> Iterator[Answer]:
    """Answers to the questions asked.

    Args:
      fitted: the fit.
      elo: ratings.
      anchor: NAME or NAME=RATING of the arm that ratings are relative to; the mean if None.
      between: arms to compare in pairs, all if empty; none if None.
      top: ranks, with as many places in the top; none if None.

    Raises:
      InputError: an arm that the fit does not have or that is named twice, the free model, or an
        anchor without ratings.
    """
    if anchor is not None and not elo:
        raise InputError("--anchor is of ratings: give --elo too.")
    if elo:
        yield _ratings(fitted, anchor)
    if between is not None:
        yield _pairs(fitted, between)
    if top is not None:
        yield _ranks(fitted, top)


def with_columns(table: pd.DataFrame, answers: Iterable[Answer]) -> pd.DataFrame:
    """The table of a fit with the columns of the answers."""
    for answer in answers:
        table = table.merge(answer.columns, on="arm")
    return table


def _ratings(fitted: Fit, anchor: str | None) -> Answer:
    from jaxduel.display import columns_of, padded, short_names

    arm, rating = anchor_of(anchor, fitted.votes.arms)
    table = fitted.elo(arm, rating)
    relative = "the mean" if arm is None else short_names((arm,))[0]
    lines = [f"Elo ratings with 95 % intervals, relative to {relative} at {rating:.10g}:"]
    names = short_names(tuple(table["arm"]))
    width = max(map(columns_of, names))
    lines += [
        f"  {padded(name, width)}  {elo:z7.0f}  [{low:z.0f}, {high:z.0f}]"
        for name, (elo, low, high) in zip(names, table.iloc[:, 1:].to_numpy(), strict=True)
    ]
    return Answer(lines, table)


def _pairs(fitted: Fit, arms: Sequence[str]) -> Answer:
    import pandas as pd

    from jaxduel.display import columns_of, padded, short_names

    table = fitted.between(*arms)
    arms = arms or fitted.votes.arms
    short = dict(zip(arms, short_names(tuple(arms)), strict=True))
    width = max(map(columns_of, ("second", *short.values())))
    half = ", half of ties" if fitted.model == "davidson" else ""
    interval = "95 % interval"
    lines = [
        f"pairs (wins: the first wins a vote{half}):",
        f"  {padded('first', width)}  {padded('second', width)}  P(stronger)    gap  "
        f"{interval:<16}   wins  {interval}",
    ]
    for first, second, gap, low, high, above, wins, least, most in table.itertuples(index=False):
        between = f"[{low:z.2f}, {high:z.2f}]"
        lines.append(
            f"  {padded(short[first], width)}  {padded(short[second], width)}  {above:11.3f}  "
            f"{gap:z5.2f}  {between:<16}  {wins:.3f}  [{least:.3f}, {most:.3f}]"
        )
    columns = [f"above_{arm}" for arm in fitted.votes.arms]
    matrix = pd.DataFrame(fitted.stronger, columns=columns)
    matrix.insert(0, "arm", fitted.votes.arms)
    return Answer(lines, matrix)


def _ranks(fitted: Fit, top: int) -> Answer:
    from jaxduel.display import columns_of, padded, range_text, short_names

    table = fitted.ranks(top)
    names = short_names(tuple(table["arm"]))
    width = max(map(columns_of, ("arm", *names)))
    lines = [
        "ranks, with ranges that hold for all arms at once with probability 0.95:",
        f"  {padded('arm', width)}  rank  {'range':<12}  P(top {top})",
    ]
    for name, (_, rank, low, high, chance) in zip(
        names, table.itertuples(index=False), strict=True
    ):
        lines.append(
            f"  {padded(name, width)}  {rank:4}  {range_text((low, high)):<12}  {chance:8.3f}"
        )
    return Answer(lines, table)


def anchor_of(text: str | None, arms: Sequence[str]) -> tuple[str | None, float]:
    """An arm and its rating, from NAME or NAME=RATING; a name may have an equals sign itself. None
    is the mean of all arms.

    Raises:
      InputError: a rating that is no number.
    """
    name, equals, rating = (text or "").rpartition("=")
    if text in (None, *arms) or not equals:
        return text, 1000.0
    try:
        return name, float(rating)
    except ValueError:
        raise InputError(f"--anchor {shorten(text)}: NAME or NAME=RATING is needed.") from None
