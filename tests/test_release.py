"""The release: its version is the same in all files that name it, and so is the oldest JAX."""

import re
import tomllib
from pathlib import Path

import jaxduel

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _found(pattern, *parts):
    return re.findall(pattern, ROOT.joinpath(*parts).read_text(), re.MULTILINE)


def test_version_and_date_are_those_of_the_citation_and_the_changelog():
    ((version, date),) = _found(r"^## \[(\d\S*)\] - (\S+)$", "CHANGELOG.md")[:1]
    assert PROJECT["version"] == version
    assert _found(r"^version: (.*)$", "CITATION.cff") == [version]
    assert _found(r"^date-released: (.*)$", "CITATION.cff") == [date]


def test_package_does_not_write_its_version():
    for path in Path(jaxduel.__file__).parent.rglob("*.py"):
        assert f'"{PROJECT["version"]}"' not in path.read_text(), path


def test_workflow_tests_the_oldest_jax_and_every_python():
    (oldest,) = [x.removeprefix("jax>=") for x in PROJECT["dependencies"] if x[:5] == "jax>="]
    (jax,) = _found(r"jax: \[(.*)\]", ".github", "workflows", "tests.yml")
    (pythons,) = _found(r"python: \[(.*)\]", ".github", "workflows", "tests.yml")
    named = [
        line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line
    ]
    assert jax == f'"{oldest}", "newest"'
    assert re.findall(r"[\d.]+", pythons) == named
    assert PROJECT["requires-python"] == f">={named[0]}"
