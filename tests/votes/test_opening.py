"""Packed files, encodings, separators, files without a header, and formats told by their start."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

import jaxduel as jd
from jaxduel.errors import InputError

VOTES = "left,right,winner\nada,bob,ada\nbob,ada,ada\nbob,cyd,cyd\nada,cyd,tie\n"
WINS = [[0, 2, 0], [0, 0, 0], [0, 1, 0]]
ROWS = VOTES.partition("\n")[2]
RECORDS = '{"winner": "ada", "loser": "bob"}\n{"winner": "bob", "loser": "ada"}\n'
GAME = '[White "ada"]\n[Black "bob"]\n[Result "1-0"]\n\n1. e4 1-0\n'


def written(folder, content, name="votes.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name.replace("_", "."), content)
    return file.getvalue()


def test_a_zip_archive_of_one_file(tmp_path):
    votes = jd.votes.read(written(tmp_path, archive(votes_csv=VOTES), "votes.zip"))
    assert votes.wins.tolist() == WINS
    votes = jd.votes.read(written(tmp_path, archive(votes_jsonl=RECORDS), "any"))
    assert votes.wins.tolist() == [[0, 1], [1, 0]]
    votes = jd.votes.read(written(tmp_path, archive(x_soc="2: 1,2\n"), "any"))
    assert votes.wins.tolist() == [[0, 2], [0, 0]]


def test_an_archive_made_on_a_mac_has_a_second_file(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("votes.csv", VOTES)
        packed.writestr("__MACOSX/._votes.csv", b"\0\5\x16\7")
    assert jd.votes.read(written(tmp_path, file.getvalue(), "votes.zip")).wins.tolist() == WINS


@pytest.mark.parametrize("content", [RECORDS, GAME])
def test_other_formats_are_gzipped_too(content, tmp_path):
    votes = jd.votes.read(written(tmp_path, gzip.compress(content.encode()), "log.gz"))
    assert votes.wins[0, 1] == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_alone_and_in_an_archive(pack, tmp_path):
    packed = pack(VOTES.encode())
    assert jd.votes.read(written(tmp_path, packed, "log")).wins.tolist() == WINS
    inside = archive(votes_csv_gz=packed)
    assert jd.votes.read(written(tmp_path, inside, "log.zip")).wins.tolist() == WINS
    with pytest.raises(InputError, match=r"is damaged: it cannot be unpacked\.$"):
        jd.votes.read(written(tmp_path, packed[: len(packed) // 2], "log"))


def test_archives_in_archives_are_unpacked_twice_at_most(tmp_path):
    """An archive may hold itself."""
    thrice = gzip.compress(gzip.compress(gzip.compress(VOTES.encode())))
    with pytest.raises(InputError, match="is packed more than 2 times: unpack it first"):
        jd.votes.read(written(tmp_path, thrice, "log.gz"))


def test_other_packers_are_named(tmp_path):
    with pytest.raises(InputError, match="is packed by zstd: a plain file, or one packed by gzip"):
        jd.votes.read(written(tmp_path, b"\x28\xb5\x2f\xfd" + bytes(20), "votes.csv.zst"))


def test_bad_archives_get_a_sentence(tmp_path):
    several = written(tmp_path, archive(a_csv=VOTES, b_csv=VOTES))
    with pytest.raises(InputError, match="is a zip archive, or a workbook, of 2 files: one file"):
        jd.votes.read(several)
    with pytest.raises(InputError, match="or a workbook, of 0 files"):
        jd.votes.read(written(tmp_path, archive()))
    whole = bytearray(archive(votes_csv=VOTES))
    with pytest.raises(InputError, match="is damaged: it cannot be unpacked"):
        jd.votes.read(written(tmp_path, bytes(whole[:-30])))
    whole[whole.index(b"PK\x01\x02") + 8] |= 1  # encrypted, says the directory
    with pytest.raises(InputError, match=r"cannot be unpacked: .* encrypted"):
        jd.votes.read(written(tmp_path, bytes(whole)))


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   "])
def test_a_file_without_a_header(separator, tmp_path):
    path = written(tmp_path, ROWS.replace(",", separator))
    votes = jd.votes.read(path, header=["left", "right", "winner"])
    assert votes.wins.tolist() == WINS
    assert votes.history[0].tolist() == [0, 1, 1]
    assert jd.votes.read(path, header=["winner", "loser", "note"]).wins[0, 1] == 1


def test_spaces_separate_where_nothing_else_does(tmp_path):
    text = VOTES.replace(",", "  ").replace("cyd", '"cyd x"')
    assert jd.votes.read(written(tmp_path, text)).arms == ("ada", "bob", "cyd x")
    ranks = jd.votes.read(written(tmp_path, VOTES.replace("ada", "ada l")))
    assert ranks.arms == ("ada l", "bob", "cyd")


@pytest.mark.parametrize(
    ("text", "header", "message"),
    [
        (ROWS, ["left", "right"], "3 columns in its first line, and 2 names were given"),
        (ROWS, ["left", 3, "winner"], "a column is given by its name, not 3"),
        (ROWS, ["ada", "bob", "cyd"], "needs columns left, right and winner"),
        ("ada,bob,ada\nada,bob\n", ["left", "right", "winner"], "2: 2 entries, but the first line"),
        (
            "ada,bob,ada\nada,bob,x\n",
            ["left", "right", "winner"],
            "line 2: the winner, 'x', is nei",
        ),
        (RECORDS, ["winner", "loser"], "names its columns: no names of columns can be given"),
    ],
)
def test_bad_headers_get_a_sentence(text, header, message, tmp_path):
    with pytest.raises(InputError, match=message):
        jd.votes.read(written(tmp_path, text), header=header)


def test_without_a_header_the_last_line_needs_an_end_too(tmp_path):
    with pytest.warns(UserWarning, match=r"the last line of .*, 5, has no end and was left out"):
        votes = jd.votes.read(written(tmp_path, f"{ROWS}ada,b"), header=["left", "right", "winner"])
    assert votes.wins.tolist() == WINS
