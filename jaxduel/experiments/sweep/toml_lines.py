"""Line numbers of the keys of a TOML file, which `tomllib` does not report."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""'  # strings of several lines
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]",
    re.DOTALL,
)
_WORD = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_WORD})\s*((?:\.\s*{_WORD}\s*)*)\]")
_ASSIGNMENT = re.compile(rf"\s*({_WORD})\s*[.=]")

Place = tuple[str, int, str]
"""A table ("" for the keys before the first one), the index of its entry from 0, and a key ("" for
the table's own line)."""


def key_lines(text: str) -> dict[Place, int]:
    """The lines, counted from 1, of all keys of a valid TOML file and of the headers of its tables.

    A table within a table counts as a key of the outer one. Keys of inline tables are not found.
    """
    found: dict[Place, int] = {}
    table, number = "", 0
    counts: dict[str, int] = {}
    for line, content in _statements(text):
        header = _HEADER.match(content)
        if header is not None:
            brackets, name, rest = header.groups()
            name = _bare(name)
            if rest:
                inner = _bare(re.split(r"\s*\.\s*", rest.strip())[1])
                table, number = name, max(counts.get(name, 0) - 1, 0)
                found.setdefault((table, number, inner), line)
                table = f"{name}.{inner}"
                continue
            number = counts.get(name, 0) if brackets == "[[" else 0
            counts[name] = number + 1
            table = name
            found.setdefault((table, number, ""), line)
            found.setdefault(("", 0, name), line)
            continue
        assignment = _ASSIGNMENT.match(content)
        if assignment is not None:
            found.setdefault((table, number, _bare(assignment.group(1))), line)
    return found


def single_tables(text: str) -> dict[str, int]:
    """Lines, counted from 1, of the first header of each table written [name], not [[name]]."""
    found: dict[str, int] = {}
    for line, content in _statements(text):
        header = _HEADER.match(content)
        if header is not None and header[1] == "[" and not header[3]:
            found.setdefault(_bare(header[2]), line)
    return found


def _statements(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers, without those that continue a value begun before."""
    lines = text.split("\n")
    statements = [(1, lines[0])]
    depth, line = 0, 1
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word == "\n":
            line += 1
            if depth == 0:
                statements.append((line, lines[line - 1]))
        elif word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        else:
            line += word.count("\n")
    return statements


def _bare(word: str) -> str:
    return word.strip("\"'")
