import os
import tomllib
from pathlib import Path

import jsonschema
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.studies.sweep.describing.grid_file import examples, key_lines, read_grid, schema
from tests.registered import pulls

WHOLE = """\
seeds = 1000  # per cell
seed = 3
horizons = [
    1e3,  # ] a bracket in a comment
    1e6,
]
batches = [2, 8]
delay = 1

[[policies]]
name = ["pcomp", "scomp"]

[[policies]]
name = "dts"
alpha = [0.51, 0.6]

[[problems]]
name = ["arxiv", "cyclic"]

[[problems]]
file = "my.csv"

[[problems]]
generator = "btl"
num_arms = [4, 8]
instances = [0, 1]
"""


def write(folder: Path, text: str) -> Path:
    (folder / "my.csv").write_text("0.5,0.6\n0.4,0.5\n")
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def test_a_grid_file_is_read(tmp_path):
    grid = read_grid(write(tmp_path, WHOLE))
    assert grid.num_seeds == 1000
    assert grid.horizons == (1000, 1_000_000)
    assert [entry.name for entry in grid.policies] == ["pcomp", "scomp", "dts"]
    assert grid.policies[2].parameters == {"alpha": (0.51, 0.6)}
    assert [entry.name for entry in grid.problems[:2]] == ["arxiv", "cyclic"]
    assert grid.problems[2].file == str(tmp_path / "my.csv")
    assert grid.problems[3].instances == (0, 1)
    assert grid.checkpoints == 20


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("seed = 3", "sede = 3", 2, "unknown key of the grid 'sede' .did you mean 'seed'"),
        ("seed = 3", "seed = 3.5", 2, "seed must be a whole number"),
        ("    1e6,", '    "1e6",', 3, "horizons must be a whole number, not '1e6'"),
        ('"scomp"]', '"scmop"]', 11, "unknown policy 'scmop' .did you mean 'scomp'"),
        ('name = "dts"', 'name = "dtss"', 14, "did you mean 'dts'"),
        ("alpha =", "alhpa =", 15, "did you mean 'alpha'"),
        ("0.51,", '"a",', 15, "must be a number, not 'a'"),
        ('name = "dts"', "", 15, "unknown key of a policy without a name 'alpha'"),
        ('"cyclic"]', '"cycle"]', 18, "unknown problem 'cycle' .did you mean 'cyclic'"),
        ("my.csv", "your.csv", 21, "does not exist"),
        ('"btl"', '"blt"', 24, "unknown generator 'blt' .did you mean 'btl'"),
        ("num_arms =", '"numarms" =', 25, "did you mean 'num_arms'"),
        ("instances =", "instance =", 26, "did you mean 'instances'"),
        ("batches = [2, 8]", "", 11, "pcomp needs the parameter 'num_batches'"),
        ('name = ["pcomp", "scomp"]', 'name = ["rucb"]\nalpha = 1', 12, "takes no parameters"),
        ('name = ["pcomp", "scomp"]', "name = []", 11, "empty list"),
        ('name = ["pcomp", "scomp"]', "", 10, "a policy needs the key 'name'"),
        ("alpha = [0.51, 0.6]", "[policies.alpha]\nx = 1", 15, "must be a number, not {'x': 1}"),
        ("[[problems]]", "[[problem]]", 17, "did you mean 'problems'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, line, message):
    assert old in WHOLE
    path = write(tmp_path, WHOLE.replace(old, new))
    with pytest.raises(InputError, match=rf"grid\.toml', line {line}: .*{message}"):
        read_grid(path)


FOUND = """\
identify = true
votes = 1_000
recommend = ["borda", "btl"]
delta = 0.1

[[policies]]
name = ["rucb", "dts"]

[[problems]]
name = "arxiv"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("1_000", "0", 2, "votes must be at least 1, not 0"),
        ("1_000", "[]", 2, "votes is an empty list"),
        ("votes = 1_000", "horizons = 1_000", 2, "horizons is for regret"),
        ("identify = true", "horizons = 10", 2, "votes is for grids that identify arms"),
        ('"btl"', '"bt"', 3, "unknown value of recommend 'bt' .*'btl'"),
        ("0.1", "1.5", 4, "delta must be a probability between 0 and 1, not 1.5"),
        ('"dts"', '"etc"', 7, "etc pulls arms: a grid that identifies arms needs pulls"),
    ],
)
def test_what_is_wrong_with_a_question_is_said_with_its_line(tmp_path, old, new, line, message):
    assert read_grid(write(tmp_path, FOUND)).votes == (1000,)
    assert not complaints(FOUND)
    assert old in FOUND
    path = write(tmp_path, FOUND.replace(old, new))
    with pytest.raises(InputError, match=rf"grid\.toml', line {line}: .*{message}"):
        read_grid(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = [1,\n", r"not valid TOML: .*\(at end of document\)"),
        ("seeds = 1\nseeds = 2\n", "not valid TOML: .*line 2"),
        ("seeds = 1\n", "the grid needs the key 'policies'"),
        ('horizons = 10\npolicies = "dts"\nproblems = []', r"line 2: policies must be tables"),
        (
            'horizons = 10\n[policies]\nname = "dts"\n[problems]\n',
            r"line 2: .*write \[\[policies\]\]",
        ),
        (
            '[policies]\nname = "dts"\n[[policies]]\nname = "rucb"\n',
            r"line 1: .*write \[\[policies\]\]",
        ),
        (
            '[[problems]]\nname = "arxiv"\n[problems]\nname = "gap"\n',
            r"line 3: .*write \[\[problems\]\]",
        ),
        ("seeds = " + "1" * 5_000, "not valid TOML: a number has thousands of digits"),
        ("seeds = " + "[" * 5_000, "not valid TOML: its brackets are nested too deeply"),
    ],
)
def test_files_that_are_no_grid_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_grid(write(tmp_path, text))


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_grid(tmp_path / "none.toml")
    with pytest.raises(InputError, match="takes the path of a file"):
        read_grid("grid\0.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_grid(tmp_path)
    (tmp_path / "grid.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no text"):
        read_grid(tmp_path / "grid.toml")


def test_lines_of_keys_are_found_among_strings_brackets_and_comments():
    text = (
        'a = """\nb = 1\n[[c]]\n"""\n'
        "d = [ # [[e]]\n  [1, 2],\n  '[', \"]\",\n]\n"
        "'f' = { g = 1 }\nh.i = 2\n"
        "[[ j ]]\nk = 1\n[[j]]\nk = 2\n[j.l]\nm = 3\n[n]\no = 4\n"
    )
    assert key_lines(text) == {
        ("a",): 1,
        ("d",): 5,
        ("f",): 9,
        ("h",): 10,
        ("j",): 11,
        ("j", 0): 11,
        ("j", 0, "k"): 12,
        ("j", 1): 13,
        ("j", 1, "k"): 14,
        ("j", 1, "l"): 15,
        ("j", 1, "l", "m"): 16,
        ("n",): 17,
        ("n", "o"): 18,
    }


@pytest.mark.thorough
def test_only_the_last_lines_of_long_statements_are_parsed(monkeypatch):
    asked, loads = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: asked.append(text) or loads(text))
    text = "a = [\n" + "1,\n" * 5_000 + "]\nb = 2\n"
    assert key_lines(text) == {("a",): 1, ("b",): 5_003}
    assert len(asked) <= 4
    asked.clear()
    assert key_lines("a = 1\nb = [\n" + "[1],\n" * 5_000 + "]\nc = 2\n") == {("a",): 1}
    assert sum(map(len, asked)) <= 2**22


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".".join(["a"] * 60_000) + " = 1", "a key has more than 32 parts"),
        (f"[{'. '.join(['a'] * 33)}]", "a key has more than 32 parts"),
        ("x = {" + ".".join(['"a b"', "'c d'"] * 17) + " = 1}", "a key has more than 32 parts"),
        ("x = {" + ".".join([r'"\".\\"'] * 33) + " = 1}", "a key has more than 32 parts"),
        ("x = " + "[" * 100_000, "its brackets are nested too deeply"),
        ("x = " + "{a = " * 100_000, "its brackets are nested too deeply"),
        ("x = " + "1" * 5_000, "a number has thousands of digits"),
    ],
)
def test_toml_that_would_take_for_ever_is_refused(tmp_path, text, message):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"^grid file '.*' is not valid TOML: {message}\.$"):
        read_grid(path)


def test_long_numbers_and_texts_with_dots_are_read(tmp_path):
    long = f"0x{'f' * 5_000}"
    path = write(tmp_path, WHOLE.replace("seeds = 1000", f"seeds = {long}"))
    with pytest.raises(InputError, match=r"line 1: seeds must be .*, not a number of thousands of"):
        read_grid(path)
    path = write(tmp_path, WHOLE.replace("seed = 3", f"prng = {long}"))
    with pytest.raises(
        InputError, match=r"unknown value of prng 'a number of thousands of digits'"
    ):
        read_grid(path)
    name = ".".join("abcdefghijklmnopqrst")
    (tmp_path / f"{name}.csv").write_text("0.5,0.6\n0.4,0.5\n")
    numbers = ", ".join(str(0.5 + number / 1000) for number in range(1, 100))
    text = WHOLE.replace("my.csv", f"./{name}.csv").replace("0.51, 0.6", numbers)
    grid = read_grid(write(tmp_path, f"# {'. '.join('ab')}\n{text}"))
    assert len(grid.policies[2].parameters["alpha"]) == 99


def test_grid_files_are_regular_and_small(tmp_path):
    path = write(tmp_path, WHOLE + "#" * 2**20)
    with pytest.raises(InputError, match=r"cannot be read: it has more than 1,048,576 bytes\.$"):
        read_grid(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"cannot be read: it is not a regular file\.$"):
        read_grid(tmp_path / "pipe")


def test_the_examples_can_be_read():
    names = [path.stem for path in examples()]
    assert names == ["batched", "dts_alpha", "everything"]
    batched, dts_alpha, _ = (read_grid(path) for path in examples())
    assert (batched.num_seeds, len(batched.horizons)) == (1000, 13)
    assert (batched.horizons[0], batched.horizons[-1]) == (10**3, 10**9)
    assert len(dts_alpha.problems[0].instances) == 10


def test_one_example_has_all_policies_that_compare_arms_and_the_whole_catalogue():
    everything = read_grid(examples()[-1])
    duels = set()
    for name in jd.policies.names():
        if not pulls(name):
            duels.add(name)
    assert {entry.name for entry in everything.policies} == duels
    catalogue = {entry.name for entry in jd.problems.entries() if not entry.downloaded}
    named = {entry.name for entry in everything.problems if entry.name is not None}
    assert named == catalogue - {"copeland500"}
    assert everything.problems[-1].generator == "copeland_cycle"


def complaints(text):
    return list(jsonschema.Draft202012Validator(schema()).iter_errors(tomllib.loads(text)))


def test_the_schema_is_one_and_takes_what_is_right():
    jsonschema.Draft202012Validator.check_schema(schema())
    for text in (WHOLE, *(path.read_text() for path in examples())):
        assert not complaints(text)
    odd = 'horizons = 10\ncheckpoints = [1, 5.0]\n[[policies]]\nname = "base"\n'
    odd += 'num_batches = 2\ngrid = ["geometric", [1, 10]]\n[[problems]]\n'
    assert not complaints(odd + 'name = ["gaussian[0.6,0.5]", "arxiv[0,1]"]\n')
    assert not complaints(odd + 'file = "mine.npz"\nkey = ["a", "b"]\n')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 3", "sede = 3"),
        ("seed = 3", "seed = 3.5"),
        ("    1e6,", '    "1e6",'),
        ("delay = 1", "delay = []"),
        ('"scomp"]', '"scmop"]'),
        ('name = "dts"', 'name = "dtss"'),
        ("alpha =", "alhpa ="),
        ("0.51,", '"a",'),
        ('name = "dts"', ""),
        ('"cyclic"]', '"cycle"]'),
        ('"btl"', '"arithmetic"'),
        ("num_arms =", "numarms ="),
        ("[[problems]]", "[[problem]]"),
        ("seed = 3", "votes = 3"),
        ("seed = 3", "identify = true\nvotes = 3"),
        ("horizons = [", "votes = ["),
    ],
)
def test_the_schema_refuses_what_is_wrong(old, new):
    assert old in WHOLE
    assert complaints(WHOLE.replace(old, new))


def test_the_schema_knows_the_parameters_of_every_policy():
    tables = schema()["properties"]["policies"]["items"]["anyOf"]
    found = {table["properties"]["name"].get("const"): table for table in tables}
    for name in jd.policies.names():
        keys = {"name", *jd.policies.parameters(name)} - {"horizon"}
        assert found[name]["properties"].keys() == keys
