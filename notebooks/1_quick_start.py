# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Quick start
#
# Three policies compare six rankers of ArXiv's search engine a million times, in 256 independent
# runs each: half a minute on two cores, most of it compilation. A comparison of an arm with itself
# teaches nothing, and a policy that has settled makes little else; `jd.simulate` skips such runs.

# %% tags=["parameters"]
POLICIES = ("dts", "rmed1", "rucb")
NUM_SEEDS = 256  # independent runs of each policy
HORIZON = 1_000_000  # T, comparisons per run

# %%
import warnings

import numpy as np
from IPython.display import Image, display

import jaxduel as jd
from jaxduel.plotting import Reference, draw, png, regret_panel, result_lines

jd.use_all_cores()

# %% [markdown]
# ## An instance
#
# `jd.problems.load` knows the instances of the papers by name, and reads files. Entry (i, j) of
# `preferences` is the probability that arm i beats arm j. Here arm 0 beats all others: it is the
# Condorcet winner. Regret "average" of a comparison (i, j) is (ε_i + ε_j) / 2, with ε_i the margin
# by which arm 0 beats arm i.

# %%
problem = jd.problems.load("arxiv")
print(problem.preferences)
print("Condorcet winner:", problem.condorcet_winner)
print("margins:", problem.gaps("average"))

# %% [markdown]
# ## Three policies
#
# D-TS samples preferences from their posterior, RMED1 weighs the evidence against each arm, RUCB
# keeps confidence bounds. `jaxduel list policies` shows all of them. A `Result` has the regret of
# each seed and the plays of each arm at checkpoints that are even in log t. The bound proved for
# D-TS is for instances without ties, and arms 3 and 5 are tied: `simulate` warns of that, but for
# the filter below.

# %%
warnings.simplefilter("ignore", jd.AssumptionWarning)
results = []
for name in POLICIES:
    policy = jd.policies.make(name, num_arms=problem.num_arms)
    result = jd.simulate(policy, problem, HORIZON, num_seeds=NUM_SEEDS, regret="average")
    results.append(result)
    print(
        f"{name:6} regret {result.mean[-1]:6.1f} ± {result.sem[-1]:.1f} (standard error), "
        f"median {result.quantile(0.5)[-1]:6.1f}"
    )

# %% [markdown]
# ## Regret against log t, and the lower bound
#
# No policy that is consistent on all instances with a Condorcet winner has regret below
# C log t − o(log t) (Komiyama et al., COLT 2015, Theorem 1). `jd.theory` computes C; the dotted
# line is C log t. It bounds the slope in the long run: a curve may lie below it at any given t.

# %%
constant = jd.theory.condorcet_lower_bound(problem)
times = results[0].checkpoints
bound = Reference(f"$C\\,\\log t$, $C={constant:.1f}$", constant * np.log(times), times)
panel = regret_panel(
    result_lines(results),
    title=f"arxiv, $K={problem.num_arms}$",
    references=[bound],
    time_scale="log",
    regret_scale="linear",
)
display(Image(png(draw([panel]), dpi=220)))

# %% [markdown]
# ## Read on
#
# `results[0].plot()` draws one result, `.save("dts.nc")` keeps it with all that made it. Notebook 2
# adds a policy of your own; `jaxduel reproduce batched-dueling` makes a paper's figures.
