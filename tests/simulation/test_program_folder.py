import os

import pytest

import jaxduel as jd
from jaxduel.simulation import compilation_cache
from jaxduel.simulation.program_folder import ProgramFolder


def names(root):
    return sorted(path.stem for path in root.rglob("*.program"))


def test_what_is_written_is_read(tmp_path):
    folder = ProgramFolder(tmp_path / "a" / "b", "one", 10_000)
    assert folder.read("x") is None
    folder.write("x", b"content")
    assert folder.read("x") == b"content"
    assert ProgramFolder(tmp_path / "a" / "b", "other", 10_000).read("x") is None
    folder.remove("x")
    folder.remove("x")
    assert folder.read("x") is None


def test_what_was_used_longest_ago_makes_room_whatever_version_it_is_of(tmp_path):
    old, new = (ProgramFolder(tmp_path, part, 3_500) for part in ("old", "new"))
    for number, (folder, name) in enumerate([(old, "a"), (new, "b"), (new, "c")]):
        folder.write(name, b"x" * 1_000)
        os.utime(tmp_path / folder._folder.name / f"{name}.program", (number, number))
    assert new.read("b") is not None  # used now
    new.write("d", b"x" * 1_000)
    assert names(tmp_path) == ["b", "c", "d"]
    new.write("e", b"x" * 1_000)
    assert names(tmp_path) == ["b", "d", "e"]
    new.write("too large", b"x" * 4_000)
    assert names(tmp_path) == ["b", "d", "e"]
    new.write("alone", b"x" * 3_000)
    assert names(tmp_path) == ["alone"]


def test_parts_of_processes_that_are_gone_are_removed_and_other_files_stay(tmp_path):
    folder = ProgramFolder(tmp_path, "one", 3_500)
    folder.write("a", b"content")
    gone, busy, foreign = (tmp_path / "one" / name for name in ("x.part", "y.part", "notes.txt"))
    for path in (gone, busy, foreign):
        path.write_text("text")
    os.utime(gone, (0, 0))
    folder.write("b", b"content")
    assert not gone.exists()
    assert busy.exists()
    assert foreign.exists()


def test_a_folder_in_the_place_of_a_file_is_an_error_once(tmp_path):
    folder = ProgramFolder(tmp_path, "one", 3_500)
    (tmp_path / "one" / "a.program" / "below").mkdir(parents=True)
    assert folder.read("a") is None
    folder.write("a", b"content")
    assert folder.failure is not None
    folder.write("b", b"content")
    assert folder.read("b") is None


@pytest.fixture
def in_use(monkeypatch):
    """The folder in use, after a call of `use_compilation_cache`."""
    monkeypatch.setattr(compilation_cache, "_folder", None)

    def of(*args, **settings):
        jd.use_compilation_cache(*args, **settings)
        return compilation_cache.current()

    return of


def test_which_folder_is_used(in_use, tmp_path, monkeypatch):
    assert in_use() is None, "the tests' environment turns it off"
    assert in_use(tmp_path).root == tmp_path
    assert in_use("~/programs").root == tmp_path.home() / "programs"
    assert in_use("off") is None
    monkeypatch.setenv("JAXDUEL_CACHE", str(tmp_path / "mine"))
    assert in_use().root == tmp_path / "mine"
    monkeypatch.setenv("JAXDUEL_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "jaxduel" in in_use().root.parts
    assert in_use().root.name == "programs"
    assert not list(tmp_path.iterdir()), "nothing is made before there is a program"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"most_bytes": -1}, "most_bytes must be a whole number of at least 0, not -1"),
        ({"most_bytes": 1e9}, "most_bytes must be a whole number"),
        ({"most_bytes": True}, "most_bytes must be a whole number"),
        ({"folder": 3}, "folder must be a path, 'off' or None, not 3"),
        ({"folder": ""}, "folder must be a path"),
    ],
)
def test_bad_arguments(in_use, arguments, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        in_use(**arguments)
