"""Keys of data sets come from their names, not from their places among others."""

import jax
import pytest
from jaxduel.experiments.papers.batched_mab_entries import TEXT

from jaxduel.experiments.keys import named_key
from jaxduel.experiments.papers import (
    batched_mab_study,
    batched_mab_worst,
    copeland_dueling,
    copeland_rmed,
    double_thompson,
)


def numbers(key):
    return tuple(jax.random.key_data(key).tolist())


def test_names_and_seeds_tell_keys_apart_for_good():
    names = [("gap",), ("cyclic",), ("gap", "cyclic"), ("cyclic", "gap"), ("gapcyclic",)]
    keys = {numbers(named_key(seed, *name)) for seed in (0, 1) for name in names}
    assert len(keys) == 10
    assert numbers(named_key(0, "gap")) == numbers(
        jax.random.fold_in(jax.random.key(0), 0x54D5DBF0)  # printf gap | sha256sum
    )


@pytest.mark.parametrize(
    ("paper", "panel"), [(double_thompson, "4c"), (copeland_rmed, "1e"), (copeland_dueling, "2a")]
)
def test_an_added_panel_leaves_the_keys_of_the_others(monkeypatch, paper, panel):
    order = paper._Order(full=False, seed=3, runs=None, horizon=None)
    place = paper._PLACES[panel]
    (before,) = order.data(place).draws
    added = place._replace(name="another")
    monkeypatch.setattr(paper, "_PLACES", {"0": added, **paper._PLACES})
    (after,) = order.data(place).draws
    assert numbers(after.key) == numbers(before.key)


def keys_of(monkeypatch, module, simulate):
    """The keys of what `simulate` would run, by what they are of."""
    found = {}

    def look(tasks, devices):
        for task in tasks:
            names = [v for k, v in vars(task).items() if k not in ("reading", "runs", "key")]
            found[tuple(names)] = numbers(task.key)
        raise StopIteration

    monkeypatch.setattr(module, "run_tasks", look)
    with pytest.raises(StopIteration):
        simulate()
    return found


def test_an_added_size_or_grid_leaves_the_keys_of_a_study(monkeypatch):
    def keys():
        study = batched_mab_study.Study(100, seed=3)
        return keys_of(monkeypatch, batched_mab_study, lambda: study.complete(TEXT))

    before = keys()
    assert len(set(before.values())) == len(before)
    for name in ("ARMS", "HORIZONS"):
        values = (3, *getattr(batched_mab_study, name))
        monkeypatch.setattr(batched_mab_study, name, values)
    monkeypatch.setattr(batched_mab_study, "GRIDS", ("another", *batched_mab_study.GRIDS))
    after = keys()
    assert len(after) > len(before)
    assert before.items() <= after.items()


def test_an_added_grid_leaves_the_keys_of_worst_cases(monkeypatch):
    def keys():
        worst = batched_mab_worst.WorstCase(1000, 5, seed=3)
        return keys_of(monkeypatch, batched_mab_worst, lambda: worst.of(TEXT))

    before = keys()
    monkeypatch.setattr(batched_mab_worst, "GRIDS", ("another", *batched_mab_worst.GRIDS))
    after = keys()
    assert len(set(after.values())) == len(before) + 1
    assert before.items() <= after.items()
