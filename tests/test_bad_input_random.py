"""Random bad input at four entry points: an InputError in Python, one line on the command line."""

import contextlib
import inspect
import io
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as hnp

import jaxduel as jd
from jaxduel.cli import COMMANDS, main
from jaxduel.errors import AssumptionWarning, InputError
from jaxduel.gradients import ascent
from jaxduel.simulation import blocks
from jaxduel.studies.sweep import calibration, sweep
from jaxduel.studies.sweep.describing.grid_file import read_grid
from tests.cli.test_bad_input import BASE, MATRIX, RUN, WORST

NUMBERS = [
    *(0, 1, 2, 3, 6, -1, 0.5, 0.6, 2.5, 1e300, -0.0, 10**12, 10**400, 2**31, 1e-320),
    *(float("nan"), float("inf"), -float("inf"), True, 1 + 2j),
    *(np.int8(3), np.float32(0.6), np.uint64(2**63), np.bool_(True)),
]
VALUES = st.one_of(
    st.sampled_from(NUMBERS),
    st.none(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.lists(st.floats() | st.none() | st.text(max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)),
    st.builds(object),
)


def nearly_right(draw):
    """A preference matrix with at most two entries changed."""
    number = draw(st.integers(2, 5))
    matrix = np.full((number, number), 0.5)
    for i, j in zip(*np.triu_indices(number, 1), strict=True):
        matrix[i, j] = draw(st.floats(0, 1))
        matrix[j, i] = 1 - matrix[i, j]
    matrix = matrix.tolist()
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(matrix))
        place = draw(st.integers(0, len(row) - 1)) if row else 0
        row[place : place + 1] = draw(st.lists(st.sampled_from(NUMBERS) | VALUES, max_size=2))
    return matrix


