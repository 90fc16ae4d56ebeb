"""The commands on sweeps: `jaxduel new`, `sweep`, `show`, `compare`, `plot` and `export`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tyro.conf import Positional

from jaxduel import interrupts
from jaxduel.cli.lines import pipe, say_left, write
from jaxduel.cli.options import (
    EVERY_CELL,
    EVERY_SETTING,
    Cells,
    Chosen,
    MaybeCount,
    MaybeFile,
    MaybeFolder,
    MaybeName,
    MaybeShard,
    MaybeTime,
    Name,
    Silent,
    Switch,
)
from jaxduel.cli.parsing import command_line
from jaxduel.cli.run import plot_results, show_result
from jaxduel.cli.start import start_jax
from jaxduel.errors import InputError
from jaxduel.files import require_writable_file, write_whole

if TYPE_CHECKING:
    from jaxduel.simulation.devices import Device
    from jaxduel.studies.engine.groups import Group
    from jaxduel.studies.sweep.describing.grid import Grid

_RUNNING = ("extend_seeds", "scheduler", "profile", "shard", "until")
_PLANNING = ("grid", "out", "dry_run", "time", "devices", *_RUNNING)
_APART = {
    "schema": ("status", *_PLANNING),
    "status": _PLANNING,
    "dry_run": ("out", *_RUNNING),
    "scheduler": ("devices", "profile"),
}
"""Options of `jaxduel sweep`, each with the options that would be ignored beside it."""


def new(folder: Positional[Path]) -> int:
    """Write a small study to begin with: grid, matrix, analysis.

    Its Makefile lists the commands; `make` runs all of them, in about a minute.

    Args:
      folder: a new folder, or an empty one.
    """
    from jaxduel.studies.sweep.describing.template import write_study

    names = ", ".join(path.name for path in write_study(folder))
    write(
        f"written to {folder}: {names}",
        f"to run the study: make -C {shlex.quote(str(folder))}",
    )
    return 0


def sweep(
    grid: Annotated[
        Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="GRID"), Silent
    ] = None,
    out: MaybeFolder = None,
    dry_run: Switch = False,
    time: Switch = False,
    extend_seeds: Switch = False,
    devices: MaybeCount = None,
    scheduler: MaybeName = None,
    profile: Switch = False,
    shard: MaybeShard = None,
    until: MaybeTime = None,
    status: MaybeFolder = None,
    schema: Switch = False,
) -> int:
    """Run a grid of policies, problems and horizons, or resume it.

    Args:
      grid: TOML file that describes the grid.
      out: folder for the results: a new one, or the folder of the same grid, to resume it.
      dry_run: print the plan: cells, programs to compile, blocks of seeds, memory; run nothing.
      time: with --dry-run, also estimate the time, by a short trial of each policy.
      extend_seeds: add the grid's seeds that the folder lacks.
      devices: number of local devices to use; all if left out.
      scheduler: tcp://HOST:PORT of a dask scheduler, or local:N for N processes here.
      profile: print at the end how many seconds each part of the work took.
      shard: run the I-th of N shares of the blocks, without locks: for N processes on one folder of
        a file system that has none.
      until: begin no block that cannot finish by this time, such as 07:45:00; what is left is said,
        and the exit code is 0.
      status: print how far the sweep in a folder is, whoever runs it; run nothing.
      schema: print the JSON schema of grid files, which editors read; run nothing.
    """
    called = dict(locals())
    given = {name for name, value in called.items() if value}
    from jaxduel.display import counted
    from jaxduel.studies.sweep.describing import grid_file
    from jaxduel.studies.sweep.listing import status_lines
    from jaxduel.studies.sweep.sweep import run_sweep

    for option, others in _APART.items():
        for other in others:
            if {option, other} <= given:
                beside = "a grid" if other == "grid" else f"--{other}"
                raise InputError(f"--{option} does not go with {beside}.".replace("_", "-"))
    if status is not None:
        write(*status_lines(status))
        return 0
    if schema:
        write(*json.dumps(grid_file.schema(), indent=2).split("\n"))
        return 0
    if grid is None:
        raise InputError(
            "jaxduel sweep needs a grid, the TOML file that describes it, --status DIR or --schema."
        )
    if time and not dry_run:
        raise InputError("--time estimates how long a sweep takes: it goes with --dry-run.")
    described = grid_file.read_grid(grid)
    there = start_jax()
    if devices is not None and not 1 <= devices <= len(there):
        raise InputError(
            f"--devices must be from 1 to {len(there)}, the devices there are, not {devices}."
        )
    chosen = there[:devices]
    if dry_run:
        return _dry_run(described, chosen, time)
    if out is None:
        raise InputError("jaxduel sweep needs --out DIR, the folder for its results, or --dry-run.")
    again = command_line(sweep, {**called, "until": None})
    with interrupts.says(f"stopped; stored blocks are kept, to go on: {again}"):
        outcome = run_sweep(
            described,
            out,
            extend_seeds=extend_seeds,
            devices=chosen,
            scheduler=scheduler,
            shard=shard,
            until=until,
            progress=True,
        )
        if outcome.interrupted and not outcome.complete:
            interrupts.say_once()
            return interrupts.INTERRUPTED
    if outcome.complete:
        write(f"finished: {counted(outcome.blocks, 'block')} in {out}")
    else:
        say_left(outcome.finished, outcome.blocks, again, shard, f" in {out}")
    if profile:
        for part, seconds in outcome.seconds.items():
            write(f"{part:<16}{seconds:10.2f} s")
    return 0


def _dry_run(grid: Grid, devices: Sequence[Device], time: bool) -> int:
    """Prints a grid's cells, programs, blocks and memory and, if asked for, its estimated time."""
    from jaxduel.simulation.devices import block_memory
    from jaxduel.studies.sweep.listing import cell_lines, memory_line, summary
    from jaxduel.studies.sweep.sweep import groups_of, warn_of_assumptions

    groups = groups_of(grid, devices[0].platform, block_memory(devices), progress=None)
    warn_of_assumptions(groups, progress=None)
    memory = memory_line(groups, len(devices))
    write(*cell_lines(groups), *summary(groups), memory)
    if time:
        _print_time(groups, devices)
    return 0


