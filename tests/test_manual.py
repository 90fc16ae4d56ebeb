"""The manual: docstrings become Markdown, and broken links are found. Its build tests the rest."""

import pytest

from notebooks.manual import check, docstrings

TEXT = """Beat the Mean, Algorithm 1.

While arms are left: line 3 takes b. Lines 4 to 6: b meets b'. Line 7: one of them leaves.

    c(n) = sqrt(log(1 / delta) / n)

Args:
  gamma: relaxation; 1.3
    in experiments.
  *scales: radii.

It draws two numbers.

Returns:
  The winner.

Example:
  >>> 1 + 1
  2
"""


def test_sections_keep_their_order():
    found = docstrings.sections(TEXT.rstrip())
    assert [each.head for each in found] == ["", "Arg", "", "Return", "Example"]
    assert found[1].text == "gamma: relaxation; 1.3\n  in experiments.\n*scales: radii."


def test_lines_of_pseudo_code_are_points_and_formulas_stay():
    text = docstrings.markdown(TEXT.rstrip())
    assert "**line 3** takes b.\n\n- **Lines 4 to 6**: b meets b'.\n- **Line 7**: one of" in text
    assert "\n\n    c(n) = sqrt(log(1 / delta) / n)\n\n" in text


def test_entries_are_points_and_examples_are_code():
    text = docstrings.markdown(TEXT.rstrip())
    assert "- `gamma`: relaxation; 1.3\n  in experiments.\n- `*scales`: radii." in text
    assert "**Returns**: The winner." in text
    assert "```pycon\n>>> 1 + 1\n2\n```" in text


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        *(("b.html#end", True), ("#top", True), ("https://nowhere.invalid/x", True)),
        *(("b.html#no", False), ("c.html", False), ("x.svg", False)),
    ],
)
def test_links_are_followed_on_this_disk(link, leads, tmp_path):
    (tmp_path / "a.html").write_text(f'<h1 id="top"></h1><a href="{link}"></a>')
    (tmp_path / "b.html").write_text('<p id="end"></p>')
    assert check.broken(tmp_path) == ([] if leads else [f"a.html: {link}"])
