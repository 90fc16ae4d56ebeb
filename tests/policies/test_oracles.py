"""The oracles themselves: their choices, and what holds in every run of those of duels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from tests.oracles.choices import Choices, every_outcome
from tests.oracles.condorcet.btm import BTM
from tests.oracles.condorcet.interleaved_filter import InterleavedFilter
from tests.oracles.condorcet.multisbm import MultiSBM
from tests.oracles.condorcet.rucb import RUCB
from tests.oracles.condorcet.sparring import Sparring
from tests.oracles.copeland.ccb import CCB
from tests.oracles.copeland.pbr import PBR
from tests.oracles.copeland.savage import SAVAGE
from tests.oracles.copeland_rmed.cw_rmed import CWRMED
from tests.oracles.copeland_rmed.ecw_rmed import ECWRMED, Lists
from tests.oracles.divergence import kl_half
from tests.oracles.identification import nts, pocowista, select_then_verify
from tests.oracles.identification.nts import NTS
from tests.oracles.identification.pocowista import Pocowista
from tests.oracles.identification.select_then_verify import SelectThenVerify
from tests.oracles.many_arms.merge_dts import MergeDTS
from tests.oracles.many_arms.merge_rucb import PAIRS, MergeRUCB
from tests.oracles.rmed.rmed1 import RMED1
from tests.oracles.rmed.rmed2 import RMED2, RMED2FH
from tests.oracles.sequential import SequentialOracle
from tests.oracles.thompson.dts import DTS, DTSPlus, PureDTS
from tests.oracles.thompson.rcs import RCS
from tests.oracles.winner_stays.beat_the_winner import BeatTheWinner
from tests.oracles.winner_stays.ws_s import WSS
from tests.oracles.winner_stays.ws_w import WSW
from tests.policies.oracle_runs import Recorded


def test_every_outcome_takes_every_branch_once():
    def code(choices: Choices) -> str:
        first = choices.any_of("ab")
        return first + (choices.any_of("xyz") if first == "a" else "")

    assert every_outcome(code) == ["ax", "ay", "az", "b"]
    assert len(every_outcome(code, np.random.default_rng(0))) == 1


def test_close_calls_are_answered_both_ways_unless_the_run_is_real():
    rng = np.random.default_rng(0)
    cases = [
        (1.0, 1.0, {False, True}),
        (1.0, 1.0 + 1e-4, {False}),
        (1.0 + 1e-7, 1.0, {True, False}),
    ]
    for a, b, expected in cases:
        assert set(every_outcome(lambda x, a=a, b=b: x.greater(a, b))) == expected
    assert every_outcome(lambda x: x.greater(2 * math.log(2), math.log(4)), rng) == [False]
    assert every_outcome(lambda x: x.at_least(2 * math.log(2), math.log(4)), rng) == [True]
    assert every_outcome(lambda x: x.greater(1.0 + 1e-7, 1.0), rng) == [True]


def test_kl_half():
    assert kl_half(0.0) == kl_half(1.0) == math.log(2)
    assert kl_half(0.5) == 0.0
    assert kl_half(0.25) == pytest.approx(0.75 * math.log(1.5) - 0.25 * math.log(2))


class Runs(NamedTuple):
    """Real runs, of which a judge sees the pairs and outcomes alone."""

    preferences: Callable[[np.random.Generator, int], np.ndarray]
    seeds: int
    memories: int  # of the judge, at most


def ordered(lead: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Every arm beats those after it with probability 1/2 + `lead`."""

    def preferences(rng: np.random.Generator, num_arms: int) -> np.ndarray:
        return 0.5 + lead * np.sign(np.subtract.outer(*[-np.arange(num_arms)] * 2))

    return preferences


def any_winners(rng: np.random.Generator, num_arms: int) -> np.ndarray:
    """There may be no Condorcet winner."""
    p = np.triu(rng.choice([0.1, 0.4, 0.8], (num_arms, num_arms)), 1)
    return p + np.tril(1 - p.T, -1) + np.eye(num_arms) / 2


