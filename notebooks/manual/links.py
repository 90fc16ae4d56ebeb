"""Names in code type become links: policies and public names of jaxduel."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import jaxduel as jd
from notebooks.manual import api
from notebooks.manual.pages import policy_page

_NAME = re.compile(r"(?:jd|jaxduel)((?:\.\w+)+)(?:\(.*\))?")
_WORDS = {"arena", "base", "uniform"}
"""Policies whose names mean other things, too."""


class Links(SphinxTransform):
    """Makes links of names in code type, outside titles and links."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """Replaces the names by references."""
        own = self.env.docname
        for literal in list(self.document.findall(nodes.literal)):
            target = target_of(literal.astext(), own.rpartition("/")[2])
            if target is None or _is_inside(literal) or target["reftarget"] == f"/{own}":
                continue
            reference = addnodes.pending_xref("", refdoc=own, refwarn=True, **target)
            literal.replace_self(reference)
            reference += literal


def _is_inside(node: nodes.Node) -> bool:
    outer = node.parent
    while outer is not None:
        if isinstance(outer, nodes.title | nodes.reference | addnodes.pending_xref):
            return True
        outer = outer.parent
    return False


@cache
def target_of(text: str, room: str) -> dict[str, Any] | None:
    """What a text in code type is the name of, as a reference; None if it is no name.

    Args:
      text: the text.
      room: the name of the page; on that of a room its names may stand alone.
    """
    if text in jd.policies.names() and text not in _WORDS:
        page = {"refdomain": "std", "reftype": "doc", "refexplicit": True}
        return {**page, "reftarget": f"/{policy_page(text)}"}
    name = _NAME.fullmatch(text if text.startswith(("jd.", "jaxduel.")) else f"{room}.{text}")
    full = api.targets().get(f"jaxduel{name[1]}") if name is not None else None
    if full is None:
        return None
    return {"refdomain": "py", "reftype": "obj", "refexplicit": False, "reftarget": full}
