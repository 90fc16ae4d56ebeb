"""Runs of wanted policies are on their instances, however they are grouped, stored and read."""

import threading
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.studies import planned, wanted
from jaxduel.studies.engine import machines
from jaxduel.studies.planned import Planned
from jaxduel.studies.stored_runs import StoredRuns
from jaxduel.studies.wanted import Competitor, Draw, Wanted, horizons_up_to

pytestmark = pytest.mark.usefixtures("quick_compilation")

RMED1 = Competitor("rmed1", "RMED1", "rmed1", {})
TIMES = np.array([10, 50])


def made(competitor: Competitor = RMED1, instances: int = 2, runs: int = 2) -> Wanted:
    draws = tuple(
        Draw(jd.problems.btl(jax.random.key(i), 4), jax.random.key(i + 10), runs)
        for i in range(instances)
    )
    return Wanted("toy", "toy", draws, competitor, 50, TIMES, "average")


@pytest.fixture
def ran(tmp_path):
    """A function that simulates what is wanted and returns the runs, in the order of their ends."""

    def run(*asked: Wanted, folder="runs"):
        store = StoredRuns(tmp_path / folder, asked)
        with store.progress(False) as shown, closing(store.missing(shown)) as found:
            return [one for _, one in found]

    return run


def alone(one: Wanted, draw: Draw, **settings):
    """The runs of `jd.simulate` on one instance."""
    entry = one.competitor
    policy = jd.policies.make(entry.policy, num_arms=4, horizon=50, **entry.parameters)
    settings = {"checkpoints": TIMES, "regret": "average", "lanes": 2, **settings}
    return jd.simulate(policy, draw.problem, 50, draw.num_runs, draw.key, **settings)


@pytest.mark.parametrize(
    ("policy", "settles"),
    [("pcomp", True), ("detc-batched", True), ("btm", True), ("nts", True), ("rmed1", False)],
)
def test_policies_in_batches_to_a_horizon_or_that_name_an_arm_may_settle(policy, settles):
    parameters = {"num_batches": 4} if policy == "pcomp" else {}
    one = made(Competitor("a", "A", policy, parameters))
    assert one.settles == settles
    said = replace(one.competitor, settles=not settles)
    assert replace(one, competitor=said).settles != settles
    assert not replace(made(Competitor("a", "A", "nts", {})), regret="votes").settles


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rmed1", "pcomp"])
def test_instances_are_stacked_while_they_have_as_many_runs_and_fit_a_block(name, monkeypatch, ran):
    for module in (wanted, planned):
        monkeypatch.setattr(module, "MOST_LANES", 4)
    entry = Competitor(name, name, name, {"num_batches": 3} if name == "pcomp" else {})
    whole = made(entry, instances=6)
    last = replace(whole.draws[-1], num_runs=1)
    whole = replace(whole, draws=(*whole.draws[:-1], last))
    sizes = [len(group.cells) for group in Planned([whole], "cpu").groups]
    assert sizes == ([2, 2, 1, 1] if name == "rmed1" else [5, 1])
    (runs,) = ran(whole)
    assert runs.num_groups == 6
    for i, draw in enumerate(whole.draws):
        mine = runs.regret[runs.groups == i]
        np.testing.assert_array_equal(mine, alone(whole, draw).regret)
        if runs.batches is not None:
            theirs = alone(whole, draw).batches
            np.testing.assert_array_equal(runs.batches[runs.groups == i], theirs)


@pytest.mark.thorough
def test_cells_of_batched_policies_share_a_program_whatever_they_are_wanted_for(ran):
    entries = [
        Competitor(f"pcomp[{b}]", f"B = {b}", "pcomp", {"num_batches": b}) for b in (2, 3, 4)
    ]
    several = [made(entry, instances=1) for entry in entries]
    (group,) = Planned(several, "cpu").groups
    assert len(group.cells) == 3
    for asked, runs in zip(several, ran(*several), strict=True):
        assert runs.name == asked.competitor.name
        np.testing.assert_array_equal(runs.regret, alone(asked, asked.draws[0]).regret)


def test_many_runs_are_blocks_of_equal_size(monkeypatch, ran):
    monkeypatch.setattr(wanted, "MOST_LANES", 3)
    many = made(instances=1, runs=8)
    assert many.lanes == 3
    (group,) = Planned([many], "cpu").groups
    assert (group.block_seeds, group.num_seeds) == (3, 8)
    (runs,) = ran(many)
    by_simulate = alone(many, many.draws[0], lanes=3)
    np.testing.assert_array_equal(runs.regret, by_simulate.regret)


def test_a_stored_block_with_more_runs_gives_as_many_as_are_asked_for():
    few = made(instances=1, runs=2)
    arrays = {"regret": np.arange(6.0).reshape(1, 1, 3, 2), "batches": np.arange(3)[None]}
    block: Any = SimpleNamespace(arrays=arrays)
    runs = Planned([few], "cpu").runs(few, lambda key: block)
    assert runs.regret.tolist() == [[0, 1], [2, 3]]
    assert runs.batches is not None
    assert runs.batches.tolist() == [0, 1]


