"""The process of the command line: `jaxduel`, or `python -m jaxduel`."""

import gc
import os
import sys
import threading

from jaxduel import interrupts


def main() -> int:
    """Carries out the command in `sys.argv`; from here on, Ctrl-C prints one line and ends it."""
    interrupts.watch()
    gc.set_threshold(100_000, 50, 100)  # imports and traces make many objects, and few in cycles
    from jaxduel.cli import main as carry_out

    code = carry_out()
    if code == interrupts.INTERRUPTED:
        code = interrupts.exit_code()
    if any(not t.daemon for t in threading.enumerate() if t is not threading.main_thread()):
        sys.stdout.flush()  # do not wait for compilations of a stopped run
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
