"""The numbers on the first page, each from the file that has it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import jaxduel as jd
from jaxduel.studies.report.page import VERDICTS
from notebooks.manual import reports
from notebooks.manual.pages import SOURCE, write_file

_SPEED = SOURCE.parent / "benchmarks" / "measured.json"
_CASE = "rucb, K=5, T=1e5, quiet runs"
_OTHERS = SOURCE.parent / "tests" / "reference" / "regret.csv"
_OWN = "ecw_rmed.c paper"
"""The source of numbers that a program of this repository measured."""


class Number(NamedTuple):
    """A number, the words under it, and the page that has more."""

    value: str
    words: str
    page: str


def numbers() -> Iterator[Number]:
    """The numbers in the order of the page."""
    yield Number(
        str(len(jd.policies.names())),
        "policies, each checked step by step against a slow program written from its paper (a few: "
        "from a public program)",
        "/reference/policies/index",
    )
    known = reports.sections()
    found = Counter(claim.verdict for section in known.values() for claim in section.claims)
    verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict])
    yield Number(
        str(found.total()),
        f"claims of papers measured, in {len(known)} reproductions: {verdicts}",
        "/reference/papers/index",
    )
    rows = {case: values for case, *values in json.loads(_SPEED.read_text())["plain C"]["rows"]}
    milliseconds, _, ratio = rows[_CASE]
    yield Number(
        f"{milliseconds:.1f} ms",
        f"for a run of RUCB with five arms to T = 100,000 on one core, {ratio:.1f} times plain C",
        "/guide/speed",
    )
    with _OTHERS.open() as file:
        others = [row for row in csv.DictReader(file) if row["source"] != _OWN]
    yield Number(
        str(len(others)),
        "mean regrets from the C++ programs of two groups of authors: jaxduel agrees within four "
        "standard errors, or the tests give the reason",
        "/guide/exactness",
    )


def write() -> None:
    """Writes the cards that the first page includes."""
    cards = [
        f"````{{grid-item-card}} {each.value}\n:link: {each.page}\n:link-type: doc\n"
        f":class-card: manual-number\n\n{each.words}\n````"
        for each in numbers()
    ]
    write_file("numbers.txt", "\n".join(["`````{grid} 1 2 2 4\n:gutter: 2", *cards, "`````\n"]))
