"""The table of `benchmarks.gpu`: printed row by row, and written as JSON when a row begins or ends,
so that a process that is killed loses nothing and another one can go on.
"""

import json
import time
from pathlib import Path


class Table:
    """Rows by name, each a dictionary: its numbers or an `error`, and its `seconds`.

    Args:
      path: the JSON file; rows that it holds are taken over.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.rows = json.loads(self.path.read_text()) if self.path.exists() else {}

    @property
    def begun(self):
        """Name of the row that has begun and not ended; empty if there is none."""
        return next((name for name, row in self.rows.items() if "begun" in row), "")

    @property
    def is_late(self):
        """True if that one should have ended."""
        return bool(self.begun) and time.time() > self.rows[self.begun]["due"]

    def begin(self, name, limit):
        """Notes that a row begins, which is to end within `limit` seconds."""
        now = time.time()
        self.rows[name] = {"begun": now, "due": now + limit}
        self._write()

    def end(self, name, **values):
        """Enters what was found for the row that has begun, and prints it."""
        values["seconds"] = round(time.time() - self.rows[name]["begun"], 1)
        self.rows[name] = values
        self._write()
        print(f"{name}:", ", ".join(f"{k} {_text(v)}" for k, v in values.items()), flush=True)

    def _write(self):
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.write_text(json.dumps(self.rows, indent=1))
        fresh.replace(self.path)


def _text(value):
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
