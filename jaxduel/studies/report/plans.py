"""The section of a plan of further votes, from the files of `jaxduel plan --out` in a folder."""

from __future__ import annotations

from pathlib import Path

from jaxduel.display import counted
from jaxduel.errors import printable
from jaxduel.files import read_whole, why
from jaxduel.studies.report.records import Figure, Section
from jaxduel.votes import Votes

TEXT = "plan.txt"
"""The file whose presence means that a folder holds a plan."""
_PICTURE, _FILES = "plan.png", ("plan.pdf", "plan-curves.csv", "plan-votes-needed.csv")
_MOST_BYTES, _MOST_LINES = 2**20, 200
"""Largest size of the file, and most lines of it that are shown."""
_CAPTION = "Probability that the best arm is named after so many further votes, with 95 % bands."


def plan_section(folder: Path, votes: Votes) -> Section | None:
    """The section of a plan; None if the folder holds none. The files may come from anybody: the
    text is limited in size and shown as text.

    Args:
      folder: the folder of the plan.
      votes: the votes of the page; a plan of others is said to be one.
    """
    figures: tuple[Figure, ...] = ()
    try:
        text = read_whole(folder / TEXT, _MOST_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        notes = (f"{TEXT} cannot be read: {why(error)}.",)
    else:
        notes = tuple(text.splitlines()[:_MOST_LINES])
        now = f"{votes.name}: {votes.num_arms} arms, {counted(votes.num_votes, 'vote')};"
        if not text.startswith(printable(now)):
            notes = ("This plan is of other votes than the page: make it again.", *notes)
        if (folder / _PICTURE).is_file():
            title, alt = "Naming the best arm", f"A curve for each policy. {_CAPTION}"
            curves = Figure("curves", title, _CAPTION, alt, picture=_PICTURE, files=_FILES)
            figures = (curves,)
    return Section("plan", "Plan", notes=notes, figures=figures)
