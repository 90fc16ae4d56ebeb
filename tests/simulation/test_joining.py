"""Results of parts of the seeds, joined."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError

PROBLEM = jd.problems.load("cyclic")


def run(first, number, policy="rucb", **settings):
    made = jd.policies.make(policy, num_arms=4, horizon=200, **settings.pop("parameters", {}))
    chosen = {"checkpoints": [10, 200], "lanes": 4, "record_pairs": True, **settings}
    return jd.simulate(made, PROBLEM, 200, number, first_seed=first, **chosen)


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [{}, {"policy": "pcomp", "parameters": {"num_batches": 3}}])
def test_joined_parts_are_the_run_of_all(settings, tmp_path):
    whole, one, other = (run(*seeds, **settings) for seeds in ((3, 9), (3, 4), (7, 5)))
    path = one.save(tmp_path / "one.nc")
    joined = jd.join([other, jd.load_result(path)])
    assert joined.made_by == whole.made_by
    for name in ("checkpoints", "regret", "plays", "batches", "pairs"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    assert repr(joined) == repr(whole)


@pytest.mark.filterwarnings("ignore:tables of 4 seeds")
def test_parts_of_different_runs_are_not_joined():
    first = run(0, 4)
    for others, message in (
        *((wrong, "a list of results") for wrong in ([], "ab", None, first)),
        ([first, first], "one result ends before seed 4, and the next begins with 0"),
        ([first, run(5, 1)], "ends before seed 4, and the next begins with 5"),
        ([first, run(4, 1, parameters={"alpha": 0.6})], "seeds alone, not in policy"),
        ([first, run(4, 1, seed=1, checkpoints=[200])], "not in checkpoints, seed"),
        ([first, run(4, 1, seed=jax.random.key(1))], "not in seed"),
        ([first, replace(first, made_by={**first.made_by, "code": ""})], "not in code"),
        ([run(0, 4, record_pairs=False, table_budget=200)], "rows of all seeds"),
    ):
        with pytest.raises(InputError, match=message):
            jd.join(others)
