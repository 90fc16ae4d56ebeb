import json

import pytest

from benchmarks import report
from benchmarks.test_comparisons import NAMES

MEASURED = json.loads(report.MEASURED.read_text())


def of_pytest(**commit):
    """What `--benchmark-json` writes of one case."""
    return {
        "machine_info": {
            "device": "cpu (cpu)",
            "cpu": {"brand_raw": "A processor"},
            "python_version": "3.11.7",
            "jax": "0.10.2",
        },
        "commit_info": {"id": "0123456789", "dirty": False, **commit},
        "datetime": "2026-01-02T03:04:05+00:00",
        "benchmarks": [
            {
                "fullname": "benchmarks/test_straightforward.py::test_ratio[5]",
                "params": {"num_arms": 5},
                "extra_info": {
                    "ours, million comparisons per second per core": 4.1239,
                    "plain, million comparisons per second per core": 0.0421,
                    "ratio": 123.0,
                },
            }
        ],
    }


def test_the_tables_of_the_pages_are_those_of_the_measurements():
    texts = [page.read_text() for page in report.PAGES]
    assert [report.rewritten(text, MEASURED) for text in texts] == texts
    shown = [name for text in texts for _, name, _ in report.MARKED.findall(text)]
    assert set(shown) == set(MEASURED)


def test_every_table_has_been_measured():
    assert list(MEASURED) == list(report.SECTIONS)
    rows = MEASURED["plain steps"]["rows"]
    assert [row[:2] for row in rows] == [[name, k] for name in NAMES for k in (5, 16, 64)]


def test_the_committed_measurements_are_as_report_writes_them():
    assert report.dumped(MEASURED) == report.MEASURED.read_text()


def test_a_table_is_made_of_a_measurement():
    measured = report.distilled(of_pytest())
    assert list(measured) == ["straightforward"]
    text = "a\n<!-- speed: straightforward -->\nold\n<!-- end -->\nb\n"
    made = report.rewritten(text, measured)
    assert made == (
        "a\n<!-- speed: straightforward -->\n\n"
        "| K | `dts` | with `jax.random.beta` | ratio |\n"
        "|---|---|---|---|\n"
        "| 5 | 4.1 | 0.042 | 120 |\n\n"
        "*A processor, 2026-01-02, commit 0123456, Python 3.11.7, JAX 0.10.2.*\n"
        "<!-- end -->\nb\n"
    )
    assert report.rewritten(made, measured) == made


def test_a_measurement_that_cannot_be_published_is_refused():
    with pytest.raises(SystemExit, match="commit first"):
        report.distilled(of_pytest(dirty=True))
    with pytest.raises(SystemExit, match="nothing was measured"):
        report.distilled({**of_pytest(), "benchmarks": []})
    with pytest.raises(SystemExit, match="no measurements for steps"):
        report.rewritten("<!-- speed: steps -->\n<!-- end -->\n", report.distilled(of_pytest()))
