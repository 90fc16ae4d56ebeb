"""The section of a paper, from the measurements and drawings of `reproduce`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jaxduel.progress import duration
from jaxduel.studies.claims import Claim
from jaxduel.studies.papers.paper import Order, Panel, Paper
from jaxduel.studies.pictures import missing_words
from jaxduel.studies.report.charts import Seen, seen
from jaxduel.studies.report.records import ClaimRow, Earlier, Figure, Measured, Section
from jaxduel.studies.report.words import capital, plain
from jaxduel.studies.reproduction import Report
from jaxduel.studies.swept import Swept

_LONGEST = 60
"""Most letters of the instances in a heading."""
_MADE = (
    ("platform", "platform"),
    ("device", "device"),
    ("random numbers", "prng"),
    ("begun", "created"),
)
_MOST_EARLIER = 4
"""Most earlier verdicts that a claim keeps: the latest."""
_OPEN = "open-"
"""Begins the names of figures of open choices."""
_UNFINISHED = "not all that it shows is simulated yet"


def command_of(name: str, order: Order, figure: str = "") -> str:
    """The command line that makes a figure again, or Python if the command lacks an option."""
    if order.horizon is not None or order.num_arms is not None:
        chosen = {"figure": figure, **vars(order)}
        del chosen["times"]
        said = ", ".join(f"{key}={value!r}" for key, value in chosen.items() if value)
        return f"jaxduel.reproduce({name!r}, {said})"
    parts = ["jaxduel", "reproduce", name, *(["--figure", figure] if figure else [])]
    parts += ["--full"] if order.full else []
    parts += ["--runs", str(order.runs)] if order.runs is not None else []
    parts += ["--seed", str(order.seed)] if order.seed else []
    parts += ["--decide", f"{order.decide:g}"] if order.decide is not None else []
    return shlex.join(parts)


def paper_section(
    paper: Paper,
    asked: Sequence[str],
    order: Order,
    report: Report,
    failures: Mapping[str, str],
    notes: Sequence[str] = (),
    earlier: Section | None = None,
    figure: str = "",
) -> Section:
    """The section of a paper.

    Args:
      asked: names of the panels asked for.
      failures: reasons for missing data, by the name of a panel.
      earlier: the section of an earlier call; its verdicts are kept if its order was another one.
      figure: the figure or panel that was asked for; "" for all.
    """
    options = command_of(paper.name, order, figure)
    before, after, _ = report.blocks
    seconds = report.seconds
    known = before == 0
    if earlier is not None and earlier.order == options and before:
        seconds = earlier.seconds + (seconds if report.simulated else 0.0)
        known = earlier.seconds_known and earlier.blocks >= before
    figures = [
        _figure(paper, paper.panel(name), order, report, failures.get(name)) for name in asked
    ]
    lacking = [figure.name for figure in figures if figure.missing]
    return Section(
        name=paper.name,
        title=paper.TITLE,
        order=options,
        facts=(
            ("command", options),
            ("run time", _time(seconds, known)),
            ("seed", str(order.seed)),
            *origin(report.made_by),
        ),
        notes=tuple(map(plain, notes)),
        claims=tuple(_with_earlier(claim_row(c), options, earlier) for c in report.claims),
        figures=(*figures, *_open_figures(options, earlier)),
        seconds=seconds,
        seconds_known=known,
        blocks=after,
        missing=missing_words(lacking),
    )


def _time(seconds: float, known: bool) -> str:
    least = "" if known else "at least "
    more = "" if known else ", an earlier call was killed or left no record"
    return f"{least}{duration(seconds)} by the clock, drawing and compilation included{more}"


def origin(made_by: Mapping[Any, Any]) -> list[tuple[str, str]]:
    """Versions, code and machine behind the runs."""
    if not made_by:
        return []
    names = ("jaxduel", "jax", "jaxlib", "numpy", "scipy", "python")
    revision = made_by.get("git_revision")
    return [
        ("versions", ", ".join(f"{name} {made_by[name]}" for name in names if name in made_by)),
        ("code", f"digest {made_by['code']}" + (f", revision {revision[:12]}" if revision else "")),
        *((said, str(made_by[name])) for said, name in _MADE if made_by.get(name)),
    ]


def claim_row(claim: Claim) -> ClaimRow:
    """A claim for a page."""
    return ClaimRow(
        place=claim.source,
        quote=claim.quote,
        criterion=claim.criterion,
        verdict=claim.verdict,
        why=_why(claim),
        measured=tuple(
            Measured(m.where, plain(m.what), f"{m.estimate}, {m.sample}", m.verdict)
            for m in claim.measurements
        ),
    )


def _with_earlier(row: ClaimRow, order: str, section: Section | None) -> ClaimRow:
    """The claim with the verdicts that the section of an earlier call has on it, one for each
    other order; a claim that was not measured has none."""
    before = [one for one in section.claims if one.claim == row.claim] if section else []
    if section is None or not before:
        return row
    found = [*before[0].earlier]
    if section.order == order:
        row = replace(row, open=before[0].open)
    if section.order and before[0].measured:
        found.insert(0, Earlier(section.order, before[0].verdict))
    latest: dict[str, Earlier] = {}
    for each in found:
        latest.setdefault(each.command, each)
    latest.pop(order, None)
    return replace(row, earlier=tuple(latest.values())[:_MOST_EARLIER])


def with_open(section: Section, swept: Sequence[Swept]) -> Section:
    """The section with what was measured over the choices that the paper leaves open: sentences
    beside claims, and a figure for each of these."""
    rows, figures = list(section.claims), {figure.name: figure for figure in section.figures}
    for number in dict.fromkeys(one.number for one in swept):
        own = [one for one in swept if one.number == number]
        sentences = tuple(capital(plain(one.sentence)) for one in own)
        rows[number - 1] = replace(rows[number - 1], open=sentences)
        name = f"{_OPEN}{number}"
        figures[name] = Figure(
            name,
            f"Claim {number} over what the paper leaves open",
            f"“{rows[number - 1].quote}”, confirmed by: {rows[number - 1].criterion}.",
            " ".join(sentences),
            f"{section.order} --open {number}",
            picture=f"{name}.png",
            files=(f"{name}.pdf", f"{name}.csv"),
            lines=sentences,
        )
    return replace(section, claims=tuple(rows), figures=tuple(figures.values()))


def _open_figures(order: str, section: Section | None) -> list[Figure]:
    """The figures of open choices in the section of an earlier call with the same order."""
    if section is None or section.order != order:
        return []
    return [figure for figure in section.figures if figure.name.startswith(_OPEN)]


def _why(claim: Claim) -> str:
    """The reasons for a claim's verdict, in sentences; for an open claim, the runs it needs."""
    if not claim.measurements:
        said = "What it is about was not simulated here."
        return f"{said} To measure it: {claim.needs}" if claim.needs else said
    total = len(claim.measurements)
    count = Counter(m.verdict if m.decidable else "not decidable" for m in claim.measurements)
    words = {
        "confirmed": ("meets", "meet", "the criterion"),
        "not confirmed": ("contradicts", "contradict", "the claim"),
        "undecided": ("leaves", "leave", "it open: the 95 % interval contains the limit"),
        "not decidable": ("leaves", "leave", "it open, whatever the number of runs"),
    }
    parts = [
        f"{number} of {total} {verb if number == 1 else verbs} {what}"
        for verdict, (verb, verbs, what) in words.items()
        if (number := count[verdict])
    ]
    if claim.expected is not None and claim.expected > total:
        parts.append(f"{claim.expected - total} of {claim.expected} not measured")
    return f"{'; '.join(parts)}. {claim.remark}".rstrip()


