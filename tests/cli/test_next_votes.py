"""`jaxduel plan` and `jaxduel next`: tables, files, and bad input."""

import inspect
import io

import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.cli.votes import plan
from jaxduel.votes import planning
from tests.cli.command_line import outcome
from tests.cli.test_votes import TOURNAMENT

pytestmark = pytest.mark.usefixtures("quick_compilation")


SMALL = ("--draws", 4, "--seeds", 2, "--max-votes", 50)


def small_plan(policies, **settings):
    votes = jd.votes.read(TOURNAMENT)
    return jd.votes.plan(votes, policies, draws=4, seeds=2, max_votes=50, **settings)


@pytest.mark.thorough
def test_plan_prints_and_writes_what_python_gives(capsys, tmp_path):
    arguments = ("--policies", "uniform", "round-robin", "--target", 0.6, 0.99, "--seed", 3)
    code, text, _ = outcome(capsys, "plan", TOURNAMENT, *arguments, *SMALL, "--out", tmp_path)
    assert code == 0
    planned = small_plan(["uniform", "round-robin"], targets=(0.6, 0.99), seed=3)
    lines = planned.summary()
    names = ("plan.txt", "plan-curves.csv", "plan-votes-needed.csv", "plan.png", "plan.pdf")
    written = [f"written: {tmp_path / name}" for name in names]
    assert text.splitlines()[: len(lines)] == lines
    assert sorted(text.splitlines()[len(lines) :]) == sorted(written)
    assert (tmp_path / "plan.txt").read_text().splitlines() == lines
    for name, frame in (
        ("plan-curves.csv", planned.to_frame()),
        ("plan-votes-needed.csv", planned.targets_frame()),
    ):
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / name), frame, check_dtype=False)
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "plan.pdf").read_bytes().startswith(b"%PDF")


def test_python_and_the_command_plan_with_the_same_policies():
    assert inspect.signature(plan).parameters["policies"].default == tuple(planning.POLICIES)


@pytest.mark.thorough
def test_policies_have_parameters_in_brackets(capsys):
    label = "uniform", "rucb[alpha=0.9]"
    code, text, _ = outcome(capsys, "plan", TOURNAMENT, "--policies", *label, *SMALL)
    planned = small_plan({label[0]: ("uniform", {}), label[1]: ("rucb", {"alpha": 0.9})})
    assert (code, text.splitlines()) == (0, planned.summary())
    assert planned.cast[label[1]].shape == (4, 2)


@pytest.mark.thorough
def test_plan_says_what_begins_afresh(capsys):
    code, text, _ = outcome(capsys, "plan", TOURNAMENT, "--policies", "pcomp", *SMALL)
    assert code == 0
    assert "pcomp cannot start from counts: it began afresh" in text
    code, text, _ = outcome(capsys, "plan", TOURNAMENT, "--policies", "uniform", *SMALL)
    assert code == 0
    assert "afresh" not in text


GUIDE = TOURNAMENT.with_name("votes.md")


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
def test_the_guide_shows_what_plan_prints(capsys):
    policies = ("--policies", "uniform", "arena", "dts", "--target", 0.95, 0.98)
    sizes = ("--max-votes", 3_000, "--draws", 400, "--seeds", 2)
    _, text, _ = outcome(capsys, "plan", TOURNAMENT, *policies, *sizes)
    assert f"```text\n{text}```" in GUIDE.read_text()


@pytest.mark.thorough
def test_the_guide_shows_what_next_prints(capsys):
    _, text, _ = outcome(capsys, "next", TOURNAMENT, "--num", 10)
    assert f"```text\n{text}```" in GUIDE.read_text()


@pytest.mark.parametrize("policy", ["round-robin", pytest.param("dts", marks=pytest.mark.thorough)])
def test_next_prints_and_writes_what_python_gives(policy, capsys, tmp_path):
    votes = jd.votes.read(TOURNAMENT)
    made = jd.policies.make(policy, num_arms=6, horizon=10_000)
    pairs = jd.votes.next_pairs(votes, made, 8, seed=5)
    expected = [[votes.arms[i], votes.arms[j]] for i, j in pairs]
    arguments = ("next", TOURNAMENT, "--policy", policy, "--num", 8, "--seed", 5)
    code, text, errors = outcome(capsys, *arguments)
    assert (code, errors) == (0, "")
    frame = pd.read_csv(io.StringIO(text))
    assert list(frame.columns) == ["left", "right"]
    assert frame.to_numpy().tolist() == expected
    path = tmp_path / "next.csv"
    assert outcome(capsys, *arguments, "--out", path) == (0, f"written: {path}\n", "")
    assert path.read_text() == text


