"""How to cite, from CITATION.cff, as BibTeX."""

from __future__ import annotations

import yaml

from notebooks.manual.pages import SOURCE, write_file


def write() -> None:
    """Writes the entry of jaxduel."""
    known = yaml.safe_load((SOURCE.parent / "CITATION.cff").read_text())
    names = [
        each.get("name") or f"{each['family-names']}, {each['given-names']}"
        for each in known["authors"]
    ]
    fields = {
        "title": f"{{{known['title']}}}",
        "author": " and ".join(f"{{{name}}}" if "," not in name else name for name in names),
        "version": str(known["version"]),
        "year": str(known.get("date-released", ""))[:4],
        "url": known.get("repository-code", ""),
    }
    lines = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
    write_file("citation.bib", "\n".join(["@software{jaxduel,", *lines, "}"]) + "\n")
