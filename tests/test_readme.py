"""README and the guide: their Python runs, their commands exist, their links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
PAGES = [README, *sorted((ROOT / "notebooks" / "guide").glob("*.md")), CONTRIBUTING]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]
SMALLER = (("100_000", "300"), ("num_seeds=200", "num_seeds=2"))
MOST_WORDS = 1_000


def test_the_two_commands_are_there():
    text = README.read_text()
    setup = "        python3 -m venv .venv && .venv/bin/pip install "
    assert f"{setup}. && .venv/bin/jaxduel reproduce batched-dueling\n" in text
    assert f"{setup}'.[test]' && .venv/bin/python -m pytest\n" in text


def test_readme_is_short():
    assert len(README.read_text().split()) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for place in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if not place.startswith("http"):
            assert (page.parent / place.partition("#")[0]).exists(), place


def test_its_figure_is_small():
    (path,) = re.findall(r'<img src="(.*?)" alt="[^"]+" width="\d+">', README.read_text())
    assert 0 < (README.parent / path).stat().st_size < 200_000


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS)
def test_python_runs(block, tmp_path, monkeypatch):
    """Each block by itself, in a smaller size."""
    from jaxduel.policies import registry

    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    monkeypatch.chdir(tmp_path)
    for usual, small in SMALLER:
        block = block.replace(usual, small)
    exec(block, {})
    written = re.findall(r'(?:savefig|save)\("(.*?)"\)', block)
    assert all((tmp_path / name).stat().st_size for name in written)


def test_there_is_python_on_the_pages():
    assert len(BLOCKS) >= 9


def test_commands_exist():
    from jaxduel.cli import COMMANDS

    text = "\n".join(page.read_text() for page in PAGES).replace("\\\n", "")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    used = {line.split()[1] for block in blocks for line in block.splitlines() if line}
    assert used == set(COMMANDS)
