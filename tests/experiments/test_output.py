import pytest

import jaxduel as jd
from jaxduel.experiments import OutputFolder
from jaxduel.experiments.output import atomic_path, require_writable_file


def test_files_are_listed_once_and_replaced(tmp_path):
    folder = OutputFolder(tmp_path / "a" / "b")
    folder.write("x.txt", "one")
    folder.write("x.txt", b"two")
    assert folder.files == [tmp_path / "a" / "b" / "x.txt"]
    assert folder.files[0].read_text() == "two"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(jd.InputError, match="cannot be created"):
        OutputFolder(tmp_path / "file")
    with pytest.raises(jd.InputError, match="cannot be created"):
        OutputFolder(tmp_path / "file" / "inside")


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    assert require_writable_file(tmp_path / "r.nc") == tmp_path / "r.nc"
    with pytest.raises(jd.InputError, match="is a folder"):
        require_writable_file(tmp_path)
    with pytest.raises(jd.InputError, match="no folder"):
        require_writable_file(tmp_path / "missing" / "r.nc")
