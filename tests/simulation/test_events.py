"""The event loop: skipping quiet runs changes nothing but the time it takes."""

import warnings

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import event_blocks, events, skip_heuristic
from jaxduel.simulation.checking import Settings
from jaxduel.simulation.memory_maps import forget_programs
from jaxduel.simulation.run import prepare, run_prepared
from tests.simulation.toys import Dozer, Insomniac, Shared

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

MSLR5 = jd.problems.load("mslr5-condorcet")
CYCLIC = jd.problems.load("noncondorcet-strong-borda")
TIMES = [1, 10, 37, 40, 200, 201, 999, 1000, 2500, 4000]


@pytest.fixture(autouse=True)
def early_and_crowded(monkeypatch):
    """Skipping begins after 40 comparisons at the latest; few slots, exchanged often."""
    monkeypatch.setattr(skip_heuristic, "TRIAL", 40)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    monkeypatch.setattr(event_blocks, "TURNS_PER_CALL", 7)
    monkeypatch.setattr(event_blocks, "FEWEST_TURNS", 7)
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)
    monkeypatch.setattr(events, "MOST_SLOTS", 3)


def _simulate(policy, problem, horizon=4000, simulate=jd.simulate, **settings):
    usual = {"num_seeds": 12, "lanes": 8, "devices": jax.devices()[:1], "checkpoints": TIMES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        return simulate(policy, problem, horizon, **{**usual, **settings})


@pytest.mark.parametrize("delay", [2, 13])
def test_skipping_changes_no_play(delay):
    settings = {"delay": delay, "record_pairs": True}
    policy = jd.policies.make("rmed1", num_arms=5)
    skipped = _simulate(policy, MSLR5, **settings)
    plain = _simulate(policy, MSLR5, skip_quiet=False, **settings)
    assert np.array_equal(skipped.plays, plain.plays)
    assert np.array_equal(skipped.regret, plain.regret)
    assert np.array_equal(skipped.pairs, plain.pairs)


@pytest.mark.parametrize("skips", [True, False])
def test_cells_of_several_delays_run_together(skips):
    delays, policy = (13, 2, 100), jd.policies.make("rmed1", num_arms=5)
    settings = Settings(num_seeds=8, lanes=8, checkpoints=TIMES, skip_quiet=skips)
    cells, kept = ([policy] * 3, [MSLR5] * 3, [4000] * 3), {}
    prepared = prepare(*cells, settings, stacked=True, delays=delays)
    run_prepared(prepared, prepared.settings, kept.__setitem__)
    together = np.asarray(kept[0].tallies.plays)[:, :, : len(TIMES)]
    for delay, plays in zip(delays, together, strict=True):
        settings = {"num_seeds": 8, "delay": delay, "skip_quiet": skips}
        assert np.array_equal(plays, _simulate(policy, MSLR5, **settings).plays)
    assert not np.array_equal(together[0], together[1])


def test_padded_arms_and_stacked_cells_skip_too():
    slacks = (0.1, 0.3, 1.0)
    policies = [
        jd.policies.make("rmed1", num_arms=8, active_arms=np.arange(8) < 6, scale=slack)
        for slack in slacks
    ]
    settings = {"num_seeds": 5, "lanes": 4, "devices": jax.devices()[:1], "checkpoints": TIMES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        both = [
            jd.simulate_many(policies, CYCLIC, 4000, skip_quiet=skip, **settings)
            for skip in (True, False)
        ]
    for skipped, plain in zip(*both, strict=True):
        assert np.array_equal(skipped.plays, plain.plays)


def test_slots_chunks_devices_and_other_seeds_do_not_change_a_bit(monkeypatch):
    policy = Dozer(num_arms=5, active_arms=np.ones(5, bool), period=np.float32(20))
    usual = _simulate(policy, MSLR5)
    assert np.ptp(usual.plays[:, -1, 1]) > 100
    assert np.array_equal(usual.plays[:5], _simulate(policy, MSLR5, num_seeds=5).plays)
    two = _simulate(policy, MSLR5, devices=jax.devices())
    assert np.array_equal(usual.plays, two.plays)
    monkeypatch.setattr(event_blocks, "TURNS_PER_CALL", 64)
    assert np.array_equal(usual.plays, _simulate(policy, MSLR5).plays)
    others = [2, 3, 5, 80, 201, 202, 640, 1001, 3000, 4000]
    moved = _simulate(policy, MSLR5, checkpoints=others)
    assert np.array_equal(usual.plays[:, [5, 9]], moved.plays[:, [4, 9]])


def _moves(monkeypatch):
    """A list of the numbers of slots before and after seeds move to fewer, from now on."""
    moved, close_up = [], events.close_up

    def watched(slots, size, number):
        moved.append((slots.seed.shape[-1], number))
        return close_up(slots, size, number=number)

    monkeypatch.setattr(events, "close_up", watched)
    return moved


def test_the_last_seeds_move_to_few_slots_and_keep_their_bits(monkeypatch):
    policies = [
        Dozer(num_arms=5, active_arms=np.ones(5, bool), period=np.float32(period))
        for period in (20, 3)
    ]
    usual = [_simulate(policy, MSLR5).plays for policy in policies]
    moved = _moves(monkeypatch)
    monkeypatch.setattr(events, "MOST_SLOTS", 4)
    monkeypatch.setattr(events, "FEW_SLOTS", 2)
    monkeypatch.setattr(event_blocks, "TAIL_SECONDS", 1e-9)
    monkeypatch.setattr(event_blocks, "TURNS_PER_CALL", 8)
    monkeypatch.setattr(event_blocks, "MOST_TURNS", 8)
    for policy, plays in zip(policies, usual, strict=True):
        assert np.array_equal(_simulate(policy, MSLR5).plays, plays)
    assert moved
    assert all(before > after == 2 for before, after in moved)
    before = len(moved)
    together = _simulate(policies, MSLR5, simulate=jd.simulate_many)
    assert len(moved) > before
    for result, plays in zip(together, usual, strict=True):
        assert np.array_equal(result.plays, plays)


@pytest.fixture
def beginnings(monkeypatch):
    """Times at which the event loop began, block by block, at a cost of three steps a turn and
    nothing else; after trials, which may take as long as they like."""
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 3.0)
    for name in ("FLOOR", "FIRST_TURNS", "HOST", "TRIALS_PART"):
        monkeypatch.setattr(skip_heuristic, name, 0)
    times, trials, begin = [], [], events.begin

    def watched(cell, setups, steps, t, recorded, **settings):
        (times if np.any(cell.points) else trials).append(int(t))  # trials record nothing
        return begin(cell, setups, steps, t, recorded, **settings)

    watched.is_at_hand = begin.is_at_hand
    monkeypatch.setattr(events, "begin", watched)
    return times, trials


def _insomniac(period, **shares):
    leaves = {name: np.float32(share) for name, share in shares.items()}
    return Insomniac(active_arms=np.ones(2, bool), period=np.int32(period), **leaves)


@pytest.mark.parametrize(("delay", "each"), [(1, 1), (7, 2)])
def test_a_long_run_costs_its_informative_comparisons(delay, each, monkeypatch):
    """One turn each; one more with what is between it and the time when its outcome is told."""
    turns = []
    advance = events.advance
    monkeypatch.setattr(event_blocks, "MOST_TURNS", 7)
    monkeypatch.setattr(
        events, "advance", lambda *a, **k: turns.append(int(a[2])) or advance(*a, **k)
    )
    horizon, period = 2**31 - 1, 10**8
    times = [99, period - 1, period, 7 * period + 5, horizon]
    problem = jd.problems.arithmetic(2)
    settings = {"num_seeds": 8, "checkpoints": times, "shuffle_arms": False, "delay": delay}
    result = _simulate(_insomniac(period), problem, horizon, **settings)
    awake = np.array(times) // period
    assert (result.plays[..., 0] == awake).all()
    assert (result.plays[..., 1] == 2 * np.array(times) - awake).all()
    # 21 informative comparisons and a last run for each of 8 seeds in 3 slots
    played = sum(
        number for number in turns if number == event_blocks.TURNS_PER_CALL
    )  # not in trials
    assert played <= each * 3 * 22 + 3 * 7


def test_skipping_waits_until_a_turn_saves_more_than_it_costs(beginnings):
    """Turns a comparison: 1/4 or 1/2 in each slot, and what one seed alone makes of its slot's."""
    problem = jd.problems.arithmetic(2)

    def begun(policies, simulate=jd.simulate, **settings):
        times, _ = beginnings
        times.clear()
        result = _simulate(policies, problem, shuffle_arms=False, simulate=simulate, **settings)
        return list(times), result

    assert begun(_insomniac(4), num_seeds=8)[0] == [40]
    assert begun(_insomniac(2), num_seeds=8)[0] == []
    both = [_insomniac(4), _insomniac(2)]
    assert begun(both, jd.simulate_many, num_seeds=8)[0] == []
    for lanes, seed, times in ((8, 4, []), (16, 1, [40])):
        policy = _insomniac(10, sleepless=0.1)
        when, result = begun(policy, num_seeds=lanes, lanes=lanes, seed=seed)
        assert np.sum(result.plays[:, -1, 0] == 4000) == 1
        assert when == times
    assert begun(_insomniac(4, secretive=1.0), num_seeds=8)[0] == []
    for delay, times in ((7, []), (40, [40])):
        assert begun(_insomniac(10), num_seeds=8, delay=delay)[0] == times


def test_skipping_is_tried_ever_more_seldom(beginnings):
    """An arm meets itself, but no run is told: trials come with rests between them."""
    _simulate(_insomniac(4, secretive=1.0), jd.problems.arithmetic(2), num_seeds=8)
    times, trials = beginnings
    first = np.array(trials)
    assert first[0] == 40
    assert (first[1:] >= first[:-1] * 9 // 8).all()
    assert (first[1:] <= first[:-1] * 10 // 8 + 40).all()
    assert first[-1] > 3500
    assert times == []


def test_drawn_runs_are_skipped_where_some_is_left_to_do_whatever_is_compiled(
    beginnings, monkeypatch
):
    """8 seeds of 2 arms: 16 times the comparisons that are left of a seed."""
    monkeypatch.setattr(skip_heuristic, "_LOADING", 1)
    problem = jd.problems.arithmetic(2)
    for worth, begun in ((16 * 3960 - 1, [40]), (16 * 3960, [])):
        monkeypatch.setattr(skip_heuristic, "WORTH", worth)
        beginnings[0].clear()
        _simulate(_insomniac(4), problem, num_seeds=8)
        assert beginnings[0] == begun


def test_the_event_loop_is_compiled_once_the_blocks_without_it_were_worth_it(
    beginnings, monkeypatch
):
    monkeypatch.setattr(skip_heuristic, "is_drawn", lambda _: False)
    skip_heuristic._missed.clear()
    forget_programs()
    for worth, begun in ((2 * 16 * 3960, []), (2 * 16 * 3960 - 1, [40]), (2**62, [40])):
        monkeypatch.setattr(skip_heuristic, "WORTH", worth)
        beginnings[0].clear()
        _simulate(_insomniac(4), jd.problems.arithmetic(2), num_seeds=8)
        assert beginnings[0] == begun


@pytest.fixture
def narrow(monkeypatch):
    """Blocks of 8 lanes begin in the event loop; it has 40 turns to show that it skips."""
    monkeypatch.setattr(skip_heuristic, "NARROW", 16)
    monkeypatch.setattr(skip_heuristic, "AT_ONCE", 0)
    monkeypatch.setattr(skip_heuristic, "AHEAD_TURNS", 40)
    monkeypatch.setattr(skip_heuristic, "has_price", lambda _: True)


@pytest.mark.usefixtures("narrow")
def test_a_narrow_block_begins_in_the_event_loop(beginnings):
    problem, settings = jd.problems.arithmetic(2), {"num_seeds": 8, "shuffle_arms": False}
    plain = {"skip_quiet": False, **settings}
    # a run is told; none is told, so that it goes back to steps; the block is not narrow
    for policy, lanes, begun in (
        (_insomniac(4), 8, [0]),
        (_insomniac(4, secretive=1.0), 8, [0]),
        (_insomniac(4), 17, [40]),
    ):
        beginnings[0].clear()
        result = _simulate(policy, problem, lanes=lanes, **settings)
        assert beginnings[0] == begun
        assert np.array_equal(result.plays, _simulate(policy, problem, **plain).plays)
    both = [_insomniac(4), _insomniac(5)]
    beginnings[0].clear()
    together = _simulate(both, problem, simulate=jd.simulate_many, **settings)
    assert beginnings[0] == [0]
    for policy, result in zip(both, together, strict=True):
        assert np.array_equal(result.plays, _simulate(policy, problem, **plain).plays)


@pytest.mark.usefixtures("narrow")
def test_what_tells_late_or_may_cost_too_much_begins_with_steps(beginnings, monkeypatch):
    problem = jd.problems.arithmetic(2)
    settings = {"num_seeds": 8, "shuffle_arms": False}
    _simulate(_insomniac(40), problem, delay=7, **settings)
    monkeypatch.setattr(skip_heuristic, "AHEAD_TURNS", 4000 // 6 + 1)
    _simulate(_insomniac(40), problem, **settings)
    monkeypatch.setattr(skip_heuristic, "AHEAD_TURNS", 40)
    monkeypatch.setattr(skip_heuristic, "AT_ONCE", 4000 * 16 + 1)
    _simulate(_insomniac(40), problem, **settings)
    monkeypatch.setattr(skip_heuristic, "AT_ONCE", 0)
    monkeypatch.setattr(skip_heuristic, "has_price", lambda _: False)
    _simulate(_insomniac(40), problem, **settings)
    monkeypatch.setattr(skip_heuristic, "has_price", lambda _: True)
    monkeypatch.setattr(skip_heuristic, "_SURE_ARMS", 0.01)
    _simulate(_insomniac(40), problem, **settings)
    assert len(beginnings[0]) == 5
    assert min(beginnings[0]) >= 40


@pytest.mark.usefixtures("narrow")
def test_the_last_seeds_of_a_narrow_block_move_to_few_slots(monkeypatch):
    policy = Dozer(num_arms=5, active_arms=np.ones(5, bool), period=np.float32(20))
    usual = _simulate(policy, MSLR5).plays
    moved = _moves(monkeypatch)
    monkeypatch.setattr(events, "FEW_SLOTS", 2)
    monkeypatch.setattr(event_blocks, "TAIL_SECONDS", 1e-9)
    assert np.array_equal(_simulate(policy, MSLR5).plays, usual)
    assert moved
    assert set(moved) <= {(8, 4), (4, 2), (8, 2)}
    assert moved[-1][1] == 2


def test_trials_leave_no_trace(monkeypatch):
    """What seeds draw does not depend on trials before: they have streams of their own."""
    policy = jd.policies.make("dts", num_arms=5)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 1e9)
    tried = _simulate(policy, MSLR5)
    plain = _simulate(policy, MSLR5, skip_quiet=False)
    assert np.array_equal(tried.plays, plain.plays)


@pytest.mark.parametrize("name", ["dts", pytest.param("dts+", marks=pytest.mark.slow)])
def test_winners_are_told_apart_where_there_is_one_or_the_policy_can(name):
    policy = jd.policies.make(name, num_arms=5)
    told, pooled = (_simulate(policy, MSLR5, skip_quiet=skip) for skip in (True, "winners"))
    assert np.array_equal(told.plays, pooled.plays)


def test_what_cannot_skip_runs_as_ever():
    policy = jd.policies.make("sparring", num_arms=5)
    a, b = (_simulate(policy, MSLR5, 300, checkpoints=[300], skip_quiet=s) for s in (True, False))
    assert np.array_equal(a.plays, b.plays)


def test_a_run_of_several_arms_is_shared_among_them():
    policy = Shared(num_arms=3, active_arms=np.ones(3, bool), period=np.int32(1000))
    times = [500, 700, 1500, 1501, 4000]
    settings = {"num_seeds": 400, "checkpoints": times, "shuffle_arms": False, "lanes": 400}
    result = _simulate(policy, jd.problems.arithmetic(3), record_pairs=True, **settings)
    awake = np.array(times) // 1000
    assert (result.plays[..., 0] == awake).all()
    assert (result.plays.sum(axis=2) == 2 * np.array(times)).all()
    selves = np.diagonal(result.pairs, axis1=2, axis2=3)
    assert (selves[..., 0] == 0).all()
    assert (2 * selves[..., 1] + awake == result.plays[..., 1]).all()
    parts = np.diff(selves[:, :, 1:], axis=1, prepend=0)  # in 500, 200, 800, 1, 2499 comparisons
    assert (parts >= 0).all()
    share = parts[..., 1] - parts.sum(axis=2) / 2
    deviation = np.sqrt(parts.sum(axis=2)[0]) / 2
    assert (np.abs(share.mean(axis=0)) <= 4.5 * deviation / 20).all()
    spread = share.std(axis=0) / deviation
    assert (np.abs(spread[[0, 1, 2, 4]] - 1) <= 4.5 / np.sqrt(2 * 400)).all()
    independent = np.corrcoef(share[:, [0, 1, 2, 4]].T) - np.eye(4)
    assert (np.abs(independent) <= 4.5 / 20).all()


@pytest.mark.parametrize(
    ("turns", "idle", "seconds", "following"),
    [
        (64, 0.0, 0.1, 128),
        (64, 0.1, 0.1, 64),
        (64, 0.3, 0.1, 32),
        (64, 0.0, 0.6, 32),
        (512, 0.0, 0.1, 512),
        (7, 1.0, 0.1, 7),
    ],
)
def test_calls_are_longer_where_few_slots_fall_idle(turns, idle, seconds, following):
    assert event_blocks._next_turns(turns, idle, seconds) == following
