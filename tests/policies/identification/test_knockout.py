"""The knockout is a binary tree's; walks end at Wald's lead; duels of a round of DKWT."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.identification.knockout import (
    first_match,
    is_over,
    lead_needed,
    next_match,
)
from tests.oracles.identification.nts import ceiling, levels

_first, _next = jax.jit(first_match), jax.jit(next_match)


def _matches(num_arms, padding, first_wins):
    """The matches of a knockout and its winner."""
    state = _first(jnp.arange(num_arms + padding) < num_arms)
    matches = []
    while not is_over(state):
        pair = int(state.arms[state.place]), int(state.arms[state.place + 1])
        matches.append(pair)
        state = _next(state, first_wins(*pair))
    return matches, int(state.arms[0])


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5, 6, 7, 8, 9, 13])
def test_matches_are_those_of_a_binary_tree(num_arms):
    def wins(i, j):
        return (i * 7 + j * 3) % 5 < 2

    leaf = 2 ** (num_arms - 1).bit_length()
    at, expected = {leaf + arm: arm for arm in range(num_arms)}, []
    for nodes in levels(num_arms):
        for node in nodes:
            arms = [at[child] for child in (2 * node, 2 * node + 1) if child in at]
            if len(arms) == 2:
                expected.append(tuple(arms))
                arms = [arms[0] if wins(*arms) else arms[1]]
            at |= dict.fromkeys([node] * len(arms), *arms)
    for padding in (0, 4):
        assert _matches(num_arms, padding, wins) == (expected, at[1])
    assert len(expected) == num_arms - 1


def test_leads_by_hand():
    assert int(lead_needed(0.1, 0.4)) == 2  # log 9 / log 9 = 1
    assert int(lead_needed(0.05 / 20, 0.05)) == 31
    for error in (0.001, 0.02, 0.2, 0.45):
        for margin in (0.01, 0.05, 0.3, 0.49):
            assert int(lead_needed(error, margin)) == ceiling(error, margin) + 1


def test_duels_of_a_round_of_dkwt():
    policy = jd.policies.make("dkwt", num_arms=9, active_arms=np.arange(9) < 5)
    duels, r = np.asarray(policy._duels()), np.arange(1, 11)
    inverse = 4 * 5 * np.pi**2 * r**2 / (6 * float(policy.gamma))  # 4 / g_r
    assert duels[0] == 831
    assert (duels[:10] == np.ceil(8 * np.log(inverse) * 4.0 ** (r + 1))).all()
    assert duels[-1] == 2**31 - 1
    assert (np.diff(duels) >= 0).all()
