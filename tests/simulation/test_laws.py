"""Laws of the simulator: what must not change its numbers does not, and what it counts adds up."""

import _thread
import dataclasses
import signal
import warnings

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies import RUCB
from jaxduel.pytrees import register_dataclass
from jaxduel.simulation import blocks, checkpoints
from jaxduel.simulation.checking import Settings
from jaxduel.simulation.run import prepare
from jaxduel.simulation.steps import advance
from tests.choice import some
from tests.registered import LIKE_OTHERS, PULLS, arms_for, needed
from tests.simulation.toys import Copycat, Cycle, Rounds

ALL = np.ones(3, bool)
ARXIV = jd.problems.load("arxiv")
ARMS = jd.problems.gaussian([0.9, 0.2, 0.5, 0.5, -0.1, 0.7], std=[1, 1, 0.5, 2, 1, 1])


def _policy(name, problem=ARXIV, horizon=600):
    extra = needed(name, num_batches=7)
    return jd.policies.make(name, num_arms=problem.num_arms, horizon=horizon, **extra)


def _simulate(name, problem=ARXIV, horizon=600, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        return jd.simulate(_policy(name, problem, horizon), problem, horizon, **settings)


SMALL = {"num_seeds": 10, "lanes": 4, "seed": 3, "checkpoints": [1, 7, 50, 333, 600]}


@pytest.mark.parametrize("name", some(["rucb", "scomp2", "ucb1", "base"], ["rucb", "base"]))
def test_chunks_blocks_devices_and_checkpoints_do_not_change_a_bit(name, monkeypatch):
    one, two = jax.devices()
    problem = ARMS if name in PULLS else ARXIV
    plain = _simulate(name, problem, **SMALL, devices=[one])
    assert plain.plays.std(axis=0)[1:].max() > 0

    def same(other, at=slice(None)):
        assert np.array_equal(plain.plays[: len(other.plays), at], other.plays)

    same(_simulate(name, problem, **SMALL, devices=[one, two]))
    same(_simulate(name, problem, **SMALL, devices=[two]))
    same(_simulate(name, problem, **{**SMALL, "num_seeds": 3}))
    same(_simulate(name, problem, **{**SMALL, "checkpoints": [50, 600]}, devices=[one]), at=[2, 4])
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 13)
    monkeypatch.setattr(blocks, "ROUNDS_PER_CALL", 1)
    same(_simulate(name, problem, **SMALL))


QUICKLY = ("rmed1", "scomp2", "thompson-gaussian")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICKLY else pytest.param(name, marks=pytest.mark.slow)
        for name in jd.policies.names()
    ],
)
@pytest.mark.parametrize(
    "num_arms",
    [pytest.param(5, marks=pytest.mark.slow), 16, pytest.param(64, marks=pytest.mark.slow)],
)
def test_the_width_of_a_block_does_not_change_a_bit(name, num_arms):
    """XLA sums in orders that depend on the shape, others from 256 lanes of 16 arms on, say."""
    if name in PULLS:
        problem = jd.problems.gaussian(np.linspace(0.5, 0.1, arms_for(name, num_arms)))
    else:
        problem = jd.problems.random_condorcet(jax.random.key(num_arms), num_arms)
    horizon, widths = 300 if name == "cw-rmed" else 2000, (512, 128)
    if num_arms == 64:
        horizon = {"cw-rmed": 30, "sequential-halving": 64 * 6}.get(name, 200)
        widths = 64, 8
    runs = [
        _simulate(name, problem, horizon, num_seeds=96, lanes=lanes, skip_quiet=False)
        for lanes in widths
    ]
    for run in runs[1:]:
        assert np.array_equal(run.plays, runs[0].plays)


@pytest.mark.slow
def test_blocks_are_no_wider_than_needed():
    for num_seeds, lanes in ((1, 64), (64, 64), (65, 128), (300, 512), (5000, 512)):
        assert _simulate("rucb", num_seeds=num_seeds, horizon=5).made_by["lanes"] == lanes
    many_arms = jd.problems.copeland_cycle(64)
    for num_seeds, lanes in ((1, 8), (9, 16), (500, 64)):
        found = _simulate("rucb", many_arms, horizon=5, num_seeds=num_seeds).made_by["lanes"]
        assert found == lanes


def test_more_seeds_keep_the_seeds_there_were():
    settings = {"lanes": 4, "devices": jax.devices()[:1]}
    few = _simulate("rmed1", num_seeds=5, **settings)
    more = _simulate("rmed1", num_seeds=9, **settings)
    assert np.array_equal(few.regret, more.regret[:5])
    other = _simulate("rmed1", num_seeds=5, seed=1, **settings)
    assert not np.array_equal(few.plays, other.plays)


