"""Cases of a test that README's command runs, and those that only CI runs (`-m thorough`)."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def some(cases: Iterable[Any], quick: Sequence[Any]) -> list[Any]:
    """The cases, all but the quick ones marked `thorough`; they may be marked already."""
    return [case if case in quick else _thorough(case) for case in cases]


def _thorough(case: Any) -> Any:
    if hasattr(case, "marks"):
        marks = (*case.marks, pytest.mark.thorough)
        return pytest.param(*case.values, marks=marks, id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
