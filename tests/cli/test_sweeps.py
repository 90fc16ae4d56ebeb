"""The commands on sweeps, and their errors."""

import csv
import json
import re
import signal
import subprocess
import sys
import time

import pytest

import jaxduel as jd
from jaxduel.simulation import rounds, steps
from jaxduel.studies.engine import work
from jaxduel.studies.engine.profile import PARTS
from tests.cli.command_line import outcome
from tests.studies.report.pages import Elements

GRID = """
seeds = 6
lanes = 2
horizons = [60]
checkpoints = 3
[[policies]]
name = "rucb"
alpha = [0.51, 1.0]
[[problems]]
name = "arxiv"
"""


@pytest.fixture
def grid(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(GRID)
    return file


def test_a_dry_run_prints_the_plan_and_runs_nothing(capsys, monkeypatch, grid):
    for module, name in ((work, "run_prepared"), (steps, "advance"), (rounds, "advance")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("simulated"))
    code, text, errors = outcome(capsys, "sweep", grid, "--dry-run", "--devices", 1)
    assert (code, errors) == (0, "")
    assert "rucb(alpha=0.51) on arxiv: T = 60" in text
    assert "1 program to compile" in text
    assert "3 blocks for 6 seeds a cell" in text
    assert "MiB for the blocks that run at once on 1 device" in text
    assert "about" not in text


def test_the_schema_of_grids_is_printed_without_one(capsys):
    code, text, errors = outcome(capsys, "sweep", "--schema")
    assert (code, errors) == (0, "")
    assert "policies" in json.loads(text)["required"]


def test_an_estimate_of_the_time_belongs_to_a_dry_run(capsys, tmp_path, grid):
    code, text, errors = outcome(capsys, "sweep", grid, "--out", tmp_path / "out", "--time")
    assert (code, text) == (2, "")
    assert "goes with --dry-run" in errors


@pytest.mark.usefixtures("quick_compilation")
def test_a_sweep_from_its_grid_to_its_figures(capsys, tmp_path, grid):
    out = tmp_path / "results"
    code, text, _ = outcome(capsys, "sweep", grid, "--dry-run", "--time", "--devices", 1)
    assert code == 0
    assert re.search(r"\nabout [0-9:]+ on 1 device.*, [0-9:]+ of it compilation\n$", text)
    assert not out.exists()

    code, text, _ = outcome(capsys, "sweep", grid, "--out", out, "--devices", 1, "--profile")
    finished, *profile = text.splitlines()
    assert (code, finished) == (0, f"finished: 3 blocks in {out}")
    assert [line.rpartition("  ")[0].strip() for line in profile] == list(PARTS)
    assert all(re.fullmatch(r"[a-z ]+ [0-9]+\.[0-9]{2} s", line) for line in profile)
    code, text, _ = outcome(capsys, "show", out, "--csv", tmp_path / "numbers.csv")
    assert code == 0
    assert "finished: 2 cells of 6 seeds each" in text
    assert (tmp_path / "numbers.csv").read_text().count("rucb") == 2
    code, text, _ = outcome(capsys, "export", out, "--to", "csv", "--policy", "rucb[alpha=1.0]")
    assert (code, text) == (0, f"written: {out / 'table.csv'}\n")
    assert (out / "table.csv").read_text().count("rucb") == 3  # checkpoints
    code, text, _ = outcome(
        capsys, "compare", out, "--policies", "rucb[alpha=0.51]", "rucb[alpha=1.0]"
    )
    assert code == 0
    assert "paired" in text
    code, text, _ = outcome(capsys, "plot", out, "--x", "t")
    assert code == 0
    assert [line.rpartition(".")[2] for line in text.split()] == ["png", "pdf", "csv"]
    assert text.splitlines()[0].endswith("/curves-t.png")
    code, text, _ = outcome(capsys, "plot", out, "--problem", "arxiv", "--policy", "rucb")
    assert code == 0
    assert text.splitlines()[0].endswith("/curves-t-problem=arxiv-policy=rucb.png")

    grid.write_text(GRID.replace("[60]", "[60, 70]"))
    code, _, error = outcome(capsys, "sweep", grid, "--out", out)
    assert code == 2
    assert "another grid, which differs in horizons" in error


@pytest.mark.usefixtures("quick_compilation")
def test_a_sweep_that_identifies_arms_from_its_grid_to_its_figures(capsys, tmp_path, grid):
    grid.write_text(GRID.replace("horizons = [60]", "identify = true\nvotes = 60"))
    out = tmp_path / "results"
    code, text, _ = outcome(capsys, "sweep", grid, "--dry-run", "--time", "--devices", 1)
    assert code == 0
    assert "rucb(alpha=0.51) on arxiv: votes = 60" in text
    assert "3 blocks for 6 seeds a cell: 720 votes" in text
    code, text, _ = outcome(capsys, "sweep", grid, "--out", out, "--devices", 1, "--shard", "1/2")
    assert (code, text.split(":")[0]) == (
        0,
        f"2 of 3 blocks are stored in {out}; unless other shares have the rest, to go on",
    )
    code, text, _ = outcome(capsys, "sweep", grid, "--out", out, "--devices", 1)
    assert (code, text) == (0, f"finished: 3 blocks in {out}\n")
    code, text, _ = outcome(capsys, "show", out, "--rule", "btl")
    assert code == 0
    assert "votes for 0.95" in text
    assert text.count("rucb[") == 2
    code, text, _ = outcome(capsys, "export", out, "--policy", "rucb[alpha=1.0]")
    assert (code, text) == (0, f"written: {out / 'table.csv'}\n")
    assert (out / "table.csv").read_text().count("rucb") == 3 * 3  # rules, checkpoints
    two = ["--policies", "rucb[alpha=0.51]", "rucb[alpha=1.0]"]
    code, text, _ = outcome(capsys, "compare", out, *two, "--rule", "btl")
    assert code == 0
    assert "wrong arm named (btl): better in" in text
    code, text, _ = outcome(capsys, "plot", out, "--rule", "btl")
    assert code == 0
    assert text.splitlines()[0].endswith("/named-votes-rule=btl.png")
    assert outcome(capsys, "report", out)[0] == 0
    page = Elements((out / "report" / "index.html").read_text())
    charts = [json.loads(text) for _, text in page.of("script", type="application/json")]
    lines = [line for chart in charts for line in chart["lines"]]
    assert len(lines) == 2 * 3  # parameters, rules
    assert {line["label"].rpartition(", ")[2] for line in lines} == {
        "by copeland",
        "by borda",
        "by btl",
    }
    assert all(sorted(set(line["x"])) == line["x"] for line in lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds = 6", "seedz = 6"), "line 2.*seedz.*did you mean 'seed'"),
        (('"rucb"', '"rucbb"'), "line 7.*rucbb.*did you mean 'rucb'"),
        (('"arxiv"', '"arxif"'), "line 10.*arxif.*did you mean 'arxiv'"),
        (("[60]", "[]"), "horizons is an empty list"),
        (("[60]", "[60]\nidentify = true"), "line 4.*horizons is for regret"),
    ],
)
def test_a_wrong_grid_is_refused(capsys, tmp_path, grid, change, message):
    grid.write_text(GRID.replace(*change))
    code, _, error = outcome(capsys, "sweep", grid, "--out", tmp_path / "results")
    assert code == 2
    assert error.startswith("jaxduel: error: ")
    assert error.count("\n") == 1
    assert re.search(message, error), error
    assert not (tmp_path / "results").exists()


