import itertools

import numpy as np
import pytest

import jaxduel as jd


def divergences(problem, arm, means):
    """The divergence of an arm's law from those of other means, without help against cancellation:
    with the digits that numbers of more bits have."""
    mean, means = np.longdouble(problem.means[arm]), np.asarray(means, np.longdouble)
    if problem.std is None:
        sides = [(p, q) for p, q in ((mean, means), (1 - mean, 1 - means)) if p > 0]
        return sum(p * np.log(p / q) for p, q in sides)
    return (mean - means) ** 2 / (2 * problem.std[arm] ** 2)


def evidence(problem, shares):
    """Of shares (..., K): the evidence against each rival of the best arm, and the common mean at
    which it is least, (..., K - 1) each."""
    best = int(np.argmax(problem.means))
    rivals = [arm for arm in range(problem.num_arms) if arm != best]
    weights = shares if problem.std is None else shares / problem.std**2
    own, other = weights[..., [best]], weights[..., rivals]
    common = (own * problem.means[best] + other * problem.means[rivals]) / (own + other)
    against = [
        shares[..., best] * divergences(problem, best, common[..., i])
        + shares[..., arm] * divergences(problem, arm, common[..., i])
        for i, arm in enumerate(rivals)
    ]
    return np.stack(against, axis=-1), common


def simplex(center, width, num):
    """Shares about a center, on a grid."""
    axes = [np.linspace(c - width, c + width, num) for c in center[:-1]]
    first = np.array(list(itertools.product(*axes)))
    shares = np.column_stack([first, 1 - first.sum(axis=1)])
    return shares[(shares > 0).all(axis=1)]


SMALL = [
    jd.problems.gaussian([0.6, 0.5]),
    jd.problems.gaussian([0.1, 0.5], std=[1.0, 3.0]),
    jd.problems.bernoulli([0.9, 0.2]),
    jd.problems.bernoulli([0.02, 0.01]),
    jd.problems.bernoulli([1.0, 0.0]),
    jd.problems.gaussian([0.3, 1.0, 0.8]),
    jd.problems.gaussian([0.3, 1.0, 0.8], std=[0.5, 1.0, 2.0]),
    jd.problems.bernoulli([0.7, 0.1, 0.65]),
    jd.problems.bernoulli([0.0, 0.5, 1.0]),
]


@pytest.mark.parametrize("problem", SMALL, ids=lambda p: f"{p.name}{p.means.tolist()}")
def test_grid_search_over_the_simplex(problem):
    center, width, best = np.full(problem.num_arms, 1 / problem.num_arms), 1.0, 0.0
    while width > 1e-6:
        shares = simplex(center, width, 61)
        least = evidence(problem, shares)[0].min(axis=-1)
        best, center, width = float(least.max()), shares[np.argmax(least)], width / 1.5
    found = jd.theory.characteristic_time(problem)
    assert 1 / best == pytest.approx(found.time, rel=1e-6)
    assert 1 / best >= found.time * (1 - 1e-12)
    np.testing.assert_allclose(found.allocation, center, atol=1e-3)


def instances(num_arms):
    rng = np.random.default_rng(num_arms)
    means = rng.uniform(0.01, 0.94, num_arms)
    yield jd.problems.bernoulli(means)
    yield jd.problems.bernoulli(means / 100)
    yield jd.problems.bernoulli(np.append(np.round(means[1:], 1), 1.0))
    yield jd.problems.gaussian(means, std=0.5)
    yield jd.problems.gaussian(means, std=rng.uniform(0.1, 10.0, num_arms))
    yield jd.problems.gaussian(np.append(means[1:] / 1e3, 1.0), std=10 ** rng.uniform(-3, 3))


