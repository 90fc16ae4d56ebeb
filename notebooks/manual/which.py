"""The studies behind the guide's page "Which policy when", their numbers and its tables.

    python -m notebooks.manual.which FOLDER

Sweeps are kept in the folder, and go on where they stopped.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import jaxduel as jd
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
from notebooks.manual.pages import SOURCE, table

NUMBERS = Path(__file__).with_name("which.csv")

_CONDORCET = (
    *("cyclic", "mslr5-condorcet", "arxiv", "arithmetic"),
    *("sushi", "mslr16-condorcet", "mslr32-condorcet"),
)
_NO_CONDORCET = (
    *("gap", "mslr5-noncondorcet", "noncondorcet-cyclic"),
    *("mslr16-noncondorcet", "mslr32-noncondorcet"),
)
_LONG = ("cyclic", "mslr5-condorcet", "arxiv", "arithmetic")

_FOR_CONDORCET = (
    *("beat-the-winner", "btm", "ccb", "d-exp3", "dts", "dts+", "ecw-rmed", "interleaved-filter"),
    *("merge-dts", "merge-rucb", "multisbm", "pcomp", "rcs", "rex3", "rmed1", "rmed2fh", "rucb"),
    *("savage", "scb", "scomp", "scomp2", "self-sparring", "sparring", "uniform", "versatile-db"),
    *("ws-s", "ws-w"),
)
_FOR_COPELAND = ("ccb", "dts", "dts+", "ecw-rmed", "rex3", "scb", "uniform")
_SKIPPING = ("dts", "ecw-rmed", "pcomp", "rmed1", "rucb", "scomp2", "self-sparring")
_NAMING = ("arena", "dts", "uniform")

_RUNS = {"checkpoints": 1, "num_seeds": 24, "lanes": 24}
GRIDS = {
    "condorcet": Grid(
        policies=[PolicyEntry(name) for name in _FOR_CONDORCET],
        problems=[ProblemEntry(name=name) for name in _CONDORCET],
        horizons=(1_000, 10_000, 100_000),
        regret=("average", "copeland", "weak"),
        batches=16,
        **_RUNS,
    ),
    "copeland": Grid(
        policies=[PolicyEntry(name) for name in _FOR_COPELAND],
        problems=[ProblemEntry(name=name) for name in _NO_CONDORCET],
        horizons=(1_000, 10_000, 100_000),
        regret="copeland",
        **_RUNS,
    ),
    "long": Grid(
        policies=[PolicyEntry(name) for name in _SKIPPING],
        problems=[ProblemEntry(name=name) for name in _LONG],
        horizons=(1_000_000, 100_000_000),
        regret=("average", "copeland", "weak"),
        batches=16,
        **_RUNS,
    ),
    "votes": Grid(
        policies=[
            PolicyEntry(name, {"self_duels": False} if name == "dts" else {}) for name in _NAMING
        ],
        problems=[ProblemEntry(name=name) for name in (*_CONDORCET, *_NO_CONDORCET)],
        identify=True,
        votes=5_000,
        recommend="copeland",
        checkpoints=100,
        num_seeds=256,
        lanes=64,
    ),
}
"""By study."""

_SHOWN = {
    "average": ("condorcet", "average", 100_000),
    "weak": ("condorcet", "weak", 100_000),
    "copeland": ("copeland", "copeland", 100_000),
    "long": ("long", "average", 100_000_000),
}
_COLUMNS = ["study", "problem", "num_arms", "policy", "measure", "horizon"]
_COLUMNS += ["mean", "lower95", "upper95", "num_seeds"]
PAGE = SOURCE / "guide" / "which-policy.md"
_TABLE = re.compile(r"(<!-- which: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_TARGET = 0.95


def numbers(folder: Path) -> pd.DataFrame:
    """The numbers of the sweeps of a folder, at each horizon: a row for each cell and measure.

    Columns: study, problem, num_arms, policy, measure (a definition of regret; "votes", those until
    the rule "copeland" names a best arm with probability 0.95, or inf; "named", that probability
    after the last), horizon, mean, lower95, upper95, num_seeds.
    """
    found = []
    for study, grid in GRIDS.items():
        data = jd.open_sweep(folder / study)
        frame = data.to_frame()
        if grid.identify:
            needed = data.needed(_TARGET).rename(columns={"needed": "mean"})
            last = frame[frame["votes"] == frame["horizon"]].rename(columns={"probability": "mean"})
            found.append(needed.assign(study=study, measure="votes"))
            found.append(last.assign(study=study, measure="named"))
        else:
            frame = frame[frame["t"] == frame["horizon"]].rename(columns={"definition": "measure"})
            found.append(frame.assign(study=study))
    return pd.concat(found)[_COLUMNS].reset_index(drop=True)


def tables(rows: pd.DataFrame) -> dict[str, str]:
    """The tables of the page, by name."""
    found = {
        name: _regrets(
            rows[(rows[["study", "measure", "horizon"]] == list(shown)).all(axis="columns")]
        )
        for name, shown in _SHOWN.items()
    }
    return found | {"by horizon": _by_horizon(rows), "votes": _votes(rows)}


def _wide(some: pd.DataFrame, column: str = "mean") -> pd.DataFrame:
    """A row for each policy, a column for each instance, as they come."""
    wide = some.pivot(index="policy", columns="problem", values=column)
    return wide.loc[some["policy"].unique(), some["problem"].unique()]


def _ratios(values: pd.DataFrame) -> pd.Series:
    """The geometric mean over instances of a policy's value divided by the least."""
    return np.exp(np.log(values / values.min()).mean(axis=1, skipna=False))


