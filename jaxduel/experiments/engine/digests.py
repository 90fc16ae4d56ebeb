"""Digests of plain values: keys of cells, groups and blocks."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def digest_of_json(value: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of canonical JSON."""
    return hashlib.sha256(_canonical(value).encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """A value as JSON gives it back: of the same digest."""
    return json.loads(_canonical(value))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
