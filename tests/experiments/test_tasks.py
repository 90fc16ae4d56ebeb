import threading
from contextlib import closing
from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments import tasks
from jaxduel.experiments.tasks import (
    Competitor,
    DataSet,
    Draw,
    Task,
    horizons_up_to,
    run_tasks,
)
from jaxduel.progress import Progress

RMED1 = Competitor("rmed1", "RMED1", "rmed1", {})
TIMES = np.array([10, 50])


def task(competitor: Competitor = RMED1, instances: int = 2, runs: int = 2) -> Task:
    draws = tuple(
        Draw(jd.problems.btl(jax.random.key(i), 4), jax.random.key(i + 10), runs)
        for i in range(instances)
    )
    return Task(DataSet("toy", "toy", draws), competitor, 50, TIMES, "average")


def test_a_task_is_the_simulations_of_its_instances():
    with Progress("tasks", 4, "runs", False) as shown:
        ((done, sample),) = run_tasks([task()], jax.local_devices())
        assert "100 % of 4 runs" in shown.line()
    assert done.key == ("toy", "rmed1")
    assert sample.num_groups == 2
    policy = jd.policies.make("rmed1", num_arms=4)
    for i in range(2):
        alone = jd.simulate(
            policy, jd.problems.btl(jax.random.key(i), 4), 50, 2, jax.random.key(i + 10),
            checkpoints=TIMES, regret="average", lanes=2,
        )  # fmt: skip
        np.testing.assert_array_equal(sample.regret[sample.groups == i], alone.regret)


@pytest.mark.parametrize("name", ["rmed1", "pcomp"])
def test_instances_are_stacked_while_they_have_as_many_runs_and_fit_a_block(name, monkeypatch):
    monkeypatch.setattr(tasks, "_MOST_LANES", 4)
    asked, run_cells = [], tasks.run_cells

    def watched(policies, *args, **options):
        asked.append(len(policies))
        return run_cells(policies, *args, **options)

    monkeypatch.setattr(tasks, "run_cells", watched)
    entry = Competitor(name, name, name, {"num_batches": 3} if name == "pcomp" else {})
    whole = task(entry, instances=6)
    last = replace(whole.data.draws[-1], num_runs=1)
    whole = replace(whole, data=replace(whole.data, draws=(*whole.data.draws[:-1], last)))
    sample = only(whole)
    assert asked == [2, 2, 1, 1]
    policy = jd.policies.make(name, num_arms=4, horizon=50, **entry.parameters)
    for i, draw in enumerate(whole.data.draws):
        alone = jd.simulate(
            policy, draw.problem, 50, draw.num_runs, draw.key,
            checkpoints=TIMES, regret="average", lanes=2,
        )  # fmt: skip
        np.testing.assert_array_equal(sample.regret[sample.groups == i], alone.regret)


def test_separate_runs_on_several_instances_are_those_on_each():
    btm = Competitor("btm", "BTM", "btm", {}, per_horizon=True)
    together = only(task(btm, instances=3, runs=2))
    for i in range(3):
        one = task(btm, instances=3, runs=2)
        one = replace(one, data=replace(one.data, draws=one.data.draws[i : i + 1]))
        np.testing.assert_array_equal(together.regret[together.groups == i], only(one).regret)


def test_samples_do_not_depend_on_the_devices():
    regrets = []
    for device in jax.local_devices():
        ((_, sample),) = run_tasks([task()], [device])
        regrets.append(sample.regret)
    assert len(regrets) > 1
    np.testing.assert_array_equal(*regrets[:2])


def test_what_goes_wrong_in_a_task_is_raised():
    wrong = task(Competitor("rmed1", "RMED1", "rmed1", {"scale": -1.0}))
    with (
        pytest.raises(jd.InputError, match="scale"),
        closing(run_tasks([wrong, task()], jax.local_devices())) as events,
    ):
        list(events)


def only(asked: Task):
    ((_, sample),) = run_tasks([asked], jax.local_devices()[:1])
    return sample


def test_tasks_in_flight_end_with_the_caller():
    """The second would take hours: `sparring` skips nothing."""
    last = 2**31 - 2
    endless = replace(
        task(Competitor("sparring", "Sparring", "sparring", {})),
        horizon=last,
        checkpoints=np.array([last]),
    )
    before = threading.active_count()
    with closing(run_tasks([task(), endless], jax.local_devices()[:2])) as events:
        done, _ = next(events)
        assert done.horizon == 50
    assert threading.active_count() == before


def test_horizons_are_one_and_three_times_powers_of_ten_and_the_last():
    assert horizons_up_to(1000) == [10, 30, 100, 300, 1000]
    assert horizons_up_to(500) == [10, 30, 100, 300, 500]
    assert horizons_up_to(7) == [7]


def test_a_policy_made_for_a_horizon_has_separate_runs_to_each():
    btm = Competitor("btm", "BTM", "btm", {}, per_horizon=True)
    with Progress("tasks", 3, "runs", False) as shown:
        sample = only(task(btm, instances=1, runs=3))
        assert "100 % of 3 runs" in shown.line()
    assert sample.separate
    np.testing.assert_array_equal(sample.checkpoints, [10, 30, 50])
    for at, horizon in enumerate((10, 30, 50)):
        policy = jd.policies.make("btm", num_arms=4, horizon=horizon)
        key = jax.random.fold_in(jax.random.key(10), horizon)
        alone = jd.simulate(
            policy, jd.problems.btl(jax.random.key(0), 4), horizon, 3, key,
            checkpoints=[horizon], regret="average", lanes=3,
        )  # fmt: skip
        np.testing.assert_array_equal(sample.regret[:, at], alone.regret[:, 0])


def test_delay_order_of_arms_and_pairs_are_those_of_simulate():
    odd = replace(RMED1, delay=7, shuffle_arms=False, record_pairs=True)
    sample = only(task(odd, instances=1, runs=3))
    alone = jd.simulate(
        jd.policies.make("rmed1", num_arms=4), jd.problems.btl(jax.random.key(0), 4), 50, 3,
        jax.random.key(10), checkpoints=TIMES, regret="average", shuffle_arms=False, delay=7,
        record_pairs=True, lanes=3,
    )  # fmt: skip
    np.testing.assert_array_equal(sample.regret, alone.regret)
    selves = np.diagonal(alone.pairs[:, -1], axis1=1, axis2=2)
    np.testing.assert_array_equal(sample.selves, selves)
    assert sample.selves.sum() > 0


def test_tasks_that_share_a_name_are_joined():
    few, many = task(runs=2), task(replace(RMED1, label="other", record_pairs=True), runs=3)
    for first, second in ((few, many), (many, few)):
        joined = first.joined(second)
        assert joined.data is many.data
        assert joined.competitor.record_pairs
        assert joined.competitor.label == first.competitor.label


def test_programs_differ_where_compilations_do():
    savage = Competitor("savage", "SAVAGE", "savage", {"test": "condorcet"})
    other = replace(savage, parameters={"test": "copeland"})
    assert task(savage).program != task(other).program
    assert task(RMED1).program != task(replace(RMED1, delay=3)).program
    slow = replace(RMED1, parameters={"scale": 0.4})
    assert task(RMED1).program == task(slow).program
