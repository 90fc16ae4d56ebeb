"""Records of a page, read back."""

import os

import pytest

from jaxduel.errors import InputError
from jaxduel.studies.report.records import FILE, Figure, Section, encoded, read_section

SECTION = Section("gap", "Gaps", figures=(Figure("1a", "One", files=("1a.pdf",)),), seconds=2.5)


def test_a_section_comes_back(tmp_path):
    assert read_section(tmp_path) is None
    (tmp_path / FILE).write_bytes(encoded(SECTION))
    assert read_section(tmp_path) == SECTION


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        encoded(SECTION)[:-1],
        encoded(SECTION).replace(b'"Gaps"', b"7"),
        encoded(SECTION).replace(b"2.5", b'"2.5"'),
        encoded(SECTION).replace(b'"seconds":2.5,', b'"seconds":true,'),
        encoded(SECTION).replace(b'"Gaps"', b'"\\ud800"'),
        b"\xff" + encoded(SECTION),
    ],
)
def test_a_file_of_another_structure_is_refused(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(InputError, match="is damaged, or of another version"):
        read_section(tmp_path)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(InputError, match="cannot be read: it is not a regular file"):
        read_section(tmp_path)
