"""Docstrings as Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

_HEAD = re.compile(r"(Args|Attributes|Returns|Raises|Example|Examples):")
_ENTRY = re.compile(r"([*\w, ]+): (.*)", re.DOTALL)
_LINES = re.compile(r"\b([Ll]ines? \d+(?:,\s\d+)*(?:\s(?:to|and)\s\d+)?)")
_NEW_LINE = re.compile(r"(?<=[.;:]) (?=Lines? \d)")


class Section(NamedTuple):
    """A part of a docstring: prose if it has no head."""

    head: str
    text: str


def sections(docstring: str) -> list[Section]:
    """The parts of a cleaned docstring, in their order."""
    found: list[Section] = []
    for block in re.split(r"\n\n+(?=\S)", docstring):
        first, _, rest = block.partition("\n")
        head = _HEAD.fullmatch(first)
        if head is not None:
            found.append(Section(head[1].removesuffix("s"), textwrap.dedent(rest).strip("\n")))
        elif found and not found[-1].head:
            found[-1] = Section("", f"{found[-1].text}\n\n{block}")
        else:
            found.append(Section("", block))
    return found


def markdown(docstring: str, leave_out: tuple[str, ...] = ()) -> str:
    """All parts that are not left out; prose has the head ""."""
    parts = [written(each) for each in sections(docstring) if each.head not in leave_out]
    return "\n\n".join(parts)


def prose(text: str) -> str:
    """Prose, in which each line of a paper's pseudo-code begins a point of a list."""
    blocks = [_by_line(block) for block in re.split(r"\n\n+", text)]
    return _LINES.sub(r"**\1**", "\n\n".join(blocks))


def first_paragraph(docstring: str) -> str:
    """The first paragraph, in one line."""
    return " ".join(docstring.partition("\n\n")[0].split())


def _by_line(block: str) -> str:
    if re.match(r" {4}|\d+\. |- ", block):
        return block
    pieces = _NEW_LINE.split(" ".join(block.split()))
    if len(pieces) < 2:
        return block
    begin = [] if re.match(r"Lines? \d", pieces[0]) else [pieces.pop(0)]
    return "\n\n".join([*begin, "\n".join(f"- {piece}" for piece in pieces)])


def written(section: Section) -> str:
    """One part in Markdown."""
    head, text = section
    if not head:
        return prose(text)
    if head == "Example":
        return f"**Example**\n\n```pycon\n{text}\n```"
    entries = [_ENTRY.fullmatch(entry) for entry in re.split(r"\n(?=\S)", text)]
    if head == "Return" or not all(entries):
        return f"**{head}s**: {text}" if "\n\n" not in text else f"**{head}s**\n\n{text}"
    points = [f"- `{each[1]}`: {_indented(each[2])}" for each in entries if each is not None]
    return f"**{head}s**\n\n" + "\n".join(points)


def _indented(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first}\n{textwrap.indent(textwrap.dedent(rest), '  ')}" if rest else first