def test_wrong_options_are_refused(capsys, tmp_path, grid):
    for options, message in (
        ((), "needs --out DIR"),
        (("--out", tmp_path / "r", "--devices", 99), "--devices must be from 1 to"),
        (("--status", tmp_path), "--status does not go with a grid"),
        (("--schema",), "--schema does not go with a grid"),
        (("--dry-run", "--out", tmp_path), "--dry-run does not go with --out"),
        (("--dry-run", "--shard", "1/2"), "--dry-run does not go with --shard"),
        (("--dry-run", "--profile"), "--dry-run does not go with --profile"),
        (("--scheduler", "local:1", "--devices", 1), "--scheduler does not go with --devices"),
        (("--scheduler", "local:1", "--profile"), "--scheduler does not go with --profile"),
    ):
        code, _, error = outcome(capsys, "sweep", grid, *options)
        assert code == 2
        assert message in error
    code, _, error = outcome(capsys, "sweep", "--status", tmp_path, "--out", tmp_path)
    assert (code, error) == (2, "jaxduel: error: --status does not go with --out.\n")
    code, _, error = outcome(capsys, "show", tmp_path)
    assert code == 2
    assert "holds no sweep" in error


def test_a_table_of_a_run(capsys, tmp_path, monkeypatch):
    problem = jd.problems.load("cyclic")
    result = jd.simulate(jd.policies.make("rucb", num_arms=4), problem, 50, num_seeds=3)
    path = result.save(tmp_path / "r.nc")
    code, text, _ = outcome(capsys, "export", path, "--out", tmp_path / "r.csv")
    assert (code, text) == (0, f"written: {tmp_path / 'r.csv'}\n")
    rows = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert [float(row["mean"]) for row in rows] == result.mean.tolist()
    written = (tmp_path / "r.csv").read_text()
    assert outcome(capsys, "export", path, "--out", "-") == (0, written, "")
    for more, words in (((), "exists: --out"), (("--out", path), "is read or written for")):
        code, _, error = outcome(capsys, "export", path, *more)
        assert code == 2
        assert words in error
    assert outcome(capsys, "export", path, "--policy", "rucb")[0] == 2
    monkeypatch.setattr("jaxduel.studies.tables.find_spec", lambda name: None)
    code, text, error = outcome(capsys, "export", path, "--to", "parquet")
    assert (code, text) == (2, "")
    assert error == "jaxduel: error: Parquet needs pyarrow: pip install 'jaxduel[parquet]'.\n"


def _blocks(folder):
    return sorted(path.name for path in (folder / "blocks").glob("*.nc"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_killed_loses_no_block(tmp_path, grid, kind):
    """Killed after its first block, and run again: the blocks of an undisturbed run."""
    grid.write_text(
        GRID.replace("seeds = 6", "seeds = 1200").replace("[60]", "[2000]").replace("= 2", "= 64")
    )
    command = [sys.executable, "-m", "jaxduel", "sweep", str(grid), "--out"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([*command, str(whole)], check=True)
    process = subprocess.Popen([*command, str(broken)], stderr=subprocess.PIPE, text=True)
    while not (broken / "blocks").exists() or len(_blocks(broken)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(kind)
    _, said = process.communicate()
    some = _blocks(broken)
    assert 0 < len(some) < len(_blocks(whole))
    if kind == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert f"to go on: jaxduel sweep {grid} --out {broken}" in said
    subprocess.run([*command, str(broken)], check=True)
    assert _blocks(broken) == _blocks(whole)
    assert json.loads((broken / "manifest.json").read_text())["grid"]["seeds"] == 1200
