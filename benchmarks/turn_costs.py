"""Measures what a turn of the event loop costs, and writes it into the package.

    taskset -c 1 python -m benchmarks.turn_costs [POLICY ...]

A price is processor time of a turn of 64 slots, each, by that of a step of as many lanes as the
simulator chooses, on a BTL instance from the 2,049th comparison on: the median of paired rounds.
Without names, all policies with quiet runs are measured (about an hour, most of it compilation).
"""

import re
import statistics
import sys
import warnings
from pathlib import Path

import jaxduel as jd
from benchmarks.stepping import Stepper, Turner
from jaxduel.policies import SupportsSkip
from jaxduel.policies.registry import policy_class
from jaxduel.simulation import events, turn_costs

ELSEWHERE = ("detc", "detc-minimax", "rex3", "self-sparring")
"""Measured in another way: Double ETC, which has two arms, in whole runs. The others' turns are far
cheaper once skipping pays than they are here: REX3 has the price by which runs to T = 1e6 take
least, Self-Sparring that of turns from the 60,001st comparison on."""
WARM_UP, ROUNDS, ROUND_SECONDS = 2048, 5, 0.05
TABLE = re.compile(r"(TURN_COSTS: [^=]+ = )\{.*?\}", re.DOTALL)


def measured(name, num_arms):
    """Price of a turn of a policy, in steps."""
    policy = jd.policies.make(name, num_arms=num_arms, horizon=100_000)
    stepper = Stepper(policy, skips=True)
    stepper.advance(WARM_UP - stepper.t)
    steps = stepper.steps_in(ROUND_SECONDS)
    step = [stepper.timed(steps) / steps / stepper.lanes for _ in range(ROUNDS)]
    number = events.slots_for(stepper.lanes, "cpu")
    turner = Turner(stepper, number)
    turner.timed(1)
    turns = max(4, round(4 * ROUND_SECONDS / turner.timed(4)))
    turn = [turner.timed(turns) / turns / number for _ in range(ROUNDS)]
    return statistics.median(turn) / statistics.median(step)


def main(asked):
    """Measures policies, and writes their prices after each."""
    path, costs = Path(turn_costs.__file__), dict(turn_costs.TURN_COSTS)
    for name in asked or jd.policies.names():
        if name in ELSEWHERE or not issubclass(policy_class(name), SupportsSkip):
            continue
        costs[name] = tuple(float(f"{measured(name, k):.2g}") for k in turn_costs.ARMS)
        print(name, *costs[name], flush=True)
        lines = "".join(f'    "{name}": {costs[name]},\n' for name in sorted(costs))
        path.write_text(TABLE.sub(rf"\1{{\n{lines}}}", path.read_text()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
