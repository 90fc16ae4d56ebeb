"""The command line: `jaxduel list`, `run`, `check`, `bounds`, `reproduce`, and those on sweeps."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tqdm import tqdm
from tyro.conf import Positional, UseAppendAction

import jaxduel as jd
from jaxduel.cli_numbers import Whole, settings_of
from jaxduel.cli_sweeps import compare, plot, show, sweep
from jaxduel.cli_worst_case import worst_case
from jaxduel.errors import InputError, SolverError, StorageError
from jaxduel.simulation.devices import use_all_cores

INTERRUPTED = 130
WRONG_INPUT = 2
FAILED = 1


def list_names(what: Positional[Literal["all", "policies", "problems", "papers"]] = "all") -> int:
    """List policies with their parameters, problems, and papers that can be reproduced.

    Args:
      what: what to list.
    """
    if what in ("all", "policies"):
        print("policies (parameters are set with --set NAME=VALUE):")
        for name in jd.policies.names():
            print(f"  {name:<9} {jd.policies.describe(name)}")
            print(f"  {'':<9} {_parameters(name)}")
    if what in ("all", "problems"):
        print("problems (NAME[1,5,9] takes arms 1, 5 and 9; .npy, .npz, .csv, .txt files do too):")
        for entry in jd.problems.entries():
            print(f"  {entry.line()}")
        print("  gaussian[0.6,0.5]          arms with normal rewards of those means, deviation 1")
        print("  bernoulli[0.6,0.5]         arms with rewards 0 and 1 of those means")
    if what in ("all", "papers"):
        from jaxduel.experiments import papers

        print("papers:")
        for name in papers.names():
            paper = papers.load(name)
            print(f"  {name:<16} {paper.TITLE}; figures {', '.join(paper.FIGURES)}")
    return 0


def run(
    policy: str,
    problem: str,
    horizon: Whole,
    seeds: Whole = 100,
    seed: Whole = 0,
    regret: Literal["copeland", "average", "borda", "weak", "pulls"] | None = None,
    settings: Annotated[UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="set")] = (),
    delay: Whole = 1,
    checkpoints: Whole | None = None,
    shuffle: bool = True,
    prng: Literal["threefry2x32", "philox4x32"] = "threefry2x32",
    lanes: Whole | None = None,
    out: Path | None = None,
) -> int:
    """Simulate a policy on a problem and print its regret.

    Args:
      policy: name of the policy (`jaxduel list policies`).
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, comparisons or pulls per run.
      seeds: how many runs.
      seed: root of all randomness.
      regret: which regret; copeland, or pulls for arms with rewards, if left out.
      settings: a parameter of the policy as NAME=VALUE; may be repeated.
      delay: outcomes reach the policy after every so many comparisons.
      checkpoints: about how many times to record, evenly in log t; 50 if left out.
      shuffle: whether each run sees the arms in an order of its own.
      prng: random number generator.
      lanes: runs per block; chosen by the simulation if left out.
      out: NetCDF file for the results; nothing is written if left out.
    """
    from jaxduel.experiments.output import atomic_path, require_writable_file
    from jaxduel.numerics import log_grid
    from jaxduel.simulation.intervals import interval95

    if out is not None:
        require_writable_file(out)
    if checkpoints is not None and checkpoints < 1:
        raise InputError(f"checkpoints must be at least 1, not {checkpoints}.")
    instance = jd.problems.named(problem)
    chosen = jd.policies.make(
        policy, num_arms=instance.num_arms, horizon=horizon, **settings_of(policy, settings)
    )
    result = jd.simulate(
        chosen,
        instance,
        horizon,
        num_seeds=seeds,
        seed=seed,
        checkpoints=None if checkpoints is None else log_grid(horizon, checkpoints),
        regret=regret,
        shuffle_arms=shuffle,
        delay=delay,
        lanes=lanes,
        prng=prng,
        progress=True,
    )
    mean, sem, std = result.mean[-1], result.sem[-1], result.std[-1]
    low, high = interval95(mean, sem, result.num_seeds)
    q25, median, q75 = (result.quantile(q)[-1] for q in (0.25, 0.5, 0.75))
    steps = "pulls" if isinstance(instance, jd.problems.ArmsProblem) else "comparisons"
    print(f"{policy} on {instance.name}: {result.num_seeds:,} runs of T = {horizon:,} {steps}")
    print(f"{result.definition} regret {mean:.6g}, 95 % interval [{low:.6g}, {high:.6g}]")
    print(f"median {median:.6g}, quartiles {q25:.6g} and {q75:.6g}, standard deviation {std:.6g}")
    if result.batches is not None:
        print(f"batches: {result.batches.mean():.4g} on average, {result.batches.max()} at most")
    if out is not None:
        with atomic_path(out) as temporary:
            result.to_xarray().to_netcdf(temporary, engine="h5netcdf")
        print(f"written: {out}")
    return 0 if result.num_seeds == seeds else INTERRUPTED


def check(problem: Positional[str], key: str | None = None) -> int:
    """Report on a preference matrix: whether it is valid, its winners, assumptions and gaps.

    Args:
      problem: a .npy, .npz, .csv or .txt file, or a name of the catalogue.
      key: which array of an .npz file.
    """
    for line in jd.problems.examine(jd.problems.load(problem, key)).lines():
        print(line)
    return 0


def bounds(problem: str, horizon: Whole | None = None, batches: Whole | None = None) -> int:
    """Print what is proved of the regret on a problem: constants of log T, with their sources.

    Args:
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, for the bounds of batched policies, together with their number of batches.
      batches: B.
    """
    for line in jd.theory.bounds(jd.problems.named(problem), horizon, batches).lines():
        print(line)
    return 0


def reproduce(
    paper: Positional[str],
    figure: str | None = None,
    full: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False,
    runs: Whole | None = None,
    seed: Whole = 0,
    out: Path | None = None,
) -> int:
    """Make the figures of a paper and measure what it claims of them.

    Finished curves are kept in the folder's subfolder runs: the same command, given again, goes on
    where it ended (but for the studies s1 and s2 of batched-mab).

    Args:
      paper: name of the paper (`jaxduel list papers`).
      figure: a figure such as 1, or a panel such as 1a; all if left out.
      full: the long version: batched-dueling with 500 runs instead of the paper's 10, the others
        with the horizons and runs of their papers, which may take hours.
      runs: how many runs on each data set, instead of either.
      seed: root of all randomness.
      out: folder for the files; figures/PAPER if left out.
    """
    from jaxduel.experiments import papers

    report = papers.load(paper).reproduce(
        figure=figure, full=full, out=out, seed=seed, runs=runs, progress=True
    )
    for line in report.lines:
        print(line)
    print("\nfiles:")
    for file in report.files:
        print(f"  {file}")
    if report.interrupted:
        print("jaxduel: interrupted; what had finished is kept", file=sys.stderr)
        return INTERRUPTED
    return 0


COMMANDS = {
    "list": list_names,
    "run": run,
    "check": check,
    "bounds": bounds,
    "reproduce": reproduce,
    "sweep": sweep,
    "show": show,
    "compare": compare,
    "plot": plot,
    "worst-case": worst_case,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
      argv: the arguments; those of the process if None.

    Returns:
      0; 2 for bad input, or a bound that could not be computed, and 1 where disk or memory do not
      suffice, after one line on standard error; 130 after Ctrl-C.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments == ["--version"]:
        print(f"jaxduel {jd.__version__}")
        return 0
    use_all_cores()
    try:
        with _plain_warnings():
            return tyro.extras.subcommand_cli_from_dict(
                COMMANDS,
                prog="jaxduel",
                description="Simulates dueling bandits and batched multi-armed bandits.",
                args=arguments or ["--help"],
                config=(tyro.conf.OmitArgPrefixes,),
            )
    except (InputError, SolverError) as error:
        print(f"jaxduel: error: {error}", file=sys.stderr)
        return WRONG_INPUT
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (StorageError, MemoryError, ConnectionError) as error:
        print(f"jaxduel: error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("jaxduel: interrupted, nothing had finished", file=sys.stderr)
        return INTERRUPTED


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Shows each warning once, as one line without Python source."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in seen:
            seen.add(text)
            tqdm.write(f"jaxduel: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _parameters(name: str) -> str:
    """The parameters of a policy with their defaults; the horizon is an option of its own."""
    known = jd.policies.parameters(name).items()
    parts = [
        key if default is MISSING else f"{key}={default}"
        for key, default in known
        if key != "horizon"
    ]
    return ", ".join(parts) or "no parameters"
