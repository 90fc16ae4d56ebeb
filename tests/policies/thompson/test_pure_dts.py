"""Pure D-TS: the oracle by hand."""

from __future__ import annotations

import numpy as np

from tests.oracles.thompson.dts import PureDTS
from tests.policies.oracle_runs import seen
from tests.policies.thompson.cases import samples


def test_pure_dts_has_no_candidates():
    oracle = PureDTS(2)
    seen(oracle, [[0, 50], [0, 0]], 51)
    assert oracle.allowed(samples({(0, 1): 0.1}, 2), np.zeros((2, 2))) == {(1, 1)}