@pytest.mark.thorough
def test_separate_runs_on_several_instances_are_those_on_each(ran):
    btm = Competitor("btm", "BTM", "btm", {}, per_horizon=True)
    (together,) = ran(made(btm, instances=3, runs=2))
    for i in range(3):
        one = made(btm, instances=3, runs=2)
        one = replace(one, draws=one.draws[i : i + 1])
        (runs,) = ran(one, folder=f"runs {i}")
        np.testing.assert_array_equal(together.regret[together.groups == i], runs.regret)


def test_runs_do_not_depend_on_the_devices(monkeypatch, ran):
    regrets = []
    for number in (1, 2):
        monkeypatch.setattr(machines, "cpu_devices", lambda n=number: jax.local_devices()[:n])
        (runs,) = ran(made(), folder=f"runs {number}")
        regrets.append(runs.regret)
    np.testing.assert_array_equal(*regrets)


def test_what_goes_wrong_is_raised(ran):
    with pytest.raises(jd.InputError, match="scale"):
        ran(made(Competitor("rmed1", "RMED1", "rmed1", {"scale": -1.0})))


def test_tasks_in_flight_end_with_the_caller(tmp_path):
    """The second would take hours: `sparring` skips nothing."""
    last = 2**31 - 2
    endless = replace(
        made(Competitor("sparring", "Sparring", "sparring", {})),
        horizon=last,
        checkpoints=np.array([last]),
    )

    def at_work():  # what is being compiled ends by itself
        return [t for t in threading.enumerate() if not t.name.startswith("compiler")]

    before = at_work()
    store = StoredRuns(tmp_path, [made(), endless])
    with closing(store.missing(store.progress(False))) as found:
        (_, name), runs = next(found)
        assert (name, runs.times[-1]) == ("rmed1", 50)
    assert at_work() == before


def test_horizons_are_one_and_three_times_powers_of_ten_and_the_last():
    assert horizons_up_to(1000) == [10, 30, 100, 300, 1000]
    assert horizons_up_to(500) == [10, 30, 100, 300, 500]
    assert horizons_up_to(7) == [7]


def test_a_policy_made_for_a_horizon_has_separate_runs_to_each(tmp_path):
    btm = Competitor("btm", "BTM", "btm", {}, per_horizon=True)
    store = StoredRuns(tmp_path, [made(btm, instances=1, runs=3)])
    with store.progress(False) as shown:
        ((_, runs),) = store.missing(shown)
        assert "100 % of 270 comparisons" in shown.line()
    assert runs.separate
    np.testing.assert_array_equal(runs.times, [10, 30, 50])
    for at, horizon in enumerate((10, 30, 50)):
        policy = jd.policies.make("btm", num_arms=4, horizon=horizon)
        key = jax.random.fold_in(jax.random.key(10), horizon)
        one = jd.simulate(
            policy, jd.problems.btl(jax.random.key(0), 4), horizon, 3, key,
            checkpoints=[horizon], regret="average", lanes=3,
        )  # fmt: skip
        np.testing.assert_array_equal(runs.regret[:, at], one.regret[:, 0])


@pytest.mark.thorough
def test_delay_order_of_arms_and_pairs_are_those_of_simulate(ran):
    odd = replace(RMED1, shuffle_arms=False, record_pairs=True)
    asked = [made(replace(odd, name=f"{d}", delay=d), instances=1, runs=3) for d in (7, 3)]
    assert len(Planned(asked, "cpu").groups) == 1
    for one, runs in zip(asked, ran(*asked), strict=True):
        settings = {"shuffle_arms": False, "record_pairs": True, "lanes": 3}
        run = alone(one, one.draws[0], delay=one.competitor.delay, **settings)
        np.testing.assert_array_equal(runs.regret, run.regret)
        selves = np.diagonal(run.pairs[:, -1], axis1=1, axis2=2)
        np.testing.assert_array_equal(runs.selves, selves)
        assert runs.selves.sum() > 0


def test_what_shares_a_name_is_joined():
    few, many = made(runs=2), made(replace(RMED1, label="other", record_pairs=True), runs=3)
    for first, second in ((few, many), (many, few)):
        joined = first.joined(second)
        assert joined.draws is many.draws
        assert joined.competitor.record_pairs
        assert joined.competitor.label == first.competitor.label


def test_programs_differ_where_compilations_do():
    savage = Competitor("savage", "SAVAGE", "savage", {"test": "condorcet"})
    other = replace(savage, parameters={"test": "copeland"})
    slow = replace(RMED1, parameters={"scale": 0.4})

    def program(entry):
        return Planned([made(entry)], "cpu").groups[0].program

    assert program(savage) != program(other)
    assert program(RMED1) != program(replace(RMED1, delay=3))
    assert program(RMED1) == program(slow)
