"""Quiet runs: what long horizons cost, and that skipping does not cost more than it saves.

    python -m pytest -n 0 benchmarks/test_quiet.py

Costs are those of a second call, on one device, in processor time on a CPU, beside the plain loop
in the same test; a study of D-TS is timed from cold, by the clock. Pin the others to a core
(`taskset -c 1`): JAX would use more for one device.
"""

import time

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import events

pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")  # ties of arxiv

LONG = [
    (name, problem)
    for problem in ("arxiv", "mslr5-condorcet")
    for name in ("dts", "rmed1", "ecw-rmed", "rucb")
]
WIDE = ("dts", "rmed1", "ecw-rmed", "rucb", "ccb")
HARD = {
    "btl, K = 16": lambda: jd.problems.btl(jax.random.key(1), 16),
    "random_condorcet, K = 8": lambda: jd.problems.random_condorcet(jax.random.key(0), 8),
}


def spent(name, problem, horizon, num_seeds, **settings):
    """Seconds of a run that is compiled already."""
    policy = jd.policies.make(name, num_arms=problem.num_arms, horizon=horizon)
    settings = {"devices": jax.devices()[:1], **settings}
    clock = time.process_time if jax.devices()[0].platform == "cpu" else time.perf_counter
    for _ in range(2):
        before = clock()
        jd.simulate(policy, problem, horizon, num_seeds, **settings)
        seconds = clock() - before
    return seconds


@pytest.mark.parametrize(("name", "problem"), LONG)
def test_long_horizons(benchmark, name, problem):
    problem = jd.problems.load(problem)

    def all_costs():
        cost = {t: spent(name, problem, t, 256) for t in (10**5, 10**8, 10**9)}
        return cost, spent(name, problem, 10**5, 256, skip_quiet=False)

    cost, plain = benchmark.pedantic(all_costs, rounds=1, iterations=1)
    benchmark.extra_info["seconds, T = 1e5, plain"] = plain
    for horizon, seconds in cost.items():
        benchmark.extra_info[f"T = {horizon:.0e}"] = seconds
    benchmark.extra_info["ratio of 1e8 to 1e5"] = cost[10**8] / cost[10**5]


@pytest.mark.parametrize("delay", [1, 3, 10, 100])
def test_late_outcomes(benchmark, delay):
    """D-TS to T = 1e6, beside the plain loop to a tenth of it."""
    problem = jd.problems.load("mslr5-condorcet")

    def both():
        plain = spent("dts", problem, 10**5, 128, delay=delay, skip_quiet=False)
        return spent("dts", problem, 10**6, 128, delay=delay), plain

    skipping, plain = benchmark.pedantic(both, rounds=1, iterations=1)
    benchmark.extra_info["seconds"] = skipping
    benchmark.extra_info["T = 1e5, plain"] = plain


@pytest.mark.parametrize("horizon", [10**6, 10**9])
def test_a_study_of_dts(benchmark, horizon):
    """500 runs on all devices, from cold: compilation included."""
    problem = jd.problems.load("mslr5-condorcet")
    policy = jd.policies.make("dts", num_arms=5)
    run = lambda: jd.simulate(policy, problem, horizon, 500)  # noqa: E731
    result = benchmark.pedantic(run, rounds=1, iterations=1)
    benchmark.extra_info["wall seconds"] = benchmark.stats.stats.max
    benchmark.extra_info["mean regret"] = result.mean[-1]


@pytest.mark.parametrize("problem", HARD)
@pytest.mark.parametrize("name", WIDE)
def test_short_runs_on_hard_instances(benchmark, name, problem):
    """Where skipping hardly pays: T = 1e5. On the second, some seeds stay undecided."""
    problem = HARD[problem]()

    def both():
        return [spent(name, problem, 10**5, 64, lanes=64, skip_quiet=s) for s in (True, False)]

    skipping, plain = benchmark.pedantic(both, rounds=1, iterations=1)
    benchmark.extra_info["seconds skipping"] = skipping
    benchmark.extra_info["plain"] = plain
    benchmark.extra_info["ratio"] = skipping / plain


@pytest.mark.parametrize(("name", "problem"), LONG[4:])
def test_slots_hardly_wait(benchmark, monkeypatch, name, problem):
    """Turns of all slots beside the comparisons of different arms, from where skipping begins; that
    of the plain loop has these up to there."""
    problem, horizon, lanes = jd.problems.load(problem), 10**7, 512
    policy = jd.policies.make(name, num_arms=problem.num_arms)
    turns, begun = [], []
    advance, begin = events.advance, events.begin

    def counted(cell, slots, delay, number, **settings):
        turns.append(slots.seed.size * int(number))
        return advance(cell, slots, delay, number, **settings)

    def seen(cell, setups, steps, t, *rest, **settings):
        begun.append(t)
        return begin(cell, setups, steps, t, *rest, **settings)

    monkeypatch.setattr(events, "advance", counted)
    monkeypatch.setattr(events, "begin", seen)
    settings = {"lanes": lanes, "record_pairs": True, "devices": jax.devices()[:1]}
    result = benchmark.pedantic(
        lambda: jd.simulate(policy, problem, horizon, lanes, **settings), rounds=1, iterations=1
    )
    before = jd.simulate(policy, problem, begun[0], lanes, skip_quiet=False, **settings)
    whole, first = (
        run.pairs[:, -1].sum(axis=(1, 2)) - np.trace(run.pairs[:, -1], axis1=1, axis2=2)
        for run in (result, before)
    )
    benchmark.extra_info["informative comparisons a run"] = whole.mean()
    benchmark.extra_info["turns per informative comparison"] = sum(turns) / (whole - first).sum()
