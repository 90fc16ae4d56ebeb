"""File names that describe the content of the file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from jaxduel.files import escaped

_LONGEST = 100
_PLAIN = re.compile(r"[^A-Za-z0-9.,+=_\[\]-]")


def named_after(stem: str, **chosen: Sequence[object]) -> str:
    """A file name without its suffix: the stem, then the choices, such as
    curves-t-problem=arxiv,gap-policy=dts.

    Different choices have different names: if letters were replaced, or the name was cut, it ends
    in a digest of the whole.

    Args:
      stem: beginning of the name.
      **chosen: by the name of a choice, the values chosen; left out where empty.
    """
    parts = [f"{key}={','.join(map(str, some))}" for key, some in chosen.items() if some]
    whole = "-".join([stem, *parts])
    name = _PLAIN.sub("_", whole)[:_LONGEST]
    if name == whole:
        return name
    return f"{name}-{hashlib.sha256(escaped(whole)).hexdigest()[:8]}"
