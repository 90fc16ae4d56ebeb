"""Quiet runs for which nothing is drawn: skipped or played one by one, they are the same runs."""

import math

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import SupportsSkip
from tests.choice import some
from tests.oracles.many_arms.merge_rucb import FAST
from tests.policies import quiet_walks
from tests.policies.quiet_cases import (
    ARMS,
    TIMES,
    check_commitment,
    check_committed_states,
    check_long_runs,
)

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- policies that commit -----------------------------------------------------------------------

COMMITTING = {
    "btm": {"horizon": 1_000, "gamma": 1.0, "scale": 0.3, "self_comparisons": False},
    "interleaved-filter": {"horizon": 2},
    "merge-dts": {"group_size": 3, **FAST},
    "merge-rucb": {"group_size": 3, **FAST},
    "pbr": {"horizon": 2},
    "savage": {"horizon": 2},
    "scb": {"scale": 0.1, "first_length": 20},
}
"""Parameters with which each commits within some hundreds of comparisons."""
ROUNDS = np.cumsum([20, 20**2, 20**4])
"""Ends of SCB's rounds: comparisons that are not skipped."""


def _made(name, **changed):
    return jd.policies.make(name, num_arms=ARMS, **{**COMMITTING.get(name, {}), **changed})


def _spare(name, self_comparisons=False, **_):
    """Comparisons of an arm with itself that are not skipped, as `check_runs` asks for them."""
    if self_comparisons:  # of two arms, b meets itself every other time
        return {"spare": lambda informative, last: 1.1 * informative + 100}
    if name in ("merge-dts", "merge-rucb"):  # once, all groups may have one arm until a stage ends
        return {"spare": lambda informative, last: math.log2(ARMS)}
    if name == "scb":
        return {"spare": lambda informative, last: np.searchsorted(ROUNDS, last, "right")}
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changed"),
    [
        *((name, {}) for name in ("ws-s", *COMMITTING)),
        ("ws-s", {"beta": 2.0}),
        ("ws-s", {"beta": 1.05, "exploit_after": "duel"}),
        ("ws-s", {"fresh_challenger": True}),
    ],
)
def test_runs_are_the_same(name, changed):
    times = TIMES[:3] if name == "scb" else TIMES
    check_commitment(_made(name, **changed), times, **_spare(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("btm", {}),
        ("btm", {"self_comparisons": True}),
        ("interleaved-filter", {"variant": "if2"}),
        ("interleaved-filter", {"variant": "if1"}),
        ("merge-rucb", {"restarts": False}),
        ("merge-rucb", {"restarts": True}),
        ("pbr", {}),
        ("savage", {"test": "copeland"}),
        ("savage", {"test": "condorcet"}),
        ("scb", {}),
    ],
)
def test_long_runs_are_the_same(name, changed):
    check_long_runs(_made(name, **changed), **_spare(name, **changed))


@pytest.mark.parametrize(
    "name",
    some(COMMITTING, ("btm", "savage"), {*COMMITTING} - {"btm", "savage", "merge-rucb"}),
)
def test_states_are_the_same(name):
    check_committed_states(_made(name), lasts=name != "scb")


# ---- the families of RMED -----------------------------------------------------------------------

RMED = ("rmed1", "rmed2", "rmed2fh", "ecw-rmed", "cw-rmed")


@pytest.mark.parametrize("name", some(RMED, (), RMED[1:]))
def test_a_run_is_what_the_comparisons_then_are(name):
    quiet_walks.check_walks(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rmed1", "ecw-rmed"])
def test_two_arms_without_padding(name):
    quiet_walks.check_two_arms(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "values"), [*((name, {}) for name in RMED), ("ecw-rmed", {"line4": "pass"})]
)
def test_outcomes_that_come_late(name, values):
    quiet_walks.check_delayed(name, **values)


@pytest.mark.slow
@pytest.mark.parametrize("name", RMED)
def test_plays_are_the_same(name):
    quiet_walks.check_all_plays(name)


@pytest.mark.parametrize("name", RMED)
def test_they_fall_quiet(name):
    assert isinstance(quiet_walks.make(name, 3), SupportsSkip)
