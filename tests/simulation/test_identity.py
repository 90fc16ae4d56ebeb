"""Digests change with what determines numbers, and with nothing else."""

import ast
import inspect
import json
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import compilation_cache, identity
from jaxduel.studies import estimates

PACKAGE = Path(jd.__file__).parent
PLAIN = '''
"""Module."""

LIMIT = 1.5
"""Attribute."""


class Policy:
    """Class."""

    size: int

    def act(self, x):
        """Method."""
        return x + LIMIT  # comment
'''
SAME = {
    "comment": PLAIN.replace("# comment", "# another, longer one"),
    "no comment": PLAIN.replace("  # comment", ""),
    "docstrings": re.sub(r'""".*"""', '"""Another."""', PLAIN),
    "no docstrings": re.sub(r'""".*"""', "", PLAIN),
    "formatting": PLAIN.replace("x + LIMIT", "(x\n            + LIMIT)").replace("1.5", "1.50"),
    "line ends": PLAIN.replace("\n", "\r\n"),
}
OTHER = {
    "constant": PLAIN.replace("1.5", "1.6"),
    "type of a constant": PLAIN.replace("1.5", "'1.5'"),
    "operator": PLAIN.replace("x + ", "x - "),
    "name": PLAIN.replace("LIMIT", "MOST"),
    "annotation": PLAIN.replace("int", "float"),
    "returned text": PLAIN.replace("x + LIMIT", "'x'"),
    "order": PLAIN.replace("x + LIMIT", "LIMIT + x"),
}


def digest_in(folder, monkeypatch):
    monkeypatch.setattr(identity, "__file__", str(folder / "simulation" / "identity.py"))
    return inspect.unwrap(identity._code_digest)(())


@pytest.mark.parametrize("name", ["numerics", "problems", "policies", "simulation"])
def test_code_digest_changes_with_code_alone(tmp_path, monkeypatch, name):
    def digest():
        return digest_in(tmp_path, monkeypatch)

    (tmp_path / name).mkdir()
    file = tmp_path / name / "more.py"
    seen = {digest()}
    file.write_text(PLAIN)
    plain = digest()
    assert re.fullmatch("[0-9a-f]{16}", plain)
    (tmp_path / "notes.py").write_text(PLAIN)
    for what, text in SAME.items():
        file.write_text(text, newline="")
        assert digest() == plain, what
    for text in OTHER.values():
        file.write_text(text)
        seen.add(digest())
    file.unlink()
    (tmp_path / name / "less.py").write_text(PLAIN)
    assert len(seen | {plain, digest()}) == len(OTHER) + 3


def test_code_digest_leaves_drawing_out(tmp_path, monkeypatch):
    folder = tmp_path / "simulation"
    folder.mkdir()
    (folder / "steps.py").write_text(PLAIN)
    before = digest_in(tmp_path, monkeypatch)
    (folder / "figures.py").write_text(PLAIN)
    assert digest_in(tmp_path, monkeypatch) == before


def test_code_digest_of_this_package_without_comments(tmp_path, monkeypatch):
    for name in ("numerics", "problems", "policies", "simulation"):
        shutil.copytree(PACKAGE / name, tmp_path / name)
    shutil.copy(PACKAGE / "stats.py", tmp_path)
    for file in tmp_path.rglob("*.py"):
        file.write_text(ast.unparse(ast.parse(file.read_text())))
    assert digest_in(tmp_path, monkeypatch) == identity.code_digest()


def test_threads_may_ask_at_the_same_time():
    """In Python 3.11 two threads that make syntax trees at a time fail."""
    identity._code_digest.cache_clear()
    begun = threading.Barrier(4)

    def ask(_):
        begun.wait(60)
        return identity.code_digest()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


def test_code_digest_with_further_files():
    assert identity.code_digest(estimates.__file__) != identity.code_digest()


def test_versions():
    found = identity.versions()
    assert list(found) == ["jaxduel", "jax", "jaxlib", "numpy", "scipy", "python"]
    assert found["jaxduel"] == jd.__version__
    assert found["numpy"] == np.__version__
    assert found["python"] == sys.version.split()[0].rstrip("+")


def test_problem_digest_changes_with_kind_and_numbers_alone():
    matrix = np.array([[0.5, 0.6], [0.4, 0.5]])
    near = matrix + np.array([[0.0, 1e-15], [-1e-15, 0.0]])
    different = [
        jd.problems.from_matrix(matrix),
        jd.problems.from_matrix(near),
        jd.problems.arithmetic(2),
        jd.problems.bernoulli([0.5, 0.6]),
        jd.problems.gaussian([0.5, 0.6]),
        jd.problems.gaussian([0.5, 0.6], std=2.0),
    ]
    digests = [identity.problem_digest(problem) for problem in different]
    assert len(set(digests)) == len(different)
    named = jd.problems.from_matrix(np.asfortranarray(matrix), name="another")
    assert identity.problem_digest(named) == digests[0]


def test_digests_are_those_of_another_process():
    script = (
        "import json; import jaxduel as jd; from jaxduel.simulation import identity\n"
        "arxiv = jd.problems.load('arxiv')\n"
        "print(json.dumps([identity.code_digest(), identity.problem_digest(arxiv)]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    arxiv = identity.problem_digest(jd.problems.load("arxiv"))
    assert json.loads(done.stdout) == [identity.code_digest(), arxiv]


def test_code_digest_is_kept_under_the_bytes_of_the_files(tmp_path, monkeypatch):
    def digest():
        return digest_in(tmp_path / "code", monkeypatch)

    file = tmp_path / "code" / "policies" / "more.py"
    file.parent.mkdir(parents=True)
    file.write_text(PLAIN)
    alone = digest()
    monkeypatch.setattr(compilation_cache, "_folder", None)
    jd.use_compilation_cache(tmp_path / "kept")
    assert digest() == digest() == alone
    with monkeypatch.context() as patch:
        patch.setattr(identity, "_canonical", lambda _: pytest.fail("parsed again"))
        assert digest() == alone
        (kept,) = (tmp_path / "kept").rglob("code-*")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert digest() == alone
    file.write_text(OTHER["operator"])
    assert digest() != alone
