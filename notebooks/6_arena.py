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
# # Naming the best language model
#
# Chatbot Arena asks people which of two anonymous answers is better, and ranks language models by
# their votes. `arena31` is its complete core on 14 August 2024: the 31 models of which every pair
# has at least 100 decisive votes, 438,463 in all, and their shares as preferences. One of them,
# gpt-4o-2024-05-13, beats all others, the closest in 51.5 % of votes. How many votes does it take
# to name it, and on what does that depend: the policy that chooses the pairs, the rule that reads
# the counts, ties, batches, the number of models? The file is other people's: it is found in the
# folder `$JAXDUEL_DATA` or the user's cache, else downloaded.
#
# A vote compares two different models. A rule names one by all counts so far: *copeland*, the most
# opponents led; *borda*, the highest mean share of wins; *btl*, the highest strength in a
# Bradley-Terry model. The probability that it is the right one is a share of runs.

# %% tags=["parameters"]
NUM_SEEDS = 1_000  # runs of each policy on all models
FEWER_SEEDS = 300  # runs in the parts on batches and fewer models
VOTES = 40_000  # votes of a run
FEWER_VOTES = 20_000  # the same in the parts on ties and batches
SELVES_VOTES = 10_000  # the same of D-TS with comparisons of models with themselves, which is slow
PILOT_VOTES = (1_000, 2_000, 5_000, 10_000)  # where a table is shown
NUM_POINTS = 32  # checkpoints, evenly in their log
DELAYS = (100, 1_000)  # votes in a batch
TOPS = (8, 16)  # models, besides all 31
RESAMPLES = 1_000  # of runs, for intervals

# %%
import itertools
import warnings

import numpy as np
from IPython.display import Image, display

import jaxduel as jd
from jaxduel.plotting import draw, png, votes_line, votes_panel
from jaxduel.stats import wilson95
from jaxduel.votes.recommending import RULES, btl_strengths, crossings, order

jd.use_all_cores()
warnings.simplefilter("ignore", jd.AssumptionWarning)  # D-TS's of ties: two models are tied
TARGETS = (0.8, 0.9, 0.95)
POLICIES = {
    "uniform": ("uniform", {}),
    "arena": ("arena", {}),
    "rucb": ("rucb", {}),
    "D-TS": ("dts", {}),
    "D-TS, no selves": ("dts", {"self_duels": False}),
}
arena = jd.problems.load("arena31")
votes = jd.votes.arena().core(100)


def identified(label, problem=arena, most=VOTES, num_seeds=NUM_SEEDS, **settings):
    """Runs of a policy, read by all rules at the same checkpoints."""
    name, parameters = POLICIES[label]
    policy = jd.policies.make(name, num_arms=problem.num_arms, **parameters)
    grid = np.geomspace(200, VOTES, NUM_POINTS).astype(int)
    grid = np.union1d(grid, [*PILOT_VOTES, most])
    settings = {"checkpoints": grid[grid <= most], "progress": False, **settings}
    return jd.identify(policy, problem, most, num_seeds, **settings)


def share_at(found, rule, number):
    """The share of runs that are right after so many votes, and its 95 % interval."""
    (at,) = np.flatnonzero(found.checkpoints == number)
    return [values[at] for values in found.probability(rule)]


def panel(founds, rule, title):
    """Lines of some runs, by one rule."""
    lines = [
        votes_line(found.policy, label, found.checkpoints, found.probability(rule))
        for label, found in founds.items()
    ]
    return votes_panel(lines, title, TARGETS)


# %% [markdown]
# ## Criteria
#
# Written before the runs:
#
# - **A pilot.** A study of 60 runs each, in another program, gave the shares in `PILOT`. They are
#   confirmed if none of the 20 differs from the one here by more than 3.02 standard errors of the
#   difference (a 95 % test of all together), and what differs by more has to be explained.
# - **Votes saved.** The votes needed for a target are where the isotonic regression of the share
#   meets it. A policy saves votes against another if the 95 % interval of the ratio of the two,
#   over resampled runs, is below 1.
# - **Rule or policy.** Shares by policy and rule, at a number of votes, are a two-way table. The
#   rule matters more if the standard deviation of its main effect is the larger one in 97.5 % of
#   resamples, the policy if in 2.5 % at most.
# - **Ties, batches, fewer models.** They cost votes, or save them, if the interval of the ratio of
#   votes needed leaves 1 out.