def _print_time(groups: Sequence[Group], devices: Sequence[Device]) -> None:
    """Prints the estimated time of a plan, from trial runs."""
    from jaxduel.progress import duration
    from jaxduel.studies.sweep.calibration import calibrate

    found = calibrate(groups, devices, progress=True)
    on = "1 device" if len(devices) == 1 else f"{len(devices)} devices"
    most, least, compilation = map(duration, (found.seconds, found.least, found.compilation))
    quiet = "" if most == least else f" if policies soon fall quiet, {most} if they never do"
    write(f"about {least} on {on}{quiet}, {compilation} of it compilation")


def show(
    results: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR|FILE.nc")],
    cells: Cells = EVERY_CELL,
    columns: Literal["auto", "all", "best"] = "auto",
    csv: MaybeFile = None,
) -> int:
    """Print the results of a sweep or a run, with 95 % intervals.

    Args:
      results: the sweep's folder, finished or not, or a file of `jaxduel run --out`.
      cells: cells to show; all of a sweep if no name is given.
      columns: a column for each combination of parameters, for each policy's best, or what fits.
      csv: file for the numbers; none is written if left out.
    """
    from jaxduel.studies.sweep import open_sweep
    from jaxduel.studies.sweep.reading.table import show_csv, show_lines

    if os.path.isfile(results):
        _require_no_choice({**vars(cells), "csv": csv, "columns": columns != "auto"})
        return show_result(results)
    _require_writable(csv)
    data = open_sweep(results)
    write(*show_lines(data, columns=columns, width=_width(), **vars(cells)))
    if csv is not None:
        _write(csv, show_csv(data, **vars(cells)))
    return 0


def compare(
    folder: Positional[Path],
    policies: Annotated[tuple[str, str], tyro.conf.arg(metavar="NAME NAME")],
    settings: Chosen = EVERY_SETTING,
    csv: MaybeFile = None,
) -> int:
    """Print paired differences of regret or errors of two policies.

    Args:
      folder: the sweep's folder, finished or not.
      policies: two policies, with parameters if a policy has several variants: dts[alpha=0.51].
      settings: settings to compare in; all if no name is given.
      csv: file for the numbers; none is written if left out.
    """
    from jaxduel.studies.sweep import open_sweep
    from jaxduel.studies.sweep.reading.compare import compare as compared

    _require_writable(csv)
    found = compared(open_sweep(folder), *policies, **vars(settings))
    write(*found.lines())
    if csv is not None:
        _write(csv, found.csv())
    return 0


