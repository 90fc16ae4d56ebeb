"""`--share I/N`: all shares together are what `-m thorough` runs, each test once."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = {
    "test_some.py": """
import pytest
@pytest.mark.parametrize("case", [0, *(pytest.param(n, marks=M) for n in range(1, 8))])
def test_of_cases(case): pass
""",
    "test_all.py": "pytestmark = M\ndef test_whole(): pass\ndef test_more(): pass\n",
    "test_none.py": "def test_quick(): pass\n",
}


@pytest.fixture
def collected(tmp_path):
    """A function that lists the tests of a made-up folder that a command line chooses."""
    for name, text in TESTS.items():
        (tmp_path / name).write_text(f"import pytest\nM = pytest.mark.thorough\n{text}")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    thorough: made up\n")

    def collect(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.shares", "-p", "no:cacheprovider",
             "--collect-only", "-q", f"--rootdir={tmp_path}", *arguments, str(tmp_path)],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        return done.returncode, re.findall(r"^(test_.*::.*)$", done.stdout, re.MULTILINE)

    return collect


def test_each_thorough_test_is_in_one_share(collected):
    code, every = collected("-m", "thorough")
    assert (code, len(every)) == (0, 9)
    parts = [collected("-m", "thorough", "--share", f"{number}/4") for number in (1, 2, 3, 4)]
    assert {code for code, _ in parts} == {0}
    assert [len(tests) for _, tests in parts] == [3, 2, 2, 2]
    assert sorted(test for _, tests in parts for test in tests) == sorted(every)


@pytest.mark.parametrize("share", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4"])
def test_what_is_no_share_is_refused(collected, share):
    assert collected(f"--share={share}") == (4, [])
