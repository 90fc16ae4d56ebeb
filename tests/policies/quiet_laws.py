"""Whole runs with quiet runs skipped and without, of policies that draw: two samples, one law."""

import jax
import numpy as np

import jaxduel as jd

USUAL = {"alpha": 0.51}


def skipping():
    return {"skip_quiet": True}


def plain():
    return {"skip_quiet": False}


def compare_laws(name, problem, times, num, *ways, parameters=USUAL, winners=False, **settings):
    """Means of regret and of each arm's plays, or of all winners' together, agree; returns the
    error of a difference of mean regrets at the last checkpoint, in units of the mean."""
    policy = jd.policies.make(name, num_arms=problem.num_arms, **parameters)
    settings = {"devices": jax.devices()[:1], "checkpoints": times, "num_seeds": num, **settings}
    values = []
    for seed, prepare in enumerate(ways):
        way = jd.simulate(policy, problem, times[-1], seed=seed, **settings, **prepare())
        plays = way.plays
        if winners:
            alike = problem.gaps("copeland") == 0
            whole = plays[..., alike].sum(axis=2, keepdims=True)
            plays = np.concatenate([whole, plays[..., ~alike]], axis=2)
        values.append(np.concatenate([plays, way.regret[:, :, None]], axis=2))
    means = [x.mean(axis=0) for x in values]
    error = np.hypot(*(x.std(axis=0, ddof=1) / np.sqrt(num) for x in values))
    assert (np.abs(means[0] - means[1]) <= 4.5 * error).all()
    return error[-1, -1] / means[0][-1, -1]


def check_whole_runs(turns, name, problem, times, num, settings):
    """Seeds for 3 % of the mean regret to be 4.5 standard errors or more."""

    def pooled():
        return {"skip_quiet": "winners"}

    skipped = pooled if settings.get("winners") else skipping
    problem = jd.problems.load(problem)
    error = compare_laws(name, problem, times, num, skipped, plain, **settings)
    assert error <= 0.03 / 4.5
    assert np.concatenate(turns).mean() < 0.8 * times[-1]
