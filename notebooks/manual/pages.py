"""Writing generated pages, and the names of policies as links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

SOURCE = Path(__file__).parents[1]
GENERATED = "reference"
"""The folder of all generated pages; git ignores it."""


def write(place: str, *parts: str) -> str:
    """Writes a page, if it has changed.

    Args:
      place: its path in the folder of generated pages, without ".md".
      *parts: what is on it, a blank line between each two.

    Returns:
      Its name in Sphinx.
    """
    write_file(f"{place}.md", "\n\n".join(part for part in parts if part) + "\n")
    return f"{GENERATED}/{place}"


def write_file(place: str, text: str) -> None:
    """Writes a file of that folder, if it has changed: what is unchanged is not built again."""
    path = SOURCE / GENERATED / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_picture(name: str, content: bytes) -> str:
    """Writes a picture beside the pages of papers; returns its name."""
    target = SOURCE / GENERATED / "papers" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return name


def forget_others(kept: Iterable[str]) -> None:
    """Removes generated pages that were not written this time."""
    names = {f"{name}.md" for name in kept}
    for path in (SOURCE / GENERATED).rglob("*.md"):
        if path.relative_to(SOURCE).as_posix() not in names:
            path.unlink()


def policy_page(name: str) -> str:
    """The page of a policy, in Sphinx."""
    return f"{GENERATED}/policies/{name.replace('+', '-plus')}"


def policy_link(name: str, label: str) -> str:
    """A link to the page of a policy."""
    return f"[{label}](/{policy_page(name)}.md)"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    cells = ([cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def toctree(names: Iterable[str], caption: str = "") -> str:
    """A hidden table of contents of these pages."""
    option = f":caption: {caption}\n" if caption else ""
    return "\n".join(["```{toctree}", f":hidden:\n{option}", *(f"/{n}" for n in names), "```"])