# %%
def needed(found, rule, target, rng):
    """Votes needed: of all runs, and of each resample of them, (1 + RESAMPLES,); inf if more."""
    correct = found.correct[rule]
    runs = len(correct)
    weights = rng.multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES) / runs
    curves = np.concatenate([correct.mean(axis=0)[None], weights @ correct])
    return np.array([crossings(found.checkpoints, c, c, c, target)[0] for c in curves])


def ratio(found, other, target, rule="btl", other_rule=None):
    """Votes needed over those of other runs, and its 95 % interval; NaN where too few are."""
    rng = np.random.default_rng(0)
    above = needed(found, rule, target, rng)
    below = needed(other, other_rule or rule, target, rng)
    if np.isinf(above[0]) or np.isinf(below[0]):
        return (np.nan,) * 3
    with np.errstate(invalid="ignore"):
        values = np.nan_to_num(above / below, nan=1.0, posinf=np.inf)
    return values[0], *np.quantile(values[1:], [0.025, 0.975], method="nearest")


def text(numbers, form=".2f"):
    """A number and its interval."""
    value, low, high = (format(number, form) for number in numbers)
    return "-" if value in ("inf", "nan") else f"{value} [{low}, {high}]"


# %% [markdown]
# ## Policies and rules
#
# D-TS compares a model with itself once it is fairly sure of it, which costs no vote here; without
# selves it never does.

# %%
found = {
    label: identified(label, most=SELVES_VOTES if label == "D-TS" else VOTES) for label in POLICIES
}
for rule in RULES:
    print(f"P(best named by {rule})" + "".join(f"{number:>21,}" for number in PILOT_VOTES))
    for label, runs in found.items():
        cells = (text(share_at(runs, rule, number), ".3f") for number in PILOT_VOTES)
        print(f"{label:16}", *(f"{cell:>20}" for cell in cells))
display(Image(png(draw([panel(found, rule, f"by {rule}") for rule in RULES]), dpi=150)))

# %% [markdown]
# The shares after the last vote, which are not all on the way to 1:

# %%
for label, runs in found.items():
    last = int(runs.checkpoints[-1])
    print(
        f"{label:16} after {last:,}:",
        *(f"{rule} {text(share_at(runs, rule, last), '.3f')} " for rule in RULES),
    )

# %% [markdown]
# ## The pilot
#
# Its "D-TS" counted comparisons of a model with itself as votes: here, `simulate` with so many
# comparisons.

# %%
PILOT = {
    ("uniform", "btl"): (0.40, 0.55, 0.73, 0.83),
    ("uniform", "copeland"): (0.33, 0.48, 0.48, 0.65),
    ("D-TS, selves counted", "btl"): (0.55, 0.70, 0.83, 0.92),
    ("D-TS, selves counted", "copeland"): (0.45, 0.53, 0.57, 0.70),
    ("D-TS, no selves", "btl"): (0.62, 0.70, 0.77, 0.93),
}
PILOT_RUNS = 60
counted = jd.simulate(
    jd.policies.make("dts", num_arms=arena.num_arms),
    arena,
    PILOT_VOTES[-1],
    NUM_SEEDS,
    checkpoints=PILOT_VOTES,
    record_outcomes=True,
    record_pairs=True,
    progress=False,
)
selves = np.trace(counted.pairs, axis1=2, axis2=3) / np.array(PILOT_VOTES)
print("share of models compared with themselves:", *(f"{x:.3f}" for x in selves.mean(axis=0)))
noise = np.random.default_rng(1).random((NUM_SEEDS, len(PILOT_VOTES), arena.num_arms))
scores = []
for (label, rule), shares in PILOT.items():
    for at, (number, pilot) in enumerate(zip(PILOT_VOTES, shares, strict=False)):
        if label in found:
            here = share_at(found[label], rule, number)
        else:
            arms = order(rule, counted.outcomes[:, at], noise[:, at])[:, 0]
            right = arms == arena.condorcet_winner
            here = [right.mean(), *wilson95(right.sum(), len(right))]
        error = np.sqrt(here[0] * (1 - here[0]) * (1 / PILOT_RUNS + 1 / NUM_SEEDS))
        scores.append((pilot - here[0]) / error)
        print(
            f"{label:21} by {rule:8} {number:6,}: pilot {pilot:.2f}, here {text(here, '.3f')}, "
            f"{scores[-1]:+.1f} standard errors"
        )
