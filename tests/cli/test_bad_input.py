"""The command line on bad input: one sentence on standard error and code 2, nothing printed."""

import os
from pathlib import Path

import numpy as np
import pytest

from jaxduel.cli import main
from tests.cli.command_line import instead

LONG = "x" * 5_000
MATRIX = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.55], [0.3, 0.45, 0.5]])
RUN = ("run", "--policy", "rucb", "--problem", "arxiv", "--horizon", "1000")
PCOMP = ("run", "--policy", "pcomp", "--problem", "arxiv", "--horizon", "1000")
ARMS = ("run", "--policy", "base", "--problem", "gaussian[0.6,0.5]", "--horizon", "1000")
WORST = (
    *("worst-case", "--policy", "scomp2", "--family", "btl", "--num-arms", "4"),
    *("--horizon", "1000", "--set", "num_batches=2"),
    *("--steps", "1", "--starts", "1", "--seeds", "8", "--fresh-seeds", "16"),
)


def with_options(base, text):
    """`base` followed by each line's words, or in their stead where it has the option already."""
    return [instead(base, *line.split()) for line in text.strip().splitlines()]


FILES = {
    "ragged.csv": "0.5,0.6\n0.4\n",
    "nonsq.csv": "0.5,0.6,0.7\n0.4,0.5,0.6\n",
    "blank.csv": "\n\n\n",
    "empty.csv": "",
    "counts.csv": "0,30,21\n18,0,25\n22,11,0\n",
    "percent.csv": "50,60\n40,50\n",
    "strings.csv": "a,b\nc,d\n",
    "asym.csv": "0.5,0.9\n0.4,0.5\n",
    "nan.csv": "0.5,nan\n0.4,0.5\n",
    "inf.csv": "0.5,inf\n0.4,0.5\n",
    "neg.csv": "0.5,-0.1\n1.1,0.5\n",
    "k1.csv": "0.5\n",
    "fake.npy": "hello",
    "fake.npz": "hello",
    "m.json": "[[0.5,0.6],[0.4,0.5]]",
    "noext": "0.5,0.6\n0.4,0.5\n",
}
CHECK = [
    *(["check", name] for name in FILES),
    *(["check", name] for name in ("obj.npz", "two.npz", "none.npz", "d3.npz", "obj.npy")),
    *(["check", name] for name in ("bool.npy", "bin.csv", "adir.csv", "missing.csv")),
    *(["check", name] for name in (".", "/dev/null", LONG, "a\nb.csv", "数据.csv", "ok.csv[9]")),
    *(["check", name] for name in ("ok.csv[1,2", "arxiv[1,2,99]", "arxiv[a,b]", "")),
    ["check"],
    ["check", "ok.npz", "--key", "zzz"],
    ["check", "ok.csv", "--key", "a"],
    ["check", "ok.csv", "extra"],
    ["check", "ok.csv", "--nope", "1"],
]
NUMBERS = [
    *([*RUN[:-1], value] for value in ("-1", "0", "1e10", "1.5", "nan", "inf", "abc", "", "1,000")),
    *([*RUN[:-1], value] for value in ("0x10", "2147483648", "１０００", "1e3.5", "--")),
    *([*RUN, "--seeds", value] for value in ("0", "-1", "1e12", "1.5", "nan")),
    *([*RUN, "--seed", value] for value in ("-1", "1.5", "abc", "4294967296")),
    *([*RUN, "--delay", value] for value in ("0", "-5", "x")),
    *([*RUN, "--lanes", value] for value in ("0", "1e9", "x")),
    *([*RUN, "--checkpoints", value] for value in ("0", "-3", "x")),
]
PROBLEMS = [
    [*RUN[:4], problem, *RUN[5:]]
    for problem in (
        *("DTS table", "", LONG, "x" * 300, "../nope.csv", "arxiv[1,2,3,4,5,6,7]", "gaussian"),
        *("gaussian[]", "gaussian[0.5]", "bernoulli[2,0]", "bernoulli[0.5,-0.1]"),
        *("gaussian[1e400,2]", "btl", "/etc/passwd", "mslr5-noncondorcet[99]"),
    )
]
POLICIES = [
    [*RUN[:2], policy, *RUN[3:]] for policy in ("dst", "", "dts+ ", "数", "dts --set", LONG, "ucb1")
]
SETTINGS = [
    *(
        [*RUN, "--set", setting]
        for setting in (
            *("alpha=-1", "alpha=nan", "alpha=inf", "alpha=abc", "alpha=", "alpha", "=1", ""),
            *("alpha==1", "alpha=1e400", "alpha=[1,2]", "alpha=True", "num_arms=3", "horizon=10"),
            *('alpha=__import__("os")', "alpha=0.6,0.7", "alpha= ", "a" * 400 + "=1", "α=1"),
            *("alpha=０.６", "active_arms=1", "alpha=1e300"),
        )
    ),
    [*RUN, "--set", "alpha=0.6", "--set", "alpha=0.7"],
    [*RUN, "--set"],
    PCOMP,
    *([*PCOMP, "--set", f"num_batches={value}"] for value in ("0", "2.5", "2000", "nan")),
    [*PCOMP, "--set", "num_batches=4", "--delay", "5"],
    [*PCOMP, "--set", "num_batches=4", "--set", "elimination=KL"],
    [*PCOMP, "--set", "num_batches=4", "--set", "q=0.5"],
    ARMS,
    [*ARMS, "--set", "num_batches=3", "--set", "grid=geo"],
    [*ARMS, "--set", "num_batches=3", "--set", "grid=[1,2]"],
]
OPTIONS = [
    *(["lst"], ["--verion"], ["--foo"], ["run"], ["run", "--policy"], ["run", "--policy", "dts"]),
    *(["list", "foo"], ["list", "policies", "x"], ["bounds"], ["bounds", "gap"], ["reproduce"]),
    *(["sweep"], ["show"], ["plot"], ["compare", "res"], ["compare", "res", "--policies", "a"]),
    ["compare", "res", "--policies", "a", "b", "c"],
    [*RUN, "--regret", "avg"],
    [*RUN, "--regret", "pulls"],
    [*RUN, "--prng", "mt19937"],
    [*RUN, "--sedes", "7"],
    ["run", "--policy", "dts", "--problem", "arxiv", "--horizn", "7"],
    *([*RUN, "--out", out] for out in ("/nonexistent/dir/r.nc", "/proc/r.nc", "", "y" * 303, LONG)),
    ["plot", "res", "--kind", "bar"],
    ["show", "res", "--horizon", "abc"],
    ["show", "res", "--columns", "foo"],
    *(["show", "nope"], ["show", LONG], ["plot", LONG], ["sweep", LONG]),
    ["show", "adir.csv"],
    ["show", "noext"],
    ["show", "nope", "--csv", "."],
]
BOUNDS = with_options(
    ("bounds", "--problem"),
    """
    arxv
    nan.csv
    gap --horizon 0
    gap --horizon abc
    gap --horizon 1e5
    gap --batches 0 --horizon 1e5
    gap --horizon -1 --batches 3
    gap --horizon 1e20 --batches 3
    """,
)
REPRODUCE = with_options(
    ("reproduce",),
    """
    batched
    batched-dueling --figure 3
    batched-dueling --figure 1a --runs 0
    batched-dueling --figure 1a --runs -1
    batched-dueling --figure 1a --runs 1.5
    batched-dueling --figure 1a --seed -1
    batched-dueling --figure 1a --runs 2 --full --out /proc/x
    """,
)
WORST_CASE = with_options(
    WORST,
    """
    --seeds 4294967296
    --policy nope
    --policy ucb1
    --family foo
    --num-arms 0
    --num-arms -3
    --horizon 0
    --horizon 1e10
    --horizon nan
    --steps 0
    --seeds 0
    --seeds 1
    --fresh-seeds 0
    --seed -1
    --learning-rate 0
    --learning-rate nan
    --learning-rate abc
    --most 2
    --most 0.4
    --min-gap nan
    --set num_batches=3
    --set num_arms=7
    --set horizon=7
    --objective foo
    --against nope
    --against scomp2
    --against dts --against-set alpha=-1
    --against dts --against-set num_arms=3
    --against ucb1
    --against-set alpha=0.6
    --family cycle --regret average
    --family cycle --num-arms 2
    --out /proc/x
    """,
)
WORST_CASE.append([*WORST[:2], "ucb1", *WORST[3:9], *WORST[11:]])
BASE = """seeds = 8
horizons = [1e2]
batches = [2]
regret = ["average"]

[[policies]]
name = ["pcomp"]

[[policies]]
name = "dts"
alpha = [0.51, 0.6]

[[problems]]
name = "arxiv"
"""
CHANGES = [
    *(("seeds = 8", f"seeds = {value}") for value in ("0", "-4", "2.5", '"8"', "= 8", 400 * "8")),
    *(("seeds = 8", f"seeds = 8\n{line}") for line in ("foo = 1", "delay = 0", "seed = -1")),
    *(("[1e2]", value) for value in ("[0]", "[-1]", "[1e10]", "[1.5]", "[nan]", "[inf]", "[]")),
    *(("[1e2]", value) for value in ('["1e2"]', "7.5", '"x"')),
    *(("[0.51, 0.6]", value) for value in ("[-1]", '["x"]', "[]", "[[0.5]]", "nan", 400 * "8")),
    *(("batches = [2]", value) for value in ("", "batches = [0]", 'batches = ["a"]')),
    *(('["average"]', value) for value in ('["avg"]', '["pulls"]')),
    *(
        ('name = "arxiv"', value)
        for value in (
            *('name = "arxv"', 'file = "nope.csv"', 'file = "nan.csv"', 'name = "arxiv"\nfile="x"'),
            *('generator = "btll"\nnum_arms = [4]', 'generator = "btl"\nnum_arms = [1]'),
            *('generator = "btl"\nnum_arms = 4\ninstances = [-1]', 'name = "gaussian[0.6,0.5]"'),
            *(
                'generator = "btl"\nnum_arms = 4\nfoo = 3',
                'name = "mslr5-noncondorcet"',
                *(f'name = "{LONG}"', f'file = "{LONG}.csv"', 'file = "~nobody/m.csv"'),
            ),
        )
    ),
    *(("horizons", "horizon"), ('"dts"', '"dst"'), ('name = "dts"', 'nmae = "dts"')),
    *(('name = "dts"\n', ""), ("alpha", "alhpa"), ("regret", 'keep = ["sedes"]\nregret')),
    *(
        ("[[policies]]", "[[policy]]"),
        ('[[policies]]\nname = ["pcomp"]', '[policies]\nname = "dts"'),
    ),
    *((BASE, ""), (BASE, '{"seeds": 1}'), (BASE, "\0")),
    *(
        (BASE[BASE.index("[[problems]]") :], ""),
        (BASE[BASE.index("[[pol") : BASE.index("[[pro")], ""),
    ),
]


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory):
    """A folder with the files that the commands name, from which they are given."""
    folder = tmp_path_factory.mktemp("bad-input")
    before = os.getcwd()
    os.chdir(folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "bin.csv").write_bytes(bytes(range(256)) * 8)
    (folder / "adir.csv").mkdir()
    np.savetxt("ok.csv", MATRIX, delimiter=",")
    np.savez("ok.npz", a=MATRIX)
    np.savez("two.npz", a=MATRIX, b=MATRIX)
    np.savez("none.npz")
    np.savez("d3.npz", a=np.zeros((2, 2, 2)))
    np.savez("obj.npz", a=np.array([{"x": 1}, None], dtype=object))
    np.save("obj.npy", np.array([[1, None], [{}, 2]], dtype=object))
    np.save("bool.npy", np.eye(3, dtype=bool))
    yield folder
    os.chdir(before)


