from contextlib import closing

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments.tasks import Competitor, DataSet, Draw, Task, run_tasks

RMED1 = Competitor("rmed1", "RMED1", "rmed1", {})
TIMES = np.array([10, 50])


def task(competitor: Competitor = RMED1, instances: int = 2, runs: int = 2) -> Task:
    draws = tuple(
        Draw(jd.problems.btl(jax.random.key(i), 4), jax.random.key(i + 10), runs)
        for i in range(instances)
    )
    return Task(DataSet("toy", "toy", draws), competitor, 50, TIMES, "average")


def test_a_task_is_the_simulations_of_its_instances():
    events = list(run_tasks([task()], jax.local_devices()))
    assert events[:2] == [2, 2]
    (done, sample) = events[2]
    assert done.key == ("toy", "rmed1")
    assert sample.num_groups == 2
    policy = jd.policies.make("rmed1", num_arms=4)
    for i in range(2):
        alone = jd.simulate(
            policy, jd.problems.btl(jax.random.key(i), 4), 50, 2, jax.random.key(i + 10),
            checkpoints=TIMES, regret="average", lanes=2,
        )  # fmt: skip
        np.testing.assert_array_equal(sample.regret[sample.groups == i], alone.regret)


def test_samples_do_not_depend_on_the_devices():
    regrets = []
    for device in jax.local_devices():
        (*_, (_, sample)) = run_tasks([task()], [device])
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
