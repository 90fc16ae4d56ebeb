"""Lines of JSON that are alike but for plain values, read without decoding them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_PLAIN = r'[^"\\\x00-\x1f]*+'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,99}+)(?:\.[0-9]{1,99}+)?+(?:[eE][-+]?[0-9]{1,9}+)?+"
_ANY = rf'(?:"{_PLAIN}"|{_NUMBER}|true|false|null)'
_WANTED = {str: rf'"({_PLAIN})"', int: r"(0|-?[1-9][0-9]{0,99}+)"}
"""Values whose text in JSON is their entry."""
_NO_LINE = re.compile("(?!)")


def template(
    record: Mapping[str, Any], wanted: Sequence[str]
) -> tuple[re.Pattern[str], tuple[int, ...]]:
    """A pattern of lines such as a record's, and its groups of the wanted entries.

    These lines have the keys of the record, in its order, and no value with an escape, a list or a
    table. The pattern matches no line if a wanted entry is neither text nor a whole number.

    Args:
      record: a decoded line.
      wanted: the keys of the wanted entries.

    Example:
      >>> from jaxduel.votes.templates import template
      >>> record = {"id": 7, "winner": "ada", "loser": "bob"}
      >>> pattern, groups = template(record, ["loser", "winner"])
      >>> pattern.fullmatch('{"id": 8, "winner": "bob", "loser": "cyd"}\n').group(*groups)
      ('cyd', 'bob')
      >>> pattern.fullmatch('{"winner": "bob", "loser": "cyd"}\n') is None
      True
    """
    if not {type(record.get(key)) for key in wanted} <= _WANTED.keys():
        return _NO_LINE, ()
    values = (
        f"{re.escape(json.dumps(key, ensure_ascii=False))}: ?"
        f"{_WANTED[type(value)] if key in wanted else _ANY}"
        for key, value in record.items()
    )
    order = [key for key in record if key in wanted]
    pattern = re.compile(rf"\{{{', ?'.join(values)}\}}\r?\n")
    return pattern, tuple(order.index(key) + 1 for key in wanted)
