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
# # Worst instances
#
# Where is a policy at its worst, and why there? `jd.gradients.worst_case` climbs the gradient of
# expected regret from random instances of a family, and reports what it found on seeds that nothing
# was chosen by. Two searches: for SCOMP2, a batched policy, under strong stochastic transitivity
# (SST), and for D-TS against RMED1, where the difference of their regrets is made large. It is a
# local search: what it finds is bad, not proven to be the worst.

# %% tags=["parameters"]
NUM_ARMS = 8  # K of the first search
NUM_BATCHES = 8  # B of SCOMP2
HORIZON = 100_000  # T, comparisons per run
FAMILIES = ("sst", "btl")  # where the first search looks; the first is looked at more closely
NUM_STARTS = 3  # ascents in each family
STEPS = 100  # of each ascent
STEP_SEEDS = 2_048  # runs for the gradient of a step
FRESH_SEEDS = 8_192  # runs to evaluate an instance by
AVERAGE_INSTANCES = 128  # drawn as the ascents' starts are, for the average instance
AVERAGE_SEEDS = 64  # runs on each of them
PAIR = ("dts", "rmed1")  # the second search: the regret of the first minus that of the second
PAIR_ARMS = 4
PAIR_HORIZON = 10_000
PAIR_STARTS = 2
PAIR_STEPS = 15
PAIR_STEP_SEEDS = 256
PAIR_FRESH_SEEDS = 4_096
PAIR_MIN_GAP = 0.1  # the winner's least lead over 1/2: what less takes T to see separates nobody
LEARNING_RATES = (0.1, 0.35)  # of Adam, for the two searches
CLAIMED_RATIO = 4.0  # the last cell: regret on the instance found is so many times the average's
CLAIMED_DIFFERENCE = 0.0  # and the difference of the pair is above this

# %%
import warnings

import jax
import numpy as np
from IPython.display import Image
from matplotlib.figure import Figure

import jaxduel as jd
from jaxduel.plotting import png, style_of, worst_case_figure
from jaxduel.stats import interval95, t95

jd.use_all_cores()
# The proofs of SCOMP2 need the triangle inequality (STI) besides SST, which an instance of the
# family "sst" need not have.
warnings.simplefilter("ignore", jd.AssumptionWarning)

# %% [markdown]
# ## SCOMP2
#
# "btl" are Bradley-Terry-Luce instances, which are SST and STI; "sst" is any SST matrix. Arm 0
# wins; neighbours (in "btl", arm 0 and the others) are at least 0.02 apart, and no probability is
# above 0.95. Each ascent begins with random instances: log-weights, or increments of logits, that
# are normal. SCOMP2 is played in jaxduel's default reading: as soon as an arm eliminates the
# candidate by the KL criterion, the seeds are given up, and PCOMP goes on with the arms that lead
# against the candidate by enough: by 3/5 of what eliminates, as lines 11 and 12 have it in margins.

# %%
SIZES = {"num_arms": NUM_ARMS, "horizon": HORIZON, "num_batches": NUM_BATCHES}
policy = jd.policies.make("scomp2", **SIZES)
spaces = {family: jd.gradients.space(family, NUM_ARMS) for family in FAMILIES}
found = {
    family: jd.gradients.worst_case(
        policy,
        space,
        num_starts=NUM_STARTS,
        steps=STEPS,
        num_seeds=STEP_SEEDS,
        fresh_seeds=FRESH_SEEDS,
        learning_rate=LEARNING_RATES[0],
    )
    for family, space in spaces.items()
}
for family, one in found.items():
    print(
        f"{family}: {one.before:.0f} +- {one.before_sem:.0f} on the instances to begin with, "
        f"{one.value:.0f} +- {one.sem:.0f} on the one found"
    )
    print("  gaps of the instance found:", *np.round(one.problem.gaps("average"), 3))


# %%
def picture(one, label):
    """The ascents and the instance of a search."""
    return Image(png(worst_case_figure(one, label), dpi=150))


picture(found[FAMILIES[0]], "average regret of SCOMP2 at $T$")

# %%
picture(found[FAMILIES[-1]], "average regret of SCOMP2 at $T$")

# %% [markdown]
# What to compare with: the average instance of the first family, drawn as the starts are. All run
# as one program; the standard error counts that instances differ.

# %%
space, worst = spaces[FAMILIES[0]], found[FAMILIES[0]]
keys = jax.random.split(jax.random.key(1), AVERAGE_INSTANCES)
drawn = [jd.problems.from_matrix(space.instance(space.project(space.draw(key)))) for key in keys]
results = jd.simulate_many(
    [policy] * AVERAGE_INSTANCES,
    drawn,
    num_seeds=AVERAGE_SEEDS,
    regret="average",
    checkpoints=[HORIZON],
)
means = np.array([result.mean[-1] for result in results])
average, average_sem = means.mean(), means.std(ddof=1) / np.sqrt(AVERAGE_INSTANCES)
ratio = worst.value / average
ratio_sem = ratio * np.hypot(worst.sem / worst.value, average_sem / average)
print(f"the average instance: {average:.1f} +- {average_sem:.1f}, the worst {means.max():.0f}")
print(f"the instance found has {ratio:.1f} +- {ratio_sem:.1f} times its regret")

