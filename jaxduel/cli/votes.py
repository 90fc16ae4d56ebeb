"""The commands on logs of votes: `jaxduel fit`, `plan` and `next`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

import jaxduel as jd
from jaxduel import interrupts, screen
from jaxduel.cli.answers import anchor_of, answers_of, with_columns
from jaxduel.cli.lines import pipe, write
from jaxduel.cli.options import (
    AS_IT_STANDS,
    Anchor,
    Arms,
    Count,
    MaybeFile,
    MaybeFolder,
    MaybeTop,
    Name,
    Reading,
    Settings,
    Switch,
    Whole,
    one_of,
    settings_of,
)
from jaxduel.cli.parsing import command_line
from jaxduel.cli.start import start_jax
from jaxduel.errors import InputError, printable, shorten, unknown_name, warn_caller
from jaxduel.files import csv_text, require_writable_file, write_whole

if TYPE_CHECKING:
    from jaxduel.studies.output import OutputFolder
    from jaxduel.votes import Fit, Votes

Log = Annotated[Positional[Path], arg(metavar="FILE")]
_GAPS = 3
"""Arms whose difference to the first is printed."""
_ARENA = "arena"
"""Word for the Chatbot Arena's votes in place of a file."""
_USUAL = ("uniform", "arena", "dts[self_duels=false]", "rucb")
"""Policies that `jaxduel plan` compares by default."""


def fit(
    votes: Log,
    model: Literal["free", "btl", "thurstone", "davidson"] = "btl",
    side: Switch = False,
    elo: Switch = False,
    anchor: Anchor = None,
    between: Arms = None,
    ranks: MaybeTop = None,
    reading: Reading = AS_IT_STANDS,
    out: MaybeFolder = None,
    matrix: MaybeFile = None,
) -> int:
    """Fit a log of votes: who is best, how sure, and what does not fit.

    Args:
      votes: CSV, JSONL, JSON, Parquet, PGN or PrefLib, also gzipped or zipped. Tables have columns
        left, right, winner; or winner, loser; or counts. Or arena: Chatbot Arena's.
      model: free: pairs apart; davidson: also of ties.
      side: fit an effect of the left side, or the first player.
      elo: print ratings, 400 / ln 10 points a unit of strength.
      anchor: arm of this rating (1000), in place of the mean of all.
      between: print of pairs of these arms, or of all, who is stronger.
      ranks: print ranges of ranks, and P(in the top N), or the top 3.
      reading: of the log.
      out: for a page, with figures; or FILE.csv, for the table.
      matrix: for the preferences, which --problem and check read.
    """
    called = dict(locals())
    folder, files = _output(out, votes)
    if matrix is not None:
        require_writable_file(matrix, votes, *files)
    if matrix is not None and matrix.suffix != ".csv":
        raise InputError(
            f"--matrix takes a name that ends with .csv, not '{shorten(matrix.name)}'."
        )
    counted = votes_of(votes, reading)
    fitted = jd.votes.fit(counted, model, side=side)
    answers = list(answers_of(fitted, elo, anchor, between, ranks))
    write(*_lines(fitted), *(line for answer in answers for line in answer.lines))
    if folder is not None:
        from jaxduel.studies.report.votes import write_fit

        arm, rating = anchor_of(anchor, counted.arms)
        top = 3 if ranks is None else ranks
        asked = {"anchor": arm, "rating": rating, "between": between, "top": top}
        write_fit(fitted, folder, **asked, command=command_line(fit, called))
        write(*(f"written: {path}" for path in folder.files))
    elif out is not None:
        from jaxduel.studies.tables import encoded

        write(f"written: {write_whole(out, encoded(with_columns(fitted.table(), answers), 'csv'))}")
    if matrix is not None:
        from jaxduel.studies.tables import matrix_text

        text = matrix_text(counted.arms, fitted.problem.preferences)
        write(f"written: {write_whole(matrix, text)}")
    return 0


def _output(out: Path | None, log: Path) -> tuple[OutputFolder | None, list[Path]]:
    """The folder for the page, if one is asked for, and the files that `--out` writes.

    Raises:
      InputError: if they cannot be written, or the log is one of them.
    """
    if out is None:
        return None, []
    if out.suffix.lower() == ".csv":
        return None, [require_writable_file(out, log)]
    from jaxduel.studies.output import OutputFolder
    from jaxduel.studies.report.votes import FILES

    folder = OutputFolder(out)
    return folder, [require_writable_file(out / name, log) for name in FILES]