print(f"largest {np.abs(scores).max():.2f}; sum of squares {np.sum(np.square(scores)):.1f} of 20")

# %% [markdown]
# ## Votes saved
#
# Votes needed, and their ratio to those of uniform sampling and of the arena's rule, all read by
# the same rule.

# %%
for rule in RULES:
    for target in TARGETS:
        print(f"by {rule}, {target:.0%}")
        for label, runs in found.items():
            uniform, arenas = (
                text(ratio(runs, found[other], target, rule)) for other in ("uniform", "arena")
            )
            print(
                f"  {label:16} {text(runs.needed(rule, target), ',.0f'):>26}; "
                f"against uniform {uniform:>18}, against arena {arenas:>18}"
            )

# %% [markdown]
# ## Rule or policy


# %%
def effects(number, policies, resamples=0):
    """Standard deviations of the main effects of policies and of rules, and of their interaction,
    (3,) or (resamples, 3)."""
    rng = np.random.default_rng(2)
    table = []
    for label in policies:
        (at,) = np.flatnonzero(found[label].checkpoints == number)
        right = np.stack([found[label].correct[rule][:, at] for rule in RULES])
        runs = right.shape[1]
        weights = np.full((1, runs), 1 / runs)
        if resamples:
            weights = rng.multinomial(runs, weights[0], size=resamples) / runs
        table.append(weights @ right.T)
    table = np.stack(table, axis=1)  # (resamples, policies, rules)
    table = table - table.mean(axis=(1, 2), keepdims=True)
    rows, columns = table.mean(axis=2), table.mean(axis=1)
    rest = table - rows[:, :, None] - columns[:, None, :]
    return np.stack(
        [part.std(axis=axis) for part, axis in ((rows, 1), (columns, 1), (rest, (1, 2)))]
    )


rule_larger = {}
for number in (*PILOT_VOTES, VOTES):
    policies = [label for label, runs in found.items() if number in runs.checkpoints]
    policy, rule, both = effects(number, policies)[:, 0]
    resampled = effects(number, policies, RESAMPLES)
    rule_larger[number] = np.mean(resampled[1] > resampled[0])
    print(
        f"{number:6,} votes, {len(policies)} policies: policy {policy:.3f}, rule {rule:.3f}, both "
        f"{both:.3f}; rule larger in {rule_larger[number]:.1%} of resamples"
    )
print("votes needed by btl over those by copeland and by borda:")
for label, runs in found.items():
    for target in TARGETS:
        by = [text(ratio(runs, runs, target, "btl", other)) for other in ("copeland", "borda")]
        print(f"  {label:16} {target:.0%}: {by[0]:>18}, {by[1]:>18}")

# %% [markdown]
# ## Right in the end
#
# Preferences of real models are not quite a Bradley-Terry model's. Then the strongest model depends
# on how often each pair is compared, and need not be the winner, however many votes there are.
# Below, the strongest model of infinitely many votes, if pairs are compared uniformly, and if they
# are in the proportions of the runs of D-TS without selves.

