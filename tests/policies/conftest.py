"""Fixtures of several families."""

import numpy as np
import pytest

from jaxduel.simulation import events, skip_heuristic


@pytest.fixture
def turns(monkeypatch):
    """Skipping begins after 64 comparisons; the comparisons simulated from then on, by block."""
    monkeypatch.setattr(skip_heuristic, "TRIAL", 64)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    counted, recorded = [], events.recorded

    def counting(block):
        counted.append(np.asarray(block.turns))
        return recorded(block)

    monkeypatch.setattr(events, "recorded", counting)
    return counted
