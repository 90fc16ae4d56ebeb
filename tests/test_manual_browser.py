"""The built manual in a browser: no error, no picture missing, no sideways scroll, search works."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.browsing import DESKTOP, PHONE, browser

SITE = Path(__file__).parents[1] / "site" / "manual"
PAGES = (
    "index",
    "guide/start",
    "guide/votes",
    "reference/policies/index",
    "reference/policies/dts",
    "reference/papers/batched-dueling",
    "reference/api/index",
    "studies",
    "2_a_policy_of_your_own",
    "guide/changelog",
)

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not (SITE / "index.html").is_file(),
        reason="the manual is not built: python -m sphinx -W -b html notebooks site/manual",
    ),
]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def address():
    """Where the manual is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_pages_are_sound_and_search_finds(address):
    with browser() as reader:
        for page in PAGES:
            for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
                reader.open(f"{address}/{page}.html", size, scheme)
                assert (page, size, reader.faults()) == (page, size, [])
        reader.open(f"{address}/search.html?q=thompson", DESKTOP)
        found = reader.until(
            "return [...document.querySelectorAll('#search-results a')].map((a) => a.textContent)"
        )
        assert "D-TS" in found
        assert reader.faults() == []
