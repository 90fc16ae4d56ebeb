"""Lines of what commands print."""

from jaxduel.cli.lines import in_one_line, wrapped


def test_long_lines_go_on_under_their_last_column():
    assert wrapped("  label  " + "word " * 20) == [
        "  label  " + " ".join(["word"] * 14),
        "         " + " ".join(["word"] * 6),
    ]
    assert wrapped("title " + "word " * 17)[1] == "    word word"
    assert wrapped("") == [""]
    row = "  ".join(["number"] * 20)
    assert wrapped(row) == [row]
    assert in_one_line("word, " * 20) == "word, " * 11 + "word ..."