def _figure(
    paper: Paper, panel: Panel, order: Order, report: Report, failure: str | None
) -> Figure:
    instances = plain(" and ".join(panel.instances))
    where = f" on {instances}" if instances and len(instances) <= _LONGEST else ""
    title = f"{heading(panel.name)}: {panel.what}{where}"
    command = command_of(paper.name, order, panel.name)
    made = report.panels.get(panel.name)
    if made is None:
        return Figure(panel.name, title, command=command, missing=failure or _UNFINISHED)
    shown: Seen = seen(made.content, made.runs)
    title_there = plain(getattr(made.content, "title", "")).partition(") ")
    inside = title_there[2] if title_there[0].startswith("(") else "".join(title_there)
    is_new = inside and inside not in shown.what
    caption = f"{capital(inside)}. {shown.what}" if is_new else shown.what
    stem = f"figure-{panel.name}"
    return Figure(
        panel.name,
        title,
        caption,
        shown.alt,
        command,
        picture=f"{stem}.png",
        files=(f"{stem}.pdf", f"{stem}.csv"),
        chart=shown.chart,
        table=shown.table,
        lines=tuple(map(plain, made.lines)),
    )


def heading(name: str) -> str:
    """A panel in words: "Figure 1a", "Table 1", "Study s1a"."""
    for begin, word in (("table", "Table "), ("text", "Figure text")):
        if name.startswith(begin):
            return f"{word}{name.removeprefix(begin)}"
    return f"Study {name}" if name[:1] == "s" and name[1:2].isdigit() else f"Figure {name}"
