"""The directive `gallery`: notebooks with their titles, first sentences and first pictures."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class gallery(nodes.General, nodes.Element):
    """The names of the pages that are shown."""


class Gallery(SphinxDirective):
    """Names of pages, one a line; the pictures are found when all pages are read."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A place for the gallery."""
        return [gallery("", names=list(self.content))]


def fill(app: Sphinx, document: nodes.document, page: str) -> None:
    """Puts the pages into their places."""
    for place in list(document.findall(gallery)):
        entries = nodes.container(classes=["manual-gallery"])
        entries += [_entry(app, name, page) for name in place["names"]]
        place.replace_self(entries)


def _entry(app: Sphinx, name: str, page: str) -> nodes.Element:
    link = {"refuri": app.builder.get_relative_uri(page, name), "internal": True}
    shown = app.env.get_doctree(name)
    title = app.env.titles[name].astext()
    text = next(p for p in shown.findall(nodes.paragraph) if isinstance(p.parent, nodes.section))
    entry = nodes.container(classes=["manual-entry"])
    for image in list(shown.findall(nodes.image))[:1]:
        copy = image.deepcopy()
        copy["alt"] = f"The first picture of “{title}”"
        entry += nodes.paragraph("", "", nodes.reference("", "", copy, **link))
    words = nodes.container()
    words += nodes.paragraph("", "", nodes.reference("", "", nodes.strong("", title), **link))
    words += nodes.paragraph("", f"{text.astext().partition('. ')[0].removesuffix('.')}.")
    entry += words
    return entry
