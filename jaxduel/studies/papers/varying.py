"""Measures claims of a paper over the choices that its text leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jaxduel import plotting
from jaxduel.errors import InputError, shorten
from jaxduel.files import csv_text
from jaxduel.runs import Runs
from jaxduel.studies.choices import Choice
from jaxduel.studies.claims import Claim
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.papers.paper import Order, Paper
from jaxduel.studies.papers.reproducing import pictures_at_hand, require_order
from jaxduel.studies.pictures import Picture, Setting
from jaxduel.studies.reading_runs import ReadRuns
from jaxduel.studies.report.papers import command_of, with_open
from jaxduel.studies.report.records import FILE, earlier_section, encoded
from jaxduel.studies.reproduction import all_wanted
from jaxduel.studies.stored_runs import StoredRuns
from jaxduel.studies.swept import COLUMNS, Swept
from jaxduel.studies.wanted import Wanted

ALL = "all"
"""Stands for all claims with open choices."""
_Key = tuple[str, str]


@dataclass
class OpenReport:
    """Result of `measure_open`.

    Attributes:
      files: the files written.
      lines: the numbers as text, claim by claim.
      swept: the claims at all values, one for each claim and choice.
      interrupted: whether Ctrl-C ended it before all runs were simulated.
    """

    files: list[Path]
    lines: list[str] = field(default_factory=list)
    swept: list[Swept] = field(default_factory=list)
    interrupted: bool = False


def measure_open(
    paper: Paper,
    claim: str,
    full: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    *,
    horizon: int | None = None,
) -> OpenReport:
    """Measures claims at each value of the choices that the text leaves open.

    Each choice is varied alone. Runs are taken from the store of the paper's figures, in the
    subfolder `runs`, and added to it. For each claim, open-N.png, .pdf and .csv are written as soon
    as its runs are finished, and open-N.txt with the numbers and a sentence for each choice. If the
    folder has a report of the same sizes, figures and sentences join it.

    Args:
      claim: the number of a claim, from 1 (`jaxduel describe PAPER`), or "all".
      full, out, seed, runs, progress, horizon: as in `reproduce`.

    Raises:
      InputError: before anything is computed; also if the data of no panel are available.
    """
    numbers = asked(paper, claim)
    require_order(seed, runs)
    order = Order(full, seed, runs, horizon)
    folder = OutputFolder(Path("figures") / paper.name if out is None else out)
    report = OpenReport(folder.files)
    with paper.unwarned():
        setting = replace(paper.setting, horizon=horizon or paper.setting.horizon)
        pictures, _ = pictures_at_hand(paper.panels, order, setting)
        sweep = _Sweep(paper, pictures, setting, folder, progress)
        try:
            sweep.measure(numbers, report)
        except KeyboardInterrupt:
            report.interrupted = True
    section = earlier_section(folder.path)
    if section is not None and section.order == command_of(paper.name, order):
        folder.write(FILE, encoded(with_open(section, report.swept)))
    return report


def asked(paper: Paper, claim: str) -> list[int]:
    """Numbers of the claims asked for.

    Raises:
      InputError: for a claim that does not exist, or has no open choice.
    """
    known = with_choices(paper)
    if not known:
        raise InputError(f"{paper.name}: no claim has an open choice.")
    if claim == ALL:
        return known
    if claim in map(str, known):
        return [int(claim)]
    have = ", ".join([*map(str, known), ALL])
    raise InputError(
        f"{paper.name}: the claims with an open choice are {have}, not '{shorten(claim)}'."
    )


def with_choices(paper: Paper) -> list[int]:
    """Numbers of the claims that have open choices."""
    return [number for number, claim in enumerate(paper.claims, start=1) if claim.open]


class _Sweep:
    """Claims of a paper at values of their choices.

    Args:
      pictures: the pictures of all panels at hand.
      folder: where files and runs are kept.
      progress: as in `jaxduel.simulate`.
    """

    def __init__(
        self,
        paper: Paper,
        pictures: Sequence[Picture],
        setting: Setting,
        folder: OutputFolder,
        progress: bool | None,
    ) -> None:
        self._paper, self._pictures, self._setting = paper, pictures, setting
        self._folder = folder
        self._progress = progress
        self._wanted = {one.key: one for one in all_wanted(pictures)}
        self._runs: dict[_Key, Runs] = {}
        self._text: dict[int, list[str]] = {}

    def measure(self, numbers: Sequence[int], report: OpenReport) -> None:
        """Measures the claims with these numbers, and writes each as it finishes."""
        claims = {number: self._paper.claims[number - 1] for number in numbers}
        read = {number: self._read_by(claim) for number, claim in claims.items()}
        claims = {
            number: replace(claim, open=tuple(each.settled(read[number]) for each in claim.open))
            for number, claim in claims.items()
        }
        todo = {
            number: [
                choice.wanted(one, value)
                for choice in claim.open
                for value in choice.values
                for one in read[number]
            ]
            for number, claim in claims.items()
        }

        def write_ready(note: Callable[[str], None]) -> None:
            for number in [n for n, own in todo.items() if all(o.key in self._runs for o in own)]:
                del todo[number]
                self._write(number, claims[number], read[number], report)
                note(f"claim {number}: done")

        write_ready(lambda text: None)
        self._simulate([one for own in todo.values() for one in own], write_ready)

    def _read_by(self, claim: Claim) -> list[Wanted]:
        """The runs at the stated values that a claim reads, once they are simulated. Some estimates
        look a run up only if another one is there, so that they are asked again."""
        keys: set[_Key] = set()
        while True:
            recorded = ReadRuns({key: self._runs[key] for key in keys})
            evidence = self._evidence(recorded)
            recorded.keys_read.clear()
            claim.measured(evidence)
            found = recorded.keys_read & self._wanted.keys()
            if found <= keys:
                return [one for key, one in self._wanted.items() if key in keys]
            keys |= found
            self._simulate([one for key, one in self._wanted.items() if key in keys])

    def _evidence(self, runs: Mapping[_Key, Runs]) -> Any:
        return self._paper.evidence(runs, self._pictures, self._setting)

    def _simulate(
        self,
        wanted: Iterable[Wanted],
        finished: Callable[[Callable[[str], None]], None] = lambda note: None,
    ) -> None:
        """Simulates what is missing; `finished` is called, with a way to print, after each part."""
        missing = list({one.key: one for one in wanted if one.key not in self._runs}.values())
        if not missing:
            return
        store, factor = StoredRuns(self._folder.path / "runs", missing), self._setting.factor
        for key, runs in store.stored().items():
            self._runs[key] = runs.scaled(factor)
        with (
            store.progress(self._progress) as shown,
            closing(store.missing(shown)) as parts,
        ):
            finished(shown.note)
            for key, runs in parts:
                self._runs[key] = runs.scaled(factor)
                finished(shown.note)

    def _write(self, number: int, claim: Claim, read: Sequence[Wanted], report: OpenReport) -> None:
        swept = [
            Swept(number, choice, tuple(self._at(claim, choice, v, read) for v in choice.values))
            for choice in claim.open
        ]
        name = f"open-{number}"
        text = [
            f'{number}. "{claim.quote}" ({claim.source})',
            f"   criterion: {claim.criterion}",
            *(line for one in swept for line in one.lines()),
        ]
        drawn = [one.panel() for one in swept if one.columns]
        if drawn:
            rows = [row for one in swept for row in one.rows()]
            self._folder.write_figure(name, plotting.draw(drawn), csv_text(COLUMNS, rows))
        self._folder.write(f"{name}.txt", "\n".join(text) + "\n")
        report.swept += swept
        self._text[number] = text
        report.lines = [line for own in sorted(self._text) for line in self._text[own]]

    def _at(self, claim: Claim, choice: Choice, value: Any, read: Sequence[Wanted]) -> Claim:
        """The claim, measured at a value of a choice."""
        found = {}
        for one in read:
            changed = choice.wanted(one, value)
            runs = self._runs[changed.key]
            found[one.key] = runs if changed is one else choice.read(runs, value)
        return claim.measured(self._evidence(found))