MATRICES = st.one_of(
    st.composite(nearly_right)(),
    VALUES,
    st.lists(st.lists(VALUES, max_size=3), max_size=3),
    hnp.arrays(
        hnp.scalar_dtypes() | hnp.array_dtypes(),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
)


def check_matrix(data):
    matrix = data.draw(MATRICES)
    with contextlib.suppress(InputError):
        p = jd.problems.from_matrix(matrix).preferences
        assert p.dtype == np.float64
        assert p.shape == (len(p), len(p))
        assert np.all(p + p.T == 1)


def check_parameters(data):
    name = data.draw(st.sampled_from(jd.policies.names()))
    known = [*jd.policies.parameters(name), "horizon"]
    usual = {"num_arms": 4, "horizon": 1000, "num_batches": 3}
    values = {key: value for key, value in usual.items() if key in (*known, "num_arms")}
    odd = st.sampled_from([*known, "num_arms", "active_arms"]) | st.text(max_size=6)
    for key in data.draw(st.lists(odd.filter(lambda key: key != "name"), min_size=1, max_size=3)):
        values[key] = data.draw(VALUES)
    if isinstance(values.get("num_arms"), int | float | np.number):
        values["num_arms"] = min(values["num_arms"], 1000)  # larger ones are right, and slow
    with contextlib.suppress(InputError):
        policy = jd.policies.make(name, **values)
        for leaf in vars(policy).values():
            assert not isinstance(leaf, np.ndarray | np.generic) or leaf.dtype.itemsize <= 4


WORDS = st.sampled_from(
    [
        *("0", "-1", "2.5", "nan", "inf", "1e400", "true", '"x"', '""', "[]", "{}", "{a = 1}"),
        *("[[1]]", '["x", 1]', "[nan]", "1979-05-27", "07:32:00", "0x10", "1" * 400, "1" * 5_000),
        *("[policies]", "[[policies]]", "[problems]", "[[problems]]", "[policies.x]", "= =", "'"),
        *('"""', "\0", "\ufeff", "数", '"btl"', "num_arms = 4", "[[horizons]]", "[" * 2_000),
    ]
)


def check_grid(data, folder):
    text = BASE + data.draw(
        st.sampled_from(["", '[[problems]]\ngenerator = "btl"\nnum_arms = 4\ninstances = [0]\n'])
    )
    for _ in range(data.draw(st.integers(1, 3))):
        lines = text.split("\n")
        number = data.draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[number].partition("=")
        end = data.draw(st.integers(number, len(lines)))
        word = data.draw(WORDS | st.text(max_size=6))
        change = data.draw(st.sampled_from(["value", "line", "repeat", "drop", "insert"]))
        lines[number:end] = {
            "value": [f"{key}{equals} {word}", *lines[number + 1 : end]],
            "line": [word, *lines[number:end]],
            "repeat": lines[number:end] * 2,
            "drop": [],
            "insert": [lines[number][:number] + word + lines[number][number:]],
        }[change]
        text = "\n".join(lines)
    path = folder / "grid.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(InputError):
        assert read_grid(path).policies


LINES = [
    *(["list"], ["list", "papers"], ["check", "arxiv"], ["check", "ok.csv"]),
    *(["bounds", "--problem", "gap"], ["bounds", "--problem", "gaussian[0.6,0.5]"]),
    *(RUN, [*RUN[:2], "pcomp", *RUN[3:], "--set", "num_batches=3"], WORST),
    ["run", "--policy", "base", "--problem", "bernoulli[0.6,0.5]", "--horizon", "10"],
    *(["sweep", "grid.toml", "--out", "made"], ["sweep", "grid.toml", "--dry-run"]),
    *(["sweep", "grid.toml", "--dry-run", "--time"], ["new", "study"]),
    *(["show", "ok.csv"], ["show", "res"], ["plot", "res"], ["compare", "res", "--policies"]),
    ["reproduce", "nothing", "--figure", "1a", "--runs", "2"],
]
OPTIONS = [
    *(f"--{name}" for name in ("policy", "problem", "horizon", "seeds", "seed", "set", "regret")),
    *(f"--{name}" for name in ("delay", "checkpoints", "lanes", "prng", "no-shuffle", "key")),
    *(f"--{name}" for name in ("batches", "family", "num-arms", "against", "against-set", "most")),
    *(f"--{name}" for name in ("starts", "steps", "objective", "min-gap", "fresh-seeds", "csv")),
    *(
        f"--{name}"
        for name in ("dry-run", "time", "devices", "scheduler", "kind", "columns", "policies")
    ),
]
VALUES_OF_OPTIONS = [
    *("1", "2", "4", "8", "100", "0.6", "alpha=0.6", "num_batches=2", "dts", "rucb", "pcomp"),
    *("arxiv", "gap", "cyclic", "copeland", "average", "borda", "btl", "sst", "philox4x32"),
]
TOKENS = [
    *COMMANDS,
    *OPTIONS,
    *("--", "-", "-h", "--help", "--version", "--foo", "", " ", "=", "0", "-1", "1.5", "1e400"),
    *("nan", "inf", "1e10", "１", "abc", "数", "x" * 5_000, "a\nb", "None", "True", "[1]"),
    *("alpha=0.6", "alpha=", "alpha=nan", "num_batches=0", "horizon=7", "=", "{}", "()", "res"),
    *("dts", "rmed1", "pcomp", "ucb1", "base", "arxiv", "gap", "gaussian[0.6,0.5]", "arxiv[1,9]"),
    *("ok.csv", "grid.toml", "btl", "cycle", "average", "pulls", "weak", "/proc/x", "."),
]
ARGUMENTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


class Simulated(Exception):
    """Where a right command line would have simulated."""


def check_command_line(data):
    words = list(data.draw(st.sampled_from(LINES)))
    for _ in range(data.draw(st.integers(0, 3))):
        change = data.draw(st.sampled_from(["replaced", "added", "word"]))
        token = data.draw(st.sampled_from(VALUES_OF_OPTIONS) | st.sampled_from(TOKENS) | ARGUMENTS)
        place = data.draw(st.integers(0, len(words)))
        options = [n for n, word in enumerate(words) if word.startswith("--")]
        if change == "replaced" and options:
            place = data.draw(st.sampled_from(options)) + 1
        elif change == "added" and words:
            own = inspect.signature(COMMANDS.get(words[0], main)).parameters
            own = [f"--{name}".replace("_", "-").replace("settings", "set") for name in own]
            words.append(data.draw(st.sampled_from(own) | st.sampled_from(OPTIONS)))
            place = len(words)
        words[place : place + (change == "replaced")] = [token]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except Simulated:
            return
        except SystemExit as end:  # after --help
            code = end.code
    lines = err.getvalue().split("\n")[:-1]
    errors = [line for line in lines if line.startswith("jaxduel: error: ")]
    assert code in (0, 2)
    assert len(errors) == (code == 2)
    assert all(line.startswith("jaxduel: ") for line in lines)
    assert code == 0 or not out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The current folder, with files to name; nothing is simulated, but for that all is checked."""

    def simulated(*_, **__):
        raise Simulated

    folder = tmp_path_factory.mktemp("random")
    np.savetxt(folder / "ok.csv", MATRIX, delimiter=",")
    (folder / "grid.toml").write_text(BASE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(blocks, "run_blocks", simulated)
        patch.setattr(ascent, "_climb", simulated)
        patch.setattr(sweep, "run_sweep", simulated)
        patch.setattr(calibration, "calibrate", simulated)
        yield folder


@pytest.mark.parametrize("examples", [50, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("entry", ["matrices", "parameters", "grids", "command lines"])
def test_random_input_is_done_or_refused_in_a_sentence(entry, examples, folder):
    check = {
        "matrices": check_matrix,
        "parameters": check_parameters,
        "grids": lambda data: check_grid(data, folder / ".."),
        "command lines": check_command_line,
    }[entry]

    @settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.data())
    def law(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            check(data)

    law()
