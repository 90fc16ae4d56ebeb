"""Every public function and class has an example in its docstring, and it runs."""

import doctest
import importlib
import inspect

import pytest

from jaxduel.policies import registry

ROOMS = (
    *("jaxduel", "jaxduel.problems", "jaxduel.policies", "jaxduel.theory", "jaxduel.gradients"),
    *(
        "jaxduel.votes",
        "jaxduel.experiments.sweep",
        "jaxduel.plotting",
        "jaxduel.numerics",
        "jaxduel.stats",
    ),
)
"""Packages and modules whose names users import."""
ERRORS = {"AssumptionWarning", "InputError", "SolverError"}
NEED_FILES = {"arena"}
"""Functions whose examples need files that the package does not ship."""


def _public():
    """Functions and classes by the name of their first room."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in dir(module):
            thing = getattr(module, name)
            ours = getattr(thing, "__module__", "").startswith("jaxduel")
            if ours and inspect.isroutine(thing) | inspect.isclass(thing) and name not in ERRORS:
                found.setdefault(thing, pytest.param(thing, id=f"{room.split('.')[-1]}.{name}"))
    return list(found.values())


@pytest.mark.parametrize("thing", _public())
def test_example_runs(thing, tmp_path, monkeypatch, request):
    if thing.__name__ in NEED_FILES:
        request.getfixturevalue("data_folder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    assert examples, "it has no example"
    test = doctest.DocTest(examples, {}, thing.__qualname__, None, 0, None)
    said = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)
