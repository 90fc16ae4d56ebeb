"""Curves of a reproduction are kept, and taken again only where they would be the same."""

import io
from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments import kept_runs, reproduction
from jaxduel.experiments.kept_runs import KeptRuns, identity_of
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.plans import PanelPlan, Setting
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.tasks import Competitor, DataSet, Draw, Task, run_tasks
from jaxduel.simulation.identity import versions

pytestmark = pytest.mark.usefixtures("quick_compilation")

DRAW = Draw(jd.problems.load("arxiv"), jax.random.key(1), 6)
DATA = DataSet("arxiv", "ArXiv", (DRAW,))
RMED1 = Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3})
TASK = Task(DATA, RMED1, 200, np.array([10, 200]), "copeland")
SAMPLE = Sample(
    "rmed1", "RMED1", TASK.checkpoints, np.random.default_rng(0).random((6, 2)), np.arange(6)
)
FIELDS = ("checkpoints", "regret", "groups", "batches", "selves")


def assert_same(one: Sample, other: Sample) -> None:
    assert (one.name, one.label, one.separate) == (other.name, other.label, other.separate)
    for name in FIELDS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        if first is not None:
            assert first.dtype == second.dtype, name
            np.testing.assert_array_equal(first, second)


def test_what_is_kept_is_found_bit_for_bit(tmp_path):
    kept = KeptRuns(tmp_path / "runs")
    assert kept.find(TASK) is None
    assert not kept.folder.exists()
    kept.keep(TASK, SAMPLE)
    found = KeptRuns(tmp_path / "runs").find(TASK)
    assert found is not None
    assert_same(found, SAMPLE)
    late = replace(RMED1, name="rmed1[delay=10]", label="RMED1, d = 10", delay=10, per_horizon=True)
    whole = replace(SAMPLE, name=late.name, label=late.label, separate=True)
    whole = replace(whole, batches=np.arange(6), selves=np.arange(30).reshape(6, 5))
    kept.keep(replace(TASK, competitor=late), whole)
    readable = [file.name.removesuffix(".npz")[:-17] for file in kept.folder.iterdir()]
    assert sorted(readable) == ["arxiv--rmed1", "arxiv--rmed1_delay_10_"]
    found = kept.find(replace(TASK, competitor=late))
    assert found is not None
    assert_same(found, whole)


def _changed() -> dict[str, Task]:
    other_key = replace(DRAW, key=jax.random.key(2))
    other_kind = replace(DRAW, key=jax.random.key(1, impl="rbg"))
    easier = replace(DRAW, problem=jd.problems.arithmetic(5))
    more = replace(DRAW, num_runs=7)
    draws = {"key": other_key, "generator": other_kind, "problem": easier, "runs": more}
    entries = {
        "parameter": replace(RMED1, parameters={"scale": 0.31}),
        "policy": replace(RMED1, policy="rmed2"),
        "delay": replace(RMED1, delay=2),
        "order": replace(RMED1, shuffle_arms=False),
        "pairs": replace(RMED1, record_pairs=True),
        "separate": replace(RMED1, per_horizon=True),
    }
    return {
        **{name: replace(TASK, data=replace(DATA, draws=(draw,))) for name, draw in draws.items()},
        **{name: replace(TASK, competitor=entry) for name, entry in entries.items()},
        "instances": replace(TASK, data=replace(DATA, draws=(DRAW, DRAW))),
        "horizon": replace(TASK, horizon=201),
        "times": replace(TASK, checkpoints=np.array([11, 200])),
        "regret": replace(TASK, regret="borda"),
    }


@pytest.mark.parametrize("what", _changed())
def test_a_curve_of_something_else_is_neither_taken_nor_lost(tmp_path, what):
    kept, changed = KeptRuns(tmp_path), _changed()[what]
    kept.keep(TASK, SAMPLE)
    assert identity_of(changed, "cpu") != identity_of(TASK, "cpu")
    assert kept.find(changed) is None
    kept.keep(changed, replace(SAMPLE, regret=SAMPLE.regret + 1))
    found = kept.find(TASK)
    assert found is not None
    assert_same(found, SAMPLE)


def test_runs_with_pairs_will_do_where_none_are_wanted(tmp_path):
    kept = KeptRuns(tmp_path)
    with_pairs = replace(SAMPLE, selves=np.arange(36).reshape(6, 6))
    kept.keep(_changed()["pairs"], with_pairs)
    found = kept.find(TASK)
    assert found is not None
    assert_same(found, with_pairs)


