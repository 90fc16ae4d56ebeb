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
# # Tuning: α of D-TS, q of PCOMP
#
# Papers run D-TS with α = 0.51, just above the 1/2 that its proof needs, and PCOMP with B = 16
# batches that grow by the factor q = T^(1/B), 2.05 at T = 10⁵. What do these choices cost on a
# family of instances, and where is another one better?
#
# The family is Bradley-Terry-Luce with weights uniform in (0, 1), p_ij = w_i / (w_i + w_j), as in
# "Batched Dueling Bandits", section 5, but with fewer arms.

# %% tags=["parameters"]
ALPHAS = (0.0159375, 0.031875, 0.06375, 0.1275, 0.255, 0.51, 1.02)  # of D-TS
NUM_INSTANCES = 12  # instances of each family
DTS_SEEDS = 32  # runs of D-TS per instance and value of α
BLOCKS = 2  # in which an instance's runs are simulated, side by side where there are cores
PCOMP_SEEDS = 256  # runs of PCOMP per instance and value of q

# %%
import warnings

import jax
import numpy as np
from IPython.display import Image, display
from matplotlib.ticker import ScalarFormatter

import jaxduel as jd
from jaxduel.plotting import Figure, Line, LinePanel, draw, png, style_of
from jaxduel.stats import interval95

jd.use_all_cores()
HORIZON = 100_000

# %% [markdown]
# ## One program for all values
#
# α and q are leaves of their policies: `jd.simulate_many` stacks all values into one vmapped
# program, compiled once for all instances. Seed i has the same random numbers for all values. The
# log of an instance's mean regret, less its log at the paper's value, is one number per instance;
# means and intervals below are over instances, so that they speak of the family, not of these
# alone.


# %%
def family(num_arms, seed):
    """Instances of the BTL family with this many arms."""
    keys = jax.random.split(jax.random.key(seed), NUM_INSTANCES)
    return [jd.problems.btl(key, num_arms) for key in keys]


def simulate_all(policies, problems, num_seeds):
    """Results of each policy on each problem: a list of lists."""
    columns = [
        jd.simulate_many(
            policies,
            problem,
            HORIZON,
            num_seeds=num_seeds,
            regret="average",
            checkpoints=[HORIZON],
            lanes=num_seeds // BLOCKS,
        )
        for problem in problems
    ]
    return list(zip(*columns, strict=True))


def regret_of(results):
    """Mean regret at T over seeds: (values, instances)."""
    return np.array([[result.mean[-1] for result in row] for row in results])


def ratio_to(regret, default):
    """Geometric mean over instances of regret over that of value number `default`, as a log: the
    mean and its standard error, each (values,)."""
    logs = np.log(regret / regret[default])
    return logs.mean(axis=1), logs.std(axis=1, ddof=1) / np.sqrt(logs.shape[1])


def ratio_line(name, label, at, mean, error):
    """A line of ratios with its 95 % band."""
    lower, upper = interval95(mean, error, NUM_INSTANCES)
    return Line(
        name=name,
        label=label,
        at=at,
        mean=np.exp(mean),
        lower95=np.exp(lower),
        upper95=np.exp(upper),
    )


# %% [markdown]
# ## D-TS
#
# Six arms. Confidence bounds w / n ± sqrt(α log t / n) prune the candidates; small α prunes early.
# The package warns of α ≤ 1/2, for which nothing is proved; that is what is to be tried here.

# %%
dts_problems = family(num_arms=6, seed=0)
alphas = np.array(ALPHAS)
default_alpha = ALPHAS.index(0.51)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", jd.AssumptionWarning)
    dts = [jd.policies.make("dts", num_arms=6, alpha=alpha) for alpha in alphas]
    dts_results = simulate_all(dts, dts_problems, DTS_SEEDS)
dts_regret = regret_of(dts_results)
dts_ratio, dts_error = ratio_to(dts_regret, default_alpha)


for at, alpha in enumerate(alphas):
    worst = max(result.regret[:, -1].max() for result in dts_results[at])
    print(
        f"α = {alpha:6.4f}: regret / that at 0.51 = {np.exp(dts_ratio[at]):.3f}, "
        f"log {dts_ratio[at]:+.3f} ± {dts_error[at]:.3f}; mean {dts_regret[at].mean():6.1f}, "
        f"largest of all runs {worst:6.0f}; best on {np.sum(dts_regret.argmin(0) == at)} instances"
    )


