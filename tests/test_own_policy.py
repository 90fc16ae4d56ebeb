"""The guide's policy of one's own, where the guide says that it can be used."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notebooks" / "guide" / "own-policy.md").read_text()


def test_a_file_that_imports_it_is_a_command_line_that_knows_it(tmp_path):
    policy = re.search(r"```python\n(.*)^jd\.check_policy.*?```", PAGE, re.DOTALL | re.MULTILINE)
    study = re.search(r"\n\n(    import sys\n.*?)\n\n(?! )", PAGE, re.DOTALL)
    assert policy
    assert study
    (tmp_path / "my_policies.py").write_text(policy[1])
    (tmp_path / "study.py").write_text(textwrap.dedent(study[1]) + "\n")
    done = subprocess.run(
        [sys.executable, "study.py", "describe", "epsilon-duel"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("epsilon-duel: The arm that beats most others against itself")
    assert "epsilon=0.1" in done.stdout
