"""Fits by either kind of draws."""

import pytest

from jaxduel.votes import posterior


@pytest.fixture(params=["weighted", "chained"])
def kind(request, monkeypatch):
    """Weighted draws, or chains in their place."""
    if request.param == "chained":
        monkeypatch.setattr(posterior, "_weighted", lambda *arguments: None)
