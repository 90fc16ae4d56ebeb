"""ECW-RMED: oracle replay."""

import pytest

from tests.oracles.copeland_rmed.ecw_rmed import ECWRMED
from tests.policies.histories import judged, padded_policy, random_histories

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


@pytest.mark.parametrize(
    ("num_arms", "fields"),
    [
        pytest.param(2, {}, id="ecw-rmed-2"),
        pytest.param(4, {}, id="ecw-rmed-4"),
        pytest.param(4, {"line4": "pass"}, id="ecw-rmed, passes", marks=pytest.mark.slow),
        pytest.param(3, {"alpha": 0.5, "beta": 0.0}, id="ecw-rmed, others"),
        pytest.param(3, {"alpha": 0.5, "beta": 0.7}, id="ecw-rmed, all pairs close"),
    ],
)
def test_duels_follow_the_paper(num_arms, fields):
    policy = padded_policy("ecw-rmed", num_arms, horizon=500, **fields)
    histories, _ = random_histories(policy, 60, 100)
    judged(lambda run: ECWRMED(num_arms, **fields), histories)