@pytest.mark.parametrize("num_arms", [2, 4, 16, 100])
def test_duality_leaves_no_gap(num_arms):
    """The evidence is concave in the shares and of degree 1: for any weights of the rivals the
    largest slope of the weighted evidence bounds 1 / T* from above, and any shares do from below.
    The weights that the conditions of Karush, Kuhn and Tucker give meet the shares that are found.
    """
    for problem in instances(num_arms):
        found = jd.theory.characteristic_time(problem)
        assert found.allocation.sum() == pytest.approx(1, rel=1e-12)
        against, common = evidence(problem, found.allocation)
        best = int(np.argmax(problem.means))
        rivals = [arm for arm in range(num_arms) if arm != best]
        slopes = np.array([divergences(problem, a, m) for a, m in zip(rivals, common, strict=True)])
        weights = 1 / slopes / np.sum(1 / slopes)
        of_best = np.sum(weights * divergences(problem, best, common))
        above = max(of_best, np.max(weights * slopes))
        assert float(1 / against.min()) == pytest.approx(found.time, rel=1e-9)
        assert float(1 / above) == pytest.approx(found.time, rel=1e-9)


@pytest.mark.parametrize(
    ("means", "shares"),
    [
        ([0.5, 0.45, 0.43, 0.4], [0.417, 0.390, 0.136, 0.057]),
        ([0.3, 0.21, 0.2, 0.19, 0.18], [0.336, 0.251, 0.177, 0.132, 0.104]),
    ],
)
def test_shares_of_the_paper(means, shares):
    """Section 6 of the paper."""
    found = jd.theory.characteristic_time(jd.problems.bernoulli(means))
    np.testing.assert_allclose(found.allocation, shares, atol=6e-4)


@pytest.mark.parametrize("num_arms", [2, 3, 10, 1000])
def test_closed_form_of_one_better_arm(num_arms):
    """2 (std / gap)^2 (1 + sqrt(K - 1))^2; with two arms 8 (std / gap)^2 in equal shares."""
    root = np.sqrt(num_arms - 1)
    found = jd.theory.characteristic_time(jd.problems.one_better_arm(num_arms, 0.7, 0.2, std=3.0))
    assert found.time == pytest.approx(2 * 36 * (1 + root) ** 2, rel=1e-12)
    expected = np.append(root, np.ones(num_arms - 1)) / (root + num_arms - 1)
    np.testing.assert_allclose(found.allocation, expected, rtol=1e-12)


@pytest.mark.parametrize("stds", [(1.0, 3.0), (1e-6, 1e6), (1e25, 1e-25), (1e-25, 1e25)])
def test_closed_form_of_two_arms(stds):
    found = jd.theory.characteristic_time(jd.problems.gaussian([1.0, 0.5], std=stds))
    assert found.time == pytest.approx(2 * sum(stds) ** 2 / 0.25, rel=1e-12)
    np.testing.assert_allclose(found.allocation, np.array(stds) / sum(stds), rtol=1e-12)


def test_close_coins_are_like_gaussian_arms():
    for mean, gap in itertools.product([0.5, 0.01], [1e-6, 1e-8]):
        coins = jd.theory.characteristic_time(jd.problems.bernoulli([mean, mean + gap]))
        exact = mean + gap - mean  # the gap of the rounded means
        assert coins.time == pytest.approx(8 * mean * (1 - mean) / exact**2, rel=300 * gap)


def test_it_does_not_depend_on_units_or_on_the_order_of_arms():
    means, std = np.array([0.1, 0.5, 0.35, 0.2]), np.array([1.0, 0.3, 0.7, 2.0])
    one = jd.theory.characteristic_time(jd.problems.gaussian(means, std))
    order = [2, 0, 3, 1]
    other = jd.theory.characteristic_time(
        jd.problems.gaussian(1e100 * (means[order] - 7), 1e100 * std[order])
    )
    assert other.time == pytest.approx(one.time, rel=1e-9)
    np.testing.assert_allclose(other.allocation, one.allocation[order], rtol=1e-9)


def test_tiny_gaps_take_for_ever():
    found = jd.theory.characteristic_time(jd.problems.gaussian([1e-200, 0]))
    assert found.time == np.inf
    np.testing.assert_allclose(found.allocation, [0.5, 0.5], rtol=1e-12)


def test_standard_deviations_too_far_apart():
    arms = jd.problems.gaussian([1.0, 0.5], std=[1e-30, 1e30])
    with pytest.raises(jd.InputError, match=r"are from 1e-30 to 1e\+30, and differ by a factor"):
        jd.theory.characteristic_time(arms)
