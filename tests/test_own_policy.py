"""The guide's policy of one's own, where the guide says that it can be used."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notebooks" / "guide" / "own-policy.md").read_text()


GRID = """
horizons = [100]
seeds = 4
[[policies]]
name = "epsilon-duel"
[[problems]]
name = "arxiv"
"""


@pytest.fixture
def study(tmp_path):
    """Runs the guide's command line in a folder with the guide's policy, of a file of its own."""
    policy = re.search(r"```python\n(.*)^jd\.check_policy.*?```", PAGE, re.DOTALL | re.MULTILINE)
    study = re.search(r"\n\n(    import sys\n.*?)\n\n(?! )", PAGE, re.DOTALL)
    assert policy
    assert study
    (tmp_path / "my_policies.py").write_text(policy[1])
    (tmp_path / "study.py").write_text(textwrap.dedent(study[1]) + "\n")
    return lambda *command: subprocess.run(
        [sys.executable, "study.py", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_a_file_that_imports_it_is_a_command_line_that_knows_it(study):
    done = study("describe", "epsilon-duel")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("epsilon-duel: The arm that beats most others against itself")
    assert "epsilon=0.1" in done.stdout


@pytest.mark.thorough
def test_a_folder_goes_on_with_the_same_policy_and_refuses_another(study, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    sweep = "sweep", "grid.toml", "--out", "results"
    first, again = study(*sweep), study(*sweep)
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    file = tmp_path / "my_policies.py"
    file.write_text("# comments may change\n" + file.read_text())
    assert study(*sweep).returncode == 0
    file.write_text(file.read_text().replace("wins > state", "wins >= state"))
    refused = study(*sweep)
    assert refused.returncode == 2
    assert "holds this grid with other cells, epsilon-duel on arxiv" in refused.stderr
