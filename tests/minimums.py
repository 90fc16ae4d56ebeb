"""Constraints for pip, from pyproject.toml: every dependency at its declared minimum.

`python tests/minimums.py > minimums.txt && pip install '.[test]' -c minimums.txt` installs them; it
needs nothing but Python.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def minimums(extras=("cluster", "parquet", "notebooks", "test")):
    """NAME==VERSION for each requirement NAME>=VERSION of the package and of some extras.

    Raises:
      ValueError: for a requirement without a minimum.
    """
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"]]
    for extra in extras:
        declared += project["optional-dependencies"][extra]
    found = []
    for requirement in declared:
        if requirement.startswith("jaxduel["):
            continue
        if not (parts := re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", requirement)):
            raise ValueError(f"{requirement} has no minimum")
        found.append(f"{parts[1]}=={parts[2]}")
    return found


if __name__ == "__main__":
    print(*minimums(), sep="\n")
