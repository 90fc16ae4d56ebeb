"""One way of running loops on a GPU (JAXDUEL_GPU_LOOPS): do its programs end, and in which states?

Prints a line for each policy, its name and a digest of the state after some steps. Each program is
executed several times, as a known fault crashes the second execution of a graph.
"""

import argparse
import hashlib
import warnings

import jax
import numpy as np

import jaxduel as jd
from benchmarks.stepping import HORIZON, Stepper

POLICIES = "rucb", "dts", "ecw-rmed"
ARMS, LANES, STEPS = 16, 4096, 256


def digest(state):
    """The first digits of a hash of all of a state's bits."""
    found = hashlib.sha256()
    for leaf in jax.tree.leaves(state):
        is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        found.update(np.asarray(jax.random.key_data(leaf) if is_key else leaf).tobytes())
    return found.hexdigest()[:16]


def ended(name, num_arms, lanes, steps):
    """The digest of a policy's state after so many steps, from the first one and once more."""
    policy = jd.policies.make(name, num_arms=num_arms, horizon=HORIZON)
    found = set()
    for _ in range(2):
        stepper = Stepper(policy, lanes)
        stepper.advance(steps - stepper.t)
        stepper.check()
        found.add(digest(stepper.state))
    return " or ".join(sorted(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", jd.AssumptionWarning)
    for name in POLICIES[:1] if options.small else POLICIES:
        size = (4, 8, 64) if options.small else (ARMS, LANES, STEPS)
        print(name, ended(name, *size), flush=True)


if __name__ == "__main__":
    main()
