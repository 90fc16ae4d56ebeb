"""`Result`: the regret and plays that a simulation returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.display import counted, html_table
from jaxduel.equality import same
from jaxduel.errors import InputError, shorten
from jaxduel.files import as_path
from jaxduel.policies.checks import require_numbers
from jaxduel.runs import Runs, variant_name
from jaxduel.simulation.provenance import (
    all_changed,
    changed_settings,
    policy_text,
    seed_numbers,
)
from jaxduel.simulation.totals import Totals
from jaxduel.stats import Paired, independent, paired

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Regret and plays of a policy on an instance, for many seeds.

    Attributes:
      policy: the policy's name.
      problem: the instance's name.
      horizon: T.
      seed: root seed (or "key" if a JAX key was given).
      definition: the definition of the regret.
      checkpoints: (M,) int64, comparisons or pulls made.
      regret: (num_seeds, M) float64, cumulative pseudo-regret, in units of the gap. If `totals` is
        given, `regret`, `plays` and `batches` have the first `num_kept` seeds only.
      plays: (num_seeds, M, K) int64, plays of each arm of the problem; their sum is twice the
        checkpoint, or the checkpoint for pulls.
      batches: (num_seeds,) int64, batches used up to the horizon; None for policies that are not
        batched.
      pairs: (num_seeds, M, K, K) int64, comparisons of each ordered pair (left, right) of the
        problem's arms; None if not asked for. In the matrix plus its transpose, the rows sum to the
        plays of the arms.
      outcomes: None if not asked for. Duels: (num_seeds, M, K, K) int32, wins of i over j, without
        comparisons of an arm with itself. Arms with rewards: (num_seeds, M, K) float64, sums of the
        rewards minus their means. For batched policies the round that contains a checkpoint, or
        ends at it, is left out: plays up to the checkpoint cannot depend on its outcomes.
      totals: statistics of all seeds, if a table of all seeds would not fit (`table_budget` of
        `jaxduel.simulate`), else None.
      made_by: provenance of the result, in plain values that survive JSON: the policy's parameters,
        the problem's digest and the arguments of `jaxduel.simulate`, all by name; the lanes,
        versions and digest of the code that ran, and the command line, if any.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("rucb", num_arms=4, alpha=0.6)
      >>> problem = jd.problems.load("cyclic")
      >>> result = jd.simulate(policy, problem, 1000, num_seeds=4, checkpoints=[100, 1000])
      >>> result.variant, result.num_seeds, result.checkpoints.tolist()
      ('rucb[alpha=0.6]', 4, [100, 1000])
      >>> result.mean.shape, result.mean_plays.shape  # checkpoints, checkpoints x arms
      ((2,), (2, 4))
    """

    policy: str
    problem: str
    horizon: int
    seed: int | str
    definition: str
    checkpoints: np.ndarray
    regret: np.ndarray
    plays: np.ndarray
    batches: np.ndarray | None = None
    pairs: np.ndarray | None = None
    outcomes: np.ndarray | None = None
    totals: Totals | None = None
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    @property
    def num_seeds(self) -> int:
        """Number of seeds that ran to the end."""
        return self.num_kept if self.totals is None else self.totals.regret.num_seeds

    @property
    def num_kept(self) -> int:
        """Number of seeds that have rows in the tables: all, or the first of them."""
        return self.regret.shape[0]

    @property
    def runs(self) -> Runs:
        """The regret with its statistics, as `jaxduel.plotting.Line.of` takes it."""
        return Runs(
            name=variant_name(self.policy, self.changed),
            label=self.variant,
            times=self.checkpoints,
            regret=self.regret,
            moments=None if self.totals is None else self.totals.regret,
            batches=self.batches,
        )

    @property
    def mean(self) -> np.ndarray:
        """Mean regret over seeds: (M,) float64."""
        return self.runs.mean

    @property
    def mean_plays(self) -> np.ndarray:
        """Mean plays of each arm over seeds: (M, K) float64."""
        if self.totals is None:
            return self.plays.mean(axis=0)
        return self.totals.plays / self.num_seeds

    @property
    def mean_batches(self) -> float:
        """Mean number of batches over seeds; NaN for policies that are not batched."""
        if self.batches is None:
            return float("nan")
        if self.totals is not None and self.totals.batches is not None:
            return self.totals.batches / self.num_seeds
        return float(self.batches.mean())

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of regret over seeds (divisor n - 1; NaN for one seed): (M,)
        float64."""
        return self.runs.std

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean: (M,) float64."""
        return self.runs.sem

    @property
    def final(self) -> np.ndarray:
        """Regret of each seed that has a row, at the last checkpoint: (num_kept,) float64."""
        return self.regret[:, -1]

    @property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the 95 % interval of the mean (`jaxduel.stats.interval95`): (M,)
        float64 each, NaN for one seed."""
        return self.runs.interval

    def compare(self, other: Result) -> Paired:
        """The final regret of this result minus that of another one on the same instance.

        Seeds with the same number and root are pairs: they see the arms in the same order, and the
        same random numbers decide. Only seeds with rows in both results count then. Results
        without a common seed, or of different roots, are compared as independent samples.

        Raises:
          InputError: for results on different instances, of different definitions of the regret, or
            that end at different times.

        Example:
          >>> import jaxduel as jd
          >>> rucb, dts = (jd.simulate(name, "arxiv", 10_000) for name in ("rucb", "dts"))
          >>> comparison = dts.compare(rucb)
          >>> comparison.verdict, comparison.num_seeds
          ('better', 100)
        """
        if not isinstance(other, Result):
            raise InputError(
                "compare needs a result, as jaxduel.simulate returns it, not "
                f"{shorten(repr(other))}."
            )
        own, others = self._setting, other._setting
        for name, one in own.items():
            if one != others[name]:
                raise InputError(
                    f"compare: the results must have the same {name}, not {one} and {others[name]}."
                )
        roots = [
            {name: result.made_by.get(name) for name in ("seed", "prng", "shuffle_arms")}
            for result in (self, other)
        ]
        if roots[0] == roots[1]:
            mine, theirs = (seed_numbers(r.made_by, r.num_kept) for r in (self, other))
            _, of_self, of_other = np.intersect1d(mine, theirs, return_indices=True)
            found = paired(self.final[of_self], other.final[of_other])
            if found is not None:
                return found
        return independent(self.final, other.final)

    @property
    def _setting(self) -> dict[str, Any]:
        """Values that two results must share to be compared, by their names in words."""
        return {
            "instance": self.problem,
            "digest of the instance": self.made_by.get("problem", {}).get("digest"),
            "definition of regret": self.definition,
            "last checkpoint": int(self.checkpoints[-1]),
        }

    def quantile(self, q: float | np.ndarray) -> np.ndarray:
        """Quantiles of regret over the seeds that have rows: (M,), or (len(q), M), float64.

        Seeds are exchangeable, so that the first ones are a sample of all.

        Raises:
          InputError: unless q is in [0, 1].
        """
        require_numbers(q, lambda x: (x >= 0) & (x <= 1), "a quantile must be in [0, 1]")
        return self.runs.quantile(q)

    @property
    def variant(self) -> str:
        """The policy with its parameters that are not at their defaults: pcomp[num_batches=8]."""
        return policy_text(self.policy, self.made_by)

    @property
    def changed(self) -> dict[str, str]:
        """Parameters and settings that are not at their defaults, as text."""
        return all_changed(self.made_by)

    def summary(self) -> list[str]:
        """Lines of text: the run, with everything not at its default, and its last regret."""
        q25, median, q75 = self.quantile(np.array([0.25, 0.5, 0.75]))[:, -1]
        sample = "" if self.totals is None else f" (of the first {self.num_kept:,} runs)"
        lines = [
            self._what,
            f"{self.definition} regret{'' if self._ends_at == 'T' else f' at {self._ends_at}'} "
            f"{self._last_regret}",
        ]
        if self.num_seeds > 1:
            lines.append(
                f"median {median:.6g}, quartiles {q25:.6g} and {q75:.6g}{sample}, standard "
                f"deviation {self.std[-1]:.6g}"
            )
        if self.batches is not None:
            most = self.batches.max() if self.totals is None else self.totals.most_batches
            lines.append(f"batches: {self.mean_batches:.4g} on average, {most} at most")
        return lines

    def __repr__(self) -> str:
        return (
            f"<Result: {self._what}, seed {self.seed}\n"
            f"{self.definition} regret at {self._ends_at} {self._last_regret}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ["policy", self.variant],
            ["problem", self.problem],
            ["T", f"{self.horizon:,} {self._steps}"],
            ["seeds", f"{self.num_seeds:,}, from root seed {self.seed}"],
            *([name, text] for name, text in changed_settings(self.made_by).items()),
            [f"{self.definition} regret at {self._ends_at}", self._last_regret],
        ]
        return html_table("Result", rows)

    @property
    def _what(self) -> str:
        """The run in words, with everything not at its default."""
        settings = [f", {name}={text}" for name, text in changed_settings(self.made_by).items()]
        return (
            f"{self.variant} on {self.problem}: {counted(self.num_seeds, 'run')} of "
            f"T = {self.horizon:,} {self._steps}{''.join(settings)}"
        )

    @property
    def _ends_at(self) -> str:
        """The last checkpoint in words."""
        last = int(self.checkpoints[-1])
        return "T" if last == self.horizon else f"t = {last:,}"

    @property
    def _last_regret(self) -> str:
        """Mean regret at the last checkpoint, with its 95 % interval if there are several seeds."""
        mean = self.mean[-1]
        if self.num_seeds == 1:
            return f"{mean:.6g}"
        low, high = (ends[-1] for ends in self.interval)
        return f"{mean:.6g}, 95 % interval [{low:.6g}, {high:.6g}]"

    def plot(self) -> Figure:
        """Regret against time, with 95 % intervals, as a matplotlib figure."""
        from jaxduel.plotting.figures import draw
        from jaxduel.plotting.line import Line, regret_panel
        from jaxduel.plotting.words import names_of, problem_words

        title = f"{problem_words(self.problem)}, $K={self.plays.shape[-1]}$"
        line = Line.of(self.runs, names_of(self.policy, self.changed)[1])
        return draw([regret_panel([line], title, regret=self.definition, time_scale="log")])

    def to_xarray(self) -> xarray.Dataset:
        """The result as a data set with dimensions seed (numbered from `first_seed` on), checkpoint
        and arm (numbered from 0, and with coordinate `name` if arms have names; of a pair, left and
        right); `made_by` is an attribute in JSON."""
        from jaxduel.simulation.result_files import dataset_of

        return dataset_of(self)

    def to_frame(self, *, seeds: bool = False) -> pandas.DataFrame:
        """The regret as a table with one row per checkpoint.

        The columns are those of `jaxduel.open_sweep(...).to_frame()`, so that tables of runs and of
        sweeps can be joined: policy, parameters (not at their defaults), problem, num_arms,
        horizon, definition, delay, one per such parameter, t, num_seeds, mean, std, sem, lower95,
        upper95, q25, median, q75 (over the seeds that have rows), batches_mean (of batched
        policies).

        Args:
          seeds: whether there is a row per seed and checkpoint, with seed, t and regret instead of
            statistics.

        Example:
          >>> import jaxduel as jd
          >>> policy = jd.policies.make("rucb", num_arms=4, alpha=0.6)
          >>> problem = jd.problems.load("cyclic")
          >>> result = jd.simulate(policy, problem, 1000, num_seeds=4, checkpoints=[100, 1000])
          >>> frame = result.to_frame()
          >>> frame[["policy", "parameters", "alpha", "t", "num_seeds"]].values.tolist()
          [['rucb', 'alpha=0.6', 0.6, 100, 4], ['rucb', 'alpha=0.6', 0.6, 1000, 4]]
          >>> len(result.to_frame(seeds=True))
          8
        """
        from jaxduel.simulation.result_files import frame_of

        return frame_of(self, seeds)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes a NetCDF file, which `jaxduel.load_result` reads, whole or not at all.

        Args:
          path: NAME.nc; an existing result of the same request is replaced.
          force: whether any other existing file is replaced too.

        Raises:
          InputError: for another ending, a file of another request, or if it cannot be written.
        """
        from jaxduel.simulation.result_files import write

        return write(self, as_path(path, "save"), force)

    @property
    def _steps(self) -> str:
        return "pulls" if self.definition == "pulls" else "comparisons"


def load_result(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `Result.save` or `jaxduel run --out` has written.

    The file's digest is checked, and so is the agreement of its tables: plays add up to the
    checkpoints, regret follows from the plays. A file of jaxduel 0.2.0, which has no digest, is
    read with a warning.

    Raises:
      InputError: if the file does not exist, holds no result, or was changed.

    Example:
      >>> import jaxduel as jd
      >>> policy, problem = jd.policies.make("rucb", num_arms=4), jd.problems.load("cyclic")
      >>> result = jd.simulate(policy, problem, 1000, num_seeds=4, checkpoints=[100, 1000])
      >>> path = result.save("rucb.nc")
      >>> again = jd.load_result(path)
      >>> bool((again.regret == result.regret).all()), again.made_by == result.made_by
      (True, True)
    """
    from jaxduel.simulation.result_files import read

    return Result(**read(as_path(path, "load_result")))
