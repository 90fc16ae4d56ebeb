"""Every public function and class has an example in its docstring, and it runs."""

import doctest

import pytest

from jaxduel.policies import registry
from notebooks.manual import public

NEED_FILES = {"arena"}
"""Functions whose examples need files that the package does not ship."""


def test_every_public_name_has_an_example():
    assert public.lacking() == []


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize(
    "thing",
    [
        pytest.param(
            thing,
            id=f"{room.split('.')[-1]}.{name}",
            marks=[pytest.mark.thorough] if room == "jaxduel.policies" else [],
        )
        for room, name, thing in public.functions_and_classes()
        if name not in public.NEED_NO_EXAMPLE
    ],
)
def test_example_runs(thing, tmp_path, monkeypatch, request):
    if thing.__name__ in NEED_FILES:
        request.getfixturevalue("data_folder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    test = doctest.DocTest(public.examples(thing), {}, thing.__qualname__, None, 0, None)
    said = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)
