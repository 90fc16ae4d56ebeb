"""Identity of results: digests of the simulating code and of instances, and versions."""

from __future__ import annotations

import ast
import hashlib
import threading
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import jax
import numpy as np

from jaxduel.problems import Problem
from jaxduel.problems.piecewise import rewards_of
from jaxduel.simulation import compilation_cache

_PACKAGES = ("numerics", "problems", "policies", "simulation")
"""Packages whose code determines simulated numbers, beside `jaxduel.stats`."""
_DRAWING = "figures.py"
"""Name of files that draw results."""

_parsing = threading.Lock()
"""Lock: Python 3.11 cannot make two syntax trees at a time."""


def code_digest(*others: str) -> str:
    """Digest of the code that simulates, from its syntax trees: 16 hexadecimal digits.

    Comments, docstrings and formatting do not count; the minor version of Python does not either
    (3.11 to 3.13 give the same digest). Parsing takes 0.4 seconds, so the folder of compiled
    programs, if it is in use, keeps the digest, named by the digest of the files' bytes.

    Args:
      others: paths of further files of the package to include; none for the simulation alone.
    """
    with _parsing:
        return _code_digest(others)


@cache
def _code_digest(others: tuple[str, ...]) -> str:
    package = Path(__file__).parents[1]
    files = sorted(file for name in _PACKAGES for file in (package / name).rglob("*.py"))
    files = [file for file in files if file.name != _DRAWING] + [*package.glob("stats.py")]
    names = [file.relative_to(package).as_posix() for file in [*files, *map(Path, others)]]
    sources = [(package / name).read_bytes() for name in names]
    kept_as = f"code-{_digest(names, map(repr, sources))}"
    folder = compilation_cache.current()
    kept = None if folder is None else folder.read(kept_as)
    if kept is not None:
        return kept.decode()
    digest = _digest(names, map(_canonical, map(ast.parse, sources)))
    if folder is not None:
        folder.write(kept_as, digest.encode())
    return digest


def _digest(names: Iterable[str], contents: Iterable[str]) -> str:
    """Digest of files: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, content in zip(names, contents, strict=True):
        digest.update(f"{name}\n{content}".encode())
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """Versions of jaxduel, jax, jaxlib, numpy, scipy and python, by these names."""
    names = ("jaxduel", "jax", "jaxlib", "numpy", "scipy")
    return {**{name: version(name) for name in names}, "python": python_version()}


def problem_digest(problem: Problem) -> str:
    """Digest of an instance's kind and float64 numbers, not its name: 16 hexadecimal digits."""
    kind = rewards_of(problem) or "preferences"
    content = hashlib.sha256(f"{kind} {problem.num_arms}".encode())
    for array in jax.tree.leaves(problem):
        content.update(np.ascontiguousarray(array, "<f8").tobytes())
    return content.hexdigest()[:16]


def _canonical(node: Any) -> str:
    """A syntax tree as text, without positions, empty fields and idle statements.

    `ast.dump` does not do: versions of Python differ in the empty fields that it shows.
    """
    if isinstance(node, list):
        return f"[{','.join([_canonical(item) for item in node if not _is_idle(item)])}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value is not None and value != []:
            fields.append(f"{name}={_canonical(value)}")
    return f"{type(node).__name__}({','.join(fields)})"


def _is_idle(node: Any) -> bool:
    """True if a statement is a bare constant: a docstring, or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
