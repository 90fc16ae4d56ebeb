"""Calls as users write them: pyright, which reads them in CI, finds no error."""

import numpy as np

import jaxduel as jd
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry

arxiv = jd.problems.load("arxiv")
policy = jd.policies.make("dts", problem=arxiv, horizon=1e5, alpha=0.6)
result = jd.simulate("rucb", "arxiv", 1e5, num_seeds=100, checkpoints=20)
first, second = jd.simulate_many(["dts", "rucb"], "arxiv", [1e4, 1e5], num_seeds=10)
print(result.mean[-1], result.sem, result.quantile(0.9), result.to_xarray().mean(), result.plot())
print(jd.compare(first, second))

found = jd.identify(policy, arxiv, votes=1e4, num_seeds=50, checkpoints=[100, 200])
share, low, high = found.probability("copeland")
print(share, low, high, found.needed("borda", 0.9), found.checkpoints, found.plot())

grid = jd.Grid(policies=["dts", "rucb"], problems="arxiv", horizons=1e5)
entries = PolicyEntry("dts", {"alpha": [0.51, 0.6]})
family = ProblemEntry(generator="btl", parameters={"num_arms": [4, 8]}, instances=[0, 1])
Grid(policies=entries, problems=[family, "arxiv"], horizons=np.array([1e3, 1e5]), delay=[1, 10])
jd.Grid(policies="dts", problems=["arxiv"], identify=True, votes=[5000], recommend="borda")
print(jd.run_sweep(grid, "results"), jd.open_sweep("results").to_frame())
print(jd.theory.bounds(arxiv, horizon=1e5, num_batches=4), jd.theory.copeland_lower_bound(arxiv))
print(jd.votes.fit(jd.votes.read("votes.csv")).problem)
jd.reproduce("batched-dueling", figure="1a")
