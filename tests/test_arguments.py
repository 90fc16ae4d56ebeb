"""Public functions refuse arguments of other kinds in a sentence, whichever argument it is."""

import contextlib
import inspect

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel import problems, stats, theory
from jaxduel.errors import InputError

CYCLIC, ORDERED, ARMS = (
    problems.load("cyclic"),
    problems.arithmetic(4),
    problems.bernoulli([0.6, 0.5, 0.4]),
)
KEY, VALUES = jax.random.key(0), np.array([1.0, 2.0, 3.0])
VOTES = jd.votes.from_counts([[0, 9, 12], [6, 0, 8], [3, 7, 0]])
BATCHED = {"num_arms": 3, "horizon": 100, "num_batches": 2}
CALLS = [
    (stats.moments_of, {"values": VALUES}),
    (stats.merge, {"parts": [stats.moments_of(VALUES)] * 2}),
    (stats.standard_error, {"values": VALUES, "groups": np.array([0, 1, 1])}),
    (stats.interval95, {"mean": 1.0, "sem": 0.1, "groups": 5}),
    (stats.wilson95, {"successes": 3, "n": 5}),
    (stats.paired, {"a": VALUES, "b": VALUES + 1}),
    (stats.paired_shares, {"a": np.array([0.0, 1.0]), "b": np.array([1.0, 1.0])}),
    (problems.arithmetic, {"num_arms": 4, "step": 0.05}),
    (problems.batched_lower_bound, {**BATCHED, "level": 1, "winner": 0}),
    (problems.bernoulli, {"means": [0.5, 0.6]}),
    (problems.broken_assumptions, {"problem": CYCLIC, "names": ["sst"]}),
    (problems.btl, {"key": KEY, "num_arms": 4}),
    (problems.btl_from_weights, {"weights": [1.0, 2.0]}),
    (problems.condorcet_hard, {"key": KEY, "num_arms": 4, "gap": 0.2}),
    (problems.copeland_cycle, {"num_arms": 5, "gap": 0.1}),
    (problems.examine, {"problem": CYCLIC}),
    (problems.from_matrix, {"p": [[0.5, 0.6], [0.4, 0.5]], "ties": [[0, 0.1], [0.1, 0]]}),
    (problems.gaussian, {"means": [1.0, 2.0], "std": 1.0}),
    (problems.one_better_arm, {"num_arms": 3, "best": 0.6, "others": 0.5, "std": 1.0}),
    (problems.piecewise, {"problems": [CYCLIC, ORDERED], "times": [10]}),
    (problems.static_grid_family, {"num_arms": 3, "gap": 0.1}),
    (problems.adaptive_grid_family, BATCHED),
    (theory.base_problem_dependent_rate, {**BATCHED, "gap": 0.1, "logarithms": False}),
    (theory.base_minimax_rate, {**BATCHED, "logarithms": False}),
    (theory.adaptive_grid_problem_dependent_rate, BATCHED),
    (theory.bounds, {"problem": ARMS, "horizon": 100, "num_batches": 2}),
    (theory.condorcet_lower_bound, {"instance": ORDERED, "regret": "average"}),
    (theory.copeland_lower_bound, {"problem": CYCLIC, "winner": 0, "tolerance": 1e-7}),
    (theory.ecw_allocation, {"problem": CYCLIC, "winner": 0}),
    (theory.dts_loglog_constant, {"instance": ORDERED, "beta": 2.0, "epsilon": 0.1}),
    (theory.identification_lower_bound, {"instance": ORDERED, "delta": 0.05}),
    (theory.characteristic_time, {"problem": ARMS}),
    (theory.h1, {"problem": ARMS}),
    (theory.optimal_extremes, {"problem": CYCLIC, "winner": 0, "efficient": False, "seed": 0}),
    (theory.static_grid_lower_bound, {"times": [10, 100], "num_arms": 3, "gap": 0.1}),
    (theory.static_minimax_lower_bound, {"times": [10, 100], "num_arms": 3, "largest_gap": 0.5}),
    (jd.gradients.space, {"name": "btl", "num_arms": 3, "min_gap": 0.02, "most": 0.95}),
    (jd.votes.fit, {"votes": VOTES, "model": "btl", "prior_std": 2.0}),
    (jd.votes.from_counts, {"wins": [[0, 1], [2, 0]], "ties": None, "arms": ["a", "b"]}),
]
ODD = [
    *(None, "x", b"x", "a\0b", True, -1, 10**12, 10**400, 1 + 2j, 1e300, np.nan, object()),
    *([], {}, [[]], [1, None], [0.5, "a"], [[0.5, 0.5], [0.5]], [1e300, 1e300], slice(0)),
    *(np.array(3), np.array(1j), np.array("x"), np.ones((2, 2, 2)), np.array([None, 1])),
    *(np.array([np.nan, 1.0]), np.array(["2020"], "M8[D]"), CYCLIC, ARMS, lambda: 0),
]


@pytest.mark.parametrize(
    ("call", "arguments"), CALLS, ids=lambda value: getattr(value, "__name__", "")
)
def test_odd_values_are_used_or_refused(call, arguments):
    call(**arguments)
    assert arguments.keys() <= inspect.signature(call).parameters.keys()
    for name in arguments:
        for odd in ODD:
            with contextlib.suppress(InputError):
                call(**{**arguments, name: odd})


@pytest.mark.parametrize("setting", ["causal", "regret", "shuffle_arms", "skip_quiet"])
def test_settings_of_gradients_are_refused_before_anything_runs(setting):
    policy = jd.policies.make("rucb", num_arms=3)
    for odd in (np.array([None, 1]), [[0.5, 0.5], [0.5]], "x"):
        with pytest.raises(InputError, match=f"{setting}"):
            jd.gradients.regret_gradient(
                policy, jd.gradients.families.btl, np.array([0.5, 0.0, -0.5]), 20, **{setting: odd}
            )


@pytest.mark.parametrize(
    "setting", ["recommend", "target", "stop", "ties", "prng", "shuffle_arms", "checkpoints"]
)
def test_settings_of_identification_are_refused_before_anything_runs(setting):
    policy = jd.policies.make("rucb", num_arms=4)
    for odd in (np.array("x"), np.array([None, 1]), [[0.5, 0.5], [0.5]], {"x": 1}):
        with pytest.raises(InputError):
            jd.identify(policy, ORDERED, 20, num_seeds=2, **{setting: odd})
