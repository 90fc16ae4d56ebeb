"""Exit codes of the command line."""

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130
