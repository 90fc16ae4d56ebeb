"""Identification of arms with rewards, against histories of `simulate`, and its laws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr, zeta

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.simulation.likelihood_ratio import _bernoulli_ratio
from jaxduel.votes.rewards import REWARD_RULES
from jaxduel.votes.stopping import level_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

SEEDS, HORIZON = 6, 300
GRID = [1, 3, 4, 11, 30, 100, 299]
GAUSSIAN = jd.problems.gaussian([0.2, 3.0, 2.0, -0.3], std=[0.3, 0.5, 0.2, 0.8])
BERNOULLI = jd.problems.bernoulli([0.1, 0.98, 0.3])


def made(name, problem, horizon=HORIZON, **parameters):
    return jd.policies.make(name, num_arms=problem.num_arms, horizon=horizon, **parameters)


def history(policy, problem):
    """Pulls and sums of rewards that are known after each pull but the last: (S, T - 1, K) each."""
    result = jd.simulate(
        policy,
        problem,
        HORIZON,
        num_seeds=SEEDS,
        checkpoints=range(1, HORIZON + 1),
        record_outcomes=True,
        skip_quiet=False,
    )
    means = np.asarray(problem.means, np.float32).astype(np.float64)
    pulls, rewards = result.plays[:, :-1].astype(np.float64), result.outcomes[:, :-1]
    if result.batches is None:
        return pulls, rewards + pulls * means
    known, rewards = np.zeros_like(pulls), result.outcomes[:, 1:]  # a round's, at its end
    for seed, time in np.ndindex(known.shape[:2]):
        ends = (result.outcomes[seed, time + 1] != result.outcomes[seed, time]).any()
        known[seed, time] = pulls[seed, time] if ends else known[seed, time - 1]
    return known, rewards + known * means


def named_by_hand(rule, problem, pulls, totals):
    """The scores of the arms, (K,)."""
    if rule == "most-pulled":
        return pulls
    if rule == "posterior":
        if problem.std is None:
            return (1 + totals) / (2 + pulls)
        return (totals / problem.std**2) / (1 + pulls / problem.std**2)
    return np.where(pulls > 0, totals / np.maximum(pulls, 1), -np.inf)


def is_clear(problem, pulls, totals, delta):
    """The arm that the generalised likelihood ratio names, or -1."""
    if (pulls == 0).any():
        return -1
    averages = totals / pulls
    best = int(np.argmax(averages))
    level = level_of(problem.rewards, len(pulls), delta)
    for arm in set(range(len(pulls))) - {best}:
        m, n = pulls[best], pulls[arm]
        if problem.std is None:
            both = (totals[best] + totals[arm]) / (m + n)
            pairs = [(m, averages[best]), (n, averages[arm])]
            ratio = sum(w * (rel_entr(p, both) + rel_entr(1 - p, 1 - both)) for w, p in pairs)
            more = 3 * np.log(1 + np.log([m, n])).sum()
        else:
            variance = problem.std[best] ** 2 / m + problem.std[arm] ** 2 / n
            ratio = (averages[best] - averages[arm]) ** 2 / (2 * variance)
            more = 2 * np.log(4 + np.log([m, n])).sum()
        if ratio < level + more:
            return -1
    return best


@pytest.mark.thorough
@pytest.mark.parametrize("problem", [GAUSSIAN, BERNOULLI], ids=["gaussian", "bernoulli"])
@pytest.mark.parametrize(("name", "more"), [("ucb1", {}), ("base", {"num_batches": 4})])
def test_arms_are_named_as_by_hand(problem, name, more):
    policy = made(name, problem, **more)
    pulls, totals = history(policy, problem)
    found = jd.identify(
        policy, problem, pulls=GRID[-1], num_seeds=SEEDS, checkpoints=GRID, stop="glr", delta=0.9
    )
    assert found.unit == "pulls"
    assert found.checkpoints.tolist() == GRID
    assert (found.cast == GRID[-1]).all() or name == "base"
    for seed in range(SEEDS):
        stops = [is_clear(problem, *at, 0.9) for at in zip(pulls[seed], totals[seed], strict=True)]
        first = next((t for t, arm in enumerate(stops) if arm >= 0), -1)
        expected = (first + 1, stops[first]) if first >= 0 else (-1, -1)
        assert (found.stops.at[seed], found.stops.named[seed]) == expected
        for at, time in enumerate(GRID):
            for rule in REWARD_RULES:
                scores = named_by_hand(rule, problem, pulls[seed, time - 1], totals[seed, time - 1])
                named = found.named[rule][seed, at]
                # recorded sums of float32 are rounded at each of the pulls
                assert scores[named] == pytest.approx(scores.max(), rel=HORIZON * 2**-24)
    assert (found.stops.at >= 0).any()
    np.testing.assert_array_equal(found.correct["mean"], np.isin(found.named["mean"], [1]))


def test_ties_are_broken_at_random_and_arms_never_pulled_come_last():
    found = jd.identify("ucb1", BERNOULLI, pulls=1, num_seeds=600, checkpoints=[1])
    shares = np.bincount(found.named["most-pulled"][:, 0], minlength=3) / 600
    np.testing.assert_allclose(shares, 1 / 3, atol=4 * np.sqrt(2 / 9 / 600))  # the first arm is any
    np.testing.assert_array_equal(found.named["mean"], found.named["most-pulled"])


def test_many_cells_are_those_alone():
    problems = [GAUSSIAN, jd.problems.gaussian([1.0, 0.0, 0.9, 0.9])]
    policy = made("ucb1", GAUSSIAN)
    settings = {"pulls": HORIZON, "num_seeds": SEEDS, "stop": "glr", "delta": 0.3}
    several = jd.votes.identify_many([policy] * 2, problems, **settings)
    for problem, found in zip(problems, several, strict=True):
        alone = jd.identify(policy, problem, **settings)
        np.testing.assert_array_equal(found.stops.at, alone.stops.at)
        for rule in REWARD_RULES:
            np.testing.assert_array_equal(found.named[rule], alone.named[rule])


def test_tables_and_data_sets_are_in_pulls():
    found = jd.identify("ucb1", BERNOULLI, pulls=50, num_seeds=20, checkpoints=[10, 50])
    frame, data = found.to_frame(), found.to_xarray()
    assert frame["pulls"].tolist() == [10, 50] * 3
    assert data.sizes == {"rule": 3, "seed": 20, "pulls": 2}
    assert data.attrs["target"] == "mean"
    np.testing.assert_allclose(
        frame["simple_regret"].iloc[1], (0.98 - BERNOULLI.means[found.named["mean"][:, 1]]).mean()
    )
    assert "20 runs of 50 pulls" in found.summary()[0]
    assert found.plot().axes[0].get_xlabel() == "pulls"


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("num_arms", [2, 30])
def test_levels_are_those_of_the_paper(num_arms, delta):
    x = np.log((num_arms - 1) / delta) / 2
    y = np.linspace(0.5, 1, 1_000_001)[1:-1]
    g = 2 * y - 2 * y * np.log(4 * y) + np.log(zeta(2 * y)) - np.log(1 - y) / 2
    expected = 2 * np.min((g + x) / y)
    assert level_of("gaussian", num_arms, delta) == pytest.approx(expected, rel=1e-8)

    def inverse(value):
        return brentq(lambda u: u - np.log(u) - value, 1, 1e4, xtol=1e-13)

    half = (inverse(1 + x) + np.log(2 * zeta(2))) / 2
    if half >= inverse(half) > 1 / np.log(1.5) or inverse(half) >= 1 / np.log(1.5):
        threshold = 2 * np.exp(1 / inverse(half)) * inverse(half)
    else:
        threshold = 2 * 1.5 * (half - np.log(np.log(1.5)))
    assert level_of("bernoulli", num_arms, delta) == pytest.approx(2 * threshold, rel=1e-8)


def test_the_ratio_of_bernoulli_arms_is_accurate():
    rng = np.random.default_rng(0)
    m, n = (rng.integers(1, 10 ** rng.uniform(1, 7, 20_000)) for _ in range(2))
    p = rng.beta(0.3, 0.3, len(m))
    apart = rng.exponential(3, len(m)) * np.sqrt(p * (1 - p) * (1 / m + 1 / n))
    ones, others = (rng.binomial(k, np.clip(x, 0, 1)) for k, x in ((m, p + apart), (n, p)))
    mid = (ones + others) / (m + n)
    no, no_others, no_mid = (m - ones) / m, (n - others) / n, (m + n - ones - others) / (m + n)
    expected = m * (rel_entr(ones / m, mid) + rel_entr(no, no_mid))
    expected += n * (rel_entr(others / n, mid) + rel_entr(no_others, no_mid))
    found = jax.vmap(lambda *counts: _bernoulli_ratio(*map(jnp.float32, counts), 0)[1])(
        np.stack([ones, others], 1), np.stack([m - ones, n - others], 1)
    )
    # of the lead of averages, each rounded to 24 bits, the ratio is the square
    low = np.minimum(np.maximum(ones / m, others / n), np.maximum(no, (n - others) / n))
    lead = np.abs(ones / m - others / n)
    rounding = np.where(lead > 0, low / np.where(lead > 0, lead, 1), 0)
    close = 2**-24 * (1 + (32 + 4 * rounding) * expected)  # levels are above 1
    assert (np.abs(found - expected) <= close).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"votes": 10}, "'bernoulli' has a budget of pulls: give pulls, no votes"),
        ({"problem": "arxiv", "policy": "rucb"}, "'arxiv' has a budget of votes: give votes"),
        ({"stop": "condorcet"}, "unknown rule to stop by 'condorcet': known are glr, policy"),
        ({"stop": "policy"}, "ucb1 does not stop by itself"),
        ({"recommend": ["btl"]}, "unknown rule to recommend by 'btl': known are mean"),
        ({"recommend": []}, "recommend must name at least one of mean"),
        ({"target": "borda"}, "unknown target 'borda': known are mean"),
        ({"delta": 1.0}, "delta"),
        ({"horizon": 50}, "identify: horizon is for arms that are compared"),
        ({"start": np.zeros((3, 3))}, "identify: start is for arms that are compared"),
        ({"afresh": True}, "identify: afresh is for arms that are compared"),
        ({"pulls": 0}, "pulls must be a whole number of at least 1"),
        ({"pulls": 2**31}, "pulls must be at most"),
        ({"top": 4}, "top must be at most the number of arms, 3"),
        ({"policy": "dts"}, "dts compares arms in pairs"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    asked = {"policy": "ucb1", "problem": BERNOULLI, "pulls": 10, "num_seeds": 2, **arguments}
    with pytest.raises(InputError, match=message):
        jd.identify(**asked)


@pytest.mark.parametrize(
    ("problem", "pulls"),
    [
        (jd.problems.gaussian([0.4, 0.0], std=[1.0, 0.5]), 400),
        (jd.problems.bernoulli([0.9, 0.65]), 400),
    ],
    ids=["gaussian", "bernoulli"],
)
def test_runs_stop_as_often_as_in_another_program(problem, pulls):
    seeds, delta = 4_000, 0.9
    found = jd.identify(
        "uniform-arms", problem, pulls=pulls, num_seeds=seeds, stop="glr", delta=delta
    )
    rng = np.random.default_rng(1)
    shape = seeds, pulls // 2
    if problem.std is None:
        arms = [rng.random(shape) < mean for mean in problem.means]
    else:
        arms = [rng.normal(*law, shape) for law in zip(problem.means, problem.std, strict=True)]
    swapped = rng.random((seeds, 1)) < 0.5  # either arm is pulled first
    arms = [np.where(swapped, one, other) for one, other in (arms, arms[::-1])]
    variance = np.ones(2) if problem.std is None else np.square(problem.std)
    variance = [np.where(swapped, one, other) for one, other in (variance, variance[::-1])]
    sums = [np.cumsum(arm, axis=1, dtype=float) for arm in arms]
    times = np.arange(1, pulls)  # of which the second arm has had half, rounded down
    m, n = (times + 2) // 2, (times + 1) // 2
    one, two = sums[0][:, m - 1] / m, sums[1][:, n - 1] / n
    if problem.std is None:
        both = (m * one + n * two) / (m + n)
        ratio = m * (rel_entr(one, both) + rel_entr(1 - one, 1 - both))
        ratio += n * (rel_entr(two, both) + rel_entr(1 - two, 1 - both))
        more = 3 * np.log(1 + np.log(m)) + 3 * np.log(1 + np.log(n))
    else:
        ratio = (one - two) ** 2 / (2 * (variance[0] / m + variance[1] / n))
        more = 2 * np.log(4 + np.log(m)) + 2 * np.log(4 + np.log(n))
    clear = ratio >= level_of(problem.rewards, 2, delta) + more
    stops = np.where(clear.any(axis=1), clear.argmax(axis=1) + 2, np.inf)
    for part in (0.25, 0.5, 1.0):
        expected = (stops <= part * pulls).mean()
        share = ((found.stops.at >= 0) & (found.stops.at <= part * pulls)).mean()
        both = (share + expected) / 2
        error = np.sqrt(both * (1 - both) * 2 / seeds)
        assert abs(share - expected) <= 4 * error
    assert 0.2 < expected < 0.95


@pytest.mark.thorough
@pytest.mark.parametrize("delta", [0.05, 0.5])
@pytest.mark.parametrize(
    "problem", [jd.problems.gaussian([0.02, 0.0, 0.0]), jd.problems.bernoulli([0.51, 0.5])]
)
@pytest.mark.parametrize("name", ["uniform-arms", "lucb"])
def test_a_wrong_arm_is_named_no_more_often_than_allowed(name, problem, delta):
    settings = {"pulls": 300, "num_seeds": 100_000, "checkpoints": [300], "stop": "glr"}
    found = jd.identify(name, problem, **settings, delta=delta, recommend=["mean"])
    stopped = found.stops.at >= 0
    wrong = (stopped & ~found.truth.is_right(found.stops.named)).sum()
    assert wrong <= delta * 100_000
