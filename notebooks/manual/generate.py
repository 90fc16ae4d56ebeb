"""What a build of the manual does beside what Sphinx does by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from notebooks.manual import api, citation, front, pages, papers, policies, public, reports, sizes
from notebooks.manual.check import broken
from notebooks.manual.gallery import Gallery, fill, gallery
from notebooks.manual.links import Links

_logger = logging.getLogger(__name__)
_NEEDS = {"6_arena": "chatbotarena_20240814.json"}
"""Notebooks that need files which the package does not ship."""
_NOT_EXECUTED = """```{{note}}
This page is shown without its results: the file `{}` is not in the folder `$JAXDUEL_DATA`.
```"""


def without_data() -> list[str]:
    """The notebooks whose files are not in `$JAXDUEL_DATA`: they are not executed."""
    folder = Path(os.environ.get("JAXDUEL_DATA", "."))
    return [name for name, file in _NEEDS.items() if not (folder / file).is_file()]


def connect(app: Sphinx, as_written: bool) -> None:
    """Adds all of this to a build.

    Args:
      app: the build.
      as_written: whether notebooks keep their sizes.
    """
    app.add_config_value("sizes_as_written", as_written, "env")
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _prepare_notebook)
    app.connect("doctree-read", _tell_warnings)
    app.connect("doctree-resolved", fill)
    app.connect("build-finished", _follow_links)
    app.add_transform(Links)
    app.add_node(gallery)
    app.add_directive("gallery", Gallery)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_displayed_math, None))


def _write_pages(app: Sphinx) -> None:
    if lacking := public.lacking():
        raise ExtensionError(f"Public names lack something: {' '.join(lacking)}")
    if lacking := papers.lacking():
        raise ExtensionError(
            f"The verdicts on {', '.join(lacking)} are missing or on other claims: python -m "
            "notebooks.manual.measure FOLDER [--full] PAPER"
        )
    citation.write()
    front.write()
    pages.forget_others([*policies.write_pages(), *papers.write_pages(), *api.write_pages()])


def _prepare_notebook(app: Sphinx, name: str, content: list[str]) -> None:
    """Sets small sizes, or says that the notebook is not executed."""
    if name not in sizes.SMALL:
        return
    if name in without_data():
        content[0] = sizes.with_note(content[0], _NOT_EXECUTED.format(_NEEDS[name]))
    elif not app.config.sizes_as_written:
        content[0] = sizes.in_small(name, content[0])


def _tell_warnings(app: Sphinx, document: nodes.document) -> None:
    """Makes warnings of the cells of a notebook those of the build; leaves out progress."""
    for output in list(document.findall(nodes.literal_block)):
        if "stderr" in output["classes"]:
            if "Warning" in output.astext():
                _logger.warning("a cell warns: %s", output.astext(), location=app.env.docname)
            output.parent.remove(output)


def _follow_links(app: Sphinx, error: Exception | None) -> None:
    """Adds the report; fails a build of HTML with broken links."""
    reports.copy_report(Path(app.outdir))
    if error is None and app.builder.name == "html" and (found := broken(Path(app.outdir))):
        raise ExtensionError("Links lead nowhere:\n" + "\n".join(found))


def _inline_math(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _displayed_math(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode
