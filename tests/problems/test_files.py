import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxduel.errors import InputError
from jaxduel.problems.files import from_file, read_matrix

MATRIX = np.array([[0.5, 0.7, 0.6], [0.3, 0.5, 0.25], [0.4, 0.75, 0.5]])


@pytest.mark.parametrize(
    "text",
    [
        "0.5,0.7,0.6\n0.3,0.5,0.25\n0.4,0.75,0.5\n",
        "0.5 0.7 0.6\n0.3 0.5 0.25\n0.4 0.75 0.5",
        "0.5\t0.7\t0.6\r\n0.3\t0.5\t0.25\r\n0.4\t0.75\t0.5\r\n",
        "0.5; 0.7; 0.6\n0.3; 0.5; 0.25\n0.4; 0.75; 0.5\n",
        "# measured\n\n  .5, .7, .6  # best\n3e-1,0.5,0.25\n\n0.4,0.75,0.5\n",
        "a,b,c\n0.5,0.7,0.6\n0.3,0.5,0.25\n0.4,0.75,0.5\n",
        "\ufeff0.5,0.7,0.6\n0.3,0.5,0.25\n0.4,0.75,0.5\n",
        "0,1,2\n0.5,0.7,0.6\n0.3,0.5,0.25\n0.4,0.75,0.5\n",
        "1 2 3\n0.5,0.7,0.6\n0.3,0.5,0.25\n0.4,0.75,0.5\n",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_text_in_many_dialects(tmp_path, text, suffix):
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(text.encode())
    problem = from_file(path)
    np.testing.assert_allclose(problem.preferences, MATRIX, rtol=1e-15)
    assert problem.name == f"mine{suffix}"


def test_numpy_files(tmp_path):
    np.save(tmp_path / "one.npy", MATRIX)
    np.savez(tmp_path / "one.npz", anything=MATRIX)
    np.savez_compressed(tmp_path / "two.npz", PMat=MATRIX, other=np.zeros(3))
    np.testing.assert_array_equal(from_file(tmp_path / "one.npy").preferences[0], MATRIX[0])
    np.testing.assert_array_equal(read_matrix(str(tmp_path / "one.npz")), MATRIX)
    np.testing.assert_array_equal(read_matrix(tmp_path / "two.npz", key="PMat"), MATRIX)
    with pytest.raises(
        InputError, match="'PMat', 'other' and which one is not said: choose one by its key"
    ):
        from_file(tmp_path / "two.npz")
    with pytest.raises(InputError, match="none is called 'p'"):
        from_file(tmp_path / "two.npz", key="p")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_what_savetxt_writes_is_read_back_exactly(tmp_path, entries):
    matrix = np.full((3, 3), 0.5)
    matrix[np.triu_indices(3, 1)] = entries
    np.savetxt(tmp_path / "m.txt", matrix)
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",", header="three arms", fmt="%.17g")
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.txt"), matrix)
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.csv"), matrix)


TABLE = np.array([[0.5, 0.6, 0.8], [0.4, 0.5, 0.65], [0.2, 0.35, 0.5]])
NAMED = {
    "pandas": ",x y,z#1,7\nx y,0.5,0.6,0.8\nz#1,0.4,0.5,0.65\n7,0.2,0.35,0.5\n",
    "first hash": ",#x,y,z\n#x,0.5,0.6,0.8\ny,0.4,0.5,0.65 # a\nz,0.2,0.35,0.5\n# b, c\n",
    "quotes": ',"x, ""X""","y;y",z\n"x, ""X""",.5,.6,.8\n"y;y",.4,.5,.65\nz,.2,.35,.5\n',
    "excel": "\ufeff;x, X;y;z\nx, X;0,5;0,6;0,8\ny;0,4;0,5;0,65\nz;0,2;0,35;0,5\n;;;\n",
    "tabs": "\tx y\tY\tz\nx y\t0,5\t0,6\t0,8\nY\t0,4\t0,5\t0,65\nz\t0,2\t0,35\t0,5\n",
    "semicolon": ",a;b,y,z\na;b,0.5,0.6,0.8\ny,0.4,0.5,0.65\nz,0.2,0.35,0.5\n",
    "R": '"x y" "Y" "z"\n"x y" 0.5 0.6 0.8\n"Y" 0.4 0.5 0.65\n"z" 0.2 0.35 0.5\n',
    "corner": "model;x;y;z\nx;0.5;0.6;0.8\ny;0.4;0.5;0.65\nz;0.2;0.35;0.5\n",
    "K": "3\nx y z\n0.5 0.6 0.8\n0.4 0.5 0.65\n0.2 0.35 0.5\n",
    "index": ",x,y,z\n0,,0.6,0.8\n1,0.4,,0.65\n2,0.2,0.35,\n",
    "numbers": ",0.1,0.20,0.3\n0.1,,0.6,0.8\n0.20,0.4,,0.65\n0.3,0.2,0.35,\n",
    "formula": ",'=x,'y,z\n'=x,0.5,0.6,0.8\n'y,0.4,0.5,0.65\nz,0.2,0.35,0.5\n",
}
NAMES = {
    "pandas": ("x y", "z#1", "7"),
    "first hash": ("#x", "y", "z"),
    "quotes": ('x, "X"', "y;y", "z"),
    "excel": ("x, X", "y", "z"),
    "tabs": ("x y", "Y", "z"),
    "semicolon": ("a;b", "y", "z"),
    "R": ("x y", "Y", "z"),
    "numbers": ("0.1", "0.20", "0.3"),
    "formula": ("=x", "'y", "z"),
}
UNNAMED = {
    "decimal commas": "0,5;0,6;0,8\n0,4;0,5;0,65\n0,2;0,35;0,5\n",
    "commas and spaces": "0,5 0,6  0,8\n0,4\t0,5 0,65\n0,2 0,35 0,5\n",
    "wide tabs": "0.5\t\t0.6\t0.8\t\n0.4\t\t0.5\t0.65\t\n0.2\t0.35\t\t0.5\n",
    "tabs and comments": "0.5,0.6,0.8\t# x, y\n0.4,\t0.5,\t0.65\n0.2,0.35,0.5 # z\n",
    "title": "three arms, so to speak\n0.5 0.6 0.8\n0.4 0.5 0.65\n0.2 0.35 0.5\n",
    "numbers around": ",0,1,2\n0,,0.6,0.8\n1,0.4,,0.65\n2,0.2,0.35,\n",
    "numbers from 1": ";1;2;3\n1;0,5;0,6;0,8\n2;0,4;0,5;0,65\n3;0,2;0,35;0,5\n",
}
TABLES = {
    "pandas": ",x,y,z\nx,0.5,0.6,0.8\ny,0.4,0.5,0.65\nz,0.2,0.35,0.5\n",
    "corner": "model;x;y;z\nx;0.5;0.6;0.8\ny;0.4;0.5;0.65\nz;0.2;0.35;0.5\n",
    "no corner": "x y z\nx 0.5 0.6 0.8\ny 0.4 0.5 0.65\nz 0.2 0.35 0.5\n",
    "number of arms": "3\n0.5 0.6 0.8\n0.4 0.5 0.65\n0.2 0.35 0.5\n",
}
BLANKS = {
    "names": ",x,y,z\nx,,0.6,0.8\ny,0.4,,0.65\nz,0.2,0.35,\n",
    "header": "x,y,z\n,0.6,0.8\n0.4,,0.65\n0.2,0.35,\n",
    "none": ",0.6,0.8\n0.4,,0.65\n0.2,0.35,\n",
    "one": "0.5,0.6,0.8\n0.4, ,0.65\n0.2,0.35,0.5\n",
    "tabs": "\t0.6\t0.8\n0.4\t\t0.65\n0.2\t0.35\t\n",
    "words": "NA 0.6 0.8\n0.4 - 0.65\n0.2 0.35 NaN\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_tables_with_names_or_the_number_of_arms(text, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.csv"), TABLE)


