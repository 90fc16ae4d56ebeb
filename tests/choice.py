"""Cases of a test: those that README's command runs, those that `-m thorough` runs, and those that
neither runs (`-m slow`)."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def some(cases: Iterable[Any], quick: Sequence[Any], slow: Sequence[Any] = ()) -> list[Any]:
    """The cases: `slow` ones marked so, which are long and whose like are among the others, and all
    but the quick ones marked `thorough`."""
    cases = list(cases)
    assert {*quick, *slow} <= set(cases), "a quick or a slow case is none of them"
    return [case if case in quick else _marked(case, case in slow) for case in cases]


def _marked(case: Any, slow: bool) -> Any:
    mark = pytest.mark.slow if slow else pytest.mark.thorough
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark)
