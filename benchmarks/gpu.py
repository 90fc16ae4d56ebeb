"""Measures the simulator on this machine's GPU: one call of at most 8 minutes, without a network.

    python -m benchmarks.gpu --out gpu.json
    python -m benchmarks.gpu --out gpu.json --model kernels.json    # of benchmarks.gpu_kernels
    python -m benchmarks.gpu --out gpu.json --policies btm rcs      # their steps alone

Prints a table row by row and keeps it as JSON. The rows: whether the three ways of running loops
agree, bit for bit; versions, memory, the constants of the model in `gpu_programs`; whether the
device computes what the CPU does; comparisons, turns and rounds a second; long runs; a tenth of a
grid of 1,000 cells x 10,000 seeds. Times are the best of a few after one that does not count. A
row that fails says why, and the rest goes on: in a new process, without graphs, if it broke the
old one.

With --small everything runs in a size for which its times say nothing, on a CPU as well.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp

import jaxduel as jd
from benchmarks.gpu_rows import FULL, SMALL, rows_of
from benchmarks.gpu_table import Table
from jaxduel.numerics.target import LOOPS_VARIABLE

WAYS = "graph", "static", "dynamic"
WAYS_SECONDS = 180.0
"""Seconds after which the comparison of the ways is taken to hang."""
PATIENCE = 6.0
"""The same for other rows, in multiples of the seconds that one needs."""
DEVICE_LOST = 3
"""Exit code of a process that measures, after an error that the device does not survive."""


def compare_ways(table, small, seconds):
    """A row on whether loops end in the same state in all ways, each tried in a process of its own.

    Returns:
      The way for all other rows: "graph", or "static" if graphs break or compute something else.
    """
    name = "graph = static = dynamic"
    table.begin(name, seconds)
    command = [sys.executable, "-m", "benchmarks.gpu_loops", *(["--small"] if small else [])]
    shared = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    processes = [
        subprocess.Popen(
            command, env={**shared, LOOPS_VARIABLE: way}, stdout=subprocess.PIPE, text=True
        )
        for way in WAYS
    ]
    ends, states, failed = time.monotonic() + seconds, [], {}
    for way, process in zip(WAYS, processes, strict=True):
        why = ""
        try:
            output, _ = process.communicate(timeout=max(1.0, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            why = "not finished"
        states.append(dict(line.split(maxsplit=1) for line in output.splitlines()))
        if process.returncode != 0:
            failed[f"{way} failed"] = f"{why or _ended(process.returncode)} after {[*states[-1]]}"
    graph, static = states[:2]
    differ = [
        policy
        for policy in static
        if len({state[policy] for state in states if policy in state}) > 1
        or " or " in static[policy]
    ]
    holds = not failed and not differ
    table.end(name, policies=len(static), differ=" ".join(differ) or "none", **failed, holds=holds)
    return "graph" if graph == static and f"{WAYS[0]} failed" not in failed else "static"


def supervise(path, command, environment, until):
    """Runs the process that measures, and another one after each that a row has ended.

    Args:
      path: of the table.
      command: of the process.
      environment: of the first process; the others run without graphs.
      until: time by which the last one is ended.

    Returns:
      The last one's exit code.
    """
    while True:
        process = subprocess.Popen(command, env=environment)
        try:
            why = _waited(process, path, until)
        finally:
            process.kill()
            process.wait()
        table, why = Table(path), why or _ended(process.returncode)
        if time.time() > until:
            if table.begun:
                table.end(table.begun, error=why)
            return process.returncode
        if table.begun:
            table.end(table.begun, error=f"{why}; no graphs from here on")
        elif process.returncode != DEVICE_LOST:
            return process.returncode
        environment = {**environment, LOOPS_VARIABLE: "static"}


def _waited(process, path, until):
    """Waits for a process; the reason, if it is not to be waited for any longer."""
    while process.poll() is None:
        time.sleep(0.5)
        if time.time() > until:
            return "no time left"
        if Table(path).is_late:
            return "not finished"
    return ""


def _ended(code):
    return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"


def measure(table, rows, until):
    """Adds the rows that the table does not have, while there is time; the exit code."""
    for row in rows:
        if row.name in table.rows:
            continue
        table.begin(row.name, PATIENCE * row.needs)
        if time.time() + row.needs > until:
            table.end(row.name, error="no time left")
            continue
        try:
            table.end(row.name, **row.measure())
        except Exception as error:
            line, *_ = str(error).splitlines() or [""]
            table.end(row.name, error=f"{type(error).__name__}: {line[:200]}")
            if _is_lost():
                return DEVICE_LOST
    return 0


def _is_lost():
    """True if the device computes no more."""
    try:
        jax.block_until_ready(jnp.arange(8) + 1)
    except Exception:
        return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file for the table as JSON")
    parser.add_argument("--small", action="store_true", help="everything in its smallest size")
    parser.add_argument("--minutes", type=float, default=8.0, help="time for all rows")
    parser.add_argument("--model", type=Path, nargs="*", default=[], help="of gpu_kernels")
    parser.add_argument("--policies", nargs="+", default=[], help="steps of these in place of all")
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)  # of the one that measures
    options = parser.parse_args()
    identity = "policy", "arms", "lanes", "loop"
    rows = [row for path in options.model for row in json.loads(path.read_text())]
    model = {tuple(row[key] for key in identity): row["million a second"] for row in rows}
    if options.until:
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        sizes = SMALL if options.small else FULL
        table = Table(options.out)
        rows = rows_of(sizes, model, table, options.until, options.policies)
        with jax.default_device(jax.devices()[0]):  # as `simulate` does: programs are found again
            return measure(table, rows, options.until)
    until = time.time() + 60.0 * options.minutes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the other process ends as well
    options.out.unlink(missing_ok=True)
    table = Table(options.out)
    way = compare_ways(table, options.small, min(WAYS_SECONDS, 20.0 * options.minutes))
    environment = {**os.environ, LOOPS_VARIABLE: os.environ.get(LOOPS_VARIABLE) or way}
    command = [sys.executable, "-m", "benchmarks.gpu", *sys.argv[1:], "--until", str(until)]
    code = supervise(options.out, command, environment, until)
    rows = Table(options.out).rows.values()
    return code or int(any("error" in row or row.get("holds") is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
