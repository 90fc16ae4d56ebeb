"""Parameters of policies that are refused in a sentence, or taken with a warning."""

import numpy as np
import pytest

import jaxduel as jd

T = {"horizon": 10}
BATCHES = {"horizon": 1_000, "num_batches": 4}
TWO = {"num_arms": 2, "horizon": 30}
GAP, GAUSSIAN = "detc-known-gap", "thompson-gaussian"
HALVING, TOP_TWO = "sequential-halving", "top-two-thompson"
HORIZON = "the horizon must be a whole number"
BAD = [
    ("arena", {"epsilon": 1.5}, "epsilon must be from 0 to 1, not 1.5"),
    ("arena", {"epsilon": 0.0, "variances": "ipw"}, "epsilon must be above 0, not 0"),
    ("arena", {"variances": "ipv"}, "unknown variances 'ipv' .did you mean 'ipw'"),
    *(
        (name, {**fields, "gamma": gamma}, f"{name}: gamma must be positive, not")
        for name, fields in (("base", BATCHES), ("successive-elimination", T))
        for gamma in (0.0, -1.0, np.nan, np.inf)
    ),
    ("beat-the-winner", {"variant": "mbtw"}, "variant must be 'btw' or 'btwr', not 'mbtw'"),
    ("borda-cb", {"horizon": 0, "delta": 0.9}, f"borda-cb: {HORIZON}"),
    ("borda-cb", {**T, "delta": 0.0}, r"borda-cb: delta must be in \(0, 1\), not 0.0"),
    ("ccb", {"alpha": 0.0}, "ccb: alpha must be positive, not 0"),
    ("d-exp3", {}, "d-exp3 needs the parameter 'horizon'"),
    ("d-exp3", {**T, "delta": 1.0}, r"d-exp3: delta must be in \(0, 1\), not 1.0"),
    ("d-ucb", {}, "d-ucb needs the parameter 'gamma', or 'horizon' to compute it"),
    *(
        ("d-ucb", {"gamma": gamma}, r"d-ucb: gamma must be in \(0, 1\], not")
        for gamma in (0.0, -0.5, 1.01, np.nan)
    ),
    ("d-ucb", {"horizon": 0}, f"d-ucb: {HORIZON}"),
    ("d-ucb", {**T, "std": 0.01}, r"the default gamma, .*, must be positive, not -2\.9"),
    ("d-ucb", {**T, "xi": 0.0}, "xi must be positive, not 0"),
    ("d-ucb", {**T, "changes": -1.0}, "changes must be positive, not -1"),
    (GAP, TWO, "needs the parameter 'gap'"),
    (GAP, {**TWO, "gap": 0.0}, "gap must be positive, not 0.0"),
    (GAP, {**TWO, "gap": np.inf}, "gap must be positive"),
    (GAP, {**TWO, "gap": 0.1}, "times the square of the gap must exceed 1, not 0.3"),
    ("detc-batched-known-gap", {**TWO, "gap": 0.1}, "detc-batched-known-gap: the horizon times"),
    (GAP, {**TWO, "gap": 1.0, "epsilon": 1.0}, r"epsilon must be in \(0, 1\)"),
    (GAP, {**TWO, "gap": 1.0, "horizon": 0}, HORIZON),
    ("detc", {**TWO, "horizon": 0}, f"detc: {HORIZON}"),
    ("detc", {**TWO, "commit_pulls": -1}, "detc: commit_pulls must be at least 0"),
    ("detc-minimax", {**TWO, "commit_pulls": -1}, "detc-minimax: commit_pulls must be"),
    ("detc-batched", {**TWO, "commit_pulls": np.nan}, "detc-batched: commit_pulls must be"),
    ("detc-arms", {**TWO, "horizon": 2**31}, f"detc-arms: {HORIZON}"),
    ("detc-anytime", {**TWO, "gap": 1.0}, "unknown parameter of detc-anytime 'gap'"),
    ("dkwt", {"gamma": 2.0}, r"dkwt: gamma must be in \(0, 1\), not 2.0"),
    ("interleaved-filter", {**T, "variant": "if3"}, "variant must be 'if1' or 'if2', not 'if3'"),
    ("interleaved-filter", {"horizon": 2.5}, r"horizon must be a whole number, not 2\.5"),
    ("lucb", {"delta": 0.0}, r"lucb: delta must be in \(0, 1\), not 0.0"),
    ("lucb", {"delta": 1.0}, r"lucb: delta must be in \(0, 1\), not 1.0"),
    ("lucb", {"epsilon": -0.1}, "lucb: epsilon must not be negative, not -0.1"),
    ("lucb", {"std": 0.0}, "lucb: std must be positive, not 0.0"),
    *(
        (name, fields, f"{name}: {sentence}")
        for name in ("merge-dts", "merge-rucb")
        for fields, sentence in (
            ({"delta": 0.0}, r"delta must be in \(0, 1\)"),
            ({"offset": -1.0}, "offset must not be negative"),
            ({"group_size": 1}, "group_size must be a whole number, at least 2, not 1"),
            ({"alpha": 0.0}, "alpha must be positive"),
        )
    ),
    *(
        ("multisbm", {"unplayed": wrong}, "multisbm: unplayed must be a number of at least")
        for wrong in (-np.inf, np.nan, -1.0)
    ),
    ("multisbm", {"clock": "wall"}, "clock must be 'own' or 'global', not 'wall'"),
    ("nts", {"gamma": 0.0}, r"nts: gamma must be in \(0, 1\), not 0.0"),
    ("nts", {"margin": 0.5}, r"nts: margin must be in \(0, 1/2\), not 0.5"),
    ("pbr", {"horizon": 0}, f"pbr: {HORIZON}"),
    ("pbr", {}, "pbr needs the parameter 'horizon'"),
    ("pocowista", {"delta": 1.0}, r"pocowista: delta must be in \(0, 1\), not 1.0"),
    ("rcs", {"counted": "never"}, '"always" or "fallback"'),
    ("rex3", {}, "rex3 needs the parameter 'horizon', unless anytime=True"),
    ("rex3", {"horizon": 0}, f"rex3: {HORIZON}"),
    ("rex3", {**T, "gain": 0.0}, "rex3: gain must be positive, not 0.0"),
    *(
        (name, {**T, parameter: -1}, f"{name}: {parameter} must not be negative, not -1")
        for name in ("rmed2", "rmed2fh")
        for parameter in ("alpha", "scale", "exponent")
    ),
    ("rmed2fh", {"horizon": 2**31}, "rmed2fh: the horizon must be"),
    # line 5 would drop an arm from C that was never compared
    ("rucb", {"unseen": 0.4}, r"unseen must be a number of at least 0\.5, or inf"),
    ("savage", {**T, "test": "borda"}, "test must be 'condorcet' or 'copeland', not 'borda'"),
    ("savage", {"horizon": 0}, f"savage: {HORIZON}"),
    ("scb", {"scale": 0.0}, r"^scb: scale must be positive, not 0\.0\.$"),
    ("scb", {"first_length": 2.5}, r"first_length must be a whole number, not 2\.5"),
    ("scb", {"first_length": 1}, "first_length must be a whole number from 2 to"),
    ("scb", {"first_length": 2**31}, "first_length must be a whole number from 2 to"),
    ("scomp", {**BATCHES, "switch": "kl"}, "switch 'kl': known are elimination, hoeffding"),
    ("scomp", {**BATCHES, "width": 1.5}, r"scomp: width must be in \[0, 1\], not 1.5"),
    ("scomp", {**BATCHES, "candidate": "kept"}, "unknown parameter of scomp 'candidate'"),
    ("scomp2", {**BATCHES, "width": -0.1}, r"scomp2: width must be in \[0, 1\], not -0.1"),
    ("scomp2", {**BATCHES, "candidate": "first"}, "candidate 'first': known are kept, redrawn"),
    ("select-then-verify", {"gamma": 1.0}, r"verify: gamma must be in \(0, 1\), not 1.0"),
    ("select-then-verify", {"margin": 0}, r"verify: margin must be in \(0, 1/2\), not 0"),
    (HALVING, {"horizon": 0}, f"sequential-halving: {HORIZON}"),
    (HALVING, {"horizon": 5}, "5 is too short for one pull of each of 3 arms in each of 2 rounds"),
    (HALVING, {**T, "num_batches": 4}, "one pull of each of 3 arms in each of 4 rounds"),
    (HALVING, {**T, "num_batches": 0}, "num_batches must be a whole number of at least 1"),
    ("sparring", {"exploration": -1.0}, "sparring: exploration must not be negative, not -1"),
    ("successive-elimination", {"horizon": 0}, f"successive-elimination: {HORIZON}"),
    ("successive-rejects", {}, "successive-rejects needs the parameter 'horizon'"),
    ("successive-rejects", {"horizon": 2}, r"2 is too short for one pull of each of 3 arms\."),
    ("sw-ucb", {}, "sw-ucb needs the parameter 'window', or one 'horizon'"),
    *(
        ("sw-ucb", {"window": window}, "sw-ucb: window must be a whole number")
        for window in (0, -3, 1, 2.5, 1e12)
    ),
    ("sw-ucb", {"horizon": 0}, f"sw-ucb: {HORIZON}"),
    ("sw-ucb", {**T, "changes": 0.0}, "changes must be positive, not 0"),
    ("sw-ucb", {**T, "std": np.nan}, "std must be positive"),
    ("sw-ucb", {"window": 9, "xi": -1.0}, "xi must be positive, not -1"),
    ("sw-ucb", {**T, "std": 1e15}, "needs the parameter 'window', or one 'horizon' that gives"),
    (GAUSSIAN, {"std": 0.0}, "thompson-gaussian: std must be positive, not 0.0"),
    (GAUSSIAN, {"prior_std": -1.0}, "prior_std must be positive, not -1.0"),
    (GAUSSIAN, {"prior_std": np.inf}, "prior_std must be positive"),
    (GAUSSIAN, {"prior_mean": np.nan}, "prior_mean must be finite, not nan"),
    (TOP_TWO, {"std": -1.0}, "top-two-thompson: std must be positive, not -1.0"),
    (TOP_TWO, {"beta": 1.5}, "top-two-thompson: beta must be from 0 to 1, not 1.5"),
    (TOP_TWO, {"challenger": "resample"}, "challenger .* 'resample' .did you mean 'resampled'"),
    (GAUSSIAN, {"prior_std": 1e-20}, r"std / prior_std must be below 1e\+15, not 1\.0.*e\+20"),
    ("ucb1", {}, "needs the parameter 'horizon'"),
    ("ucb1", {"horizon": 0}, HORIZON),
    ("ucb1", {"horizon": 2**31}, HORIZON),
    ("ucb1", {**T, "scale": 0.0}, "scale must be positive, not 0.0"),
    ("ucb1", {**T, "scale": np.inf}, "scale must be positive"),
    ("ucb1", {**T, "index": "any-time"}, "did you mean 'anytime'"),
    ("versatile-db", {"estimates": "RV"}, r"unknown estimates 'RV'.*did you mean 'rv'"),
    *(("ws-s", {"beta": wrong}, "beta must be") for wrong in (1.0, 0.5, np.nan, np.inf)),
    ("ws-s", {"exploit_after": "step"}, "exploit_after must be 'round' or 'duel', not 'step'"),
]
HALF = ("dts", "dts+", "rcs", "rucb")
"""Policies whose regret is bounded for alpha > 1/2 alone."""