# %%
p = arena.preferences
strengths = btl_strengths(10**6 * p * (1 - np.eye(len(p))))
ahead = np.diff(np.sort(strengths))[-1]
print(f"uniform sampling: {votes.arms[strengths.argmax()]}, stronger than the next by {ahead:.3f}")
played = jd.simulate(
    jd.policies.make("dts", num_arms=arena.num_arms, self_duels=False),
    arena,
    VOTES,
    FEWER_SEEDS,
    checkpoints=[PILOT_VOTES[-1], VOTES],
    record_pairs=True,
    progress=False,
)
compared = played.pairs + np.swapaxes(played.pairs, 2, 3)
compared = compared / compared.sum(axis=(2, 3), keepdims=True)
limit = btl_strengths(10**8 * compared * p).argmax(axis=2)
for at, number in enumerate((PILOT_VOTES[-1], VOTES)):
    right = int((limit[:, at] == arena.condorcet_winner).sum())
    share = (right / FEWER_SEEDS, *wilson95(right, FEWER_SEEDS))
    print(f"D-TS, no selves, as after {number:,} votes: right in {text(share, '.3f')} of runs")

# %% [markdown]
# Who is named after the last vote:

# %%
for label, runs in found.items():
    for rule in RULES:
        arms, times = np.unique(runs.named[rule][:, -1], return_counts=True)
        first = np.argsort(-times)[:3]
        print(
            f"{label:16} by {rule:8}:",
            *(f"{votes.arms[arms[at]]} {times[at] / runs.num_seeds:.3f};" for at in first),
        )

# %% [markdown]
# ## Ties
#
# A third of the core's votes are ties, or say that both answers are bad. With
# $p_{ij} = (w_{ij} + t_{ij}/2) / n_{ij}$ and $q_{ij} = t_{ij}/n_{ij}$ a tie is drawn with
# probability $q_{ij}$. Dropped, it costs a vote and teaches nothing, and what is left of the pair
# is `arena31`'s. As a coin, it is a vote for either model.

# %%
total = votes.wins + votes.wins.T + votes.ties
total = np.where(total > 0, total, 1)
half = (votes.wins + votes.ties / 2) / total
q = votes.ties / total
tied = jd.problems.from_matrix(np.where(np.eye(len(q)), 0.5, half), "arena31 with ties", ties=q)
pairs = np.triu_indices(len(q), 1)
print(f"ties: mean of all pairs {q[pairs].mean():.3f}, from {q[pairs].min():.3f} to", end=" ")
print(f"{q[pairs].max():.3f}; without them uniform sampling needs {1 / (1 - q[pairs].mean()):.2f}")
STEADY = ("uniform", "rucb", "D-TS, no selves")
ways = {
    (label, how): identified(label, tied, FEWER_VOTES, ties=how, seed=1)
    for label in STEADY
    for how in ("drop", "coin")
}


def compare(what, runs, label, others):
    """Prints the votes needed by btl, and their ratio to those of the same policy before."""
    for target in TARGETS[:2]:
        needed = text(runs.needed("btl", target), ",.0f")
        times = text(ratio(runs, found[label], target))
        print(f"{label:16} {what}, {target:.0%} by btl: {needed} votes, {times} times {others}")


for (label, how), runs in ways.items():
    compare(f"ties as {how}", runs, label, "those without ties")

# %% [markdown]
# ## Batches
#
# With `delay=n` a policy learns of outcomes after every n votes only. D-TS without selves then asks
# for whole batches of votes that may be put to people at once.

# %%
LATER = ("arena", "rucb", "D-TS, no selves")
later = {
    (label, delay): identified(label, arena, FEWER_VOTES, FEWER_SEEDS, delay=delay, seed=1)
    for label in LATER
    for delay in DELAYS
}
for (label, delay), runs in later.items():
    compare(f"batches of {delay:5,}", runs, label, "those one by one")

# %% [markdown]
# ## Fewer models
#
# The first 8 and 16 of the core by their Borda score.

