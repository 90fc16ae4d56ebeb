"""Quiet runs: what long horizons cost, and that skipping does not cost more than it saves.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_quiet.py

Costs are those of a third call (a second one may still compile for long runs), on one device, in
processor time on a CPU, beside the plain loop in the same test; a study of D-TS is timed from cold,
by the clock. Pin the others to a core (`taskset -c 1`): JAX would use more for one device.
"""

import itertools

import jax
import numpy as np
import pytest

import jaxduel as jd
from benchmarks.clocks import work_seconds
from jaxduel.policies import SupportsSkip
from jaxduel.policies.registry import policy_class
from jaxduel.simulation import blocks, event_blocks, events, skip_heuristic
from jaxduel.simulation.turn_costs import is_drawn

pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")  # ties of arxiv

LONG = [
    (name, problem)
    for problem in ("arxiv", "mslr5-condorcet")
    for name in ("dts", "rmed1", "ecw-rmed", "rucb")
]
RANDOM = ("dts", "ccb")
"""Their runs have random lengths: with and without skipping they agree in law only."""
WIDE = ("dts", "rmed1", "ecw-rmed", "rucb", "ccb")
NAMES = [name for name in jd.policies.names() if issubclass(policy_class(name), SupportsSkip)]
PULLS = ("detc", "detc-minimax")
"""They play two arms with rewards."""
ALL = [
    *(
        (n, p)
        for n in NAMES
        if n not in PULLS
        for p in ("mslr5-condorcet", "arxiv", "mslr16-condorcet")
    ),
    *((name, "two arms") for name in PULLS),
]
SURE = 0.8
"""Of the plain loop's time: a pair that takes less is not measured again."""
HARD = {
    "btl, K = 16": lambda: jd.problems.btl(jax.random.key(1), 16),
    "random_condorcet, K = 8": lambda: jd.problems.random_condorcet(jax.random.key(0), 8),
}


def spent(name, problem, horizon, num_seeds, calls=3, **settings):
    """Seconds of the last of some calls, compiled already, and the plays of each seed's arms."""
    policy = jd.policies.make(name, num_arms=problem.num_arms, horizon=horizon)
    settings = {"devices": jax.devices()[:1], **settings}
    for _ in range(calls):
        before = work_seconds()
        result = jd.simulate(policy, problem, horizon, num_seeds, **settings)
        seconds = work_seconds() - before
    plays = result.plays[:, -1]
    np.testing.assert_array_equal(plays.sum(axis=1), (1 if name in PULLS else 2) * horizon)
    assert np.isfinite(result.regret).all()
    assert seconds > 0
    return seconds, plays


def skipped_and_plain(name, problem, horizon, num_seeds, **settings):
    """Seconds with and without skipping, which changes no plays but of policies that toss coins."""
    seconds, plays = zip(
        *(
            spent(name, problem, horizon, num_seeds, skip_quiet=skip, **settings)
            for skip in (True, False)
        ),
        strict=True,
    )
    if name not in RANDOM:
        np.testing.assert_array_equal(*plays)
    return seconds


@pytest.mark.smallest("rmed1-mslr5-condorcet")
@pytest.mark.parametrize(("name", "problem"), LONG)
def test_long_horizons(benchmark, size, name, problem):
    problem, seeds, lanes = jd.problems.load(problem), size(256, 4), size(None, 4)
    short, *long = size((10**5, 10**8, 10**9), (8000, 30_000))

    def all_costs():
        cost, plain = skipped_and_plain(name, problem, short, seeds, lanes=lanes)
        more = {t: spent(name, problem, t, seeds, lanes=lanes)[0] for t in long}
        return {short: cost, **more}, plain

    cost, plain = benchmark.pedantic(all_costs, rounds=1, iterations=1)
    benchmark.extra_info["seconds, T = 1e5, plain"] = plain
    for horizon, seconds in cost.items():
        benchmark.extra_info[f"T = {horizon:.0e}"] = seconds
    benchmark.extra_info["ratio of 1e8 to 1e5"] = cost[long[0]] / cost[short]


@pytest.mark.smallest("3")
@pytest.mark.parametrize("delay", [1, 3, 10, 100])
def test_late_outcomes(benchmark, size, delay):
    """D-TS to T = 1e6, beside the plain loop to a tenth of it."""
    problem = jd.problems.load("mslr5-condorcet")
    seeds, short, long = size((128, 10**5, 10**6), (4, 2000, 20_000))
    late = {"delay": delay, "lanes": size(None, 4)}

    def both():
        plain, _ = spent("dts", problem, short, seeds, skip_quiet=False, **late)
        return spent("dts", problem, long, seeds, **late)[0], plain

    skipping, plain = benchmark.pedantic(both, rounds=1, iterations=1)
    benchmark.extra_info["seconds"] = skipping
    benchmark.extra_info["T = 1e5, plain"] = plain


@pytest.mark.parametrize("horizon", [10**6, 10**9])
def test_a_study_of_dts(rounds, benchmark, size, horizon):
    """500 runs on all devices, from cold: compilation included."""
    problem = jd.problems.load("mslr5-condorcet")
    policy = jd.policies.make("dts", num_arms=5)
    horizon, seeds, lanes = size((horizon, 500, None), (20_000, 8, 4))
    result, seconds = rounds(lambda: jd.simulate(policy, problem, horizon, seeds, lanes=lanes))
    np.testing.assert_array_equal(result.plays[:, -1].sum(axis=1), 2 * horizon)
    benchmark.extra_info["wall seconds"] = seconds[0]
    benchmark.extra_info["mean regret"] = result.mean[-1]


