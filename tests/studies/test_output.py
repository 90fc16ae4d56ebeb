import pytest

import jaxduel as jd
from jaxduel.studies.output import OutputFolder


def test_files_are_listed_once_and_replaced(tmp_path):
    folder = OutputFolder(tmp_path / "a" / "b")
    folder.write("x.txt", "one")
    folder.write("x.txt", b"two")
    assert folder.files == [tmp_path / "a" / "b" / "x.txt"]
    assert folder.files[0].read_text() == "two"


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(jd.InputError, match="cannot be created"):
        OutputFolder(tmp_path / "file")
    with pytest.raises(jd.InputError, match="cannot be created"):
        OutputFolder(tmp_path / "file" / "inside")