# %%
def halves(regret, default, problems):
    """`ratio_to` of the instances whose smallest margin is below the median, and of the others."""
    order = np.argsort([np.sort(problem.gaps("average"))[1] for problem in problems])
    return [ratio_to(regret[:, half], default) for half in np.array_split(order, 2)]


hard, easy = halves(dts_regret, default_alpha, dts_problems)
print("log of regret / that at 0.51, instances of small and of large margin:")
for at, alpha in enumerate(alphas):
    print(
        f"α = {alpha:6.4f}: {hard[0][at]:+.3f} ± {hard[1][at]:.3f}, "
        f"{easy[0][at]:+.3f} ± {easy[1][at]:.3f}"
    )

# %% [markdown]
# ## PCOMP
#
# Ten arms. In round r all pairs of arms that are left are compared q^r times. Large q means few
# rounds and a last exploration that is far too long; small q means many rounds, each of which asks
# again whether an arm is beaten. `elimination="kl"` is the paper's experiment.

# %%
pcomp_problems = family(num_arms=10, seed=1)
batches = np.array([64, 32, 16, 8, 4, 2])
growths = HORIZON ** (1 / batches)
default_batches = 2
pcomp = [jd.policies.make("pcomp", num_arms=10, horizon=HORIZON, num_batches=b) for b in batches]
pcomp_results = simulate_all(pcomp, pcomp_problems, PCOMP_SEEDS)
pcomp_regret = regret_of(pcomp_results)
pcomp_ratio, pcomp_error = ratio_to(pcomp_regret, default_batches)
lost = np.array(
    [
        [
            np.mean(result.plays[:, -1].argmax(axis=1) != problem.condorcet_winner)
            for result, problem in zip(row, pcomp_problems, strict=True)
        ]
        for row in pcomp_results
    ]
)
rounds = np.array([[result.batches.mean() for result in row] for row in pcomp_results])
for at, growth in enumerate(growths):
    print(
        f"q = {growth:6.2f} (B = {batches[at]:2}): regret / that at B = 16 = "
        f"{np.exp(pcomp_ratio[at]):6.3f}, log {pcomp_ratio[at]:+.3f} ± {pcomp_error[at]:.3f}; "
        f"rounds used {rounds[at].mean():4.1f}; best arm lost in {lost[at].mean():.1%} ± "
        f"{lost[at].std(ddof=1) / np.sqrt(NUM_INSTANCES):.1%} of runs"
    )

# %% [markdown]
# ## The whole range
#
# Regret relative to the paper's value, geometric means over instances with 95 % bands.

# %%
figure = draw(
    [
        LinePanel(
            lines=[ratio_line("dts", "D-TS", alphas, dts_ratio, dts_error)],
            title="D-TS, BTL, $K=6$, $T=10^5$",
            across="$\\alpha$",
            up="regret at $T$ / that of the paper's value",
            across_scale="log",
        ),
        LinePanel(
            lines=[ratio_line("pcomp", "PCOMP", growths, pcomp_ratio, pcomp_error)],
            title="PCOMP, BTL, $K=10$, $T=10^5$",
            across="growth of the batches $q=T^{1/B}$",
            up="regret at $T$ / that of the paper's value",
            across_scale="log",
            up_scale="log",
        ),
    ]
)
figure.axes[1].set_ylim(0.5, 15)
display(Image(png(figure, dpi=180)))

# %% [markdown]
# ## Which value is best where
#
# A point is an instance, its place the margin by which its best arm beats the second best. Bars are
# 95 % intervals over seeds.


# %%
def log_ratio(results, reference):
    """log of mean regret over that of the reference, and its standard error over seeds, paired."""
    one, other = (r.regret[:, -1] for r in (results, reference))
    influence = one / one.mean() - other / other.mean()
    error = influence.std(ddof=1) / np.sqrt(len(influence))
    return np.log(one.mean() / other.mean()), error