def _header(some: pd.DataFrame) -> list[str]:
    first = some.drop_duplicates("problem")
    arms = zip(first["problem"], first["num_arms"], strict=True)
    return ["policy", *(f"{problem}, {number}" for problem, number in arms)]


def _regrets(some: pd.DataFrame) -> str:
    """Policies by instance, the best first; bold is what lies in the interval of the least."""
    mean, upper = _wide(some), _wide(some, "upper95")
    ratios = _ratios(mean).sort_values(kind="stable")
    rows = []
    for policy, ratio in ratios.items():
        row = [f"`{policy}`"]
        for problem in mean:
            value, limit = mean.loc[policy, problem], upper.loc[mean[problem].idxmin(), problem]
            row.append(f"**{_short(value)}**" if value <= limit else _short(value))
        rows.append([*row, _two_digits(ratio)])
    return table([*_header(some), "times the least"], rows)


def _by_horizon(rows: pd.DataFrame) -> str:
    """The times that a policy's average regret is of the least, horizon by horizon."""
    found = {}
    for study in ("condorcet", "long"):
        some = rows[(rows["study"] == study) & (rows["measure"] == "average")]
        for horizon, part in some.groupby("horizon"):
            found[f"T = 1e{round(np.log10(horizon))}"] = _ratios(_wide(part))
    frame = pd.DataFrame(found).sort_values("T = 1e5", kind="stable")
    cells = frame.map(_two_digits)
    return table(["policy", *frame], [[f"`{name}`", *row] for name, *row in cells.itertuples()])


def _votes(rows: pd.DataFrame) -> str:
    """Votes needed, or in brackets the probability after the last vote."""
    some = rows[rows["measure"] == "votes"]
    votes, named = _wide(some), _wide(rows[rows["measure"] == "named"])
    lines = [
        [
            f"`{policy}`",
            *(
                f"({named.loc[policy, problem]:.2f})" if np.isinf(value) else _short(value)
                for problem, value in row.items()
            ),
        ]
        for policy, row in votes.iterrows()
    ]
    return table(_header(some), lines)


def _two_digits(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.3g}"


def rewritten(text: str, made: dict[str, str]) -> str:
    """The page with tables in place of its own."""
    return _TABLE.sub(lambda m: f"{m[1]}\n{made[m[2]]}\n\n{m[3]}", text)


def main(folder: Path) -> None:
    """Runs what is missing, and writes the numbers and the page's tables."""
    for name, grid in GRIDS.items():
        run_sweep(grid, folder / name, progress=True)
    numbers(folder).to_csv(NUMBERS, index=False, float_format="%.4g")
    PAGE.write_text(rewritten(PAGE.read_text(), tables(pd.read_csv(NUMBERS))))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
