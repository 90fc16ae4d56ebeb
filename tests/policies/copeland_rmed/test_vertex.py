"""The simplex method inside CW-RMED's step against the linear program of `jaxduel.theory`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxduel as jd
from jaxduel.policies.copeland_rmed.constraints import outdated, table_of
from jaxduel.policies.copeland_rmed.demands import lead_and_price
from jaxduel.policies.copeland_rmed.evidence import (
    confident_until,
    ecw_levels,
    ecw_total,
    standing,
    tightest,
)
from jaxduel.policies.copeland_rmed.vertex import no_vertex, optimal_vertex
from tests.choice import some
from tests.oracles.copeland_rmed.covering import families, tournament

pytestmark = pytest.mark.usefixtures("quick_compilation")

FOUND = 2e-4
"""How far from the optimum the regret of a vertex may be, of itself: the walk tells costs apart by
up to 1e-4 of themselves, so what is cheapest for it may cost 1e-4 too much; and sums of 1 may be
missed by 1e-4, so that it may cost 1e-4 too little (e / (1 - 1e-4) keeps all of them)."""
KEPT = FOUND + 1e-4
"""The same for a vertex that is kept: a move from it may save 1e-5 of the regret per unit of slack,
and there are P = K (K - 1) / 2 of them, 10 for K = 5, with slacks of about 1 at most."""


def _counts(num_arms, num, seed, n=40):
    """Win counts of n comparisons a pair without ties and with one empirical Copeland winner."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < num:
        p = rng.uniform(0.15, 0.85, (num_arms, num_arms))
        if len(found) % 2:
            strength = np.sort(rng.uniform(0, 0.8, num_arms))
            p = 0.5 + 0.4 * (strength[:, None] - strength) + 0.05 * rng.normal(size=p.shape)
        w = np.tril(rng.binomial(n, np.clip(p, 0.05, 0.95)), -1)
        w = w + np.triu(n - w.T, 1)
        losses = (w < w.T).sum(axis=1)
        if (w != w.T)[~np.eye(num_arms, dtype=bool)].all() and (losses == losses.min()).sum() == 1:
            found.append(w.astype(np.int32))
    return np.stack(found)


def _problem(wins):
    p = wins / np.maximum(wins + wins.T, 1)
    np.fill_diagonal(p, 0.5)
    return jd.problems.from_matrix(p)


@jax.jit
def _solved(wins, last):
    """The vertex, its regret per log t, its smallest sum, and ECW's, from the last vertex on."""

    def one(wins, last):
        num = len(wins)
        now = standing(*lead_and_price(wins, wins.T), jnp.ones(num, bool))
        winner = lax.argmax(now.winners, 0, jnp.int32)
        vertex = optimal_vertex(last, now, winner, jnp.array(True))
        e = table_of(vertex.e, num)
        regret = jnp.sum(jnp.where(now.lead > 0, jnp.where(e > 0, now.costs, 0) * e, 0.0))
        smallest = tightest(now, winner, jnp.maximum(e, 0), jnp.float32(-jnp.inf)).total
        ecw = ecw_total(now.costs[winner], ecw_levels(now, winner, jnp.full(num, 1.0)).cost)
        return vertex, regret / (2 * (num - 1)), smallest, ecw / (2 * (num - 1))

    return jax.vmap(one)(wins, last)


@pytest.mark.thorough
@pytest.mark.parametrize(("num_arms", "num"), some([(3, 20), (5, 60), (9, 20)], [(5, 60)]))
def test_its_regret_is_the_lower_bound_of_the_estimates(num_arms, num):
    wins = _counts(num_arms, num, seed=num_arms)
    last = jax.tree.map(lambda x: jnp.stack([x] * num), no_vertex(num_arms))
    vertex, regret, smallest, ecw = jax.tree.map(np.asarray, _solved(wins, last))
    assert vertex.found.all()
    assert (vertex.stalls == 0).all()
    assert (vertex.e > -1e-4).all()
    assert (vertex.e < 1 + 1e-4).all()
    assert (smallest > 1 - 1e-4).all()
    for run in range(num):
        problem = _problem(wins[run])
        bound = jd.theory.copeland_lower_bound(problem).constant
        assert regret[run] == pytest.approx(bound, rel=FOUND)
        assert ecw[run] == pytest.approx(jd.theory.ecw_constant(problem), rel=1e-5)


@pytest.mark.thorough
def test_it_goes_on_from_the_last_vertex():
    wins = _counts(5, 60, seed=1)
    fresh = jax.tree.map(lambda x: jnp.stack([x] * 60), no_vertex(5))
    first, *_ = _solved(wins, fresh)
    more = wins + (np.arange(25).reshape(5, 5) % 7 == 0) * ~np.eye(5, dtype=bool)
    again, regret, smallest, _ = jax.tree.map(np.asarray, _solved(more, first))
    alone = [
        len(_problem(w).copeland_winners) == 1 and not np.any(np.triu(w == w.T, 1)) for w in more
    ]
    assert sum(alone) > 40
    for run in np.flatnonzero(alone):
        bound = jd.theory.copeland_lower_bound(_problem(more[run])).constant
        assert regret[run] == pytest.approx(bound, rel=KEPT)
        assert smallest[run] > 1 - 1e-4
    kept = (again.e == np.asarray(first.e)).all(axis=1)
    assert 0.3 < kept.mean() < 1


