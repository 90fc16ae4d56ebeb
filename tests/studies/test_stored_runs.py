"""Runs of a reproduction are kept, and taken again only where they would be the same."""

import random
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel import plotting
from jaxduel.runs import Runs
from jaxduel.simulation.identity import versions
from jaxduel.studies import reproduction
from jaxduel.studies.engine import executor, identity, machines
from jaxduel.studies.engine.identity import environment
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.pictures import MissingPanel, RegretPicture, Setting
from jaxduel.studies.planned import Planned
from jaxduel.studies.stored_runs import StoredRuns
from jaxduel.studies.wanted import Competitor, Draw, Wanted

pytestmark = pytest.mark.usefixtures("quick_compilation")

DRAW = Draw(jd.problems.load("arxiv"), jax.random.key(1), 6)
RMED1 = Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3})
RUCB = Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51})
TIMES = np.array([10, 200])
WANTED = Wanted("arxiv", "ArXiv", (DRAW,), RMED1, 200, TIMES, "copeland")
FIELDS = ("times", "regret", "groups", "batches", "selves")


def assert_same(one: Runs, other: Runs) -> None:
    assert (one.name, one.label, one.separate) == (other.name, other.label, other.separate)
    for name in FIELDS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        if first is not None:
            assert first.dtype == second.dtype, name
            np.testing.assert_array_equal(first, second)


def completed(folder, *wanted: Wanted) -> dict[tuple[str, str], Runs]:
    store = StoredRuns(folder, wanted)
    with store.progress(False) as shown, closing(store.missing(shown)) as found:
        return store.stored() | dict(found)


def _changed() -> dict[str, Wanted]:
    other_key = replace(DRAW, key=jax.random.key(2))
    other_kind = replace(DRAW, key=jax.random.key(1, impl="philox4x32"))
    easier = replace(DRAW, problem=jd.problems.arithmetic(5))
    more = replace(DRAW, num_runs=7)
    draws = {"key": other_key, "generator": other_kind, "problem": easier, "runs": more}
    entries = {
        "parameter": replace(RMED1, parameters={"scale": 0.31}),
        "policy": replace(RMED1, policy="rmed2", parameters={}),
        "delay": replace(RMED1, delay=2),
        "order": replace(RMED1, shuffle_arms=False),
        "pairs": replace(RMED1, record_pairs=True),
        "separate": replace(RMED1, per_horizon=True),
    }
    return {
        **{name: replace(WANTED, draws=(draw,)) for name, draw in draws.items()},
        **{name: replace(WANTED, competitor=entry) for name, entry in entries.items()},
        "instances": replace(WANTED, draws=(DRAW, other_key)),
        "horizon": replace(WANTED, horizon=201, checkpoints=np.array([10, 201])),
        "times": replace(WANTED, checkpoints=np.array([11, 200])),
        "regret": replace(WANTED, regret="average"),
    }


@pytest.mark.parametrize("what", _changed())
def test_runs_of_something_else_have_other_keys(what):
    mine, other = (Planned([wanted], "cpu").tasks(wanted) for wanted in (WANTED, _changed()[what]))
    assert mine.isdisjoint(other)


@pytest.mark.thorough
def test_runs_of_other_requests_are_neither_taken_nor_lost(tmp_path):
    (first,) = completed(tmp_path, WANTED).values()
    more = _changed()["runs"]
    assert not StoredRuns(tmp_path, [more]).stored()
    (other,) = completed(tmp_path, more).values()
    assert other.num_runs == 7
    assert_same(StoredRuns(tmp_path, [WANTED]).stored()[WANTED.key], first)
    both = {"rmed1": WANTED, "rucb": replace(WANTED, competitor=RUCB)}
    completed(tmp_path, both["rucb"])
    (store,) = tmp_path.iterdir()
    data = jd.open_sweep(store)
    assert sorted(data.policy.values) == sorted(both)
    cell = data.sel(policy="rmed1", problem="arxiv", parameters="scale=0.3", horizon=200)
    np.testing.assert_array_equal(cell.final_regret.values[0], first.final)


def test_runs_of_other_code_versions_or_machines_are_not_taken(tmp_path, monkeypatch):
    completed(tmp_path, WANTED)

    def is_there():
        return bool(StoredRuns(tmp_path, [WANTED]).stored())

    changes = {
        "code_digest": lambda *files: "0" * 16,
        "versions": lambda: dict.fromkeys(versions(), "0"),
    }
    for name, changed in changes.items():
        with monkeypatch.context() as patch:
            patch.setattr(identity, name, changed)
            assert not is_there(), name
    with monkeypatch.context() as patch:
        patch.setattr(identity.platform, "machine", lambda: "abacus")
        assert not is_there()
    with monkeypatch.context() as patch:
        other = {**versions(), "scipy": "0", "python": "0"}
        patch.setattr(identity, "versions", lambda: other)
        assert is_there()
    with jax.enable_x64(True):
        assert not is_there()
    gpu, cpu = (identity.identity(environment(kind, "threefry2x32")) for kind in ("gpu", "cpu"))
    assert gpu != cpu
    assert is_there()


