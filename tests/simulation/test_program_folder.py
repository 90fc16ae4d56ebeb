import os
import stat

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


def test_a_program_under_the_name_of_another_is_not_read(tmp_path):
    folder = ProgramFolder(tmp_path, "one", 3_500)
    for name in ("a", "b"):
        folder.write(name, name.encode())
    (tmp_path / "one" / "a.program").replace(tmp_path / "one" / "b.program")
    assert folder.read("b") is None
    assert names(tmp_path) == []
    assert folder.failure is None


def test_a_program_that_others_may_write_is_not_read(tmp_path):
    folder = ProgramFolder(tmp_path, "one", 3_500)
    folder.write("a", b"content")
    (tmp_path / "one" / "a.program").chmod(0o666)
    assert folder.read("a") is None
    folder.write("a", b"content")  # anew, for this user alone
    assert folder.read("a") == b"content"


@pytest.mark.parametrize("place", ["pipe", "zero", "folder"])
def test_what_is_no_file_is_no_program(tmp_path, place):
    folder, path = ProgramFolder(tmp_path, "one", 3_500), tmp_path / "one" / "a.program"
    path.parent.mkdir(mode=0o700)
    made = {
        "pipe": os.mkfifo,
        "zero": lambda path: path.symlink_to("/dev/zero"),
        "folder": os.mkdir,
    }
    made[place](path)
    assert folder.read("a") is None


def test_folders_that_are_made_are_of_this_user_alone(tmp_path):
    before, root = os.umask(0o002), tmp_path / "a" / "b" / "c"
    try:
        ProgramFolder(root, "one", 3_500).write("x", b"content")
    finally:
        os.umask(before)
    for folder in (tmp_path / "a", tmp_path / "a" / "b", root, root / "one"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("part", [".", "one"])
@pytest.mark.parametrize("change", ["group may write", "others may write", "another user's"])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch, part, change):
    root = tmp_path / "programs"
    ProgramFolder(root, "one", 3_500).write("x", b"content")
    if change == "another user's":
        owner = (root / part).stat()
        monkeypatch.setattr(os, "geteuid", lambda: owner.st_uid + 1)
    else:
        (root / part).chmod(0o720 if change.startswith("group") else 0o702)
    folder = ProgramFolder(root, "one", 3_500)
    assert folder.read("x") is None
    folder.write("y", b"content")
    assert names(root) == ["x"]
    expected = "belongs to another user" if "user" in change else "others may write to it"
    assert expected in str(folder.failure)


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
