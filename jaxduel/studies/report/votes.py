"""The page of a fit of votes: ratings, ranks, pairs, preferences, what does not fit, and a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxduel.display import counted, range_text, told_apart
from jaxduel.errors import InputError
from jaxduel.plotting.intervals import intervals_figure
from jaxduel.simulation.identity import versions
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.report.fit_json import fit_json
from jaxduel.studies.report.page import NAME, Page
from jaxduel.studies.report.plans import plan_section
from jaxduel.studies.report.records import Figure, Section, Table
from jaxduel.studies.tables import encoded, matrix_text
from jaxduel.votes.counts import arm_number
from jaxduel.votes.facts import facts
from jaxduel.votes.figures import ratings_panel

if TYPE_CHECKING:
    import pandas as pd

    from jaxduel.votes import Fit

FILES = (NAME, "fit.csv", "fit.json", "pairs.csv", "ratings.csv", "preferences.csv")
"""Files of the page's folder that a log of votes could be mistaken for."""
MOST_ARMS = 200
"""Most arms, and most pairs, that a page shows; the files have all."""
_IN_A_PICTURE = 35
"""Most arms in one picture."""
_SMALL = 12
"""Most arms of a heat map that can be read at the width of a phone."""
_LONGEST = 36
"""Most letters of a name."""
_MODELS = {
    "btl": "btl: one strength for each arm, P(i beats j) = 1 / (1 + exp(-d)) with their difference "
    "d; ties are left out",
    "thurstone": "thurstone: one strength for each arm, P(i beats j) = Phi(d) with their "
    "difference d; ties are left out",
    "davidson": "davidson: one strength for each arm, and ties, which are likelier between equals",
    "free": "free: each pair for itself; the best arms beat most others",
}
_ODDS = {"thurstone": "93 wins to a loss"}
"""Meaning of 400 points, where it is not that of chess."""
_VERDICTS = {
    True: "Nothing in the votes speaks against {model}.",
    False: "The votes contradict {model}: strengths alone do not explain who beats whom. With very "
    "many votes that is so of any model; the worst pair tells whether it matters.",
    None: "There is no test of {model}.",
}
_PLAN = "How many more votes it takes: jaxduel plan --out with this folder, then jaxduel fit again."


def write_fit(
    fit: Fit,
    out: str | os.PathLike[str] | OutputFolder,
    *,
    anchor: int | str | None = None,
    rating: float = 1000.0,
    between: Sequence[int | str] | None = None,
    top: int = 3,
    command: str = "",
) -> Path:
    """Writes the page of a fit, `index.html`, with its figures and numbers beside.

    Files: fit.csv (a row for each arm), fit.json (everything; `fit_json.schema`), pairs.csv, and
    ratings and preferences as PNG, PDF and CSV; `jaxduel check` reads preferences.csv. Where the
    folder has the files of `jaxduel plan --out`, the page shows them.

    Args:
      fit: the fit.
      out: the folder.
      anchor: the arm, by its number or name, that ratings are relative to; the mean if None.
      rating: its rating.
      between: arms to compare in pairs, all if empty; each arm with the next if None.
      top: places that count as the top.
      command: the command line that makes the page again, if any.

    Returns:
      The path of the page.

    Raises:
      InputError: if the folder cannot be written, for unknown arms, and for an anchor or pairs of
        the free model.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.studies.report.votes import write_fit
      >>> votes = jd.votes.from_counts([[0, 60, 70], [40, 0, 60], [30, 40, 0]])
      >>> write_fit(jd.votes.fit(votes), "board").as_posix()
      'board/index.html'
    """
    folder = out if isinstance(out, OutputFolder) else OutputFolder(out)
    if fit.strengths is None and (anchor, between) != (None, None):
        raise InputError("the free model has no strengths: a page of it takes no anchor or pairs.")
    arm = None if anchor is None else fit.votes.arms[arm_number(fit.votes, anchor)]
    found = _numbers(fit, arm, rating, between, top)
    said = facts(fit)
    sections = [_ratings(found, said, folder), _arms(found)]
    if fit.strengths is not None:
        folder.write("pairs.csv", encoded(found.pairs, "csv"))
        sections.append(_pairs(found))
    sections += [_preferences(found, folder), _misfit(found)]
    if (plan := plan_section(folder.path, fit.votes)) is not None:
        sections.append(plan)
    sections.append(_about(found, () if plan else (_PLAN,)))
    folder.write("fit.csv", encoded(found.arms, "csv"))
    text = fit_json(fit, said, found.arms, found.pairs, arm, rating, top, command)
    folder.write("fit.json", text)
    title = told_apart([fit.votes.name], 60)[0]
    commands = {"Made again by": command} if command else {}
    shown = [(section, folder.path) for section in sections]
    return Page(title, _lead(found), shown, commands, style="votes.css").write(folder)


