"""Names of files that say what is in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

_LONGEST = 100
_PLAIN = re.compile(r"[^A-Za-z0-9.,+=_\[\]-]")


def named_after(stem: str, **chosen: Sequence[object]) -> str:
    """A file name without its ending: the stem, and what was chosen, such as
    curves-t-problem=arxiv,gap-policy=dts.

    Different choices have different names: where letters had to be replaced, or the name cut, it
    ends in a digest of the whole.

    Args:
      stem: how it begins.
      **chosen: names or numbers by what they are; empty where nothing was chosen.
    """
    parts = [f"{key}={','.join(map(str, some))}" for key, some in chosen.items() if some]
    whole = "-".join([stem, *parts])
    name = _PLAIN.sub("_", whole)[:_LONGEST]
    if name == whole:
        return name
    return f"{name}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
