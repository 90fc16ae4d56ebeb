"""Minimum versions: those that are declared are those that the workflow installs."""

import subprocess
import sys

from tests import minimums


def test_each_requirement_is_at_its_minimum(tmp_path, monkeypatch):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\ndependencies = ["jax>=0.10.2", "a-b>=1"]\n[project.optional-dependencies]\n'
        'test = ["jaxduel[cluster]", "c[d]>=2.0"]\nother = ["e>=3"]\n'
    )
    monkeypatch.setattr(minimums, "PROJECT", project)
    assert minimums.minimums(["test"]) == ["jax==0.10.2", "a-b==1", "c==2.0"]


def test_every_requirement_of_the_package_and_its_tests_has_a_minimum():
    done = subprocess.run(
        [sys.executable, minimums.__file__], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == minimums.minimums()
    assert {"jax==0.10.2", "chex==0.1.90"} <= set(minimums.minimums())
