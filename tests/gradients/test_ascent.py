"""The ascent: it climbs, what it reports is fresh, and it stops where nothing can be climbed."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.gradients import families, space, worst_case
from jaxduel.gradients.objective import Objective

pytestmark = pytest.mark.usefixtures("quick_compilation")
ONE = {"devices": jax.devices()[:1]}
PCOMP = jd.policies.make("pcomp", num_arms=3, horizon=2_000, num_batches=4)
FEW = {"num_starts": 2, "steps": 6, "num_seeds": 256, "fresh_seeds": 1_024, **ONE}


@pytest.mark.thorough
def test_it_finds_a_worse_instance_and_says_so_by_fresh_seeds():
    of = space("btl", 3, min_gap=0.02)
    found = worst_case(PCOMP, of, learning_rate=0.3, **FEW)
    assert found.value - found.before > 4 * (found.sem + found.before_sem)
    assert found.value > found.starts.max()
    assert found.before == pytest.approx(found.starts.mean())
    assert (found.objective, found.regret, found.horizon) == ("regret", "average", 2_000)
    assert [len(t.value) for t in found.trajectories] == [6, 6]
    assert found.trajectories[0].params.shape == (7, 3)
    path = found.trajectories[found.best]
    highest = path.params[np.argmax(path.value)]
    assert any((found.params == params).all() for params in (path.params[-1], highest))
    again = jd.simulate(
        PCOMP, found.problem, num_seeds=4_096, regret="average", checkpoints=[2_000], seed=9, **ONE
    )
    error = np.hypot(found.sem, again.sem[-1])
    assert abs(found.value - again.mean[-1]) < 4 * error
    same = worst_case(PCOMP, of, learning_rate=0.3, **FEW)
    assert same.value == found.value


@pytest.mark.thorough
def test_objectives_have_the_slopes_that_they_should():
    """Of the ratio and the difference, by the values and slopes of what they are made from."""
    of = space("btl", 3)
    other = jd.policies.make("pcomp", num_arms=3, horizon=2_000, num_batches=2)
    params, key = of.project(np.array([0.0, -0.4, -1.0])), jax.random.key(3)

    def search(objective, policy=PCOMP, against=None):
        made = Objective(objective, policy, against, of, 2_000, "average", ONE["devices"])
        return made.slope(params, 256, key)

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


@pytest.mark.thorough
def test_it_begins_where_it_is_told_to():
    of = space("btl", 3)
    own = np.array([[0.0, -0.3, -0.5], [0.2, -0.1, -5.0]])
    found = worst_case(PCOMP, of, starts=own, **{**FEW, "num_starts": 7, "steps": 1})
    begun = [ascent.params[0] for ascent in found.trajectories]
    np.testing.assert_array_equal(begun, [of.project(params) for params in own])
    assert found.starts.shape == (2,)
    for wrong in (own[:, :2], own[0], np.empty((0, 3)), np.full((1, 3), np.nan)):
        with pytest.raises(InputError, match=r"starts must be finite numbers of shape"):
            worst_case(PCOMP, of, starts=wrong, **FEW)


@pytest.mark.thorough
def test_it_stops_where_the_objective_is_no_number(monkeypatch):
    slope, calls = Objective.slope, []

    def breaks(self, params, num_seeds, key):
        calls.append(key)
        value, sem, gradient = slope(self, params, num_seeds, key)
        return (np.nan if len(calls) == 3 else value), sem, gradient

    monkeypatch.setattr(Objective, "slope", breaks)
    with pytest.warns(UserWarning, match="stopped at step 2"):
        found = worst_case(PCOMP, space("btl", 3), **{**FEW, "num_starts": 1})
    (trajectory,) = found.trajectories
    assert len(trajectory.value) == 2
    assert np.isfinite(found.value)
    assert np.isfinite(trajectory.params).all()


def breaking(limit, kind):
    """BTL whose instance ("value"), or derivatives alone ("slope"), are no numbers once arm 2 is
    less than `limit` behind."""

    def instance(x):
        if kind == "value":
            return jnp.where(x[2] > -limit, jnp.nan, families.btl(x))
        return families.btl(x + 0.0 * jnp.sqrt(jnp.maximum(-limit - x[2], 0.0)))

    return dataclasses.replace(space("btl", 3), draw=lambda _: START, instance=instance)


START = np.array([0.0, -0.5, -1.0])


@pytest.mark.parametrize("kind", ["value", "slope"])
def test_it_stops_where_the_instance_has_no_numbers(kind):
    """Arm 2 comes closer to arm 0, its regret grows: in steps of 0.1 to -0.9, -0.8, -0.7."""
    given = {**FEW, "num_starts": 1, "learning_rate": 0.05}
    reached = worst_case(PCOMP, breaking(0.0, kind), **given).trajectories[0].params
    assert (np.diff(reached[:, 2]) > 0).all()
    for step in (1, 3, 6):
        limit = -reached[step - 1 : step + 1, 2].mean()
        with pytest.warns(UserWarning, match=f"stopped at step {step}, where the instance"):
            found = worst_case(PCOMP, breaking(limit, kind), **given)
        (trajectory,) = found.trajectories
        np.testing.assert_allclose(trajectory.params, reached[:step], rtol=1e-12)
        assert len(trajectory.value) == len(trajectory.sem) == step
        assert np.isfinite(found.value)
    with pytest.raises(InputError, match="finite"):
        worst_case(PCOMP, breaking(1.1, kind), **given)


def test_an_instance_that_is_wrong_on_the_way_is_refused():
    """Not a missing number, but preferences that leave [0, 1]."""

    def instance(x):
        return families.btl(x) + jnp.where(x[2] > -0.95, jnp.triu(jnp.ones((3, 3)), 1), 0.0)

    of = dataclasses.replace(space("btl", 3), draw=lambda _: START, instance=instance)
    with pytest.raises(InputError, match=r"at \[0, 1\]"):
        worst_case(PCOMP, of, **{**FEW, "num_starts": 1, "learning_rate": 0.1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "loss"}, "unknown objective 'loss'"),
        ({"objective": "difference"}, "`against` is needed"),
        ({"against": PCOMP}, "`against` is needed"),
        ({"objective": "ratio", "regret": "weak"}, "no lower bound of weak regret"),
        ({"objective": "ratio", "horizon": 1}, "needs a horizon above 1"),
        ({"key": 0.5}, "seed must be a whole number or a typed JAX key, .* not 0.5"),
        ({"num_starts": 0}, "num_starts must be a whole number of at least 1, not 0"),
        ({"num_seeds": 1}, "num_seeds must be a whole number of at least 2, not 1"),
        ({"steps": None}, "steps must be a whole number of at least 1, not None"),
        ({"starts": "strong"}, r"starts must be finite numbers of shape \(num_starts, 3\), not 's"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"learning_rate": None}, "learning_rate must be positive, not None"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(InputError, match=message):
        worst_case(PCOMP, space("btl", 3), **settings)


def test_there_is_no_ratio_to_a_lower_bound_of_0():
    """Of three arms in a cycle all are winners, and no arm is worse than another."""
    policy = jd.policies.make("rucb", num_arms=3)
    with pytest.raises(InputError, match="every arm is a winner, as at a start of 'cycle'"):
        worst_case(policy, space("cycle", 3), 100, objective="ratio")


def test_a_horizon_is_needed():
    with pytest.raises(InputError, match="no horizon of its own"):
        worst_case(jd.policies.make("rmed1", num_arms=3), space("btl", 3))


@pytest.mark.slow
def test_the_worst_instance_of_scomp2_doubles_its_regret():
    """With the printed switch; with the default's, the worst that is found has a third more."""
    printed = {"switch": "hoeffding", "candidate": "redrawn", "threshold": 2 * np.log(8)}
    policy = jd.policies.make("scomp2", num_arms=8, horizon=100_000, num_batches=8, **printed)
    found = worst_case(policy, space("btl", 8, min_gap=0.005), num_seeds=1_024, **ONE)
    assert found.value - 4 * found.sem > 2 * (found.before + 4 * found.before_sem)