def plot(
    results: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR|FILE.nc ..."), Silent
    ],
    x: Name = "t",
    y: MaybeName = None,
    facet: MaybeName = None,
    kind: Literal["curves", "heatmap"] = "curves",
    cells: Cells = EVERY_CELL,
    out: MaybeFolder = None,
) -> int:
    """Draw a sweep, finished or not, or runs: PNG, PDF and CSV.

    Args:
      results: the sweep's folder, or files of `jaxduel run --out`.
      x: horizontal axis: t, horizon, K, batches, or a numeric parameter of policies or generators.
      y: vertical axis of a heat map.
      facet: one set of axes per value of a field: problem, K, horizon, definition, rule, policy,
        parameters, or a parameter of policies or generators.
      kind: mean regret as curves with 95 % bands, or as a heat map.
      cells: cells to draw; all of a sweep if no name is given.
      out: folder for the files; if left out DIR/figures, or the folder of the first file.
    """
    if results and all(map(os.path.isfile, results)):
        axes = {"x": x != "t", "y": y, "facet": facet, "kind": kind != "curves"}
        _require_no_choice({**axes, **vars(cells)})
        return plot_results(results, out)
    if len(results) != 1:
        raise InputError(
            "jaxduel plot needs the folder of one sweep, or files of `jaxduel run --out` alone."
        )
    (folder,) = results
    from jaxduel.studies.output import OutputFolder
    from jaxduel.studies.sweep import open_sweep
    from jaxduel.studies.sweep.reading.figures import sweep_figures

    asked = {"y": y, "facet": facet, "kind": kind, **vars(cells)}
    figures = sweep_figures(open_sweep(folder), x, **asked)
    files = OutputFolder(folder / "figures" if out is None else out)
    for figure in figures:
        write(*figure.write(files))
    return 0


def export(
    results: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR|FILE.nc")],
    to: Literal["csv", "parquet"] = "csv",
    cells: Cells = EVERY_CELL,
    out: MaybeFile = None,
) -> int:
    """Write a sweep or a run as a table, a row per cell and time.

    Args:
      results: the sweep's folder, finished or not, or a file of `jaxduel run --out`.
      to: the format: CSV, floats to the last bit, or Parquet, which needs pyarrow.
      cells: cells to write; all of a sweep if no name is given.
      out: the file, or - for standard output; if left out DIR/table.csv (or .parquet), or FILE.csv.
    """
    from jaxduel.studies.tables import encoded, require_format

    require_format(to)
    piped = out == Path("-")
    if piped and to == "parquet" and sys.stdout.isatty():
        raise InputError("Parquet is not for terminals: give --out FILE, or pipe it on.")
    if os.path.isfile(results):
        from jaxduel.simulation import load_result

        _require_no_choice(vars(cells))
        frame = load_result(results).to_frame()
        path = results.with_suffix(f".{to}") if out is None else out
        if out is None and path.exists():
            raise InputError(f"'{path}' exists: --out {shlex.quote(str(path))} replaces it.")
        _require_writable(None if piped else path, results)
    else:
        from jaxduel.studies.sweep import open_sweep
        from jaxduel.studies.sweep.reading.cells import choose
        from jaxduel.studies.sweep.reading.table import frame_of

        data = open_sweep(results)
        path = results / f"table.{to}" if out is None else out
        _require_writable(None if piped else path)
        frame = frame_of(data, choose(data, **vars(cells)))
    if piped:
        pipe(encoded(frame, to))
    else:
        _write(path, encoded(frame, to))
    return 0


def _require_no_choice(options: dict[str, Any]) -> None:
    """Raises InputError if options of sweeps are given with files of runs."""
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        raise InputError(f"files of runs have one result each: {', '.join(given)} is for sweeps.")


def _width() -> int:
    """Width of the terminal in characters, at least 60; 100 if it is unknown."""
    return max(shutil.get_terminal_size((100, 24)).columns, 60)


def _require_writable(path: Path | None, *others: Path) -> None:
    """Raises InputError for a file that cannot be written, before anything is printed."""
    if path is not None:
        require_writable_file(path, *others)


def _write(path: Path, content: str | bytes) -> None:
    write(f"written: {write_whole(path, content)}")
