"""Cases of a test that README's command runs, and those that only CI runs (`-m thorough`)."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def some(cases: Iterable[Any], quick: Sequence[Any]) -> list[Any]:
    """The cases, all but the quick ones marked `thorough`."""
    cases = list(cases)
    assert set(quick) <= set(cases), "a quick case is none of them"
    return [case if case in quick else _thorough(case) for case in cases]


def _thorough(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
