"""Cells: two policies of equal fields are two programs; cells beside each other are as alone."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.cells import Program


def test_the_class_of_a_policy_tells_programs_apart():
    settings = {"num_arms": 3, "horizon": 10, "num_batches": 2}
    one, other = (jd.policies.make(name, **settings) for name in ("scomp", "scomp2"))
    switches = {"stacked": False, "shuffle": True, "pairs": False, "outcomes": False}
    switches |= {"delayed": False, "skips": False}
    traced = []

    def run(policy, program):
        traced.append(program.policy_class)
        return policy.horizon

    compiled = jax.jit(run, static_argnames="program")
    for policy in (one, other, one, other):
        compiled(policy, program=Program(type(policy), **switches))
    assert traced == [type(one), type(other)]


@pytest.mark.parametrize("prng", ["threefry2x32", "philox4x32"])
def test_a_cell_has_the_same_seeds_alone_and_among_others(prng):
    policies = [jd.policies.make("rucb", num_arms=6, alpha=alpha) for alpha in (0.51, 0.6)]
    problem, settings = jd.problems.load("arxiv"), {"num_seeds": 5, "prng": prng}
    both = jd.simulate_many(policies, problem, 200, **settings)
    alone = jd.simulate(policies[1], problem, 200, **settings)
    np.testing.assert_array_equal(both[1].plays, alone.plays)