# %%
strongest_first = np.argsort(-arena.borda_scores, kind="stable")
sizes = {}
for top in TOPS:
    chosen = strongest_first[:top]
    part = jd.problems.from_matrix(arena.preferences[np.ix_(chosen, chosen)], f"the first {top}")
    assert part.condorcet_winner == list(chosen).index(arena.condorcet_winner)
    for label in POLICIES:
        if label != "D-TS":
            sizes[top, label] = identified(label, part, num_seeds=FEWER_SEEDS, seed=2)
for label in POLICIES:
    if label != "D-TS":
        sizes[arena.num_arms, label] = found[label]
for rule in RULES:
    for target in TARGETS[:2]:
        print(f"by {rule}, {target:.0%}")
        for (top, label), runs in sizes.items():
            print(
                f"  K = {top:2} {label:16} {text(runs.needed(rule, target), ',.0f'):>26}; "
                f"against uniform {text(ratio(runs, sizes[top, 'uniform'], target, rule)):>18}"
            )
panels = [
    panel(
        {label: runs for (size, label), runs in sizes.items() if size == top}, "btl", f"K = {top}"
    )
    for top in (*TOPS, arena.num_arms)
]
display(Image(png(draw(panels), dpi=150)))

# %% [markdown]
# ## Ratings and ranks
#
# What all of the core's votes say: ratings on Elo's scale, relative to the mean of the 31 models,
# with 95 % intervals, and ranges of ranks that hold for all models at once with probability .95.
# `jaxduel fit arena --core 100 --out board` writes a page of it, with the pairs and the matrix.

# %%
fit = jd.votes.fit(votes)
ratings = fit.elo().merge(fit.ranks(top=3), on="arm")
print(ratings.head(10).round(1).to_string(index=False))
display(Image(png(fit.plot(), dpi=150)))

# %% [markdown]
# ## Finding
#
# Of 1,000 runs each (300 with batches and fewer models), with 95 % intervals:
#
# - **All votes together settle the ranks but for neighbours.** gpt-4o-2024-05-13 is first, with a
#   rating of 1138 [1134, 1141] before claude-3-5-sonnet's 1115 [1110, 1120]. Seven of the 31 models
#   have a rank for certain, and no range is of more than four.
# - **The pilot is confirmed.** Its 20 shares differ from those here by 2.3 standard errors at
#   most, with a sum of squares of 17.6. It was lucky with D-TS, though: of eight shares by btl
#   seven are too high. Without selves it is right in .47, .65, .81 and .88 after 1,000, 2,000,
#   5,000 and 10,000 votes, not in .62, .70, .77 and .93. Comparisons of models with themselves
#   make no difference that can be seen where they cost nothing; counted as votes they are 28 % of
#   10,000, and it is right in .85 in place of .87.
# - **D-TS is first at the start and last in the end.** For 80 %, read by btl, it needs 4,800
#   votes, 38 % fewer [25, 48] than uniform sampling's 7,800 and 40 % fewer [28, 49] than the
#   arena's rule; for 90 % it saves none to see; for 95 % it needs 39,600, twice as many as uniform
#   sampling (2.0 times, at least 1.65). RUCB saves 14 % [3, 23], 18 % [-1, 28] and 27 % [15, 38]
#   against uniform, and 17, 31 and 29 % against the arena's rule: it is the first that gets to 95
#   %, after 14,100. The arena's rule, which looks for intervals of all models, saves nothing: for
#   90 % it needs 1.17 times [1.02, 1.37] the votes of uniform sampling.
# - **The rule matters more than the policy**, from 5,000 votes on: at 10,000 its main effect has a
#   standard deviation of .096, the policies' .032. At 1,000 votes it is the other way round, .016
#   against .048. The two do not add up: btl and borda are equally good where pairs are chosen by
#   uniform, arena or rucb, borda is the worst rule for D-TS, which needs six times the votes of
#   btl for 80 % (30,500). Copeland is right in .71 after 40,000 uniform votes where btl is in .99.
# - **D-TS and btl go wrong together.** After 40,000 votes of D-TS btl is right in .951. With
#   infinitely many votes in the same proportions it would be in .97 [.94, .98], and in those at
#   10,000 votes in .94 [.91, .96]: about half of its errors are the model's, which is a little
#   wrong, and is asked about few pairs. If all pairs are compared equally often, the strongest
#   model is the winner, clearly.
# - **Ties cost what they take.** They are 36 % of the votes of a pair. Dropped, 80 % takes 1.51
#   [1.33, 1.78], 1.55 [1.38, 1.74] and 1.43 [1.13, 1.78] times the votes of uniform sampling, RUCB
#   and D-TS: 1 / (1 - .36) = 1.57. As coins they take that twice over, since margins shrink too:
#   2.48 [2.10 or more], 2.51 [2.24, 2.94] and 2.18 [1.73, 2.75] times; the square of 1.57 is 2.46.
# - **Batches of 100 cost nothing**: ratios of votes for 80 % are 0.97, 0.87 and 0.82 of the
#   arena's rule, RUCB and D-TS, and all intervals hold 1, for 90 % too. In batches of 1,000 RUCB
#   needs 1.16 [0.98, 1.39] of the votes for 80 % and 1.36 [1.01, 1.60] for 90 %, and D-TS 0.79
#   [0.62, 1.06] and 0.48 [0.25, 0.62]: it gains, being right in .960 [.931, .977] after 10,000
#   votes in place of .878.
# - **D-TS saves most of the first 16 models.** For 90 %, by btl, it needs 0.83 [0.64, 1.09] of
#   uniform sampling's 4,900 votes of the first 8, 0.36 [0.29, 0.50] of 11,900 of the first 16, and
#   1.11 [0.84, 2.10] of 12,400 of all 31. By copeland it saves more, 0.36 [0.31, 0.45] of the
#   first 8; of 16 and 31, uniform sampling read by copeland does not get there.