@pytest.mark.parametrize(
    ("name", "fields", "sentence"),
    [
        *BAD,
        *((name, {"alpha": 0.0}, "alpha must be positive, not 0") for name in HALF),
        *((name, {"alpha": np.nan}, "alpha must be positive, not nan") for name in HALF),
    ],
)
def test_bad_parameters_get_a_sentence(name, fields, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        jd.policies.make(name, **{"num_arms": 3, **fields})


@pytest.mark.parametrize(
    ("name", "sentence"), [*((name, "alpha > 1/2") for name in HALF), ("ccb", "ccb: its regret")]
)
def test_an_alpha_without_a_bound_of_regret_warns(name, sentence):
    with pytest.warns(jd.AssumptionWarning, match=sentence):
        jd.policies.make(name, num_arms=3, alpha=0.5)


@pytest.mark.parametrize(("name", "least"), [("successive-rejects", 3), ("sequential-halving", 6)])
def test_a_budget_is_for_the_arms_that_exist(name, least):
    mask = np.arange(40) < 3
    jd.policies.make(name, num_arms=40, active_arms=mask, horizon=least)
    with pytest.raises(jd.InputError, match=f"the horizon {least - 1} is too short for .* 3 arms"):
        jd.policies.make(name, num_arms=40, active_arms=mask, horizon=least - 1)
