import pickle

import numpy as np
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
    with pytest.raises(InputError, match="'PMat', 'other' and which one is not said: pass key="):
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
        ("m.csv", b"0.5,0.5\n0.5,x\n", "'x' in line 2"),
        ("m.csv", b"0.5,0.5\n0.5\n", "1 entries in line 2 but 2 in its first row"),
        ("m.csv", b"\xff\xfe\x00\x80", "no text"),
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
