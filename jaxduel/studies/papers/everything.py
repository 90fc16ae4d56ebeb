"""All papers at once, and one page of them: `jaxduel reproduce all`."""

from __future__ import annotations

import math
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from jaxduel import interrupts, screen
from jaxduel.errors import InputError, warn_caller
from jaxduel.studies import papers
from jaxduel.studies.engine.machines import Machines, connected
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.papers.pages import sections_in, write_page
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import Prepared, require_decidable, require_order
from jaxduel.studies.report.records import Section
from jaxduel.studies.stored_runs import Blocks, StoredRuns, simulated

FOLDER = Path("figures")


@dataclass
class Outcome:
    """Result of `reproduce_all`.

    Attributes:
      page: the page.
      sections: sections of the page, paper by paper.
      interrupted: whether Ctrl-C ended it before all runs were simulated.
      blocks: numbers of wanted blocks, of all papers.
    """

    page: Path
    sections: list[Section] = field(default_factory=list)
    interrupted: bool = False
    blocks: Blocks = field(default_factory=Blocks)


def reproduce_all(
    out: str | os.PathLike[str] = FOLDER,
    full: bool = False,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    decide: float | None = None,
    *,
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
    until: datetime | None = None,
) -> Outcome:
    """Reproduces all papers, each in the folder of its name, and writes a page of them.

    The runs of all papers are simulated as one queue, the dearest first. A paper is written as soon
    as its runs are finished, and what is unfinished at the end with what there is of it; then
    undecided claims get further runs, paper by paper. The page, `index.html`, is rewritten after
    each paper and names missing parts. After an interruption, a call with the same arguments
    resumes the work. A paper without any available data is left out with a warning.

    Args:
      out: folder for the page and the papers' folders.
      full, seed, runs, progress, decide: as in `reproduce`; the core-hours are for each paper.
      scheduler, shard, until: as in `reproduce`.

    Raises:
      InputError: before anything is computed; also if no paper can be reproduced.
      ConnectionError: if the scheduler was lost; stored blocks are kept.
    """
    require_order(seed, runs)
    require_decidable(decide, shard)
    folder, order = OutputFolder(out), Order(full, seed, runs, decide=decide)
    stop = threading.Event()
    with (
        interrupts.stops(stop, patient=True),
        connected(scheduler=scheduler, shard=shard, until=until) as machines,
    ):
        return _Queue(folder, order, machines, progress, stop).carried_out()


class _Queue:
    """All papers, whose runs are simulated as one queue."""

    def __init__(
        self,
        folder: OutputFolder,
        order: Order,
        machines: Machines,
        progress: bool | None,
        stop: threading.Event,
    ) -> None:
        self._folder, self._order, self._machines = folder, order, machines
        self._progress, self._stop, self._interrupted = progress, stop, False
        self._failures: dict[str, InputError] = {}
        self._papers: dict[str, Prepared] = {}
        self._stores: dict[str, StoredRuns] = {}
        self._spent: dict[str, float] = defaultdict(float)
        self._decided: dict[str, int] = {}
        self._before = 0

    def carried_out(self) -> Outcome:
        page = self._write()
        self._prepare()
        decides = self._order.decide is not None
        try:
            self._simulate()
        except KeyboardInterrupt:
            self._stop.set()
        for name in self._papers:
            goes_on = decides and not self._stop.is_set()
            if not goes_on and name in self._stores:  # what is missing is left for later
                store = self._stores[name]
                store.machines = replace(store.machines, end=-math.inf)
            if self._stop.is_set() and not self._has_some(name):
                continue
            if goes_on or name not in self._decided:
                if self._stop.is_set() and self._progress is not False:
                    screen.say(f"jaxduel: {name}: writing what there is")
                self._carry_out(name, decides=goes_on, progress=goes_on and self._progress)
        blocks = [store.blocks() for store in self._stores.values()]
        return Outcome(
            page,
            [section for section, _ in sections_in(self._folder.path, self._order, self._failures)],
            self._interrupted
            or (self._stop.is_set() and any(each.stored < each.wanted for each in blocks)),
            Blocks(
                self._before,
                sum(each.stored for each in blocks),
                sum(each.wanted for each in blocks),
            ),
        )

    def _prepare(self) -> None:
        """Prepares all papers.

        Raises:
          InputError: if none can be reproduced.
        """
        for name in papers.names():
            try:
                prepared = Prepared.of(papers.load(name), self._order, self._folder.path / name)
            except InputError as error:
                self._failures[name] = error
                warn_caller(f"{name} is missing: {error}")
                continue
            self._papers[name] = prepared
            store = prepared.runs(self._machines)
            if store is not None:
                self._stores[name] = store
                self._before += store.before
        if not self._papers:
            raise next(iter(self._failures.values()))

    def _simulate(self) -> None:
        """Simulates what is missing, and writes each paper as soon as it is complete."""
        whose: dict[str, list[str]] = {}
        tasks, finished = {}, set()
        for name, store in self._stores.items():
            finished |= store.store.finished()
            for task in store.tasks:
                tasks[task.key] = task
                whose.setdefault(task.key, []).append(name)
        every = sorted(tasks.values(), key=lambda task: task.group.cost, reverse=True)
        stores = list(self._stores.values())
        shown = StudyProgress("papers", every, finished & tasks.keys(), self._progress)
        with shown, closing(simulated(stores, self._machines, shown, every)) as arriving:
            self._write_complete(self._stores, shown.note)
            for task, took in arriving:
                own = whose[task.key]
                for name in own:
                    self._spent[name] += (took or 0.0) / len(own) / self._machines.number
                self._write_complete(own, shown.note)

    def _write_complete(self, names: Iterable[str], note: Callable[[str], None]) -> None:
        for name in names:
            if self._stores[name].is_complete() and name not in self._decided:
                self._carry_out(name, decides=False, progress=False)
                note(f"{name}: done; {self._said()}")

    def _carry_out(self, name: str, *, decides: bool, progress: bool | None) -> None:
        store, spent = self._stores.get(name), self._spent.pop(name, 0.0)
        report = self._papers[name].carry_out(store, progress, spent, decides)
        if store is not None:
            store.before = report.blocks.stored
        self._decided[name] = sum(
            claim.verdict in ("confirmed", "not confirmed") for claim in report.claims
        )
        self._interrupted |= report.interrupted
        self._write()

    def _has_some(self, name: str) -> bool:
        return name in self._stores and self._stores[name].has_some()

    def _said(self) -> str:
        every = sum(len(prepared.paper.claims) for prepared in self._papers.values())
        return f"claims decided: {sum(self._decided.values())} of {every}"

    def _write(self) -> Path:
        return write_page(self._folder, self._order, self._failures)
