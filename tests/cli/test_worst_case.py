"""`jaxduel worst-case`: what it prints and writes, and what it refuses."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.cli import main
from tests.cli.command_line import instead

SMALL = [
    "worst-case", "--policy", "pcomp", "--set", "num_batches=3", "--num-arms", "3",
    "--horizon", "300", "--starts", "1", "--steps", "2", "--seeds", "64", "--fresh-seeds", "64",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.usefixtures("quick_compilation")
def test_the_instance_is_written_and_can_be_loaded(tmp_path, capsys):
    assert main([*SMALL, "--family", "btl", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "average regret of pcomp, T = 300, family btl, on fresh seeds" in printed
    assert "the worst that was found" in printed
    problem = jd.problems.load(str(tmp_path / "worst-case.csv"))
    assert problem.num_arms == 3
    assert problem.condorcet_winner == 0
    ascents = np.loadtxt(tmp_path / "worst-case-ascents.csv", delimiter=",", skiprows=1)
    assert ascents.shape == (2, 4)
    for name in ("worst-case.png", "worst-case.pdf"):
        assert (tmp_path / name).stat().st_size > 5_000


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--family", "btl", "--min-gap", "0.6"], "must satisfy 0 < min_gap"),
        (["--family", "btl", "--against", "pcomp", "--objective", "ratio"], "--against compares"),
        (["--family", "btl", "--set", "batches=3"], "batches"),
        (["--family", "cycle", "--num-arms", "2"], "at least 3"),
        (["--family", "btl", "--steps", "0"], "--steps takes a whole number of at least 1"),
    ],
)
def test_bad_input_ends_with_one_sentence(extra, message, capsys):
    assert main(instead(SMALL, *extra)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
