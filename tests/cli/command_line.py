"""Commands, and what comes of them: for tests."""

from jaxduel.cli import main

RUN = ("run", "--policy", "rmed1", "--problem", "arxiv", "--horizon", "1e2", "--seeds", "2")
SCOMP2 = ("run", "--policy", "scomp2", "--problem", "arxiv", "--horizon", "1e2")


def instead(base, *words: str) -> list[str]:
    """A command with options in the stead of those that it has already, settings on top."""
    given, kept, is_kept = {*words} - {"--set"}, [], True
    for token in base:
        is_kept = token not in given if token.startswith("--") else is_kept
        kept += [token] if is_kept else []
    return [*kept, *words]


def outcome(capsys, *arguments: object) -> tuple[int, str, str]:
    """The code that a command ends with, what it prints and its errors."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as leaving:  # tyro's
        code = leaving.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err
