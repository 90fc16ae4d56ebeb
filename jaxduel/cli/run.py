"""The command `jaxduel run`, and `show` and `plot` on files of `jaxduel run --out`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

import jaxduel as jd
from jaxduel import interrupts
from jaxduel.cli.lines import write
from jaxduel.cli.options import (
    Count,
    MaybeCount,
    MaybeFile,
    Name,
    Settings,
    Switch,
    Whole,
    one_of,
    settings_of,
)
from jaxduel.cli.parsing import command_line
from jaxduel.cli.start import start_jax
from jaxduel.files import require_writable_file

_Regret = Literal[
    "copeland", "average", "borda", "weak", "binary weak", "binary strong", "votes", "pulls"
]


@interrupts.keeps_what_finished()
def run(
    policy: Name,
    problem: Name,
    horizon: Count,
    seeds: Count = 100,
    seed: Whole = 0,
    regret: Annotated[_Regret | None, one_of(_Regret)] = None,
    settings: Annotated[Settings, tyro.conf.arg(name="set")] = (),
    delay: Count = 1,
    ties: Literal["coin", "drop", "tell"] = "coin",
    checkpoints: MaybeCount = None,
    shuffle: bool = True,
    prng: Literal["threefry2x32", "philox4x32"] = "threefry2x32",
    lanes: MaybeCount = None,
    out: MaybeFile = None,
    force: Switch = False,
) -> int:
    """Simulate a policy on a problem and print its regret.

    Args:
      policy: name of the policy (`jaxduel list policies`).
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, comparisons or pulls per run, such as 1e5.
      seeds: number of runs.
      seed: root of all randomness.
      regret: definition; copeland, or pulls for arms with rewards, if left out.
      settings: a parameter of the policy; may be repeated.
      delay: outcomes reach the policy after every so many comparisons or pulls.
      ties: reach the policy as fair coins, not at all, or as ties, if it learns from them.
      checkpoints: about how many times to record, evenly in log t; 50 if left out.
      shuffle: whether each run sees the arms in a random order.
      prng: random number generator.
      lanes: runs per block; chosen by the simulation if left out.
      out: NetCDF file (.nc) for the results; nothing is written if left out.
      force: replace the file even if it holds anything but a result of the same command.
    """
    called = dict(locals())
    start_jax()
    instance = jd.problems.load(problem)
    chosen = jd.policies.make(
        policy, problem=instance, horizon=horizon, **settings_of(policy, settings)
    )
    how: dict[str, Any] = {
        "num_seeds": seeds,
        "seed": seed,
        "checkpoints": checkpoints,
        "regret": regret,
        "shuffle_arms": shuffle,
        "delay": delay,
        "ties": ties,
        "lanes": lanes,
        "prng": prng,
    }
    if out is not None:
        _require_replaceable(require_writable_file(out), chosen, instance, horizon, how, force)
    result = jd.simulate(chosen, instance, horizon, progress=True, **how)
    write(*result.summary())
    if out is not None:
        made = {**result.made_by, "command": command_line(run, called)}
        write(f"written: {replace(result, made_by=made).save(out, force=force)}")
    return 0 if result.num_seeds == seeds else interrupts.INTERRUPTED


def _require_replaceable(
    out: Path,
    policy: Any,
    problem: jd.problems.Problem,
    horizon: int,
    how: dict[str, Any],
    force: bool,
) -> None:
    """Raises InputError if the file may not be written, before anything is simulated."""
    from jaxduel.simulation.checking import Settings, horizon_of
    from jaxduel.simulation.provenance import request_of
    from jaxduel.simulation.result_files import require_replaceable

    asked = Settings(**how).checked()
    request = request_of(policy, problem, horizon_of(policy, horizon), asked)
    require_replaceable(out, request, force)


def show_result(path: Path) -> int:
    """Prints the summary that `jaxduel run` printed, and the command and versions behind it."""
    from jaxduel.simulation import load_result

    result = load_result(path)
    write(*result.summary())
    made = result.made_by
    versions = ", ".join(f"{name} {found}" for name, found in made.get("versions", {}).items())
    write(f"made by: {made.get('command') or 'a script'}")
    code, lanes = (made.get(name, "unknown") for name in ("code", "lanes"))
    write(f"with {versions or 'unknown versions'}; code {code}, seed {result.seed}, {lanes} lanes")
    return 0


def plot_results(paths: Sequence[Path], out: Path | None) -> int:
    """Draws the results of files in one figure, and prints the paths of the figure's files."""
    from jaxduel.files import csv_text
    from jaxduel.runs import STATISTICS
    from jaxduel.simulation import load_result
    from jaxduel.simulation.figures import figure_lines, results_figure
    from jaxduel.studies.output import OutputFolder, named_after

    results = [load_result(path) for path in paths]
    apart = len({path.parent for path in paths}) > 1
    names = [str(path.with_suffix("")) if apart else path.stem for path in paths]
    name = named_after(f"curves-{','.join(names)}")
    folder = OutputFolder(paths[0].parent if out is None else out)
    rows = []
    for path, one, line in zip(paths, results, figure_lines(results), strict=True):
        told = str(path), one.problem, one.definition, one.horizon, line.label, line.name
        rows += [(*told, *row) for row in one.runs.rows()]
    first = ("file", "problem", "definition", "horizon", "label", "policy", "t")
    numbers = csv_text([*first, *STATISTICS, "num_seeds"], rows)
    write(*folder.write_figure(name, results_figure(results), numbers))
    return 0