SLOW_TO_DECIDE = {"pbr": 30_000, "round-robin": 607, "savage": 30_000}
"""Horizons for policies that play all arms alike up to 600: relabelling could not show."""
LONG = (
    *("beat-the-winner", "borda-cb", "dkwt", "ecw-rmed", "pbr", "pcomp", "pocowista", "rcs"),
    *("savage", "scb", "self-sparring", "versatile-db"),
    *LIKE_OTHERS,
)


@pytest.mark.parametrize(
    "name",
    some(jd.policies.names(), ("base", "btm", "dts", "rucb"), LONG),
)
def test_plays_add_up_and_relabelling_arms_relabels_results(name):
    """Two laws on the same runs. Plays sum to twice the comparisons, or to the pulls, and regret
    follows from them; with the arms in another order, each arm's plays and the regret have the same
    means.
    """
    order = np.array([3, 5, 1, 0, 4, 2])
    settings = {"num_seeds": 1024, "devices": jax.devices()[:1]}
    settings["horizon"] = SLOW_TO_DECIDE.get(name, 600)
    if name in PULLS:
        size = arms_for(name, 6)
        problem = jd.problems.gaussian(ARMS.means[:size], ARMS.std[:size])
        each, gaps, order = 1, problem.means[0] - problem.means, order[order < size]
        other = jd.problems.gaussian(problem.means[order], problem.std[order])
    else:
        problem, each, gaps = ARXIV, 2, ARXIV.preferences[0] - 0.5
        other, settings["regret"] = ARXIV.submatrix(order), "average"
    there = _simulate(name, problem, **settings, seed=1)
    assert (there.plays.sum(axis=-1) == each * there.checkpoints).all()
    assert (np.diff(there.plays, axis=1) >= 0).all()
    assert np.allclose(there.regret, (there.plays * gaps).sum(axis=-1) / each, rtol=1e-12)

    here = _simulate(name, other, **settings, seed=2)
    a, b = there.plays[:, -1][:, order], here.plays[:, -1]
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 1024)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 4.5 * error).all()
    spread = np.hypot(there.sem[-1], here.sem[-1])
    assert abs(there.mean[-1] - here.mean[-1]) <= 4.5 * spread


def test_definitions_of_regret_have_the_papers_factors():
    pairs = ((0, 1), (1, 2), (2, 2), (0, 0))
    policy = Cycle(active_arms=ALL, pairs=pairs)
    problem = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    expected = {
        "average": [0.1 / 2, (0.1 + 0.4) / 2, 0.4],
        "copeland": [0.5 / 2, (0.5 + 1.0) / 2, 1.0],
        "weak": [0.0, 0.1, 0.4],
        "binary weak": [0, 1, 1],
        "binary strong": [1, 1, 1],
        "votes": [1, 1, 0],
        "borda": [(0.75 - 0.55) / 2, (0.75 - 0.55) / 2 + (0.75 - 0.2) / 2, 0.75 - 0.2],
    }
    for definition, steps in expected.items():
        result = jd.simulate(
            policy, problem, 4, 2, checkpoints=[1, 2, 3, 4], regret=definition, shuffle_arms=False
        )
        assert np.allclose(result.regret, np.cumsum([*steps, 0]), atol=1e-12), definition


@pytest.mark.parametrize(
    ("regret", "steps"),
    [
        ("weak", [0, 0, 0, 0.1, 0.1, 0.1, 0.4, 0, 0, 0]),
        ("binary weak", [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]),
        ("binary strong", [1] * 10),
        ("votes", [1] * 6 + [0] + [1] * 3),
    ],
)
def test_regret_of_pairs_counts_pairs_of_batches(regret, steps):
    counts = np.array([[0, 2, 1], [0, 0, 3], [0, 0, 1]], np.int32)
    policy = Rounds(active_arms=ALL, horizon=10, counts=counts)
    problem = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    times = np.arange(1, 11)
    result = jd.simulate(
        policy, problem, 10, 3, checkpoints=times, regret=regret, shuffle_arms=False
    )
    assert np.allclose(result.regret, np.cumsum(steps), atol=1e-12)


