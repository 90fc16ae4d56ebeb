"""Digests of what every policy does at fixed seeds, to compare two versions of the code with.

python -m tests.same_numbers > before.txt
python -m tests.same_numbers --against before.txt

The first is run in one checkout, the second in the other, on the same machine: processors round
differently. It names what differs, and then ends with code 1.
"""

import argparse
import hashlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import jax
import numpy as np

import jaxduel as jd
from jaxduel.policies.base import SupportsDelay, SupportsSkip
from jaxduel.problems import Problem
from tests.registered import PULLS, arms_for, needed

HORIZONS = {"cw-rmed": 300}
USUAL_HORIZON, NUM_SEEDS = 3_000, 20


def digests(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and digests of plays and regret, of each way in which a policy runs."""
    for name in names:
        for problem in _problems(name):
            horizon = HORIZONS.get(name, USUAL_HORIZON)
            values = {"num_arms": problem.num_arms, "horizon": horizon, **needed(name)}
            policy = jd.policies.make(name, **values)
            ways = {"plain": {"skip_quiet": False}}
            if isinstance(policy, SupportsSkip):
                ways |= {"skipping": {}, "winners": {"skip_quiet": "winners"}}
            if isinstance(policy, SupportsDelay):
                ways["delayed"] = {"delay": 7}
            for way, settings in ways.items():
                result = jd.simulate(policy, problem, horizon, num_seeds=NUM_SEEDS, **settings)
                content = hashlib.sha256(np.asarray(result.plays, "<i8").tobytes())
                content.update(np.asarray(result.regret, "<f8").tobytes())
                yield f"{name} {problem.name} {way}", content.hexdigest()[:16]


def _problems(name: str) -> list[Problem]:
    """One with a single winner and one with several."""
    if name in PULLS:
        return [jd.problems.gaussian([0.6, 0.5, 0.4][: arms_for(name, 3)])]
    single = jd.problems.random_condorcet(jax.random.key(0), 6)
    return [single, jd.problems.copeland_cycle(5, 0.3)]


def main(arguments: Sequence[str]) -> int:
    """Prints the digests, or what differs from those of a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.same_numbers", description=__doc__)
    parser.add_argument("--against", type=Path, help="a file of digests to compare with")
    parser.add_argument("--policies", nargs="+", default=jd.policies.names(), metavar="NAME")
    given = parser.parse_args(arguments)
    before = None
    if given.against is not None:
        before = dict(line.rsplit(" ", 1) for line in given.against.read_text().splitlines())
    differ = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, digest in digests(given.policies):
            if before is None:
                print(what, digest, flush=True)
            elif before.get(what) != digest:
                print(f"{what}: {before.get(what, 'not there')} before, {digest} now", flush=True)
                differ += 1
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
