"""Two policies of equal fields are two programs."""

import jax

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