def votes_of(path: Path, reading: Reading) -> Votes:
    """The votes of a file, or of the arena if no file has that name; their core if asked for."""
    if str(path) != _ARENA or path.exists():
        by = () if reading.voter is None else (f"voter={reading.voter}",)
        votes = jd.votes.read(
            path,
            **_columns((*reading.columns, *by)),
            ignore=reading.ignored,
            outcomes=_meanings(reading.outcomes),
            last_of=reading.last_of.split(",") if reading.last_of else (),
            header=reading.header or None,
        )
    else:
        for option, given in (
            *(("column", reading.columns), ("ignore", reading.ignored)),
            ("voter", reading.voter),
        ):
            if given:
                raise InputError(
                    f"--{option} names a column of a file, and there is no file {_ARENA}."
                )
        if reading.outcomes:
            raise InputError(f"--outcome names a word of a file, and there is no file {_ARENA}.")
        if reading.last_of:
            raise InputError(f"--last-of names columns, and there is no file {_ARENA}.")
        if reading.header:
            raise InputError(f"--no-header names columns, and there is no file {_ARENA}.")
        votes = jd.votes.arena()
    return votes if reading.core is None else votes.core(at_least=reading.core)


def _columns(settings: Sequence[str]) -> dict[str, Any]:
    """Columns by role, from ROLE=COLUMN."""
    from jaxduel.votes.columns import ROLES

    columns: dict[str, str] = {}
    for setting in settings:
        role, _, column = setting.partition("=")
        if not role or not column:
            raise InputError(f"--column {shorten(setting)}: NAME=VALUE is needed.")
        if role not in ROLES:
            raise unknown_name("column", role, ROLES)
        if role in columns:
            raise InputError(f"--column {shorten(setting)}: {role} is set twice.")
        columns[role] = column
    return columns


def _meanings(settings: Sequence[str]) -> dict[str, Any]:
    """Meanings by word for the winner, from WORD=MEANING; the word may be empty."""
    from jaxduel.votes.outcomes import MEANINGS

    meanings: dict[str, str] = {}
    for setting in settings:
        word, equals, meaning = setting.rpartition("=")
        if not equals or meaning not in MEANINGS:
            raise InputError(
                f"--outcome {shorten(setting)}: WORD=MEANING is needed, a meaning of "
                f"{', '.join(MEANINGS)}."
            )
        if word in meanings:
            raise InputError(f"--outcome {shorten(setting)}: '{shorten(word)}' is set twice.")
        meanings[word] = meaning
    return meanings


def _lines(fitted: Fit) -> Iterator[str]:
    """The table of arms, best first, and the misfits."""
    from jaxduel.display import columns_of, padded, short_names
    from jaxduel.votes.facts import facts

    votes = fitted.votes
    yield from facts(fitted, groups=False)
    table = fitted.table()
    names = short_names(tuple(table["arm"]))
    width = max(map(columns_of, ("arm", *names)))
    strong, digits = fitted.strengths is not None, "" if votes.whole else ".2f"
    strength = f"{'strength':>8}  {'95 % interval':<16}  " if strong else ""
    numbers = f"{'votes':>9}  {'wins':>9}  {'beats':>5}  {'Borda':>5}  {strength}P(best)"
    yield f"  {padded('arm', width)}  {numbers}"
    for name, row in zip(names, table.to_dict("records"), strict=True):
        if strong:
            interval = f"[{row['low']:z.2f}, {row['high']:z.2f}]"
            strength = f"{row['strength']:z8.2f}  {interval:<16}  "
        yield (
            f"  {padded(name, width)}  {row['votes']:9,{digits}}  {row['wins']:9,{digits}}  "
            f"{row['copeland']:5}  "
            f"{row['borda']:.3f}  {strength}{row['best']:7.3f}"
        )
    if strong:
        yield f"{names[0]} above the next, with 95 % intervals:"
        for name, row in zip(names[1:], table.iloc[1 : 1 + _GAPS].to_dict("records"), strict=False):
            yield (
                f"  {padded(name, width)}  by {row['gap']:z.2f}, "
                f"[{row['gap_low']:z.2f}, {row['gap_high']:z.2f}], with probability "
                f"{row['gap_above']:.3f}"
            )
    yield "what does not fit:"
    for line in fitted.misfit.lines():
        yield f"  {line}"


_Rule = Literal["copeland", "borda", "btl"]