def test_checkpoints_inside_a_round_follow_the_lexicographic_plan():
    counts = np.array([[1, 2, 1], [0, 2, 3], [0, 0, 1]], np.int32)
    horizon = 25
    policy = Rounds(active_arms=ALL, horizon=horizon, counts=counts)
    problem = jd.problems.arithmetic(3)
    times = np.arange(1, horizon + 1)
    settings = {"checkpoints": times, "lanes": 3, "devices": jax.devices()[:1]}
    plays = jd.simulate(policy, problem, horizon, 5, **settings).plays
    order = [(i, j) for i in range(3) for j in range(3) for _ in range(counts[i, j])]
    sequence = (order * 3)[:horizon]
    one_by_one = np.cumsum([np.eye(3)[i] + np.eye(3)[j] for i, j in sequence], axis=0)
    shuffled = np.sort(plays, axis=-1)
    assert (shuffled == np.sort(one_by_one, axis=-1)).all()
    fixed = jd.simulate(policy, problem, horizon, 5, shuffle_arms=False, **settings)
    assert (fixed.plays == one_by_one).all()


def test_outcomes_have_the_probabilities_of_the_instance():
    problem = jd.problems.from_matrix([[0.5, 0.7], [0.3, 0.5]])
    policy = Copycat(active_arms=np.ones(2, bool))
    result = jd.simulate(policy, problem, 101, 20_000, devices=jax.devices()[:1])
    won = result.plays[:, -1, 0] > 101
    assert abs(won.mean() - 0.7) < 4 * np.sqrt(0.21 / 20_000)


def test_delayed_outcomes_arrive_every_d_comparisons():
    problem = jd.problems.from_matrix([[0.5, 1.0], [0.0, 0.5]])
    policy = Copycat(active_arms=np.ones(2, bool))
    times = np.arange(1, 13)
    plays = jd.simulate(policy, problem, 12, 4, checkpoints=times, delay=5, lanes=4).plays
    per_step = np.diff(plays, axis=1, prepend=0)
    assert (per_step[:, :5] == [1, 1]).all()
    assert (per_step[:, 5:] == [2, 0]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rucb", pytest.param("rmed1", marks=pytest.mark.slow), "btm"])
def test_delay_costs_regret_and_a_delay_of_one_does_not(name):
    settings = {"num_seeds": 256, "horizon": 2000, "regret": "average"}
    problem = jd.problems.from_matrix([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])
    at_once = _simulate(name, problem, **settings)
    again = _simulate(name, problem, **settings, delay=1)
    late = _simulate(name, problem, **settings, delay=500)
    assert np.array_equal(at_once.plays, again.plays)
    assert late.mean[-1] >= at_once.mean[-1] - 4 * np.hypot(late.sem[-1], at_once.sem[-1])
    if name != "btm":
        assert late.mean[-1] > at_once.mean[-1] + 4 * np.hypot(late.sem[-1], at_once.sem[-1])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "extra"),
    [("pcomp", 0), pytest.param("scomp", 1, marks=pytest.mark.slow), ("scomp2", 1)],
)
def test_batched_policies_keep_to_their_batches(name, extra):
    times = 2 if name == "scomp2" else 1
    for num_batches in (1, 2, 5, 16):
        policy = jd.policies.make(name, num_arms=6, horizon=5000, num_batches=num_batches)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jd.AssumptionWarning)
            result = jd.simulate(policy, ARXIV, num_seeds=256, lanes=256)
        assert result.batches is not None
        assert result.batches.max() <= times * num_batches + extra
        assert result.batches.min() >= 1


def test_the_largest_horizon_is_exact():
    horizon = 2**31 - 1
    policy = jd.policies.make("pcomp", num_arms=4, horizon=horizon, num_batches=16)
    result = jd.simulate(policy, jd.problems.arithmetic(4), num_seeds=64, lanes=64)
    assert (result.plays.sum(axis=-1) == 2 * result.checkpoints).all()
    assert result.plays.max() > 2**31
    assert result.mean[-1] > 0


def test_the_last_steps_of_the_largest_horizon_are_made():
    horizon, left = 2**31 - 1, 37
    given = Settings(num_seeds=2, lanes=2, checkpoints=[horizon])
    policy, problem = Cycle(active_arms=ALL), jd.problems.arithmetic(3)
    job = prepare([policy], [problem], [horizon], given, stacked=False).job
    setups, lanes = blocks.STEPS.start(job, 0)
    bounds = np.int32(horizon - left), np.int32(horizon)
    cell = job.cell._replace(checkpoints=None, points=None)
    lanes = advance(cell, setups, lanes, *bounds, program=job.program)
    assert np.asarray(lanes.tallies.plays).sum(axis=1).tolist() == [2 * left, 2 * left]


