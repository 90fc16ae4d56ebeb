"""How likely each candidate is to win the vote, beside all ways that the votes may fall."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from jaxduel.numerics import signed_tail
from jaxduel.policies.thompson.leaders import MOST_CANDIDATES, chances_to_lead, few
from tests.policies.thompson.cases import leads_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

NUM = 6


@jax.jit
@jax.vmap
def _leads(wins, candidates, active):
    return chances_to_lead(signed_tail(wins, wins.T), candidates, active)


def test_it_is_the_law_of_the_votes():
    """Up to 3e-6 of each probability: some fifty roundings of at most 6e-8 each."""
    rng = np.random.default_rng(3)
    counts, sets, masks = [], [], []
    for number in range(60):
        num = 2 + number % (NUM - 1)
        scale = 10 ** rng.uniform(0.3, 2)
        wins = rng.integers(0, scale, (NUM, NUM)) * (rng.random((NUM, NUM)) < 0.8)
        wins[num:], wins[:, num:] = 0, 0
        np.fill_diagonal(wins, 0)
        size = 1 + number % min(num, MOST_CANDIDATES)
        counts.append(wins)
        sets.append(np.isin(np.arange(NUM), rng.permutation(num)[:size]))
        masks.append(np.arange(NUM) < num)
    found = np.asarray(_leads(*(np.array(x) for x in (counts, sets, masks))))
    for leads, wins, candidates, active in zip(found, counts, sets, masks, strict=True):
        num = active.sum()
        chance = special.betainc(wins.T + 1, wins + 1, 0.5)  # of i to win the vote against j
        wanted = leads_of(chance[:num, :num], candidates[:num])
        np.testing.assert_allclose(leads[:num], wanted, rtol=3e-6)
        assert (leads[~candidates] == 0).all()


def test_more_candidates_than_it_can_sum_up_are_told():
    assert bool(few(jnp.array([True, False, True, True])))
    assert not bool(few(jnp.ones(4, bool)))