def test_next_passes_parameters_on(capsys):
    arguments = ("next", TOURNAMENT, "--policy", "arena", "--num", 4, "--set")
    code, text, errors = outcome(capsys, *arguments, "epsilon=1.0")
    assert (code, errors, text.count("\n")) == (0, "", 5)
    code, text, errors = outcome(capsys, *arguments, "epsilom=1.0")
    assert (code, text) == (2, "")
    assert "epsilon" in errors
    assert errors.count("\n") == 1


def test_next_of_arms_that_never_met(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nada,bob\ncyd,dan\n")
    code, text, errors = outcome(capsys, "next", log, "--policy", "uniform", "--num", 5)
    assert (code, errors, text.count("\n")) == (0, "", 6)


def test_plan_of_arms_that_never_met_warns(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nada,bob\ncyd,dan\n")
    code, text, errors = outcome(capsys, "plan", log, "--policies", "uniform", *SMALL)
    assert code == 0
    assert text.startswith("log.csv: 4 arms, 2 votes")
    (warning,) = [line for line in errors.splitlines() if "warning" in line]
    assert warning.startswith("jaxduel: warning: the arms of log.csv are in 2 groups")


@pytest.mark.thorough
def test_next_says_where_a_policy_asks_for_no_more(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("left,right,left_wins,right_wins\nada,bob,5000,0\n")
    code, text, errors = outcome(capsys, "next", log, "--policy", "rucb", "--num", 500)
    pairs = text.count("\n") - 1
    assert code == 0
    assert pairs < 500
    assert errors == (
        f"jaxduel: warning: rucb asks for {pairs} pairs: else it compares arms with themselves.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "none.csv"], "cannot be read: No such file"),
        (["plan", TOURNAMENT, "--policies", "dtz"], "did you mean 'dts'?"),
        (["plan", TOURNAMENT, "--maxvote", "9"], "'--maxvote'; did you mean '--max-votes'?"),
        (["plan", TOURNAMENT, "--columns", "a=b"], "'--columns'; did you mean '--column'?"),
        (["plan", TOURNAMENT, "--policies", "ucb1"], "pulls arms"),
        (["plan", TOURNAMENT, "--policies", *2 * ["uniform"]], "'uniform' is named twice"),
        (["plan", TOURNAMENT, "--policies", "dts[alpha=1"], "NAME[PARAMETER=VALUE,...] is needed"),
        (["plan", TOURNAMENT, "--policies", "dts[alfa=1]"], "did you mean 'alpha'?"),
        (["plan", TOURNAMENT, "--policies", "dts[alpha=x]"], "alpha takes a number"),
        (["plan", TOURNAMENT, "--target", "1"], "a probability between 0 and 1, not 1.0"),
        (["plan", TOURNAMENT, "--target", "0.9", "95"], "a probability between 0 and 1, not 95.0"),
        (["plan", TOURNAMENT, "--target", "0"], "a probability between 0 and 1, not 0.0"),
        (
            ["plan", TOURNAMENT, "--max-votes", "0"],
            "--max-votes takes a whole number of at least 1",
        ),
        (["plan", TOURNAMENT, "--draws", "1"], "draws must be a whole number of at least 2"),
        (["plan", TOURNAMENT, "--rule", "elo"], "--rule must be"),
        (["plan", TOURNAMENT, "--core", "1000"], "no two arms of tournament.csv have 1,000"),
        (["next", "none.csv"], "cannot be read: No such file"),
        (["next", TOURNAMENT, "--policy", "dtz"], "did you mean 'dts'?"),
        (["next", TOURNAMENT, "--policy", "ucb1"], "ucb1 pulls arms"),
        (["next", TOURNAMENT, "--policy", "sequential-halving", "--num", 3], "halving pulls arms"),
        (["next", TOURNAMENT, "--policy", "pcomp"], "pcomp cannot start from win counts"),
        (["next", TOURNAMENT, "--num", "0"], "--num takes a whole number of at least 1"),
        (["next", TOURNAMENT, "--num", "100001"], "num must be at most 100,000, not 100,001"),
        (["next", TOURNAMENT, "--num", "1e12"], "num must be at most 100,000"),
        (["next", TOURNAMENT, "--out", "none/next.csv"], "there is no folder for it"),
    ],
)
def test_bad_input_of_plans_gets_a_sentence(arguments, message, capsys):
    code, text, errors = outcome(capsys, *arguments)
    assert (code, text) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