@interrupts.keeps_what_finished()
def plan(
    votes: Log,
    policies: Annotated[tuple[str, ...], arg(metavar="NAME ...")] = _USUAL,
    target: Annotated[tuple[float, ...], arg(metavar="P ...")] = (0.95,),
    max_votes: Annotated[Count, arg(metavar="N")] = 20_000,
    model: Literal["free", "btl", "thurstone", "davidson"] = "btl",
    rule: Annotated[_Rule | None, one_of(_Rule)] = None,
    draws: Count = 200,
    seeds: Count = 20,
    seed: Whole = 0,
    reading: Reading = AS_IT_STANDS,
    out: MaybeFolder = None,
) -> int:
    """Plan further votes of a log: how many, and by which policy.

    Args:
      votes: log of votes, as of `jaxduel fit`.
      policies: names, as dts[alpha=0.6].
      target: probabilities of naming the best arm.
      max_votes: most further votes.
      model: model of the fit, as for `jaxduel fit`.
      rule: names the best arm; if left out btl, or copeland for free.
      draws: number of instances drawn.
      seeds: runs on each.
      seed: root of all randomness.
      reading: of the log.
      out: folder for curves, tables, a figure and text.
    """
    from jaxduel.studies.output import OutputFolder

    start_jax()
    folder = None if out is None else OutputFolder(out)
    planned = jd.votes.plan(
        votes_of(votes, reading),
        _entries(policies),
        targets=target,
        max_votes=max_votes,
        model=model,
        rule=rule,
        draws=draws,
        seeds=seeds,
        seed=seed,
        progress=True,
    )
    lines = planned.summary()
    write(*lines)
    if folder is not None:
        _write(folder, planned, lines)
        write(*(f"written: {path}" for path in folder.files))
    return 0 if len(planned.correct) == len(policies) else interrupts.INTERRUPTED


def _entries(labels: tuple[str, ...]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Policies by label, from NAME or NAME[PARAMETER=VALUE,...]."""
    found = {}
    for label in labels:
        name, bracket, inside = label.partition("[")
        if label in found:
            raise InputError(f"--policies: '{label}' is named twice.")
        if bracket and not inside.endswith("]"):
            raise InputError(f"--policies {label}: NAME or NAME[PARAMETER=VALUE,...] is needed.")
        settings = inside.removesuffix("]").split(",") if bracket else ()
        found[label] = name, settings_of(name, settings, "--policies")
    return found


def next_votes(
    votes: Log,
    policy: Name = "dts",
    num: Count = 20,
    settings: Annotated[Settings, arg(name="set")] = (),
    seed: Whole = 0,
    reading: Reading = AS_IT_STANDS,
    out: MaybeFile = None,
) -> int:
    """Name the pairs to vote on next, as CSV.

    Args:
      votes: log of votes, as of `jaxduel fit`.
      policy: name of the policy (`jaxduel list policies`).
      num: number of pairs, put to people at once.
      settings: a parameter of the policy; may be repeated.
      seed: root of all randomness.
      reading: of the log.
      out: file for the pairs; printed if left out.
    """
    from jaxduel.policies.registry import require_no_pulls
    from jaxduel.votes.planning import with_batches

    start_jax()
    if out is not None:
        require_writable_file(out, votes)
    log = votes_of(votes, reading)
    parameters = with_batches(policy, settings_of(policy, settings))
    require_no_pulls(policy)
    horizon = int(log.wins.sum()) + num
    chosen = jd.policies.make(policy, num_arms=log.num_arms, horizon=horizon, **parameters)
    pairs = jd.votes.next_pairs(log, chosen, num, seed)
    rows = [(log.arms[left], log.arms[right]) for left, right in pairs]
    text = csv_text(["left", "right"], rows, for_spreadsheets=False)  # names unchanged from the log
    if log.notes:  # only the pairs: the reader is another program
        said = f"{log.name}: {'; '.join(log.notes)}"
        screen.say(said) if out is None else write(said)
    if out is None:
        pipe(text.encode())
    else:
        write(f"written: {write_whole(out, text)}")
    if len(pairs) < num:
        warn_caller(f"{policy} asks for {len(pairs)} pairs: else it compares arms with themselves.")
    return 0


def _write(folder: Any, planned: Any, lines: list[str]) -> None:
    """Writes text, tables and figure of a plan."""
    from jaxduel.studies.tables import encoded

    folder.write("plan.txt", "\n".join([*map(printable, lines), ""]))
    folder.write("plan-curves.csv", encoded(planned.to_frame(), "csv"))
    folder.write("plan-votes-needed.csv", encoded(planned.targets_frame(), "csv"))
    folder.write_figure("plan", planned.plot())
