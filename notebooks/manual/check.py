"""Whether links and pictures of the built pages lead somewhere on this disk."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The places that a page has, and those that it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {"", "search-results"}
        self.leads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps identifiers, links and sources."""
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.leads.add(value)


def broken(folder: Path) -> list[str]:
    """A line for each link or picture of the pages in a folder that leads nowhere."""
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: _Page(path.read_text()) for path in paths}
    found = []
    for path, page in pages.items():
        for lead in sorted(page.leads):
            parts = urlsplit(lead)
            if parts.scheme or parts.netloc:
                continue
            end = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[end].places if end in pages else {""}
            if not end.exists() or (end in pages and unquote(parts.fragment) not in known):
                found.append(f"{path.relative_to(folder)}: {lead}")
    return found