# %% [markdown]
# ### Why it is bad
#
# The policy is a function of one run's state, so that a notebook can play it round by round and
# look inside: when the seeds are given up, and when the winner goes. Parameters of the policy are
# leaves, so that the same three compiled functions play it with other widths.

# %%
init = jax.jit(jax.vmap(lambda policy, key: policy.init(key), in_axes=(None, 0)))
act = jax.jit(jax.vmap(lambda policy, state, key: policy.act(state, key), in_axes=(None, 0, 0)))
update = jax.jit(jax.vmap(lambda policy, *told: policy.update(*told), in_axes=(None, 0, 0, 0, 0)))


def play(problem, width, num_runs, seed=7):
    """Every round of SCOMP2, each value (rounds, num_runs): its regret, its r, whether PCOMP takes
    over after it, whether arm 0, the winner, is the candidate, and whether it is eliminated or left
    out."""
    policy = jd.policies.make("scomp2", **SIZES, width=np.float32(width))
    p, best, gaps = problem.preferences, problem.condorcet_winner, problem.gaps("average")
    lost = (gaps[:, None] + gaps) / 2  # of one comparison of a pair
    rng = np.random.default_rng(seed)
    state = init(policy, jax.random.split(jax.random.key(seed), num_runs))
    rounds = []
    while np.asarray(state.remaining).any():
        keys = jax.random.split(jax.random.key(1_000 * seed + len(rounds)), num_runs)
        plan = act(policy, state, keys)
        counts = np.asarray(plan.counts)
        pairs = np.triu(counts, 1)
        wins = rng.binomial(pairs, p)
        wins += np.swapaxes(pairs - wins, 1, 2)
        before, state = state, update(policy, state, plan, wins.astype(np.int32), keys)
        had, has = (np.asarray(s.active)[:, best] for s in (before, state))
        seeded, seeds = (np.asarray(s.seeds).any(axis=1) for s in (before, state))
        rounds.append(
            {
                "regret": (counts * lost).sum(axis=(1, 2)),
                "r": np.asarray(before.batch),
                "switch": seeded & ~seeds,
                "winner chosen": np.asarray(before.candidate) == best,
                "winner goes": had & ~has,
            }
        )
    return {name: np.array([row[name] for row in rounds]) for name in rounds[0]}


def mean_and_sem(values):
    """The mean of runs and its standard error."""
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


PRINTED_WIDTH = 3 / 5
run = play(worst.problem, PRINTED_WIDTH, FRESH_SEEDS)
total = run["regret"].sum(axis=0)
lost = run["winner goes"].any(axis=0)
at_switch = run["winner goes"] & run["switch"]
print("regret {:.0f} +- {:.0f}, as it was simulated".format(*mean_and_sem(total)))
print("share of runs that lose the winner: {:.4f} +- {:.4f}".format(*mean_and_sem(lost)))
print(f"  of them, when PCOMP takes over: {at_switch.any(axis=0)[lost].mean():.4f}")
as_candidate = (at_switch & run["winner chosen"]).any(axis=0)
print(f"  of them, as the candidate: {as_candidate[lost].mean():.4f}")
for r in range(1, NUM_BATCHES + 1):
    share = (at_switch & (run["r"] == r)).any(axis=0).mean()
    if share > 0:
        print(f"    in round {r}: {share:.4f} of all runs")
print("regret of the runs that lose it: {:.0f} +- {:.0f}".format(*mean_and_sem(total[lost])))
print("regret of the others: {:.0f} +- {:.0f}".format(*mean_and_sem(total[~lost])))

# %% [markdown]
# Then what if PCOMP took over with more arms, or fewer? Below, the width is varied, the share of an
# elimination's lead that an arm needs to be among them, on the instance found and, of the instances
# drawn above, on the one whose regret is the median. Left: share of runs that lose the winner;
# right: regret at $T$.