class _Numbers(NamedTuple):
    """The numbers of a page."""

    fit: Fit
    anchor: str | None
    rating: float
    are_neighbours: bool
    top: int
    arms: pd.DataFrame
    """Rows of `Fit.table`, for models of strengths with columns of `Fit.elo` and `Fit.ranks`."""
    pairs: pd.DataFrame
    """Rows of `Fit.between`."""
    names: dict[str, str]
    """Names for the page, by arm."""


def _numbers(
    fit: Fit, anchor: str | None, rating: float, between: Sequence[int | str] | None, top: int
) -> _Numbers:
    import pandas as pd

    arms, pairs = fit.table(), pd.DataFrame()
    if fit.strengths is not None:
        arms = arms.merge(fit.elo(anchor, rating), on="arm").merge(fit.ranks(top), on="arm")
        if between is None:
            shown = arms["arm"].tolist()[:MOST_ARMS]
            pairs = pd.concat([fit.between(*two) for two in pairwise(shown)], ignore_index=True)
        else:
            pairs = fit.between(*between)
    names = dict(zip(arms["arm"], told_apart(arms["arm"].tolist(), _LONGEST), strict=True))
    return _Numbers(fit, anchor, rating, between is None, top, arms, pairs, names)


def _lead(found: _Numbers) -> str:
    fit, votes = found.fit, found.fit.votes
    first, second = np.argsort(-fit.best, kind="stable")[:2].tolist()
    what = "the best" if fit.strengths is not None else "one that beats most others"
    said = f"{found.names[votes.arms[first]]} is {what} with probability {fit.best[first]:.3f}"
    if fit.best[second] >= 0.0005:
        said += f", {found.names[votes.arms[second]]} with {fit.best[second]:.3f}"
    return f"{said}."


def _ratings(found: _Numbers, said: Sequence[str], folder: OutputFolder) -> Section:
    """Facts about the fit, and pictures of the ratings, or of Borda scores."""
    fit, arms = found.fit, found.arms
    columns = ["arm", "copeland", "borda"]
    title, notes = "Scores", ["The model has no strengths: each arm has its mean preference."]
    if fit.strengths is not None:
        columns = ["arm", "elo", "elo_low", "elo_high"]
        title = "Ratings"
        odds = _ODDS.get(fit.model, "ten wins to a loss")
        who = "the mean of all arms" if found.anchor is None else found.names[found.anchor]
        notes = [
            f"Ratings are on Elo's scale: a lead of 400 points is {odds}. They are relative to "
            f"{who}, at {found.rating:.10g}.",
            "Bars are 95 % intervals. Whether an arm is above another, pairs tell, not bars that "
            "overlap.",
        ]
    folder.write("ratings.csv", encoded(arms.filter(columns), "csv"))
    shown = arms.head(MOST_ARMS)
    if len(shown) < len(arms):
        notes.append(_first(len(shown), len(arms), "arms", "ratings.csv"))
    figures, place = [], 1
    panels = ratings_panel(shown, found.anchor, found.rating).parts(_IN_A_PICTURE)
    for number, panel in enumerate(panels, 1):
        name = "ratings" if number == 1 else f"ratings-{number}"
        png, pdf = folder.write_figure(name, intervals_figure([panel]))
        last = place + len(panel.names) - 1
        part = [found.names[arm] for arm in arms["arm"].tolist()[place - 1 : last]]
        figure = Figure(
            str(number),
            title if len(panels) == 1 else f"Places {place} to {last}",
            f"{title} of {counted(len(part), 'arm')}, the best first.",
            f"{title}, from {part[0]}, the best, to {part[-1]}. The next table has the numbers.",
            picture=png.name,
            files=(pdf.name, "ratings.csv"),
        )
        figures.append(figure)
        place = last + 1
    return Section("ratings", title, notes=(*said, *notes), figures=tuple(figures))


