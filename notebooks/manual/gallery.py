"""The directive `gallery`: pages with their titles, a few words and their first pictures."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class gallery(nodes.General, nodes.Element):
    """The pages that are shown: names and words."""


class Gallery(SphinxDirective):
    """Pages, `name: words` a line; the pictures are found when all pages are read."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A place for the gallery."""
        return [gallery("", pages=[line.split(": ", 1) for line in self.content])]


def fill(app: Sphinx, document: nodes.document, page: str) -> None:
    """Puts the pages into their places."""
    for place in list(document.findall(gallery)):
        entries = nodes.container(classes=["manual-gallery"])
        entries += [_entry(app, name, words, page) for name, words in place["pages"]]
        place.replace_self(entries)


def _entry(app: Sphinx, name: str, words: str, page: str) -> nodes.Element:
    link = {"refuri": app.builder.get_relative_uri(page, name), "internal": True}
    shown = app.env.get_doctree(name)
    title = app.env.titles[name].astext()
    entry = nodes.container(classes=["manual-entry"])
    for image in list(shown.findall(nodes.image))[:1]:
        copy = image.deepcopy()
        copy["alt"] = f"The first picture of “{title}”"
        entry += nodes.paragraph("", "", nodes.reference("", "", copy, **link))
    entry += nodes.paragraph("", "", nodes.reference("", "", nodes.strong("", title), **link))
    entry += nodes.paragraph("", f"{words[0].upper()}{words[1:]}.")
    return entry