@pytest.mark.smallest("rucb-btl, K = 16")
@pytest.mark.parametrize("problem", HARD)
@pytest.mark.parametrize("name", WIDE)
def test_short_runs_on_hard_instances(benchmark, size, name, problem):
    """Where skipping hardly pays: T = 1e5. On the second, some seeds stay undecided."""
    problem, (horizon, lanes) = HARD[problem](), size((10**5, 64), (3000, 4))

    def both():
        return skipped_and_plain(name, problem, horizon, lanes, lanes=lanes)

    skipping, plain = benchmark.pedantic(both, rounds=1, iterations=1)
    benchmark.extra_info["seconds skipping"] = skipping
    benchmark.extra_info["plain"] = plain
    benchmark.extra_info["ratio"] = skipping / plain


@pytest.mark.smallest("rucb-arxiv")
@pytest.mark.parametrize(("name", "problem"), ALL)
def test_no_run_is_slower(benchmark, monkeypatch, size, name, problem):
    """The worst ratio to the plain loop, and how far the cost ever falls with T.

    Costs are the median of three pairs by turns, or one pair where it takes less than `SURE` of the
    plain loop's time, which to the longest horizon is ten times that to a tenth: the same steps.
    Both loops are at hand, but none of fewer slots, which long studies compile: with these skipping
    takes less. `-k` chooses; all take half an hour, most of it compilation.
    """
    problem = jd.problems.one_better_arm(2) if name in PULLS else jd.problems.load(problem)
    horizons = size((10**4, 10**5, 10**6), (200, 2_000))
    seeds = size(100 if problem.num_arms <= 8 else 32, 4)
    monkeypatch.setattr(event_blocks, "TAIL_SECONDS", np.inf)
    monkeypatch.setattr(blocks, "BRIEF_SECONDS", 0.0)
    if not is_drawn(policy_class(name)):
        monkeypatch.setattr(skip_heuristic, "WORTH", 0)

    def pair(horizon):
        return [
            spent(name, problem, horizon, seeds, calls=1, skip_quiet=skip)[0]
            for skip in (True, False)
        ]

    def all_costs():
        costs, ratios = {}, {}
        for horizon in horizons[:-1]:
            pair(horizon)
            pairs = [pair(horizon)]
            while len(pairs) < 3 and pairs[0][0] > SURE * pairs[0][1]:
                pairs.append(pair(horizon))
            costs[horizon], plain = np.median(pairs, axis=0)
            ratios[horizon] = costs[horizon] / plain
        costs[horizons[-1]] = spent(name, problem, horizons[-1], seeds, calls=2)[0]
        ratios[horizons[-1]] = costs[horizons[-1]] / plain * horizons[-2] / horizons[-1]
        return costs, ratios

    costs, ratios = benchmark.pedantic(all_costs, rounds=1, iterations=1)
    worst = max(ratios, key=ratios.get)
    benchmark.extra_info["worst ratio"], benchmark.extra_info["at T ="] = ratios[worst], worst
    benchmark.extra_info |= {f"T = {t:.0e}": ratio for t, ratio in ratios.items()}
    falls = [costs[short] / costs[long] for short, long in itertools.combinations(horizons, 2)]
    benchmark.extra_info["largest fall with T"] = max(falls)


@pytest.mark.smallest("rucb-mslr5-condorcet")
@pytest.mark.parametrize(("name", "problem"), LONG[4:])
def test_slots_hardly_wait(benchmark, monkeypatch, size, name, problem):
    """Turns of all slots beside the comparisons of different arms, from where skipping begins; that
    of the plain loop has these up to there."""
    problem, (horizon, lanes) = jd.problems.load(problem), size((10**7, 512), (10**6, 8))
    policy = jd.policies.make(name, num_arms=problem.num_arms)
    turns, begun = [], []
    advance, begin = events.advance, events.begin

    def counted(cell, slots, number, **settings):
        turns.append(slots.seed.size * int(number))
        return advance(cell, slots, number, **settings)

    def seen(cell, setups, steps, t, recorded, **settings):
        if np.any(cell.points):  # no trial
            turns.clear()
            begun.append(int(t))
        return begin(cell, setups, steps, t, recorded, **settings)

    counted.is_at_hand, seen.is_at_hand = advance.is_at_hand, begin.is_at_hand
    monkeypatch.setattr(events, "advance", counted)
    monkeypatch.setattr(events, "begin", seen)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    settings = {"lanes": lanes, "record_pairs": True, "devices": jax.devices()[:1]}
    result = benchmark.pedantic(
        lambda: jd.simulate(policy, problem, horizon, lanes, **settings), rounds=1, iterations=1
    )
    before = jd.simulate(policy, problem, begun[0], lanes, skip_quiet=False, **settings)
    whole, first = (
        run.pairs[:, -1].sum(axis=(1, 2)) - np.trace(run.pairs[:, -1], axis1=1, axis2=2)
        for run in (result, before)
    )
    assert len(begun) == 1
    assert (whole > first).any()
    assert sum(turns) >= (whole - first).sum()
    benchmark.extra_info["informative comparisons a run"] = whole.mean()
    benchmark.extra_info["turns per informative comparison"] = sum(turns) / (whole - first).sum()
