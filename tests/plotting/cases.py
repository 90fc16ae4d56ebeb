"""Results, curves and maps made up: for tests."""

import numpy as np

import jaxduel as jd
from jaxduel.plotting import HeatMap, HeatPanel, Line
from jaxduel.plotting.words import names_of


def made_up(policy: str, scale: float, num_seeds: int = 20) -> jd.Result:
    rng = np.random.default_rng(int(scale))
    times = np.array([1, 10, 100, 1_000, 10_000])
    regret = np.cumsum(rng.exponential(scale, (num_seeds, len(times))), axis=1)
    plays = np.zeros((num_seeds, len(times), 3), np.int64)
    return jd.Result(policy, "toy", 10_000, 0, "average", times, regret, plays)


def line_of(result: jd.Result) -> Line:
    return Line.of(result.runs, names_of(result.policy, result.changed)[1])


LINES = [line_of(made_up("rucb", 5.0)), line_of(made_up("btm", 90.0))]


def swept(name: str, label: str, **columns: list[float]) -> Line:
    at = np.array(columns.get("at", [2, 3, 5]))
    mean = np.array(columns.get("mean", [0.6, 0.2, 0.1]))
    return Line(name=name, label=label, at=at, mean=mean, lower95=0.9 * mean, upper95=1.2 * mean)


def heats(kind, *values, sure=None, choices=()) -> HeatPanel:
    maps = [HeatMap(f"map {i}", np.array(v, float), sure) for i, v in enumerate(values)]
    return HeatPanel(
        maps=maps, kind=kind, label="what", across="M", up="T", columns=["2", "3", "4"],
        rows=["10", "100"], title="(a) maps", choices=choices,
    )  # fmt: skip


CELLS = [[1, 2, 3], [4, 5, np.nan]]
