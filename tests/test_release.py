"""The release: its version is the same in all files that name it, and so is the oldest JAX."""

import re
import tomllib
from pathlib import Path

import jaxduel
from jaxduel.studies import papers
from notebooks.manual import front

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAPER = ROOT / "notebooks" / "paper"


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


def test_paper_cites_what_its_bibliography_has():
    text, entries = (PAPER / "paper.md").read_text(), (PAPER / "paper.bib").read_text()
    known = re.findall(r"^@\w+\{(\w+),$", entries, re.MULTILINE)
    assert len(known) == len(set(known))
    assert set(re.findall(r"@(\w+)", text)) == set(known)


def test_paper_counts_policies_and_claims_as_they_are():
    text = (PAPER / "paper.md").read_text()
    counts = {
        name: int(n) for name, n in re.findall(r"^\| `(\S+)` \| (\d+) \|", text, re.MULTILINE)
    }
    assert counts == {name: len(papers.load(name).claims) for name in papers.names()}
    assert f"the {sum(counts.values())} claims" in text
    assert f"It has {len(jaxduel.policies.names())} of them" in text


def test_readme_counts_what_is_checked():
    claims = sum(len(papers.load(name).claims) for name in papers.names())
    policies, _, _, regrets = front.numbers()
    expected = {"policies": policies.value, "mean": regrets.value, "claims": str(claims)}
    assert dict(map(reversed, _found(r"^- (\d+) (policies|mean|claims)", "README.md"))) == expected
