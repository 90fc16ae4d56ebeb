"""The command lines that commands record of themselves make the same call again."""

import inspect
import shlex
from pathlib import Path

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.cli.options import Settings
from jaxduel.cli.parsing import command_line
from jaxduel.cli.reproduce import reproduce
from jaxduel.cli.run import run
from jaxduel.studies.papers import reproducing
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.report.papers import command_of
from tests.cli.command_line import outcome

pytestmark = pytest.mark.usefixtures("quick_compilation")


def parameters_of(command):
    return inspect.signature(command).parameters


def options_in(words):
    return {word.removeprefix("--").partition("=")[0] for word in words if word.startswith("--")}


@pytest.mark.thorough
def test_a_run_is_made_again_by_the_command_in_its_file(capsys, tmp_path):
    """With every option at another value than its default."""
    file = tmp_path / "my r.nc"
    given = {
        "policy": "rmed1", "problem": "cyclic", "horizon": 90, "seeds": 3, "seed": 7,
        "regret": "average", "settings": ("scale=0.4", "exponent=1.2"), "delay": 2,
        "ties": "drop", "checkpoints": 4, "shuffle": False, "prng": "philox4x32", "lanes": 2,
        "out": file, "force": True,
    }  # fmt: skip
    assert given.keys() == parameters_of(run).keys()
    assert all(given[name] != one.default for name, one in parameters_of(run).items())
    assert run(**given) == 0
    first = jd.load_result(file)
    words = shlex.split(first.made_by["command"])
    shown = {"settings": "set", "shuffle": "no-shuffle"}
    assert options_in(words) == {shown.get(name, name) for name in given}
    file.unlink()
    code, _, errors = outcome(capsys, *words[1:])
    assert code == 0, errors
    again = jd.load_result(file)
    assert again.made_by == first.made_by
    np.testing.assert_array_equal(again.regret, first.regret)
    assert again.made_by["delay"] == 2
    assert again.made_by["policy"]["changed"] == ["scale", "exponent"]


def test_defaults_are_spelled_out_and_negative_values_are_joined():
    def command(
        where: Path, seed: int = 0, tags: Settings = (), loud: bool = False, top: bool = True
    ):
        pass

    line = command_line(
        command, {"where": Path("a b"), "seed": -5, "tags": ("x", "-y"), "loud": False, "top": True}
    )
    assert line == "jaxduel command --where 'a b' --seed=-5 --tags x --tags=-y"


@pytest.mark.parametrize("share", [None, "2/3"])
def test_a_sweep_says_what_goes_on_with_it(capsys, tmp_path, monkeypatch, share):
    """All options of the call, but the time at which it was to end."""
    grid, out = tmp_path / "grid.toml", tmp_path / "re sults"
    grid.write_text(
        'seeds = 2\nhorizons = [60]\npolicies = [{name = "rucb"}]\nproblems = [{name = "gap"}]\n'
    )
    more = ["--devices", "1", "--extend-seeds", "--profile"]
    more += ["--shard", share] if share else []
    code, text, _ = outcome(capsys, "sweep", grid, "--out", out, *more, "--until", "2000-01-01")
    assert code == 0
    again = shlex.split(text.partition("to go on: ")[2].splitlines()[0])
    assert again[:3] == ["jaxduel", "sweep", str(grid)]
    assert options_in(again) == options_in(more) | {"out"}
    seen = {}
    monkeypatch.setattr(
        "jaxduel.studies.sweep.sweep.run_sweep", lambda *_, **given: seen.update(given) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        outcome(capsys, *again[1:])
    assert (seen["extend_seeds"], len(seen["devices"])) == (True, 1)
    assert seen["shard"] == (None if share is None else (2, 3))


def test_a_paper_is_made_again_by_the_command_in_its_page(capsys, monkeypatch):
    """All options of the call, but where and until when it was to run."""
    seen = {}

    def interrupted(paper, **given):
        seen.update(paper=paper.name, **given)
        raise KeyboardInterrupt

    monkeypatch.setattr(reproducing, "reproduce", interrupted)
    line = command_of("batched-dueling", Order(full=True, seed=5, runs=7, decide=2.5), "1a")
    assert outcome(capsys, *shlex.split(line)[1:])[0] == 130
    asked = {"paper": "batched-dueling", "figure": "1a", "full": True, "runs": 7, "seed": 5}
    asked["decide"] = 2.5
    machines = dict.fromkeys(("scheduler", "shard", "until"))
    assert seen == {**asked, **machines, "out": None, "progress": True}
    assert parameters_of(reproduce).keys() == asked.keys() | machines.keys() | {"out", "open"}