@pytest.mark.filterwarnings("ignore:.*has blanks on its diagonal")
@pytest.mark.parametrize("how", NAMED)
def test_names_of_arms_are_kept(how, tmp_path):
    (tmp_path / "m.csv").write_text(NAMED[how])
    problem = from_file(tmp_path / "m.csv")
    np.testing.assert_allclose(problem.preferences, TABLE, rtol=1e-15)
    assert problem.arms == NAMES.get(how, ("x", "y", "z"))


@pytest.mark.filterwarnings("ignore:.*has blanks on its diagonal")
@pytest.mark.parametrize("text", UNNAMED.values(), ids=UNNAMED)
def test_arms_without_names_are_numbers(text, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    problem = from_file(tmp_path / "m.csv")
    np.testing.assert_allclose(problem.preferences, TABLE, rtol=1e-15)
    assert problem.arms is None


def test_what_pandas_writes_is_read_back(tmp_path):
    arms = ["ada", "b, c", 'd "e"']
    matrix = np.where(np.eye(3), np.nan, TABLE)
    frame = pd.DataFrame(matrix, arms, arms)
    frame.to_csv(tmp_path / "c.csv")
    frame.to_csv(tmp_path / "t.txt", sep="\t")
    frame.to_csv(tmp_path / "s.csv", sep=";", decimal=",")
    pd.DataFrame(matrix).to_csv(tmp_path / "n.csv")
    for name, kept in {"c.csv": arms, "t.txt": arms, "s.csv": arms, "n.csv": None}.items():
        with pytest.warns(UserWarning, match="has blanks on its diagonal, which are read as 1/2"):
            problem = from_file(tmp_path / name)
        np.testing.assert_allclose(problem.preferences, TABLE, rtol=1e-15)
        assert problem.arms == (None if kept is None else tuple(kept))


def test_a_diagonal_of_zeros_or_nan_is_one_half_and_said(tmp_path):
    tournament = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    np.save(tmp_path / "zeros.npy", tournament)
    np.savez(tmp_path / "nan.npz", p=np.where(np.eye(3), [np.nan, 0, 0.5], TABLE))
    with pytest.warns(UserWarning, match="has zeros on its diagonal, which are read as 1/2"):
        problem = from_file(tmp_path / "zeros.npy")
    np.testing.assert_array_equal(problem.preferences, tournament + np.eye(3) / 2)
    with pytest.warns(UserWarning, match="has blanks and zeros on its diagonal, which"):
        problem = from_file(tmp_path / "nan.npz")
    np.testing.assert_allclose(problem.preferences, TABLE, rtol=1e-15)


@pytest.mark.parametrize("text", BLANKS.values(), ids=BLANKS)
def test_a_blank_diagonal_is_one_half_and_said(text, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    with pytest.warns(UserWarning, match=r"'.*m\.csv' has blanks on its diagonal, .* read as 1/2"):
        problem = from_file(tmp_path / "m.csv")
    np.testing.assert_allclose(problem.preferences, TABLE, rtol=1e-15)
    assert problem.condorcet_winner == 0
    np.testing.assert_allclose(problem.borda_scores, [0.7, 0.525, 0.275])


def _pickled():
    return pickle.dumps(MATRIX)


def _object_array(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([MATRIX, None], dtype=object), allow_pickle=True)
    return (tmp_path / "objects.npy").read_bytes()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("m.npy", b"", "no NumPy file"),
        ("m.npy", b"0.5,0.5\n0.5,0.5\n", "no NumPy file"),
        ("m.npy", _pickled(), "no NumPy file"),
        ("m.npz", b"PK\x03\x04 broken", "is damaged"),
        ("m.npy", b"\x93NUMPY\x01\x00 broken", "is damaged"),
        ("m.csv", b"", "holds no matrix"),
        ("m.csv", b"# only a comment\n", "holds no matrix"),
        ("m.csv", b"a,b\n", "holds no matrix"),
        ("m.txt", b"Dear reader,\nthis is prose.\n", "'this' in line 2: a matrix has rows"),
        ("m.csv", b"0.5,,0.4\n", "'' in line 1"),
        ("m.csv", b"50%,60%\n40%,50%\n", "'50%' in line 1: .* only, such as 0.5 for 50 % or 1/2"),
        ("m.txt", b"a b\n1/2 3/5\n2/5 1/2\n", "'1/2' in line 2: .* only, such as 0.5 for"),
        ("m.csv", b"0.5,0.5\n0.5,x\n", "'x' in line 2"),
        ("m.csv", b",x,y\ny,0.5,0.6\nx,0.4,0.5\n", "'y' before row 1, in line 2: names of rows"),
        ("m.csv", b",x,y\nx,0.5,0.6\nv,0.4,0.5\n", "'v' before row 2, in line 3: names of rows"),
        ("m.csv", b"x,y\nx,0.5,0.6\nv,0.4,0.5\n", "'v' in line 3: a matrix has rows of numbers"),
        ("m.csv", b",2,y\n1,0.5,0.6\n2,0.4,0.5\n", "'2' before row 2, in line 3: names of rows"),
        ("m.csv", b",x,x\nx,0.5,0.6\nx,0.4,0.5\n", "matrix 'm.csv' has two arms called 'x'"),
        ("m.csv", b"x,,z\n,.6,.7\n.4,,.6\n.3,.4,\n", "no name for arm 1 .counted from 0"),
        ("m.csv", b",x,y\nx,,nan\ny,0.4,\n", r"has nan at \[0, 1\] .*: entries must be finite"),
        ("m.csv", b",0.6\n0.5,\n", r"has p\[0, 1\] \+ p\[1, 0\] = 0.6 \+ 0.5"),
        ("m.csv", b"0,60\n40,0\n", "; divide percentages by 100"),
        ("m.csv", b"0.7,0.6\n0.4,0\n", r"has 0.7 at \[0, 0\] .*: the diagonal"),
        ("m.csv", b'"' + b"x" * 200_000 + b'",y\n', "is no CSV in line 1: field larger than"),
        ("m.csv", b",x,y\nx,0.5,\ny,0.4,0.5\n", "'' in line 2: a matrix has rows of numbers"),
        ("m.csv", b",x,y\nx,0.5,0.6\ny,0.4,0.5\nx,0.5,0.5\n", "'x' before row 3, in line 4"),
        (
            "m.txt",
            b"3\n0.5 0.7\n0.3 0.5\n",
            "3 alone in its first line, which is not the number of its",
        ),
        ("m.txt", b"2\n", "holds no matrix"),
        ("m.txt", b"7" * 5_000 + b"\n0.5 0.7\n", "7... .5,000 characters. alone in its first line"),
        ("m.txt", b"x\nx\n", "has 0 arms"),
        ("m.csv", b"0.5,0.5\n0.5\n", "1 entries in line 2 but 2 in its first row"),
        ("m.csv", b"\xff\xfe\x00\x80", "no text"),
        ("m.csv", b"0.5,0.6;0.4\n", "'0.5,0.6' in line 1: a matrix has rows of numbers only"),
        ("m.csv", b"a,b\n50,60\n40,50\n", r"50 at \[0, 0\] .*; divide percentages by 100"),
        ("m.csv", b"0,30,21\n18,0,25\n22,11,0\n", "; divide numbers of wins by the comparisons"),
        ("m.csv", b"0.5," * 4001, "has 4,002 columns or rows: matrices of at most 4,000 arms"),
        ("m.csv", b"0.5\n" * 4002, "4,001 columns or rows"),
        ("m.csv", b"0" * 300_000, "more than 256,000 characters in line 1: matrices of at most"),
        ("m.json", b"[[0.5]]", "unknown kind: .npy, .npz, .csv, .txt"),
        ("m.csv", b"0.5,0.7\n0.2,0.5\n", r"matrix 'm.csv' has p\[0, 1\] \+ p\[1, 0\]"),
        ("m.csv", b"0.5,0.7,0.1\n0.2,0.5,0.1\n", r"matrix 'm.csv' has shape \(2, 3\)"),
        ("m.csv", b"0.5,nan\n0.2,0.5\n", r"matrix 'm.csv' has nan at \[0, 1\]"),
    ],
)
def test_files_that_hold_no_matrix_are_refused_in_one_sentence(tmp_path, file, content, message):
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        from_file(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_pickled_objects_are_refused(tmp_path):
    path = tmp_path / "m.npy"
    path.write_bytes(_object_array(tmp_path))
    with pytest.raises(InputError, match="holds pickled objects"):
        from_file(path)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        from_file(tmp_path / "absent.npy")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        from_file(tmp_path / "folder.csv")


def test_a_key_is_for_files_with_keys_only(tmp_path):
    np.savez(tmp_path / "none.npz")
    with pytest.raises(InputError, match="holds no array"):
        from_file(tmp_path / "none.npz")
    np.savetxt(tmp_path / "m.csv", MATRIX, delimiter=",")
    with pytest.raises(InputError, match="has no arrays with keys"):
        from_file(tmp_path / "m.csv", key="a")


@pytest.mark.parametrize("name", ["large.csv", "large.txt", "large.npy", "large.npz"])
def test_files_of_2_gib_are_refused_before_they_are_read(tmp_path, name):
    path = tmp_path / name
    path.touch()
    os.truncate(path, 2 << 30)
    with pytest.raises(InputError, match="holds 2,048 MiB: matrices of at most 512 MiB can"):
        from_file(path)


def test_an_archive_that_unpacks_to_more_than_is_read_is_refused(tmp_path):
    packed = zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packed as archive, archive.open("p.npy", "w", force_zip64=True) as member:
        for _ in range(514):
            member.write(bytes(1 << 20))
    assert (tmp_path / "m.npz").stat().st_size < 1 << 23
    with pytest.raises(InputError, match="holds 514 MiB"):
        from_file(tmp_path / "m.npz")


def test_arrays_of_too_many_arms_are_refused(tmp_path):
    np.save(tmp_path / "m.npy", np.zeros((4001, 2), np.int8))
    with pytest.raises(InputError, match="has 4,001 columns or rows"):
        from_file(tmp_path / "m.npy")


def test_pipes_and_devices_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(InputError, match="it is a pipe or device, not a regular file"):
            from_file(tmp_path / name)


@pytest.mark.parametrize("length", [300, 5000])
def test_long_names_are_shortened_in_the_sentence(length):
    with pytest.raises(InputError, match="cannot be read: File name too long") as caught:
        from_file("x" * length + ".csv")
    assert len(str(caught.value)) < 400
