"""The oracle of SCB: tiny cases by hand, its draws."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tests.oracles.choices import Choices
from tests.oracles.copeland.scb import SCB, Pull, kl, kl_interval
from tests.oracles.copeland_rmed.covering import unordered
from tests.policies.oracle_runs import Recorded, play_out


def test_scb_rounds_of_two_arms():
    """A pair is decided after 20, 22 and 27 equal answers in rounds of 4, 16 and 256."""
    oracle = SCB(2, lambda pull: 1 - pull.arm)
    assert [oracle.length(r) for r in range(1, 6)] == [4, 16, 256, 65536, 2**32]
    for r, n in [(1, 20), (2, 22), (3, 27)]:
        assert oracle.radius(n, r) < 0.5 < oracle.radius(n - 1, r)
    pairs = play_out(oracle, {(0, 1)}, 276)
    assert pairs == [(0, 1)] * 47 + [(0, 0)] * 229
    assert oracle.memories == [oracle.start(4)]
    assert oracle.allowed() == {(0, 1)}


def test_scb_tests():
    oracle = SCB(3)
    delta = math.log(256) / 256
    assert oracle.radius(5, 3) == pytest.approx(math.sqrt(math.log(900 / delta) / 10))
    assert oracle.bound(2, 3) == pytest.approx(math.log(24 / delta))
    expected = math.log(480 / delta) + 2 * math.log(math.log(40))
    assert oracle.bound(40, 3) == pytest.approx(expected)
    oracle = SCB(3, scale=0.5)
    assert oracle.radius(5, 3) == pytest.approx(math.sqrt(math.log(900 / delta) / 20))
    assert oracle.bound(40, 3) == pytest.approx(expected / 2)


def test_scb_intervals():
    assert kl_interval(0.0, 0.2) == pytest.approx((0, 1 - math.exp(-0.2)), abs=1e-12)
    assert kl_interval(1.0, 0.2) == pytest.approx((math.exp(-0.2), 1), abs=1e-12)
    for mean in (0.01, 0.3, 0.5, 0.9):
        for end in kl_interval(mean, 0.02):
            assert kl(mean, end) == pytest.approx(0.02, rel=1e-9)
        low, high = kl_interval(1 - mean, 0.02)
        assert kl_interval(mean, 0.02) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert kl_interval(0.5, 50.0) == pytest.approx((0, 1), abs=1e-12)


def test_scb_reuses_answers():
    """One comparison decides, and one pass eliminates, with a small scale."""
    pulls = []

    def draw(pull: Pull) -> int:
        pulls.append(pull)
        return {0: 1, 1: 0, 2: 0}[pull.arm]

    oracle = SCB(3, draw, scale=0.05)
    assert oracle.radius(1, 1) < 0.5
    # m = 1, 0, 0 after the pass: a_0 = .84 > b_1 = b_2 = .16
    assert oracle.bound(1, 1) == pytest.approx(0.177, abs=1e-3)
    assert play_out(oracle, {(0, 1), (0, 2)}, 4) == [(0, 1), (2, 0), (0, 0), (0, 0)]
    assert pulls == [Pull(0, 1, 0, 1, 0), Pull(1, 2, 0, 1, 0), Pull(2, 2, 1, 1, 0)]
    assert oracle.memories == [oracle.start(2)]


def test_scb_commits_when_all_is_decided():
    """A cycle: each of the three decisions leaves something open but the last."""
    beats = {(0, 1), (1, 2), (2, 0)}
    oracle = SCB(3, lambda pull: (pull.arm + 1) % 3, scale=0.05)
    assert play_out(oracle, beats, 4) == [(0, 1), (1, 2), (2, 0), (0, 0)]
    oracle = SCB(4, scale=0.05)
    memory = oracle.start(2)._replace(B=(2, 3), beats=frozenset({(3, 2), (2, 0), (2, 1), (0, 3)}))
    assert oracle.commit(memory) == memory
    decided = memory._replace(beats=memory.beats | {(3, 1)})
    assert oracle.commit(decided).winner == 2
    assert oracle.commit(memory._replace(B=(3,))).winner == 3


def test_scb_passes():
    oracle = SCB(3)
    memory = oracle.start(3)._replace(R=(1, 0, 0), cursor=2)
    after = oracle.add_reward(memory, 2, True, Choices())
    assert after == memory._replace(R=(1, 0, 1), cursor=0, s=1)
    memory = oracle.start(3)._replace(R=(100, 30, 99), cursor=2, s=99)
    after = oracle.add_reward(memory, 2, True, Choices())
    assert after == memory._replace(R=(100, 30, 100), cursor=0, s=100, B=(0, 2))


def test_scb_commits_before_the_pass_is_over():
    """All is decided with the pair (1, 2): 0 and 1 win once. Elimination would have kept 1 only."""
    oracle = SCB(3, scale=0.05)
    memory = oracle.start(3)._replace(
        B=(0, 1), R=(0, 50, 0), s=50, cursor=1, beats=frozenset({(0, 1), (2, 0)}), pair=(1, 2)
    )
    assert oracle.add_reward(memory, 1, True, Choices()).B == (1,)
    oracle.memories = [memory]
    oracle.play(1, 2, True)
    assert oracle.allowed() == {(0, 0)}


def test_scb_draws_are_asked_for_and_checked():
    with pytest.raises(AssertionError, match="no draws were given"):
        SCB(3).allowed()
    with pytest.raises(AssertionError, match="0 is not an opponent of 0"):
        SCB(3, lambda pull: 0).allowed()


def test_scb_real_runs():
    n = np.zeros((4, 4))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        oracle = Recorded(4, 0.3, rng)
        decided: Counter[int] = Counter()
        last = None
        for _ in range(400):
            before = oracle.memories[0]
            (pair,) = oracle.allowed()
            unordered_pair = unordered(*pair)
            if pair[0] != pair[1]:
                assert not {pair, pair[::-1]} & before.beats  # no pair is decided twice
                decided[before.r] += pair != last
            last = pair if pair[0] != pair[1] else None
            low = unordered_pair[1] == pair[0]
            oracle.play(*pair, bool(rng.random() < (0.9 if low else 0.1)))
            after = oracle.memories[0]
            assert after.B
            if after.r > before.r:
                assert (after.used, last) == (0, last)
                last = None
        assert oracle.memories[0].r == 4  # rounds ended at 4, 20 and 276
        assert all(count <= 6 for count in decided.values())
        for pull, j in oracle.drawn.items():
            n[pull.arm, j] += 1
    assert (n.diagonal() == 0).all()
    for i in range(4):
        total = n[i].sum()
        for j in set(range(4)) - {i}:
            assert n[i, j] / total == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / total))
