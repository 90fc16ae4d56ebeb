"""The comparison of two versions of the code finds what differs, and nothing else."""

import pytest

from tests import same_numbers


@pytest.mark.slow
def test_it_names_what_differs_alone(tmp_path, capsys):
    only = ["--policies", "pcomp"]
    assert same_numbers.main(only) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 2
    before = tmp_path / "before.txt"
    before.write_text(printed)
    assert same_numbers.main([*only, "--against", str(before)]) == 0
    assert capsys.readouterr().out == ""
    what, digest = printed.splitlines()[1].rsplit(" ", 1)
    before.write_text(printed.replace(digest, "0" * 16))
    assert same_numbers.main([*only, "--against", str(before)]) == 1
    assert capsys.readouterr().out == f"{what}: {'0' * 16} before, {digest} now\n"
