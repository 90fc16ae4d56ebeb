"""The oracles of ECW-RMED and CW-RMED: line 4 and the lists, by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.oracles.choices import Choices
from tests.oracles.copeland_rmed.cw_rmed import CWRMED
from tests.oracles.copeland_rmed.ecw_rmed import ECWRMED, Lists
from tests.policies.oracle_runs import play_out, seen

FORCED, ITSELF = (1, 0), (1, 1)


@pytest.mark.parametrize(
    ("line4", "first"),
    [
        ("pass", [FORCED, FORCED, FORCED, ITSELF, FORCED, ITSELF, FORCED, ITSELF]),
        ("retest", [FORCED] * 5 + [ITSELF] * 3),  # four by line 4, then L_C = {(1, 0)}
    ],
)
@pytest.mark.parametrize("oracle_class", [ECWRMED, CWRMED])
def test_two_arms_by_hand(oracle_class, line4, first):
    """3 sqrt(log t) is 3.14 at t = 3, 3.81 at 5, 4.18 at 7, 4.45 at 9 and passes 5 at 17."""
    oracle = oracle_class(2, line4=line4)
    pairs = []
    for _ in range(17):
        (pair,) = oracle.allowed()
        # L_N: nothing while line 4 draws, then (1, 1)
        forced = oracle.choose(oracle.memories[0], Choices())[1].forced
        oracle.play(*pair, True, frozenset() if forced else frozenset([(1, 1)]))
        pairs.append(pair)
    assert pairs == [*first, *[ITSELF] * 8, FORCED]


def test_line_4_is_asked_before_every_comparison():
    """3 sqrt(log t) is 3.53 at t = 4, 3.81 at 5, 4.02 at 6, 4.99 at 16 and 5.05 at 17."""
    order = [(1, 0)] * 4 + [(2, 0), (1, 0)] + [(2, 0)] * 4 + [(2, 1)] * 5
    order += [(3, 0), (1, 0), (2, 0), (2, 1), (3, 0)]
    oracle = ECWRMED(4)
    assert play_out(oracle, {(i, j) for i in range(4) for j in range(i)}, 20) == order
    (memory,) = oracle.memories
    assert set(memory.L_C) == set(oracle.pairs)


def test_line_4_is_asked_once_per_pass():
    """The six pairs of four arms are drawn once, whatever comes out, then the six of L_C."""
    oracle = ECWRMED(4, line4="pass")
    order = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    assert play_out(oracle, {(i, j) for i in range(4) for j in range(i)}, 12) == order * 2
    # 3 beats all others; 1 and 2 comparisons are evidence of 1.39 / log t < 1, of all but L_R
    (memory,) = oracle.memories
    assert memory.forced is None
    assert {(3, 0), (3, 1), (3, 2), (3, 3)} <= set(memory.L_C)
    assert list(memory.L_C) == sorted(memory.L_R)


def test_line_4_tests():
    oracle = ECWRMED(3)
    # |mu - 1/2| = 0 and .008, .25 with N = 1,000; at t = 1000 the bound is .01 / 1.93 = .0052
    seen(oracle, [[0, 500, 508], [500, 0, 750], [492, 250, 0]], 1000)
    assert oracle.allowed() == {(1, 0)}
    assert [oracle.unsettled(i, j, Choices()) for i, j in oracle.pairs] == [True, False, False]
    assert [ECWRMED.unsettled(x, 2, 0, Choices()) for x in [at(oracle, 10), at(oracle, 15)]] == [
        True,  # log log 10 = .83 counts as 1: .008 < .01
        True,  # log log 15 = .996
    ]
    assert not at(oracle, 40).unsettled(2, 0, Choices())  # .01 / log log 40 = .0077
    seen(oracle, [[0, 8, 9], [0, 0, 0], [0, 0, 0]], 1096)  # 3 sqrt(log 1096) = 7.9
    assert [oracle.unsettled(i, j, Choices()) for i, j in oracle.pairs] == [False, False, True]


def at(oracle: ECWRMED, t: int) -> ECWRMED:
    oracle.t = t
    return oracle


CONFIDENT = [[0, 60, 60], [0, 0, 60], [0, 0, 0]]
"""0 beats 1 beats 2: 41.6 nats of evidence for every pair."""


def test_pairs_to_come_are_not_listed():
    oracle = ECWRMED(3, line4="pass")
    seen(oracle, CONFIDENT, 100)
    memory = Lists(((0, 0), (1, 0)), frozenset({(0, 0), (1, 0)}), frozenset(), 0, ())
    oracle.memories = [memory]
    assert play_out(oracle, {(0, 0)}, 1) == [(0, 0)]
    assert oracle.memories == [
        Lists(((0, 0), (1, 0)), frozenset({(1, 0)}), frozenset({(0, 0)}), 1, ())
    ]
    assert play_out(oracle, {(0, 1)}, 1) == [(1, 0)]
    assert oracle.memories == [Lists(((0, 0),), frozenset({(0, 0)}), frozenset(), 0, None)]
    # (i*, i*) still to come: not listed
    both = frozenset({(1, 0), (2, 2)})
    oracle.memories = [Lists(((1, 0), (2, 2)), both, frozenset(), 0, ())]
    seen(oracle, np.array(CONFIDENT).T.tolist(), 100)  # 2 is the winner
    assert play_out(oracle, set(), 1) == [(1, 0)]
    assert not oracle.memories[0].L_N


def test_what_is_listed_by_hand():
    """0 beats 1 and 2 by 3:1, 1 beats 2 by 30:10; t = e^4 or so: 55."""
    wins = [[0, 3, 3], [1, 0, 30], [1, 10, 0]]
    for oracle in (ECWRMED(3), CWRMED(3)):
        seen(oracle, wins, 55)
        assert not oracle.confident(0, Choices())
        x = oracle.evidence()
        # 4 d(3/4) = .52, over log 55 = 4.007; 40 d(3/4) = 5.2
        assert (x[1, 0], x[2, 0]) == pytest.approx((0.1306, 0.1306), abs=1e-4)
        assert x[2, 1] == pytest.approx(1.306, abs=1e-3)
    # ECW: e = 1 for (1, 0) and (2, 0); |S_2 \ {0}| = 1 < 3: nothing for (2, 1)
    efficient = ECWRMED(3)
    seen(efficient, wins, 55)
    assert efficient.candidates(0, Choices()) == {(1, 0), (2, 0)}
    assert set(efficient.solution(0, Choices()).values()) == {1.0}
    # CW: r_10 = 1/4, r_20 = 1/2, r_21 = 3/4; L = 0, 1, 2. l = 0: {(1, 0)} for i2 = 1, and
    # {(2, 0), (2, 1)} for i2 = 2; l = 1: {(1, 0), (2, 0)}. So e = 1, 1, 0 at the least cost.
    best = CWRMED(3)
    seen(best, wins, 55)
    assert set(best.families(0)) == {frozenset({(1, 0)}), frozenset({(2, 0), (2, 1)})}
    assert best.program(0).solution == pytest.approx({(1, 0): 1.0, (2, 0): 1.0, (2, 1): 0.0})
    assert best.program(0).is_optimal(efficient.solution(0, Choices()))


EVEN = [[0, 9, 9, 1], [1, 0, 5, 9], [1, 5, 0, 9], [9, 1, 1, 0]]
"""L = 1, 1, 1, 2: 0 beats 1 and 2, these are even and beat 3, which beats 0."""


@pytest.mark.parametrize("oracle_class", [ECWRMED, CWRMED])
@pytest.mark.parametrize(
    ("t", "tails"),
    # 10 comparisons at .9 have .4 and .6 of log t; e_31 + e_32 = 1 is all that is asked of both
    [(10_000, [{(3, 1)}, {(3, 2)}, {(3, 1), (3, 2)}]), (462, [set(), {(3, 1)}, {(3, 2)}])],
)
def test_lists_may_be_told(oracle_class, t, tails):
    """i* = 0, at the cost of r_31 = r_32 = 1/6; the others need both (3, 0) and a pair of 3's."""
    pairs = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]

    def start() -> ECWRMED:
        oracle = oracle_class(4)
        seen(oracle, EVEN, t)
        oracle.memories = [Lists(((1, 0),), frozenset([(1, 0)]), frozenset(), 0, ())]
        return oracle

    expected = {frozenset({(0, 0), (1, 0), (2, 0)} | tail) for tail in tails}
    accepted = set()
    for bits in product([False, True], repeat=6):
        for i in (0, 1):
            listed = frozenset(p for p, x in zip(pairs, bits, strict=True) if x) | {(i, i)}
            oracle = start()
            try:
                oracle.play(1, 0, False, listed)
            except AssertionError as error:
                assert "was not allowed" in str(error)  # noqa: PT017 (which ones is the question)
            else:
                accepted.add(listed)
                assert [frozenset(memory.L_C) for memory in oracle.memories] == [listed]
    assert accepted == expected
    if oracle_class is ECWRMED:
        oracle = start()
        oracle.play(1, 0, False)
        assert {frozenset(memory.L_C) for memory in oracle.memories} == expected


def test_what_is_listed_already_stays():
    oracle = ECWRMED(4, line4="pass")
    seen(oracle, EVEN, 10_000)
    old = frozenset({(2, 1), (3, 1)})
    oracle.memories = [Lists(((1, 0), (3, 0)), frozenset({(1, 0), (3, 0)}), old, 0, ())]
    with pytest.raises(AssertionError, match="was not allowed"):
        oracle.play(1, 0, False, frozenset({(0, 0), (1, 0), (2, 0), (2, 1)}))
    oracle = ECWRMED(4, line4="pass")
    seen(oracle, EVEN, 10_000)
    oracle.memories = [Lists(((1, 0), (3, 0)), frozenset({(1, 0), (3, 0)}), old, 0, ())]
    listed = old | {(0, 0), (1, 0), (2, 0)}
    oracle.play(1, 0, False, listed)
    assert oracle.memories == [Lists(((1, 0), (3, 0)), frozenset({(3, 0)}), listed, 1, ())]


def test_lists_are_needed():
    oracle = CWRMED(3, line4="pass")
    with pytest.raises(AssertionError, match="the lists are needed"):
        play_out(oracle, set(), 4)