def _arms(found: _Numbers) -> Section:
    """A table of the arms."""
    fit = found.fit
    strong, digits = fit.strengths is not None, "" if fit.votes.whole else ".2f"
    rows = []
    for row in found.arms.head(MOST_ARMS).to_dict("records"):
        counts = tuple(f"{row[name]:,{digits}}" for name in ("votes", "wins", "ties"))
        scores = (f"{row['copeland']}", f"{row['borda']:.3f}")
        if not strong:
            rows.append((found.names[row["arm"]], *scores, f"{row['best']:.3f}", *counts))
            continue
        entries = (
            f"{row['elo']:z.0f} [{row['elo_low']:z.0f}, {row['elo_high']:z.0f}]",
            f"{row['rank']}",
            range_text((row["rank_low"], row["rank_high"])),
            f"{row['best']:.3f}",
            f"{row[f'top_{found.top}']:.3f}",
            f"{row['strength']:z.2f} [{row['low']:z.2f}, {row['high']:z.2f}]",
        )
        rows.append((found.names[row["arm"]], *entries, *counts, *scores))
    header = ("arm", "beats", "Borda", "P(best)", "votes", "wins", "ties")
    notes = [
        "Beats: how many arms it beats in the fitted preferences; Borda: its mean probability to "
        "win a vote; P(best): the probability that it is the best.",
    ]
    if strong:
        of_ranks = ("rating [95 %]", "rank", "ranks", "P(best)", f"P(top {found.top})")
        header = ("arm", *of_ranks, "strength [95 %]", *header[4:], *header[1:3])
        notes.append(
            "Ranks: with probability 0.95 the ranks of all arms are within these ranges at once. "
            "Strengths are relative to the mean of all."
        )
    if len(rows) < len(found.arms):
        notes.append(_first(len(rows), len(found.arms), "arms", "fit.csv"))
    table = Table("Arms, the best first", header, tuple(rows))
    return Section("arms", "Numbers", notes=tuple(notes), tables=(table,))


def _pairs(found: _Numbers) -> Section:
    """A table of each arm and the next, or of the pairs asked for."""
    rows = tuple(
        (
            f"{found.names[row['first']]}",
            f"{found.names[row['second']]}",
            f"{row['gap_above']:.3f}",
            f"{row['gap']:z.2f} [{row['gap_low']:z.2f}, {row['gap_high']:z.2f}]",
            f"{row['preference']:.3f} [{row['preference_low']:.3f}, {row['preference_high']:.3f}]",
        )
        for row in found.pairs.head(MOST_ARMS).to_dict("records")
    )
    half = " (half of the ties counts)" if found.fit.model == "davidson" else ""
    notes = [
        "How sure it is that the first is the stronger, by how much, and how probably it wins a "
        f"vote{half}. A gap of 1 is 174 points. pairs.csv has these numbers."
    ]
    if len(rows) < len(found.pairs):
        notes.append(_first(len(rows), len(found.pairs), "pairs", "pairs.csv"))
    title, caption = "Pairs", "The pairs asked for"
    if found.are_neighbours:
        title, caption = "Neighbours", "Each arm and the next"
    header = ("first", "second", "P(stronger)", "gap [95 %]", "P(first wins) [95 %]")
    table = Table(caption, header, rows)
    return Section("pairs", title, notes=tuple(notes), tables=(table,))


def _preferences(found: _Numbers, folder: OutputFolder) -> Section:
    """The heat map."""
    fit = found.fit
    order = [fit.votes.arms.index(arm) for arm in found.arms["arm"]]
    matrix = fit.problem.preferences[order][:, order]
    text = matrix_text(found.arms["arm"].tolist(), matrix)
    png, pdf, own = folder.write_figure("preferences", fit.plot_matrix(), text)
    half = "; half of the ties counts" if fit.model == "davidson" else ""
    grey = "" if fit.strengths is not None else " Grey: no decisive vote."
    figure = Figure(
        "matrix" if len(order) <= _SMALL else "large",
        "Who beats whom",
        f"Probability that the arm of the row wins a vote against that of the column{half}; blue "
        "above 1/2, red below. Arms are in the order of the table, the best first; numbers above "
        f"columns, if any, are places in it.{grey}",
        f"Heat map of the preferences of {counted(len(order), 'arm')}, from {matrix.min():.2f} to "
        f"{matrix.max():.2f}.",
        picture=png.name,
        files=(pdf.name, own.name),
    )
    notes = ("jaxduel check preferences.csv tells more of this matrix; --problem takes it.",)
    return Section("preferences", "Preferences", notes=notes, figures=(figure,))


def _misfit(found: _Numbers) -> Section:
    """The section on misfit, in words."""
    misfit = found.fit.misfit
    lines = misfit.lines([found.names[arm] for arm in found.fit.votes.arms])
    return Section(
        "misfit",
        "What does not fit",
        notes=(_VERDICTS[misfit.fits].format(model=misfit.model), *map(str.strip, lines)),
    )


def _about(found: _Numbers, notes: tuple[str, ...]) -> Section:
    """The model, versions and files."""
    fit = found.fit
    rows = [("model", _MODELS[fit.model])]
    if fit.strengths is not None:
        rows.append(("prior of a strength", f"N(0, {fit.prior_std:g}^2)"))
    rows += [
        ("draws", f"{fit.effective_draws:,.0f} effective ones behind probabilities"),
        ("versions", ", ".join(f"{name} {one}" for name, one in versions().items())),
        ("beside this page", "fit.csv has a row for each arm, fit.json all numbers"),
    ]
    return Section("about", "About", facts=tuple(rows), notes=notes)


def _first(count: int, of: int, what: str, file: str) -> str:
    return f"The first {count:,} of {of:,} {what}: {file} has all."
