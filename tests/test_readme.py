import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
SMALLER = (("100_000", "300"), ("num_seeds=200", "num_seeds=2"))


def test_the_two_commands_are_there():
    text = README.read_text()
    setup = "        python3 -m venv .venv && .venv/bin/pip install "
    assert f"{setup}. && .venv/bin/jaxduel reproduce batched-dueling\n" in text
    assert f"{setup}'.[test]' && .venv/bin/python -m pytest\n" in text


def test_its_figure_is_there():
    for path in re.findall(r"!\[.*?\]\((.*?)\)", README.read_text()):
        assert 0 < (README.parent / path).stat().st_size < 200_000


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_its_python_runs(number, tmp_path, monkeypatch):
    """Each block by itself, in a smaller size."""
    from jaxduel.policies import registry

    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    monkeypatch.chdir(tmp_path)
    block = BLOCKS[number]
    for usual, small in SMALLER:
        block = block.replace(usual, small)
    exec(block, {})
    written = re.findall(r'(?:savefig|save)\("(.*?)"\)', block)
    assert all((tmp_path / name).stat().st_size for name in written)


def test_it_has_python():
    assert len(BLOCKS) == 10


def test_its_commands_exist():
    from jaxduel.cli import COMMANDS

    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
    used = {line.split()[1] for block in blocks for line in block.splitlines()}
    assert used == set(COMMANDS)
