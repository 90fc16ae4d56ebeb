"""Oracle replay: at every step of random histories, a policy plays what the paper allows."""

import importlib
import pkgutil

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests import oracles
from tests.choice import some
from tests.oracles.condorcet import btm
from tests.policies.histories import (
    MOST,
    duel_histories,
    judged,
    padded_policy,
    random_histories,
    random_preferences,
)
from tests.registered import ESTABLISHED

pytestmark = pytest.mark.usefixtures("quick_compilation")

REPLAYS = {
    case: replay
    for module in pkgutil.walk_packages(oracles.__path__, "tests.oracles.")
    for case, replay in getattr(importlib.import_module(module.name), "REPLAYS", {}).items()
}
"""Oracle, the policy's parameters and the oracle's, by the policy's name and, after a comma, the
reading."""

NUM, STEPS = 200, 80
"""Histories and steps; half of the histories are judged where a policy is read in another way."""


CASES = [(case, size) for case in REPLAYS for size in ((3, MOST) if "," in case else (2, MOST))]
NEW = [case for case in CASES if case[0].partition(",")[0] not in ESTABLISHED]


@pytest.mark.parametrize(
    ("case", "num_arms"),
    some(
        CASES,
        [("rucb", 2), ("rmed1", MOST), ("sparring", 2), *NEW],
        [
            ("merge-dts", 2),
            ("merge-dts, independent", 3),
            ("merge-dts, independent", MOST),
            ("merge-rucb, theory", 3),
            ("merge-rucb, theory", MOST),
            ("arena", 2),
            ("arena, ipw", 3),
            ("arena, ipw", MOST),
        ],
    ),
)
def test_duels_follow_the_paper(case, num_arms):
    oracle_class, fields, parameters = REPLAYS[case]
    name = case.partition(",")[0]
    policy = padded_policy(name, num_arms, **{"horizon": 500, **fields})
    histories, _ = random_histories(policy, NUM, STEPS)
    runs = NUM // 2 if "," in case else NUM
    judged(lambda run: oracle_class(num_arms, **parameters), [each[:runs] for each in histories])


SETTLING = {
    "borda-cb": ({"horizon": 1, "delta": 0.9}, 2, 80),
    "btm": (btm.FAST, 5, 80),
    "savage": ({"horizon": 2}, 3, 100),
    "interleaved-filter": ({"horizon": 1}, 3, 200),
}
"""What makes arms go within a short history, arms and steps."""


@pytest.mark.parametrize("name", SETTLING)
def test_histories_remove_arms(name):
    fields, num_arms, steps = SETTLING[name]
    policy = jd.policies.make(name, num_arms=num_arms, **{"horizon": 500, **fields})
    preferences = random_preferences(num_arms, 300, seed=5)
    keys = jax.random.split(jax.random.key(5), 300)
    left, right, _ = map(np.asarray, duel_histories(policy, preferences, keys, steps))
    settled = (left[:, -5:] == right[:, -1:]).all(axis=1) & (right[:, -5:] == right[:, -1:]).all(1)
    assert 0.05 < settled.mean() < 0.95
