"""The process of the command line: `jaxduel`, or `python -m jaxduel`."""

import os
import sys
import threading

from jaxduel import interrupts


def main() -> int:
    """Carries out the command of the process's arguments; from here on Ctrl-C ends in one line."""
    interrupts.watch()
    from jaxduel.cli import main as carry_out

    code = carry_out()
    if any(not t.daemon for t in threading.enumerate() if t is not threading.main_thread()):
        sys.stdout.flush()  # what still compiles for a run that was stopped is not waited for
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
