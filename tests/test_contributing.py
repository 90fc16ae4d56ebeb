"""CONTRIBUTING's command finds what is wrong with a new policy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FAULTY = '''
import dataclasses

import jax
import jax.numpy as jnp

import jaxduel as jd
from jaxduel.policies.estimation.uniform import Uniform
from tests import oracles

oracles.__path__.append({folder!r})


@jd.policies.register("faulty")
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Faulty(Uniform):
    """Uniform, but for its second arm: the last, whether it exists or not."""

    def act(self, state, key):
        return super().act(state, key)._replace(right=jnp.int32(self.num_arms - 1))
'''
ORACLE = """
from tests.oracles.estimation import uniform

REPLAYS = {"faulty": uniform.REPLAYS["uniform"]}
"""


@pytest.mark.thorough
def test_the_documented_command_fails_for_a_faulty_policy(tmp_path):
    """The policy and its oracle come from a plugin, in the place of two new files."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text()
    (command,) = re.findall(r"`python (-m pytest [^`]*) -k name`", text)
    (tmp_path / "plugin").mkdir()
    (tmp_path / "oracles").mkdir()
    plugin = FAULTY.format(folder=str(tmp_path / "oracles"))
    (tmp_path / "plugin" / "new_policy.py").write_text(plugin)
    (tmp_path / "oracles" / "faulty.py").write_text(ORACLE)
    done = subprocess.run(
        [sys.executable, *command.split(), "-k", "faulty"],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTEST_ADDOPTS": "-n0 -p new_policy -p no:cacheprovider",
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "plugin"), str(ROOT)]),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    failed = re.findall(r"^FAILED .*::(\w+)\[faulty-(\w+)\]", done.stdout, re.MULTILINE)
    assert ("test_registered_policy_conforms", "plays_only_arms_that_exist") in failed
    assert {("test_duels_follow_the_paper", number) for number in ("2", "5")} <= set(failed)
