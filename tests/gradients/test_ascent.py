"""The ascent: it climbs, what it reports is fresh, and it stops where nothing can be climbed."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.gradients import ascent, space, worst_case

pytestmark = pytest.mark.usefixtures("quick_compilation")
ONE = {"devices": jax.devices()[:1]}
PCOMP = jd.policies.make("pcomp", num_arms=3, horizon=2_000, num_batches=4)
FEW = {"num_starts": 2, "steps": 6, "num_seeds": 256, "fresh_seeds": 1_024, **ONE}


def test_it_finds_a_worse_instance_and_says_so_by_fresh_seeds():
    of = space("btl", 3, min_gap=0.02)
    found = worst_case(PCOMP, of, learning_rate=0.3, **FEW)
    assert found.value - found.before > 4 * (found.sem + found.before_sem)
    assert found.value > found.starts.max()
    assert (found.objective, found.regret, found.horizon) == ("regret", "average", 2_000)
    assert [len(t.value) for t in found.trajectories] == [6, 6]
    assert found.trajectories[0].params.shape == (7, 3)
    np.testing.assert_array_equal(found.params, found.trajectories[found.best].params[-1])
    again = jd.simulate(
        PCOMP, found.problem, num_seeds=4_096, regret="average", checkpoints=[2_000], seed=9, **ONE
    )
    error = np.hypot(found.sem, again.sem[-1])
    assert abs(found.value - again.mean[-1]) < 4 * error
    same = worst_case(PCOMP, of, learning_rate=0.3, **FEW)
    assert same.value == found.value


def test_objectives_have_the_slopes_that_they_should():
    """Of the ratio and the difference, by the values and slopes of what they are made from."""
    of = space("btl", 3)
    other = jd.policies.make("pcomp", num_arms=3, horizon=2_000, num_batches=2)
    params, key = of.project(np.array([0.0, -0.4, -1.0])), jax.random.key(3)

    def search(objective, policy=PCOMP, against=None):
        return ascent._Search(
            policy, against, of, 2_000, objective, "average", 256, ONE["devices"]
        ).slope(params, key)

    value, sem, slope = search("regret")
    less, less_sem, less_slope = search("regret", other)
    both = search("difference", against=other)
    np.testing.assert_allclose(both[0], value - less)
    np.testing.assert_allclose(both[1], np.hypot(sem, less_sem))
    np.testing.assert_allclose(both[2], slope - less_slope)
    ratio = search("ratio")

    def bound(x):
        with jax.enable_x64(True):
            p = np.asarray(of.instance(x))
        problem = jd.problems.from_matrix(p)
        return jd.theory.condorcet_lower_bound(problem) * np.log(2_000)

    steps = 1e-6 * np.eye(3)
    slopes = np.array([(bound(params + s) - bound(params - s)) / 2e-6 for s in steps])
    there = bound(params)
    np.testing.assert_allclose(ratio[0], value / there, rtol=1e-9)
    expected = (slope * there - value * slopes) / there**2
    np.testing.assert_allclose(ratio[2], expected, rtol=1e-5, atol=1e-8)


def test_it_stops_where_the_objective_is_no_number(monkeypatch):
    slope, calls = ascent._Search.slope, []

    def breaks(self, params, key):
        calls.append(key)
        value, sem, gradient = slope(self, params, key)
        return (np.nan if len(calls) == 3 else value), sem, gradient

    monkeypatch.setattr(ascent._Search, "slope", breaks)
    with pytest.warns(UserWarning, match="stopped at step 2"):
        found = worst_case(PCOMP, space("btl", 3), **{**FEW, "num_starts": 1})
    (trajectory,) = found.trajectories
    assert len(trajectory.value) == 2
    assert np.isfinite(found.value)
    assert np.isfinite(trajectory.params).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "loss"}, "unknown objective 'loss'"),
        ({"objective": "difference"}, "`against` is needed"),
        ({"against": PCOMP}, "`against` is needed"),
        ({"objective": "ratio", "regret": "weak"}, "no lower bound of weak regret"),
        ({"num_starts": 0}, "num_starts must be a whole number >= 1"),
        ({"num_seeds": 1}, "num_seeds must be a whole number >= 2"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(InputError, match=message):
        worst_case(PCOMP, space("btl", 3), **settings)


def test_a_horizon_is_needed():
    with pytest.raises(InputError, match="no horizon of its own"):
        worst_case(jd.policies.make("rmed1", num_arms=3), space("btl", 3))


@pytest.mark.slow
def test_the_worst_instance_of_scomp2_doubles_its_regret():
    policy = jd.policies.make("scomp2", num_arms=8, horizon=100_000, num_batches=8)
    found = worst_case(policy, space("btl", 8, min_gap=0.005), num_seeds=1_024, **ONE)
    assert found.value - 4 * found.sem > 2 * (found.before + 4 * found.before_sem)
