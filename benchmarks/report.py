"""Writes the tables of speeds in README and the guide from measurements, never by hand.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_comparisons.py -k test_steps \
        --benchmark-json steps.json
    python -m benchmarks.report steps.json

The numbers that these pages quote go into `measured.json` beside this file, with their machine,
versions, commit and date, and from there into the pages, between `<!-- speed: NAME -->` and
`<!-- end -->`. A table is replaced as a whole. Without a file, the pages are written again.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MEASURED = Path(__file__).with_name("measured.json")
_ROOT = Path(__file__).parents[1]
PAGES = (_ROOT / "README.md", _ROOT / "notebooks" / "guide" / "speed.md")
MARKED = re.compile(r"(<!-- speed: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


class Section(NamedTuple):
    """A table of a page."""

    benchmark: str
    """File and function, in the folder of benchmarks."""
    params: tuple[str, ...]
    """Its parameters that rows begin with."""
    values: tuple[str, ...]
    """What rows have of `extra_info`."""
    table: Callable[[list[list[Any]]], list[list[str]]]
    """Cells, from rows; the head first."""


def digits(value: float) -> str:
    """Two significant digits."""
    text = f"{value:#.2g}" if value < 99.5 else f"{float(f'{value:.1e}'):.0f}"
    return text.rstrip(".")


def plain_steps(rows):
    rates = {(name, arms): rate for name, arms, rate in rows}
    arms = sorted({arms for _, arms in rates})
    return [["policy", *(f"K = {k}" for k in arms)]] + [
        [f"`{name}`", *(digits(rates[name, k]) for k in arms)]
        for name in dict.fromkeys(name for name, _ in rates)
    ]


def whole_runs(rows):
    return [["policy", "K", "T", "million comparisons per second"]] + [
        [f"`{name}`", str(arms), f"{horizon:,}", digits(rate)] for name, arms, horizon, rate in rows
    ]


def plain_c(rows):
    return [["policy", "`jaxduel`, ms a run", "plain C", "ratio"]] + [
        [case, *map(digits, values)] for case, *values in rows
    ]


def straightforward(rows):
    return [["K", "`dts`", "with `jax.random.beta`", "ratio"]] + [
        [str(arms), *map(digits, values)] for arms, *values in rows
    ]


def quiet_runs(rows):
    return [["policy, problem", "plain, T = 1e5", "1e5", "1e8", "1e9"]] + [
        [f"`{name}`, {problem}", *map(digits, seconds)] for name, problem, *seconds in rows
    ]


def cold_starts(rows):
    return [["a new process", "nothing kept", "programs kept"]] + [
        [case, *map(digits, seconds)] for case, *seconds in rows
    ]


def batches(rows):
    seconds = {(name, arms, horizon): value for name, arms, horizon, value in rows}
    horizons = sorted({horizon for _, _, horizon in seconds})
    head = ["policy", "K", *(f"T = 1e{len(str(t)) - 1}" for t in horizons)]
    cells = dict.fromkeys((name, arms) for name, arms, _ in seconds)
    return [head] + [
        [f"`{name}`", str(arms), *(digits(seconds[name, arms, t]) for t in horizons)]
        for name, arms in cells
    ]


_BATCHES = ("name", "num_arms", "horizon"), ("seconds per 1,000 runs",), batches
SECTIONS = {
    "plain C": Section(
        "test_plain_c.py::test_runs", ("case",), ("ms a run", "plain C", "ratio"), plain_c
    ),
    "plain steps": Section(
        "test_comparisons.py::test_steps",
        ("name", "num_arms"),
        ("million steps per second per core",),
        plain_steps,
    ),
    "whole runs": Section(
        "test_copeland.py::test_whole_run",
        ("name", "num_arms", "horizon"),
        ("million comparisons per second per core",),
        whole_runs,
    ),
    "straightforward": Section(
        "test_straightforward.py::test_ratio",
        ("num_arms",),
        (
            "ours, million comparisons per second per core",
            "plain, million comparisons per second per core",
            "ratio",
        ),
        straightforward,
    ),
    "quiet runs": Section(
        "test_quiet.py::test_long_horizons",
        ("name", "problem"),
        ("seconds, T = 1e5, plain", "T = 1e+05", "T = 1e+08", "T = 1e+09"),
        quiet_runs,
    ),
    "batches of comparisons": Section("test_batched.py::test_runs", *_BATCHES),
    "batches of pulls": Section("test_arms.py::test_runs", *_BATCHES),
    "cold starts": Section(
        "test_cold.py::test_cold_and_second_process",
        ("case",),
        ("processor seconds, cold", "second process"),
        cold_starts,
    ),
}


def distilled(run: dict[str, Any]) -> dict[str, Any]:
    """The sections that a run of pytest-benchmark has measured, as in `measured.json`.

    Raises:
      SystemExit: if what was measured is no commit, or is nothing that a page quotes.
    """
    commit, machine = run["commit_info"], run["machine_info"]
    if "id" not in commit or commit["dirty"]:
        raise SystemExit("report: commit first: a published number names the commit it is of.")
    origin = {
        "date": run["datetime"][:10],
        "commit": commit["id"][:7],
        "machine": machine["device"],
        "python": machine["python_version"],
        "jax": machine["jax"],
    }
    if machine["device"].endswith("(cpu)"):
        origin["machine"] = machine["cpu"]["brand_raw"]
    found = {}
    for name, section in SECTIONS.items():
        rows = [
            [b["params"][p] for p in section.params]
            + [float(f"{b['extra_info'][v]:.4g}") for v in section.values]
            for b in run["benchmarks"]
            if b["fullname"].partition("[")[0].endswith(section.benchmark)
        ]
        if rows:
            found[name] = {**origin, "rows": rows}
    if not found:
        raise SystemExit("report: nothing was measured that a page quotes.")
    return found


def rendered(name: str, measured: dict[str, Any]) -> str:
    """A page's lines of a section: the table, and where and when it was measured."""
    head, *body = SECTIONS[name].table(measured["rows"])
    lines = [head, ["---"] * len(head), *body]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| --- ", "|---")
    origin = "*{machine}, {date}, commit {commit}, Python {python}, JAX {jax}.*"
    return f"\n{table}\n{origin.format(**measured)}\n"


def rewritten(text: str, measured: dict[str, Any]) -> str:
    """A page with the tables of `measured` in place of its own.

    Raises:
      SystemExit: if it has a table that was not measured.
    """
    missing = {name for _, name, _ in MARKED.findall(text)} - set(measured)
    if missing:
        raise SystemExit(f"report: there are no measurements for {', '.join(sorted(missing))}.")
    return MARKED.sub(lambda m: m[1] + rendered(m[2], measured[m[2]]) + m[3], text)


def dumped(measured: dict[str, Any]) -> str:
    """JSON with a row a line."""
    lines = re.compile(r"\[\s+([^][{}]+?)\s+\]")
    return lines.sub(
        lambda row: "[" + " ".join(row[1].split()) + "]", json.dumps(measured, indent=2) + "\n"
    )


def main(paths: list[str]) -> None:
    """Takes in files of `--benchmark-json`, and writes the pages."""
    measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for path in paths:
        measured |= distilled(json.loads(Path(path).read_text()))
    MEASURED.write_text(dumped({name: measured[name] for name in SECTIONS if name in measured}))
    for page in PAGES:
        page.write_text(rewritten(page.read_text(), measured))


if __name__ == "__main__":
    main(sys.argv[1:])