def test_a_curve_of_other_code_versions_or_machines_is_not_taken(tmp_path, monkeypatch):
    kept = KeptRuns(tmp_path)
    kept.keep(TASK, SAMPLE)
    assert KeptRuns(tmp_path, "gpu").find(TASK) is None
    with jax.enable_x64(True):
        assert kept.find(TASK) is None
    with monkeypatch.context() as patch:
        patch.setattr(Task, "lanes", 3)
        assert kept.find(TASK) is None
    with monkeypatch.context() as patch:
        patch.setattr(kept_runs.platform, "machine", lambda: "abacus")
        assert kept.find(TASK) is None
    with monkeypatch.context() as patch:
        patch.setattr(kept_runs, "versions", lambda: dict.fromkeys(versions(), "0"))
        assert kept.find(TASK) is None
    with monkeypatch.context() as patch:
        patch.setattr(kept_runs, "code_digest", lambda *files: "0")
        assert kept.find(TASK) is None
    with monkeypatch.context() as patch:
        other = {**versions(), "scipy": "0", "python": "0"}
        patch.setattr(kept_runs, "versions", lambda: other)
        assert kept.find(TASK) is not None
    assert kept.find(TASK) is not None


def _damaged(content: bytes) -> dict[str, bytes]:
    middle = len(content) // 2
    array = io.BytesIO()
    np.save(array, SAMPLE.regret)
    return {
        "empty": b"",
        "only a beginning": content[:middle],
        "a flipped byte": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "another member": content.replace(b"regret", b"egress"),
        "an array": array.getvalue(),
    }


def test_a_damaged_file_is_as_none(tmp_path):
    kept = KeptRuns(tmp_path)
    kept.keep(TASK, SAMPLE)
    (file,) = tmp_path.iterdir()
    for damage, content in _damaged(file.read_bytes()).items():
        file.write_bytes(content)
        assert kept.find(TASK) is None, damage
    kept.keep(TASK, SAMPLE)
    for place in range(0, len(file.read_bytes()), 7):
        content = bytearray(file.read_bytes())
        content[place] ^= 0x55
        file.write_bytes(content)
        found = kept.find(TASK)
        if found is not None:
            assert_same(found, SAMPLE)
        content[place] ^= 0x55
        file.write_bytes(content)


def test_a_folder_that_cannot_be_made_is_found_before_anything_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction, "run_tasks", None)
    (tmp_path / "runs").write_text("a file")
    panel = PanelPlan("1a", DATA, (RMED1,))
    with pytest.raises(jd.InputError, match="runs' cannot be created"):
        reproduction.carry_out(
            [panel], Setting(200, "copeland"), OutputFolder(tmp_path), lambda _: [], "heading"
        )


def test_a_reproduction_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    rucb = Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51})
    panel = PanelPlan("1a", DATA, (RMED1, rucb))
    setting = Setting(200, "copeland", time_scale="log", factor=2.0)
    begun = []

    def make(folder, num_tasks):
        def counted(tasks, where):
            begun.append([task.key[1] for task in tasks])
            for number, event in enumerate(run_tasks(tasks, where[:1])):
                yield event
                if number == num_tasks - 1:
                    raise KeyboardInterrupt

        monkeypatch.setattr(reproduction, "run_tasks", counted)
        return reproduction.carry_out(
            [panel], setting, OutputFolder(tmp_path / folder), lambda _: [], "heading"
        )

    whole = make("whole", 3)
    part = make("parts", 1)
    assert part.interrupted
    assert not (tmp_path / "parts" / "figure-1a.png").exists()
    rest = make("parts", 3)
    again = make("parts", 3)
    assert begun == [["rmed1", "rucb"], ["rmed1", "rucb"], ["rucb"], []]
    assert "1 of 2 curves are from" in rest.lines[0]
    assert "2 of 2 curves are from" in again.lines[0]
    for report in (rest, again):
        assert list(report.samples) == list(whole.samples)
        for key, sample in whole.samples.items():
            assert_same(report.samples[key], sample)
    for name in ("figure-1a.csv", "final-regret.csv"):
        texts = [(tmp_path / folder / name).read_text() for folder in ("whole", "parts")]
        assert texts[0] == texts[1]