def test_a_damaged_block_is_simulated_again(tmp_path):
    (first,) = completed(tmp_path, WANTED).values()
    (block,) = tmp_path.glob("*/blocks/*.nc")
    content = bytearray(block.read_bytes())
    content[len(content) // 2] ^= 1
    block.write_bytes(content)
    with pytest.warns(UserWarning, match="is run again: its checksum does not hold"):
        runs = StoredRuns(tmp_path, [WANTED])
    assert not runs.stored()
    assert_same(completed(tmp_path, WANTED)[WANTED.key], first)


def test_a_folder_that_cannot_be_made_is_found_before_anything_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "run_tasks", None)
    (tmp_path / "runs").write_text("a file")
    panel = RegretPicture("1a", (WANTED,))
    with pytest.raises(jd.InputError, match=r"runs/\w+' cannot be written: Not a directory"):
        reproduction.carry_out(
            [panel], Setting(200, "copeland"), OutputFolder(tmp_path), lambda _: [], "heading"
        )


@pytest.mark.thorough
@pytest.mark.parametrize("missing", [("1a", "2"), ("1a", "1c")])
def test_a_single_missing_panel_is_a_frame_beside_others_of_its_figure(
    missing, tmp_path, monkeypatch
):
    drawn, png = [], plotting.png
    monkeypatch.setattr(plotting, "png", lambda figure: drawn.append(figure) or png(figure, dpi=30))
    report = reproduction.carry_out(
        [RegretPicture("1b", (WANTED,)), RegretPicture("1d", (WANTED,))],
        Setting(200, "copeland"),
        OutputFolder(tmp_path),
        lambda _: [],
        "heading",
        missing=[MissingPanel(name, "regret on sushi", "sushi", "Not here.") for name in missing],
    )
    assert report.missing == [f"panels {', '.join(missing)} are missing: Not here."]
    assert {path.stem for path in tmp_path.glob("*.png")} == {"figure-1", "figure-1b", "figure-1d"}
    *frame, first, second = drawn[-1].axes
    assert [axes.get_title()[:3] for axes in (first, second)] == ["(b)", "(d)"]
    words = [(axes.get_title(), axes.texts[0].get_text()) for axes in frame]
    there = [("(a) regret on sushi", "no data of sushi: see\nclaims.txt")]
    assert words == (there if missing == ("1a", "2") else [])


def test_a_reproduction_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    setting = Setting(200, "copeland", time_scale="log", factor=2.0)
    players = (setting.wanted("arxiv", "ArXiv", (DRAW,), c, 200) for c in (RMED1, RUCB))
    panel = RegretPicture("1a", tuple(players))
    begun, simulated = [], executor.simulated

    def make(folder, stopped=""):
        def some(task, device, stop, seconds):
            if task.group.policy == stopped:
                stop.set()
                raise executor.Stopped
            return simulated(task, device, stop, seconds)

        def counted(store, tasks, devices, stop, **options):
            finished = store.finished()
            begun.append([t.group.policy for t in tasks if t.key not in finished])
            return executor.run_tasks(store, tasks, devices[:1], stop, **options)

        monkeypatch.setattr(executor, "simulated", some)
        monkeypatch.setattr(machines, "run_tasks", counted)
        return reproduction.carry_out(
            [panel], setting, OutputFolder(tmp_path / folder), lambda _: [], "heading"
        )

    whole = make("whole")
    part = make("parts", stopped="rucb")
    assert part.interrupted
    assert not (tmp_path / "parts" / "figure-1a.png").exists()
    rest = make("parts")
    again = make("parts")
    assert begun == [["rmed1", "rucb"], ["rmed1", "rucb"], ["rucb"]]
    assert "1 of 2 curves are from" in rest.lines[0]
    assert "2 of 2 curves are from" in again.lines[0]
    for report in (rest, again):
        assert list(report.runs) == list(whole.runs)
        for key, runs in whole.runs.items():
            assert_same(report.runs[key], runs)
    for name in ("figure-1a.csv", "final-regret.csv"):
        texts = [(tmp_path / folder / name).read_text() for folder in ("whole", "parts")]
        assert texts[0] == texts[1]


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["1", "s1c"])
def test_a_reproduction_killed_twenty_times_ends_with_the_same_bits(tmp_path, figure):
    rng = random.Random(3)

    def begin(folder):
        command = ["-m", "jaxduel", "reproduce", "batched-mab", "--figure", figure]
        command += ["--runs", "20", "--out", str(tmp_path / folder)]
        return subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)

    def results(folder):
        files = (tmp_path / folder).glob("runs/*/blocks/*.nc")
        tables = (tmp_path / folder).glob("*.csv")
        return {path.name: path.read_bytes() for path in (*files, *tables)}

    began = time.monotonic()
    assert begin("whole").wait(timeout=1_000) == 0
    whole = time.monotonic() - began
    for _ in range(20):
        process = begin("killed")
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=rng.uniform(0.2, 0.5) * whole)
        process.kill()
        process.wait()
    assert begin("killed").wait(timeout=1_000) == 0
    assert results("killed") == results("whole")
    assert any(name.endswith(".nc") for name in results("whole"))