@pytest.mark.thorough
def test_it_follows_its_instance_through_overtaking_arms():
    """After each of many outcomes a vertex is found, as cheap as the linear program's optimum, and
    seldom from e = 0: numbers of comparisons stay odd, so that arms overtake without a tie."""
    num_arms, num, outcomes = 8, 6, 480
    lower, upper = map(jnp.asarray, np.tril_indices(num_arms, -1))

    @jax.jit
    def after(wins, last, pairs, twice):
        def step(carry, which):
            (wins, last), (pair, won) = carry, which
            wins = wins.at[:, lower[pair], upper[pair]].add(won)
            wins = wins.at[:, upper[pair], lower[pair]].add(2 - won)
            last, *_ = _solved(wins, last)
            alone = jnp.sum(wins < wins.mT, axis=2)
            alone = jnp.sum(alone == alone.min(axis=1, keepdims=True), axis=1) == 1
            return (wins, last), (last.found | ~alone, last.age)

        return lax.scan(step, (wins, last), (pairs, twice))

    rng = np.random.default_rng(2)
    wins = jnp.asarray(_counts(num_arms, num, seed=2, n=3))
    p = rng.uniform(0.2, 0.8, (len(lower), num))
    last = jax.tree.map(lambda x: jnp.stack([x] * num), no_vertex(num_arms))
    compared, fresh = 0, 0
    for _ in range(8):
        pairs = rng.integers(len(lower), size=outcomes // 8)
        (wins, last), (found, age) = after(wins, last, pairs, rng.binomial(2, p[pairs]))
        assert np.all(found)
        fresh += np.sum(np.diff(age, axis=0) < 0)
        _, regret, smallest, _ = jax.tree.map(np.asarray, _solved(wins, last))
        for run in range(num):
            problem = _problem(np.asarray(wins[run]))
            if len(problem.copeland_winners) == 1:
                bound = jd.theory.copeland_lower_bound(problem).constant
                assert regret[run] == pytest.approx(bound, rel=KEPT)
                assert smallest[run] > 1 - 1e-4
                compared += 1
    assert compared > 10
    assert fresh < 0.1 * outcomes * num


@pytest.mark.thorough
def test_constraints_that_are_not_outdated_are_those_of_the_oracle():
    """Rows of M^-1, after further outcomes with the same winner and L^(1), ties among them."""
    num_arms, num = 6, 200
    rng = np.random.default_rng(3)
    before = _counts(num_arms, num, seed=3, n=5)
    last = jax.tree.map(lambda x: jnp.stack([x] * num), no_vertex(num_arms))
    vertex, *_ = _solved(before, last)
    after = before + np.tril(rng.binomial(3, 0.3, before.shape), -1)
    after = after + np.triu(rng.binomial(3, 0.3, before.shape), 1)

    @jax.jit
    @jax.vmap
    def check(wins, defining, ahead):
        now = standing(*lead_and_price(wins, wins.T), jnp.ones(num_arms, bool))
        winner = lax.argmax(now.winners, 0, jnp.int32)
        return outdated(defining, ahead, now, winner)

    stale = np.asarray(check(after, vertex.defining, vertex.ahead))
    pairs = [(i, j) for i in range(num_arms) for j in range(i)]
    kept, given_up = 0, 0
    for run in range(num):
        old, new = tournament(before[run]), tournament(after[run])
        if new.winners != old.winners or min(new.losses) != min(old.losses):
            continue
        rows = np.linalg.inv(np.asarray(vertex.moves[run], np.float64)).round().astype(bool)
        for number in np.flatnonzero(np.asarray(vertex.defining.rivals[run]) >= 0):
            row = {pair for pair, inside in zip(pairs, rows[number], strict=True) if inside}
            valid = any(family <= row for family in families(new, new.winners[0]))
            assert valid or stale[run, number]
            kept, given_up = kept + ~stale[run, number], given_up + stale[run, number]
    assert kept > 100
    assert given_up > 100


def test_the_trust_in_counts_that_are_an_allocation_is_its_log_t():
    """Counts proportional to the optimal allocation for log t = 20 are in R up to 20."""
    problem = jd.problems.load("gap")
    bound = jd.theory.copeland_lower_bound(problem)
    p = np.asarray(problem.preferences)
    q = bound.allocation
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = p * np.log(2 * p) + (1 - p) * np.log(2 * (1 - p))
    lead = jnp.asarray(np.sign(p - 0.5) * np.maximum(20 * q * divergence, 1e-6), jnp.float32)
    now = standing(lead, jnp.ones((5, 5), jnp.float32), jnp.ones(5, bool))
    here = confident_until(now, jnp.int32(bound.winner), jnp.float32(-1))
    assert float(here) == pytest.approx(20, rel=1e-4)
