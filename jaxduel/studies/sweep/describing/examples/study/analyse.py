"""The table, the paired comparison and the figure of this study, from the folder `results`."""

from pathlib import Path

import jaxduel as jd
from jaxduel.plotting import Line, draw, png, regret_panel
from jaxduel.stats import paired

HERE = Path(__file__).parent
A, B = "dts", "rmed1"


def line(rows):
    """The curve of one policy on one problem."""
    policy, parameters = rows.iloc[0][["policy", "parameters"]]
    return Line(
        name=f"{policy}[{parameters}]" if parameters else policy,
        label=f"{jd.policies.label(policy)} {parameters.replace('=', ' = ')}".strip(),
        at=rows["t"].to_numpy(),
        mean=rows["mean"].to_numpy(),
        lower95=rows["lower95"].to_numpy(),
        upper95=rows["upper95"].to_numpy(),
        num_seeds=rows["num_seeds"].iloc[0],
    )


data = jd.open_sweep(HERE / "results")

# Regret at the horizon: the mean over seeds with its 95 % interval, and the median.
columns = ["problem", "policy", "parameters", "num_seeds", "mean", "lower95", "upper95", "median"]
print(data.to_frame(final=True)[columns].round(1).to_string(index=False))

# Seeds of the same number share their random numbers: A and B are compared seed by seed; "better"
# is less regret of A.
final = data.final_regret.sel(parameters="").squeeze()
for problem in data.problem.values:
    of_a, of_b = (final.sel(policy=name, problem=problem).values for name in (A, B))
    found = paired(of_a, of_b)
    if found:
        interval = f"{found.difference:.1f} [{found.lower95:.1f}, {found.upper95:.1f}]"
        print(f"{A} minus {B} on {problem}: {interval}, {found.verdict}")

# A panel for each problem, and the numbers of all curves.
curves = data.to_frame()
panels = []
for problem in data.problem.values:
    by_policy = curves[curves["problem"] == problem].groupby(["policy", "parameters"], sort=False)
    lines = [line(rows) for _, rows in by_policy]
    panels.append(regret_panel(lines, problem, time_scale="log", regret_scale="linear"))
figures = HERE / "figures"
figures.mkdir(exist_ok=True)
(figures / "regret.png").write_bytes(png(draw(panels)))
curves.to_csv(figures / "regret.csv", index=False)
print(f"written to {figures}: regret.png, regret.csv")
