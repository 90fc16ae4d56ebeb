"""Where claims hold over what their papers leave open: sentences, and the numbers of maps, which
the manual draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from jaxduel import plotting
from jaxduel.studies import papers
from jaxduel.studies.papers.paper import Paper
from notebooks.manual.full import Curves, curves_of, panel_of
from notebooks.manual.pages import write_picture

FILE = Path(__file__).with_name("open.json")
"""By paper and claim, what was `Kept`, by `python -m notebooks.manual.measure FOLDER --open`."""
_DPI = 110


@dataclass(frozen=True)
class Kept:
    """A claim over its open choices: its words, a sentence for each choice, and the maps."""

    quote: str
    sentences: tuple[str, ...]
    maps: tuple[Curves, ...]


_ALL = TypeAdapter(dict[str, dict[int, Kept]])


def kept() -> dict[str, dict[int, Kept]]:
    """What is kept, by the paper's name and the claim's number."""
    return _ALL.validate_json(FILE.read_bytes()) if FILE.exists() else {}


def measure(name: str, folder: Path) -> None:
    """Measures all claims of a paper over their open choices at default sizes, and keeps them.

    Raises:
      ValueError: if not all was simulated.
    """
    report = papers.open_choices(name, "all", out=folder)
    if report.interrupted:
        raise ValueError(f"{name}: not all was simulated")
    claims, found = papers.load(name).claims, {}
    for number in sorted({one.number for one in report.swept}):
        own = [one for one in report.swept if one.number == number]
        found[number] = Kept(
            claims[number - 1].quote,
            tuple(one.sentence for one in own),
            tuple(curves_of(one.panel()) for one in own if one.columns),
        )
    FILE.write_bytes(_ALL.dump_json(kept() | {name: found}, indent=1) + b"\n")


def stale(paper: Paper, found: dict[int, Kept]) -> bool:
    """Whether what is kept is of other claims than the paper's."""
    number_of = {n: claim.quote for n, claim in enumerate(paper.claims, start=1) if claim.open}
    return {n: one.quote for n, one in found.items()} != number_of


def section(found: dict[int, Kept], paper: str) -> Iterator[str]:
    """Sentences and maps of a paper's page; pictures are written beside it."""
    for number, one in found.items():
        yield f"### Claim {number}: “{one.quote}”"
        yield "\n".join(f"- {sentence}" for sentence in one.sentences)
        if one.maps:
            png = plotting.png(plotting.draw([panel_of(each) for each in one.maps]), _DPI)
            name = write_picture(f"{paper}-open-{number}.png", png)
            alt = " ".join(one.sentences)
            command = f"jaxduel reproduce {paper} --open {number}"
            yield f"```{{figure}} {name}\n:alt: {alt}\n\n`{command}`\n```"