# %%
names = list(POLICIES)
assert strengths.argmax() == arena.condorcet_winner
widths = ratings["rank_high"] - ratings["rank_low"] + 1
assert ((widths == 1).sum(), widths.max()) == (7, 4)
assert ratings["elo_low"][0] > ratings["elo_high"][1]
assert ratings[["elo", "elo_low", "elo_high"]].round().to_numpy()[0].tolist() == [1138, 1134, 1141]
assert all((found[label].cast == found[label].checkpoints[-1]).all() for label in names)
assert abs(1 / (1 - q[pairs].mean()) - 1.57) < 0.005
if NUM_SEEDS >= 1_000:
    steady = "D-TS, no selves"
    assert np.abs(scores).max() < 3.02
    assert ratio(found[steady], found["uniform"], 0.8)[2] < 1
    assert ratio(found[steady], found["arena"], 0.8)[2] < 1
    assert ratio(found[steady], found["uniform"], 0.95)[1] > 1
    assert ratio(found["rucb"], found["uniform"], 0.95)[2] < 1
    assert ratio(found["arena"], found["uniform"], 0.9)[1] > 1
    assert ratio(found[steady], found[steady], 0.8, "borda", "btl")[1] > 4
    assert rule_larger[1_000] < 0.025
    assert min(rule_larger[number] for number in (5_000, 10_000, 40_000)) > 0.975
    assert np.isinf(found["uniform"].needed("copeland", 0.8)[0])
    for label in STEADY:
        assert 1 < ratio(ways[label, "drop"], found[label], 0.8)[1] < 1.57
        assert ratio(ways[label, "coin"], found[label], 0.8)[1] > 1.57
    for label, target in itertools.product(LATER, (0.8, 0.9)):
        low, high = ratio(later[label, 100], found[label], target)[1:]
        assert low < 1 < high
    assert ratio(later["rucb", 1_000], found["rucb"], 0.9)[1] > 1
    assert ratio(later[steady, 1_000], found[steady], 0.9)[2] < 1
    batched = share_at(later[steady, 1_000], "btl", 10_000)
    assert batched[1] > share_at(found[steady], "btl", 10_000)[2]
    assert ratio(sizes[16, steady], sizes[16, "uniform"], 0.9)[2] < 1