# %%
middle = drawn[int(np.argsort(means)[AVERAGE_INSTANCES // 2])]
places = {"instance found": worst.problem, "median instance": middle}
widths = [0.0, 0.2, 0.4, PRINTED_WIDTH, 0.8, 1.0]
by_width = {}  # mean and standard error: (widths, 2) each
for name, problem in places.items():
    runs = [play(problem, width, FRESH_SEEDS // 2) for width in widths]
    by_width[name] = {
        "share": np.array([mean_and_sem(one["winner goes"].any(axis=0)) for one in runs]),
        "regret": np.array([mean_and_sem(one["regret"].sum(axis=0)) for one in runs]),
    }
    for width, share, regret in zip(widths, *by_width[name].values(), strict=True):
        print(
            f"{name}, width {width:.1f}: the winner is lost in {share[0]:.4f} +- {share[1]:.4f}, "
            f"regret {regret[0]:.0f} +- {regret[1]:.0f}"
        )

figure = Figure(figsize=(7.5, 3.0), layout="constrained")
for ax, what, label in zip(
    figure.subplots(1, 2),
    ("share", "regret"),
    ("share of runs without the winner", "average regret"),
    strict=True,
):
    for (name, rows), color in zip(by_width.items(), ("#0072B2", "0.4"), strict=True):
        ax.errorbar(
            widths,
            rows[what][:, 0],
            t95(FRESH_SEEDS // 2) * rows[what][:, 1],
            fmt="o-",
            color=color,
            markersize=3,
            label=name,
        )
    ax.axvline(PRINTED_WIDTH, color="0.8", linewidth=1, zorder=0)
    ax.set(xlabel="width (line: lines 11 and 12)", ylabel=label)
    ax.legend(frameon=False, fontsize=8)
Image(png(figure, dpi=150))

# %% [markdown]
# The other reading gives up the seeds as the pseudo-code prints it, by margins of $\gamma_r$ in the
# round alone, with a new candidate in each round and the threshold of all arms to the end. Its
# regret on the same instances:

# %%
printed = jd.policies.make(
    "scomp2", **SIZES, switch="hoeffding", candidate="redrawn", threshold=2 * np.log(NUM_ARMS)
)
other_reading = {}
for name, problem in places.items():
    result = jd.simulate(
        printed, problem, num_seeds=FRESH_SEEDS, regret="average", checkpoints=[HORIZON]
    )
    other_reading[name] = result.mean[-1], result.sem[-1]
    print(f"{name}: {result.mean[-1]:.0f} +- {result.sem[-1]:.0f}")

# %% [markdown]
# ## D-TS against RMED1
#
# Now the objective is the regret of D-TS minus that of RMED1, among all instances where arm 0 wins
# by at least 0.1 and the other pairs are free.

# %%
policies = [jd.policies.make(name, num_arms=PAIR_ARMS, horizon=PAIR_HORIZON) for name in PAIR]
apart = jd.gradients.worst_case(
    policies[0],
    jd.gradients.space("condorcet", PAIR_ARMS, min_gap=PAIR_MIN_GAP),
    PAIR_HORIZON,
    objective="difference",
    against=policies[1],
    num_starts=PAIR_STARTS,
    steps=PAIR_STEPS,
    num_seeds=PAIR_STEP_SEEDS,
    fresh_seeds=PAIR_FRESH_SEEDS,
    learning_rate=LEARNING_RATES[1],
)
print(
    f"{PAIR[0]} minus {PAIR[1]}: {apart.before:.2f} +- {apart.before_sem:.2f} on the instances to "
    f"begin with, {apart.value:.2f} +- {apart.sem:.2f} on the one found"
)
picture(apart, f"regret of {PAIR[0]} minus {PAIR[1]} at $T$")

# %%
both = [
    jd.simulate(
        policy,
        apart.problem,
        PAIR_HORIZON,
        num_seeds=PAIR_FRESH_SEEDS // 2,
        seed=5,
        regret="average",
        record_pairs=True,
    )
    for policy in policies
]
figure = Figure(figsize=(7.5, 2.8), layout="constrained")
curves, *maps = figure.subplots(1, 3, width_ratios=(1.4, 1, 1))
played = []
for result, ax in zip(both, maps, strict=True):
    look = style_of(result.policy)
    band = interval95(result.mean, result.sem, result.num_seeds)
    curves.plot(result.checkpoints, result.mean, color=look.color, label=result.policy)
    curves.fill_between(result.checkpoints, *band, color=look.color, alpha=0.2)
    pairs = result.pairs[:, -1] + np.swapaxes(result.pairs[:, -1], 1, 2)
    pairs[:, np.arange(PAIR_ARMS), np.arange(PAIR_ARMS)] //= 2
    played.append(pairs)
    mean = pairs.mean(axis=0)
    ax.imshow(np.log10(mean + 0.1), cmap="Blues", vmin=-1, vmax=np.log10(PAIR_HORIZON))
    for i, j in np.ndindex(mean.shape):
        dark = mean[i, j] > 0.1 * PAIR_HORIZON
        ax.text(
            j,
            i,
            f"{mean[i, j]:.0f}" if dark else f"{mean[i, j]:.1f}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if dark else "black",
        )
    ax.set(title=f"comparisons, {result.policy}", xlabel="arm", ylabel="arm")
curves.set(xscale="log", xlabel="comparisons $t$", ylabel="average regret")
curves.legend(frameon=False)
Image(png(figure, dpi=150))

# %%
gaps = apart.problem.gaps("average")
cost = (gaps[:, None] + gaps) / 2
among_losers = np.ones((PAIR_ARMS, PAIR_ARMS), bool)
among_losers[0] = among_losers[:, 0] = False
shares = {}
for name, pairs in zip(PAIR, played, strict=True):
    once = np.triu(pairs) * cost
    shares[name] = [
        mean_and_sem(once[:, part].sum(axis=1)) for part in (among_losers, ~among_losers)
    ]
    print(name, "regret among losers {:.2f} +- {:.2f}".format(*shares[name][0]))
    print(name, "regret with the winner {:.2f} +- {:.2f}".format(*shares[name][1]))

# %% [markdown]
# ## Finding
#
# $\pm$ one standard error, all on seeds that nothing was chosen by:
#
# - **SCOMP2's regret is 6.9 $\pm$ 0.3 times that of the average SST instance** on the one found:
#   3,596 $\pm$ 92 against 524 $\pm$ 20 ($K = 8$, $B = 8$, $T = 10^5$), and nearly three times that
#   of the worst of 128 drawn ones. The instance is not a hard one to look at: one arm beats all
#   others with 0.74, and these beat one another in order.
# - **What makes it bad is that PCOMP takes over without the winner.** The 15.5 % of runs that lose
#   it pay 23,634 $\pm$ 2, the gap of a loser times $T$; the others pay 102 $\pm$ 1. Nearly all
#   losses are at the switch, after rounds 1 and 2: some arm has just enough wins against the
#   candidate to eliminate it, and the winner, who beats it as often in the long run, has by chance
#   less than 3/5 of the lead that this takes.
# - **Less width is better, on a common instance too.** If all arms that are ahead of the candidate
#   go on (width 0), the winner is lost in 1.5 % of the runs, and regret is 473 $\pm$ 44; if only
#   those that eliminate it do (width 1), in 34 %, and regret is 8,116 $\pm$ 175. On the median
#   instance regret is 184 $\pm$ 8 with width 0, 386 $\pm$ 26 with the printed 3/5 and 1,511 $\pm$
#   72 with 1.
# - **The other reading costs a tenth there**: 315 $\pm$ 5 on the instance found; 374 $\pm$ 4 on the
#   median one is what the default costs, too.
# - **Among BTL instances the search finds nearly tied arms**: it goes from 430 $\pm$ 11 to 1,172
#   $\pm$ 7, where all arms but one are 0.02 to 0.04 behind the winner.
# - **There are instances on which RMED1 beats D-TS.** From 20.5 $\pm$ 0.3 less regret on the
#   instances to begin with ($K = 4$, $T = 10^4$, gaps from 0.1), D-TS comes to 0.92 $\pm$ 0.08
#   more, 6 %. The losers beat one another in a cycle, as clearly as is allowed (0.95), below a
#   winner that beats each with 0.9 or more. D-TS looks for the arm that beats the most others,
#   which a loser in a cycle might be: comparisons of losers with losers cost it 5.91 $\pm$ 0.07,
#   RMED1, which asks only whether an arm may be the Condorcet winner, 1.41 $\pm$ 0.01. With the
#   winner it is the other way round, 11.14 $\pm$ 0.04 and 14.81 $\pm$ 0.06.

# %%
for family, one in found.items():
    assert one.value - one.before > 4 * np.hypot(one.sem, one.before_sem), family
assert ratio - CLAIMED_RATIO > 4 * ratio_sem
played_here, played_here_sem = mean_and_sem(total)
assert abs(played_here - worst.value) < 4 * np.hypot(played_here_sem, worst.sem)
without, with_winner = mean_and_sem(total[lost]), mean_and_sem(total[~lost])
assert without[0] - with_winner[0] > 4 * np.hypot(without[1], with_winner[1])
for what in ("share", "regret"):
    all_ahead, usual, all_sure = by_width["instance found"][what][[0, 3, -1]]
    assert usual[0] - all_ahead[0] > 4 * np.hypot(usual[1], all_ahead[1])
    assert all_sure[0] - usual[0] > 4 * np.hypot(all_sure[1], usual[1])
there, there_sem = other_reading["instance found"]
assert worst.value - there > 4 * np.hypot(worst.sem, there_sem)
assert apart.value - apart.before > 4 * np.hypot(apart.sem, apart.before_sem)
assert apart.value - CLAIMED_DIFFERENCE > 4 * apart.sem
(first, first_sem), (second, second_sem) = (shares[name][0] for name in PAIR)
assert first - second > 4 * np.hypot(first_sem, second_sem)