def refused(command, capsys):
    code = main(command)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("jaxduel: error: ")
    assert err.count("\n") == 1
    assert len(err) < 800
    return err


COMMANDS = [
    *CHECK,
    *NUMBERS,
    *PROBLEMS,
    *POLICIES,
    *SETTINGS,
    *OPTIONS,
    *BOUNDS,
    *REPRODUCE,
    *WORST_CASE,
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command)[-40:])
def test_bad_commands_get_a_sentence(command, capsys):
    refused(list(command), capsys)


@pytest.mark.parametrize("option", ["--seeds", "--delay", "--lanes", "--checkpoints"])
def test_numbers_below_one_are_refused_by_the_option(option, capsys):
    told = refused([*RUN, option, "0"], capsys)
    assert f"{option} takes a whole number of at least 1, such as 1000 or 1e6, not '0'" in told


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("reproduce --paper double-thompson", "--paper"),
        ("reproduce --paper=double-thompson --full", "--paper"),
        ("describe --policy dts", "--policy"),
        ("check --file ok.csv", "--file"),
    ],
)
def test_an_option_in_place_of_a_name_is_unknown(command, option, capsys):
    assert f"unknown option '{option}'" in refused(command.split(), capsys)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("show", "DIR|FILE.nc must be given"),
        ("compare res", "--policies must be given"),
        ("report", "PATH must be given"),
        ("next", "FILE must be given"),
        ("list x", "WHAT must be one of all, papers, policies, problems, not 'x'"),
        ("plan v.csv --target 95%", "--target takes probabilities such as 0.95, not '95%'"),
        ("plan v.csv --policies dts[horizon=5]", "the horizon follows from the other arguments"),
        ("run --policy uniform --problem arxiv --horizon 9 --set a=1", "'a': there is none."),
        (
            "run --policy dts[alpha=0.6,x=1] --problem arxiv --horizon 9",
            "'dts[alpha=0.6,x=1]': parameters are given by --set alpha=0.6 --set x=1.",
        ),
        ("run --policy dts arxiv --horizon 9", "'arxiv' is unknown; did you mean --problem arxiv?"),
        ("compare a b", "--policies must be given, and 'b' is unknown (see jaxduel compare"),
        ("run --problem x --horizon 9 --policy dts rucb", ": --policy takes one name; `jaxduel sw"),
        ("run --policy dts --problem x --horizon 9 --set alpha 1", "did you mean --set alpha=1?"),
        ("simulate --policy dts", "unknown command 'simulate'; did you mean 'run'?"),
        ("show typo.nc", "'typo.nc' holds no sweep: it does not exist."),
        ("bounds m8.csv", "--problem must be given, and 'm8.csv' is unknown; did you mean --prob"),
    ],
)
def test_sentences_say_what_the_command_has(command, message, capsys):
    Path("v.csv").write_text("winner,loser\nada,bob\n")
    assert message in refused(command.split(), capsys)


@pytest.mark.parametrize("option", ["--alpha", "--batches", "--delta"])
def test_parameters_given_as_options_are_shown_the_way(option, capsys):
    told = refused([*RUN, option, "4"], capsys)
    assert "arameters of the policy are given by --set NAME=VALUE (see jaxduel run" in told
    assert "'--help'" not in told
    assert "'--no-cache'" not in told


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_bad_grids_get_a_sentence(number, tmp_path, capsys):
    grid = tmp_path / "grid.toml"
    grid.write_text(BASE.replace(*CHANGES[number]))
    refused(["sweep", str(grid), "--out", str(tmp_path / "out")], capsys)


@pytest.mark.parametrize("command", [["check", "ok.csv"], ["check", "ok.npz"], ["list", "papers"]])
def test_right_commands_are_carried_out(command, capsys):
    assert main(command) == 0
    assert capsys.readouterr().err == ""