def test_cells_of_one_program_equal_runs_of_their_own():
    problems = [jd.problems.arithmetic(4, step) for step in (0.05, 0.1, 0.15)]
    policies = [jd.policies.make("rucb", num_arms=4, alpha=a) for a in (0.51, 0.8, 1.5)]
    settings = {"num_seeds": 9, "lanes": 8, "devices": jax.devices()[:1]}
    together = jd.simulate_many(policies, problems, 300, **settings)
    for policy, problem, result in zip(policies, problems, together, strict=True):
        alone = jd.simulate(policy, problem, 300, **settings)
        assert np.array_equal(alone.checkpoints, result.checkpoints)
        assert np.array_equal(alone.plays, result.plays)
        assert result.problem == problem.name


def test_parameters_of_a_policy_from_outside_are_varied_in_one_program():
    """Its plan is found by tracing, of one cell: parameters of stacked cells do not broadcast."""

    @register_dataclass
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Own(RUCB):
        """RUCB, but not of the package."""

    problem, alphas = jd.problems.arithmetic(4), (0.51, 1.5)
    policies = [Own(num_arms=4, active_arms=np.ones(4, bool), alpha=alpha) for alpha in alphas]
    found = jd.simulate_many(policies, problem, 300, num_seeds=9)
    for alpha, result in zip(alphas, found, strict=True):
        policy = jd.policies.make("rucb", num_arms=4, alpha=alpha)
        expected = jd.simulate_many([policy] * 2, problem, 300, num_seeds=9)[0]
        assert np.array_equal(result.plays, expected.plays)


@pytest.mark.slow
def test_cells_of_batched_policies_have_horizons_of_their_own():
    grid = [(100, 2), (1000, 5), (100_000, 16)]
    policies = [jd.policies.make("pcomp", num_arms=4, horizon=t, num_batches=b) for t, b in grid]
    problem = jd.problems.arithmetic(4)
    settings = {"num_seeds": 9, "lanes": 8, "devices": jax.devices()[:1]}
    together = jd.simulate_many(policies, problem, **settings)
    for (horizon, _), policy, result in zip(grid, policies, together, strict=True):
        assert result.horizon == horizon
        assert np.array_equal(result.checkpoints, checkpoints.resolve(None, horizon))
        times, own = _more_checkpoints(result.checkpoints, 60)
        alone = jd.simulate(policy, problem, checkpoints=times, **settings)
        assert np.array_equal(alone.plays[:, own], result.plays)


def _more_checkpoints(times, num):
    """`num` checkpoints, `times` among them, and where these are.

    As many for every horizon, so that one program serves all.
    """
    others = np.setdiff1d(np.arange(1, times[-1]), times)
    longer = np.union1d(times, others[: num - len(times)])
    return longer, np.isin(longer, times)


@pytest.fixture
def interruptible():
    """Ctrl-C as a terminal has it: a shell's background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_returns_the_seeds_that_are_finished(monkeypatch):
    started = []
    run = blocks.STEPS.run

    def interrupted(job, first):
        started.append(first)
        if len(started) == 3:
            _thread.interrupt_main()
        return run(job, first)

    runner = blocks.STEPS._replace(run=interrupted)
    monkeypatch.setattr(blocks, "runner_for", lambda policy: runner)
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 1)
    policy = _policy("rmed1")
    with pytest.warns(UserWarning, match=r"interrupted: \d+ of 400 seeds"):
        result = jd.simulate(policy, ARXIV, 600, 400, lanes=4, devices=jax.devices()[:1])
    assert 8 <= result.num_seeds < 400
    settings = {"lanes": 4, "devices": jax.devices()[:1]}
    again = jd.simulate(policy, ARXIV, 600, result.num_seeds, **settings)
    assert np.array_equal(result.plays, again.plays)


def test_lanes_follow_the_memory_budget():
    policy = jd.policies.make("rucb", num_arms=6)
    result = jd.simulate(policy, ARXIV, 50, 10, memory_budget=4000)
    assert result.num_seeds == 10
    with pytest.raises(jd.InputError, match="memory_budget of 10 bytes is too small"):
        jd.simulate(policy, ARXIV, 50, 10, memory_budget=10)


def test_result_opens_in_xarray():
    result = _simulate("pcomp", num_seeds=6, lanes=4, devices=jax.devices()[:1])
    data = result.to_xarray()
    assert dict(data.sizes) == {"seed": 6, "checkpoint": len(result.checkpoints), "arm": 6}
    assert np.array_equal(data["regret"], result.regret)
    assert np.array_equal(data["batches"], result.batches)
    assert data.attrs["policy"] == "pcomp"
    assert data.attrs["problem"] == "arxiv"
    assert np.allclose(result.quantile(0.5), np.median(result.regret, axis=0))
    assert np.allclose(result.sem, result.regret.std(axis=0, ddof=1) / np.sqrt(6))