CLOSE: dict[str, Callable[..., SequentialOracle]] = {
    "rucb": lambda K, rng: RUCB(K, rng=rng),
    "rmed1": lambda K, rng: RMED1(K, rng=rng),
    "btm": lambda K, rng: BTM(K, 150, scale=0.3, rng=rng),
}
CLEAR: dict[str, Callable[..., SequentialOracle]] = {
    "dts": lambda K, rng: DTS(K, rng=rng),
    "dts+": lambda K, rng: DTSPlus(K, rng=rng),
    "dts+ over candidates": lambda K, rng: DTSPlus(K, over_candidates=True, rng=rng),
    "dts without self-duels": lambda K, rng: DTS(K, self_duels=False, rng=rng),
    "pure-dts": lambda K, rng: PureDTS(K, rng=rng),
    "rcs": lambda K, rng: RCS(K, rng=rng),
    "rcs fallback": lambda K, rng: RCS(K, count="fallback", rng=rng),
    "savage": lambda K, rng: SAVAGE(K, 2, rng=rng),
    "savage copeland": lambda K, rng: SAVAGE(K, 2, test="copeland", rng=rng),
    "sparring": lambda K, rng: Sparring(K, rng=rng),
    "sparring unplayed 1": lambda K, rng: Sparring(K, unplayed=1.0, rng=rng),
    "multisbm": lambda K, rng: MultiSBM(K, rng=rng),
    "multisbm global": lambda K, rng: MultiSBM(K, clock="global", unplayed=1.0, rng=rng),
    "interleaved-filter": lambda K, rng: InterleavedFilter(K, 1, rng=rng),
    "interleaved-filter if1": lambda K, rng: InterleavedFilter(K, 1, "if1", rng=rng),
    "beat-the-winner": lambda K, rng: BeatTheWinner(K, rng=rng),
    "ws-w": lambda K, rng: WSW(K, rng=rng),
    "ws-s": lambda K, rng: WSS(K, rng=rng),
    "merge-rucb": lambda K, rng: MergeRUCB(K, **PAIRS, rng=rng),
    "merge-dts": lambda K, rng: MergeDTS(K, **PAIRS, rng=rng),
    "nts": lambda K, rng: NTS(K, **nts.FAST, rng=rng),
    "select-then-verify": lambda K, rng: SelectThenVerify(K, **select_then_verify.FAST, rng=rng),
    "pocowista": lambda K, rng: Pocowista(K, **pocowista.FAST, rng=rng),
    "rmed2": lambda K, rng: RMED2(K, rng=rng),
    "rmed2fh": lambda K, rng: RMED2FH(K, 150, rng=rng),
}
COPELAND: dict[str, Callable[..., SequentialOracle]] = {
    "ccb": lambda K, rng: CCB(K, rng=rng),
    "pbr": lambda K, rng: PBR(K, 1, rng=rng),
    "scb": lambda K, rng: Recorded(K, 0.3, rng),
    "ecw-rmed": lambda K, rng: ECWRMED(K, rng=rng),
    "cw-rmed": lambda K, rng: CWRMED(K, rng=rng),
}
MAKE = CLOSE | CLEAR | COPELAND
"""Oracles of K arms: real runs if they are given an rng, else judges."""
RUNS = {
    **dict.fromkeys(CLOSE, Runs(ordered(0.1), seeds=3, memories=2)),
    **dict.fromkeys(CLEAR, Runs(ordered(0.4), seeds=2, memories=4)),
    **dict.fromkeys(COPELAND, Runs(any_winners, seeds=2, memories=12)),
}
STEPS = {
    **dict.fromkeys(CLEAR.keys() - {"sparring unplayed 1", "multisbm global"}, (300, 200)),
    **dict.fromkeys(COPELAND, (500, 350)),
}
"""Comparisons, and the first of those in which the best arm is played most often."""


def listed_by(oracle: ECWRMED, before: Lists) -> frozenset[tuple[int, int]]:
    """L_N before line 18, of a real run after one more comparison."""
    (memory,) = oracle.memories
    return memory.L_N if memory.L_C is before.L_C else memory.L_R


def allowed(judge: SequentialOracle, player: SequentialOracle) -> set[tuple[int, int]]:
    """The pairs that the judge allows, given the player's samples."""
    if isinstance(judge, DTS | MergeDTS):
        assert isinstance(player, type(judge))
        return judge.allowed(player.theta1, player.theta2)
    if isinstance(judge, RCS):
        assert isinstance(player, RCS)
        return judge.allowed(player.theta1)
    return judge.allowed()


@pytest.mark.parametrize("num_arms", [2, 3, 5])
@pytest.mark.parametrize("name", MAKE)
def test_a_real_run_is_always_allowed(name, num_arms):
    runs = RUNS[name]
    for seed in range(runs.seeds):
        rng = np.random.default_rng(seed)
        preferences = runs.preferences(rng, num_arms)
        player, judge = MAKE[name](num_arms, rng), MAKE[name](num_arms, None)
        if isinstance(player, Recorded):
            judge.draw = player.drawn.__getitem__
        for _ in range(150):
            ((left, right),) = player.allowed()
            assert (left, right) in allowed(judge, player)
            won = bool(rng.random() < preferences[left, right])
            (before,) = player.memories
            player.play(left, right, won)
            if isinstance(judge, CWRMED) and isinstance(player, CWRMED):
                judge.play(left, right, won, listed_by(player, before))
            else:
                judge.play(left, right, won)
            assert player.memories[0] in judge.memories
            assert len(judge.memories) <= runs.memories
        assert np.array_equal(player.N, player.W + player.W.T)


@pytest.mark.parametrize("name", [name for name in MAKE if name in STEPS])
def test_a_real_run_ends_with_the_best_arm_most_often(name):
    steps, late = STEPS[name]
    rng = np.random.default_rng(1)
    oracle, plays = MAKE[name](3, rng), np.zeros(3)
    preferences = ordered(0.4)(rng, 3)
    for t in range(steps):
        ((left, right),) = oracle.allowed()
        oracle.play(left, right, bool(rng.random() < preferences[left, right]))
        plays += (t >= late) * np.bincount([left, right], minlength=3)
    assert plays.argmax() == 0


def test_samples_are_asked_for():
    for oracle in (DTS(2), RCS(2)):
        with pytest.raises(AssertionError, match="no samples were given"):
            oracle.allowed()


def test_a_pair_that_is_not_allowed_is_refused():
    oracle = RMED1(3)
    with pytest.raises(AssertionError, match=r"\(1, 0\) was not allowed"):
        oracle.play(1, 0, True)