figure = Figure(figsize=(6.75, 2.6), layout="constrained")
shown = [at for at, alpha in enumerate(ALPHAS) if alpha in (0.06375, 1.02)]
panels = (
    ("dts", dts_problems, dts_results, default_alpha, shown, alphas, "\\alpha"),
    ("pcomp", pcomp_problems, pcomp_results, default_batches, (0, 3), growths, "q"),
)
for axes, (name, problems, results, default, others, values, symbol) in zip(
    figure.subplots(1, 2), panels, strict=True
):
    margins = [np.sort(problem.gaps("average"))[1] for problem in problems]
    for other, marker in zip(others, ("v", "^"), strict=False):
        points = np.array(
            [log_ratio(*pair) for pair in zip(results[other], results[default], strict=True)]
        )
        middle = np.exp(points[:, 0])
        ends = np.exp(interval95(*points.T, results[default][0].num_seeds))
        axes.errorbar(
            margins,
            middle,
            yerr=np.abs(ends - middle),
            fmt=marker,
            color=style_of(name).color,
            label=f"${symbol}={values[other]:.3g}$",
        )
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_minor_formatter(ScalarFormatter())
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.tick_params(labelsize=7, which="both")
    axes.set_xlabel("smallest margin $\\epsilon$")
    axes.set_title(
        f"{jd.policies.label(name)}, against ${symbol}={values[default]:.3g}$", fontsize=9
    )
    axes.legend(frameon=False, fontsize=7)
figure.axes[0].set_ylabel("regret / that of the paper's value", fontsize=8)
display(Image(png(figure, dpi=180)))

# %% [markdown]
# ## Finding
#
# Of 12 instances each, errors over instances, as logarithms of ratios of regret at T = 10⁵:
#
# * D-TS hardly cares. From α = 0.064 to 1.02 regret is within 7 % of that at 0.51 in the geometric
#   mean (+0.06 ± 0.08, +0.03 ± 0.06, +0.01 ± 0.04 and +0.009 ± 0.007 for 1/8, 1/4, 1/2 and 2 times
#   0.51): the usual value loses nothing that can be seen. Sixteen and thirty-two times less costs:
#   +0.57 ± 0.18 and +1.40 ± 0.29, factors of 1.8 and 4.1; at 0.016 more on the six instances of
#   large margin, +2.08 ± 0.29, than on the others, +0.72 ± 0.31.
# * What α buys is safety. The largest regret of 384 runs is 615 at 0.51 and at 1.02, 1,105 at half
#   of it, 2,266 at a quarter, 7,164 at 0.016.
# * PCOMP cares, and its usual value is not the best. With B = 64, q = 1.20, it has 0.679 times the
#   regret of B = 16, q = 2.05 (−0.387 ± 0.015), with B = 32 0.776 times (−0.254 ± 0.012), and on
#   each instance less: the paper's choice costs 47 % more than B = 64. Larger q costs at once: 1.55
#   times at B = 8 (+0.438 ± 0.017), 8 times at B = 2 (+2.08 ± 0.11).
# * There is no price in mistakes: 40 rounds of tests in place of 13 leave the share of runs in
#   which another arm is played most where it was, 8.7 % and 8.2 %, nearly all of it on one
#   instance. What small q costs is rounds: 40.0 in place of 12.8 in the mean.
#
# The checks compare with these numbers, within 4 standard errors, at any number of instances.

# %%
DTS_LOGS = {
    0.0159375: (1.400, 0.287),
    0.031875: (0.569, 0.175),
    0.06375: (0.061, 0.079),
    0.1275: (0.026, 0.060),
    0.255: (0.014, 0.038),
    1.02: (0.009, 0.007),
}
PCOMP_LOGS = {
    64: (-0.387, 0.015),
    32: (-0.254, 0.012),
    8: (0.438, 0.017),
    4: (1.190, 0.074),
    2: (2.079, 0.110),
}
for found, errors, values, stated in (
    (dts_ratio, dts_error, alphas, DTS_LOGS),
    (pcomp_ratio, pcomp_error, batches, PCOMP_LOGS),
):
    for one, its_error, at in zip(found, errors, values, strict=True):
        value, error = stated.get(at, (0.0, 0.0))
        assert abs(one - value) <= 4 * np.hypot(its_error, error), (at, one, its_error)
assert np.all(np.abs(pcomp_ratio[[1, 3]]) > 4 * pcomp_error[[1, 3]])
