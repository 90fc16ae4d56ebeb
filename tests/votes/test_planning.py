"""Plans: laws of simulated futures."""

from dataclasses import replace
from functools import cache
from statistics import NormalDist

import jax
import numpy as np
import pytest
from scipy.stats import binom

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.simulation.keys import root_key
from jaxduel.stats import wilson95
from jaxduel.votes import planning
from jaxduel.votes.fitted import Fit
from jaxduel.votes.planned import Needed, Plan, _share95
from jaxduel.votes.recommending import order
from tests.cli.test_votes import TOURNAMENT
from tests.votes.cases import drawn

pytestmark = pytest.mark.usefixtures("quick_compilation")

VOTES = drawn(np.random.default_rng(5), per_pair=6)
SMALL = {"max_votes": 60, "draws": 40, "seeds": 2, "checkpoints": [20, 60], "progress": False}


def planned(policies=("uniform", "round-robin"), votes=VOTES, **settings):
    return jd.votes.plan(votes, policies, **{**SMALL, **settings})


@pytest.fixture(scope="module")
def plan():
    return planned()


@pytest.mark.parametrize(("model", "rule"), [("btl", "btl"), ("free", "copeland")])
def test_at_no_further_votes_it_is_what_the_posterior_tells_of_the_arm_named(model, rule):
    """Exactly, with instances of a share that is not far from it."""
    plan = planned(["uniform"], model=model)
    of_draws, _ = jax.random.split(root_key(0))
    preferences = plan.fit.sample(of_draws, 40)
    (named, *_) = order(rule, VOTES.wins, np.arange(VOTES.num_arms))
    scores = np.sum(preferences > 0.5, axis=2)
    right = scores[:, named] == scores.max(axis=1)
    assert plan.rule == rule
    np.testing.assert_array_equal(plan.correct["uniform"][:, 0, 0], right)
    assert 0 < right.mean() < 1
    assert abs(right.mean() - plan.now) <= 4 * np.sqrt(plan.now * (1 - plan.now) / 40)
    assert plan.now == plan.fit.best[named]
    mean, *ends = plan.probability("uniform")
    assert mean[0] == plan.now
    now = wilson95(plan.now * plan.fit.effective_draws, plan.fit.effective_draws)
    assert [end[0] for end in ends] == pytest.approx(np.ravel(now))


@pytest.mark.thorough
def test_where_arms_tie_it_is_the_mean_over_them():
    votes = jd.votes.from_counts([[0, 5, 3], [5, 0, 3], [2, 2, 0]])
    plan = planned(["uniform"], votes, draws=60)
    assert plan.now == plan.fit.best[:2].mean()
    right = plan.correct["uniform"][:, 0, 0].mean()
    assert abs(right - plan.now) <= 4 * np.sqrt(plan.now * (1 - plan.now) / 60)


def test_runs_do_not_depend_on_the_number_of_devices(monkeypatch):
    """Of a policy that draws quiet runs, whose runs depend on the width of blocks."""
    votes = jd.votes.from_counts([[0, 30], [10, 0]])
    there = jax.local_devices()
    found = []
    for number in (1, 2):
        monkeypatch.setattr(jax, "local_devices", lambda *_, number=number, **__: there[:number])
        found.append(planned(["dts"], votes, draws=3, seeds=6, max_votes=300))
    np.testing.assert_array_equal(found[0].cast["dts"], found[1].cast["dts"])
    np.testing.assert_array_equal(found[0].correct["dts"], found[1].correct["dts"])


@pytest.mark.thorough
def test_it_is_not_reached_by_luck_of_the_instances():
    """Of these instances .97 are of the arm named, which is the best with probability .933."""
    votes = jd.votes.read(TOURNAMENT)
    plan = planned("uniform", votes, draws=200, seed=34, max_votes=1, checkpoints=None)
    assert plan.correct["uniform"][..., 0].mean() > 0.95 > plan.now
    assert plan.votes_needed("uniform", 0.95).value > 0
    assert "needs 0 further votes" not in str(plan)


@pytest.mark.thorough
def test_default_checkpoints_are_as_good_as_all():
    """On a small log, where few votes are enough."""
    votes = jd.votes.from_counts([[0, 3, 5], [3, 0, 4], [1, 2, 0]])
    few, all_of_them = (
        planned("uniform", votes, draws=500, seeds=1, max_votes=300, checkpoints=given)
        for given in (None, [*range(1, 61), 300])
    )
    assert few.votes[:5].tolist() == [0, 1, 2, 3, 4]
    for one, other in zip(
        few.votes_needed("uniform", 0.7), all_of_them.votes_needed("uniform", 0.7), strict=True
    ):
        assert one == pytest.approx(other, rel=0.15)


def test_the_same_seed_is_the_same_plan(plan):
    again, other = planned(), planned(seed=1)
    assert again.summary() == plan.summary()
    for policy, correct in plan.correct.items():
        np.testing.assert_array_equal(again.correct[policy], correct)
        np.testing.assert_array_equal(again.cast[policy], plan.cast[policy])
    assert any((other.correct[policy] != plan.correct[policy]).any() for policy in plan.correct)


def test_a_policy_is_as_it_is_alone(plan):
    for policy, correct in plan.correct.items():
        np.testing.assert_array_equal(planned([policy]).correct[policy], correct)


@pytest.mark.thorough
def test_more_votes_than_the_first_do_not_change_those(plan):
    longer = planned(max_votes=90, checkpoints=[20, 60, 90])
    for policy, correct in plan.correct.items():
        np.testing.assert_array_equal(longer.correct[policy][:, :, :3], correct)


@pytest.mark.thorough
def test_further_votes_name_the_best_arm_in_the_end():
    plan = planned(["uniform"], max_votes=4_000, checkpoints=[4_000], draws=100)
    assert plan.probability("uniform")[1][-1] > plan.now
    assert plan.probability("uniform")[0][-1] > 0.95


@pytest.mark.slow
def test_a_policy_that_cannot_start_from_counts_begins_afresh():
    plan = planned(["pcomp", "uniform"])
    assert plan.afresh == ("pcomp",)
    assert "pcomp cannot start from counts: it began afresh" in plan.summary()
    np.testing.assert_array_equal(plan.correct["pcomp"][..., 0], plan.correct["uniform"][..., 0])


@cache
def fitted() -> Fit:
    return jd.votes.fit(VOTES)


def by_hand(now=0.25, fit=None, rule="btl", **correct):
    """A plan of these outcomes at 0, 100 and 1,000 further votes, `now` known of the first."""
    tables = {name: np.array(table, bool)[:, None, :] for name, table in correct.items()}
    cast = {name: np.full(table.shape[:2], 1_000) for name, table in tables.items()}
    plan = Plan(fit or fitted(), rule, np.array([0, 100, 1_000]), (0.2, 0.95), tables, cast)
    if now is not None:
        plan.__dict__["now"] = now
    return plan


NEVER, LATE, SOON, EVER = (0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)


def test_a_log_with_dollars_in_its_name_is_printed_and_drawn_as_it_is(plan):
    name = "a$b^{$.csv"
    fit = replace(plan.fit, votes=replace(plan.fit.votes, name=name))
    of_it = replace(plan, fit=fit)
    assert name in of_it.summary()[0]
    title = of_it.plot().axes[0].title
    assert title._preprocess_math(title.get_text()) == (name, False)


def test_votes_needed_and_saved_of_outcomes_by_hand():
    """Curves from 1/4 to 1 where half of the instances are right at first."""
    outcomes = {"uniform": LATE, "dts": SOON, "rucb": NEVER}
    plan = by_hand(**{name: 4 * [later, EVER] for name, later in outcomes.items()})
    for target in (0.5, 0.7):
        part = (target - 0.25) / 0.75
        slow = np.expm1(np.log(101) + part * np.log(1001 / 101))
        fast = np.expm1(part * np.log(101))
        assert plan.votes_needed("uniform", target).value == pytest.approx(slow)
        assert plan.votes_needed("dts", target).value == pytest.approx(fast)
        assert plan.saved("dts", target) == pytest.approx(Needed(*3 * [1 - fast / slow]))
        assert plan.saved("uniform", target) == (0, 0, 0)
    assert plan.votes_needed("rucb", 0.5).value == np.inf
    assert np.isnan(plan.saved("rucb", 0.5)).all()
    never = by_hand(uniform=4 * [NEVER, EVER], dts=4 * [SOON, EVER])
    assert np.isnan(never.saved("dts", 0.5)).all()
    frame = plan.targets_frame().set_index(["policy", "target"])
    assert frame.loc[("dts", 0.95), "saved"] == plan.saved("dts", 0.95).value
    decided, *lines = plan.summary()[2:]
    assert decided == "0.2: the votes that there are already decide it"
    assert lines[-1] == "0.95: rucb needs more than 1,000 further votes"
    alone = by_hand(dts=4 * [SOON, EVER])
    with pytest.raises(InputError, match="which this plan is without"):
        alone.saved("dts", 0.5)
    assert "saved" not in alone.targets_frame()
    for target in (95, -1, np.nan, None, "0.9", [0.9]):
        for ask in (plan.votes_needed, plan.saved):
            with pytest.raises(InputError, match="target must be a probability between 0 and 1"):
                ask("dts", target)
    for ask in (plan.probability, lambda name: plan.votes_needed(name, 0.5)):
        with pytest.raises(InputError, match=r"policy of the plan 'dtz'.*did you mean 'dts'"):
            ask("dtz")
        with pytest.raises(InputError, match=r"unknown policy of the plan .*dts"):
            ask(["dts"])


def test_needs_read_alike_whether_reached_or_not(monkeypatch):
    plan = by_hand(uniform=4 * [LATE, EVER], dts=4 * [SOON, EVER])
    for needed, saved, text in (
        ((0.3, 0, 2.5), (0.4, 0.1, 0.6), "1 further vote [0, 3]: 40% [10%, 60%] saved against"),
        (
            (9.0, 4, np.inf),
            (-0.4, -1, 0.2),
            "9 further votes [4, more than 1,000]: 40% [-20%, 100%] more than",
        ),
        (
            (np.inf, 20.1, np.inf),
            3 * [np.nan],
            "more than 1,000 further votes [21, more than 1,000]",
        ),
        (3 * [np.inf], 3 * [np.nan], "more than 1,000 further votes"),
        (
            (9.0, 4, np.inf),
            (0.5, np.nan, np.nan),
            "9 further votes [4, more than 1,000]",
        ),
    ):
        monkeypatch.setattr(Plan, "votes_needed", lambda *_, needed=needed: Needed(*needed))
        monkeypatch.setattr(Plan, "saved", lambda *_, saved=saved: Needed(*saved))
        said = plan.summary()[-1]
        assert said == f"0.95: dts needs {text}" + ("" if np.isnan(saved[1]) else " uniform")


def test_arms_that_tie_now_are_all_named():
    level = jd.votes.from_counts(3 - 3 * np.eye(3), arms=["ada", "bea", "cyd"])
    plan = by_hand(None, jd.votes.fit(level), uniform=[EVER, NEVER, NEVER])
    assert plan.summary()[1] == (
        "now: 'ada', 'bea', 'cyd' tie; the one drawn is the best with probability 0.333"
    )


def test_the_mean_is_a_regression_on_what_is_known_at_first():
    """Least squares over instances, with the share at first as the control variate."""
    rng, now = np.random.default_rng(3), 0.7
    correct = rng.random((30, 4, 3)) < rng.random((30, 1, 1))
    correct[..., 0] = correct[:, :1, 0]
    plan = by_hand(now, uniform=correct.reshape(120, 3))
    plan.correct["uniform"] = correct
    each = correct.mean(axis=1)
    for m in range(3):
        slope = np.polyfit(each[:, 0], each[:, m], 1)[0]
        expected = each[:, m].mean() - slope * (each[:, 0].mean() - now)
        assert plan.probability("uniform")[0][m] == pytest.approx(expected)
    target = plan.probability("uniform")[0][1:].mean()
    needed = plan.votes_needed("uniform", target).value
    assert plan._resampled("uniform", target)[0] == pytest.approx(needed)


@pytest.mark.parametrize("first", [NEVER, EVER])
def test_a_kind_of_which_there_is_no_instance_may_become_anything(first):
    plan = by_hand(0.9, uniform=8 * [first])
    mean, low, high = plan.probability("uniform")
    assert mean.tolist() == [0.9, 0.9, 0.9]
    draws = plan.fit.effective_draws
    of_now = np.abs(np.array(wilson95(0.9 * draws, draws)) - 0.9)
    assert [low[0], high[0]] == pytest.approx([0.9 - of_now[0], 0.9 + of_now[1]])
    missed = 1 - 8 / (8 + NormalDist().inv_cdf(0.975) ** 2)
    if first == EVER:
        assert low[1:] == pytest.approx(0.9 - np.hypot(0.9 * missed, of_now[0]))
        assert high[1:].tolist() == pytest.approx([1, 1])
    else:
        assert low[1:].tolist() == pytest.approx([0, 0])
        assert high[1:] == pytest.approx(0.9 + np.hypot(0.1 * missed, of_now[1]))
    assert plan.votes_needed("uniform", 0.95).value == np.inf
    which = "all" if first == EVER else "none"
    said = f"the arm named now is the best of {which} of the instances: draw more"
    assert plan.summary()[-1] == said


def test_one_wrong_run_does_not_make_an_interval_narrower():
    """Of 200 instances with two runs each: with no wrong run, Wilson's by instances."""
    shares = np.ones((200, 3))
    _, sure, _ = _share95(shares)
    shares[0, 1], shares[:2, 2] = 0.5, 0.5
    mean, low, high = _share95(shares)
    assert low[0] == sure[0] == pytest.approx(wilson95(200, 200)[0])
    assert (np.diff(low) < 0).all()
    assert (np.diff(high - low) > 0).all()
    assert (low <= mean).all()
    assert (mean <= high).all()


@pytest.mark.parametrize(("draws", "seeds"), [(20, 20), (20, 2), (200, 2)])
@pytest.mark.parametrize("hard", [0.1, 0.3])
def test_intervals_cover(draws, seeds, hard):
    """Where some instances are as hard as a coin now and are right in .8 of runs later."""
    rng, covered, runs = np.random.default_rng(draws + seeds), 0, 400
    for _ in range(runs):
        is_hard = rng.random((draws, 1)) < hard
        first = ~is_hard | (rng.random((draws, 1)) < 0.5)
        later = rng.random((draws, seeds)) < np.where(is_hard, 0.8, 1)
        plan = by_hand(1 - hard / 2, uniform=[EVER])
        plan.correct["uniform"] = np.stack([np.broadcast_to(first, later.shape), later, later], 2)
        _, low, high = plan.probability("uniform")
        covered += low[1] <= 1 - 0.2 * hard <= high[1]
    assert covered / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


def test_what_is_known_now_is_of_the_arm_that_the_rule_names():
    votes = jd.votes.from_counts([[0, 2, 28], [0, 0, 20], [17, 0, 0]], arms=["a", "b", "c"])
    plan = by_hand(None, jd.votes.fit(votes), "copeland", uniform=[LATE, EVER])
    assert plan.fit.best[1] > 0.95
    assert (
        plan.summary()[1] == f"now: 'a', which is the best with probability {plan.fit.best[0]:.3f}"
    )
    assert "0.95: uniform needs" in plan.summary()[-1]


def chance_that_the_best_leads(votes, problem, more):
    """Of two arms, after `more` votes of which some tie, by enumeration; half if they are level."""
    tie = problem.ties[0, 1]
    won = (problem.preferences[0, 1] - tie / 2) / (1 - tie)
    decisive, wins = np.ogrid[: more + 1, : more + 1]
    lead = votes.wins[0, 1] - votes.wins[1, 0] + 2 * wins - decisive
    chances = binom.pmf(decisive, more, 1 - tie) * binom.pmf(wins, decisive, won)
    return chances[(lead > 0) if won > 0.5 else (lead < 0)].sum() + chances[lead == 0].sum() / 2


def test_further_votes_of_davidson_tie():
    """Here four of five, so that 60 teach no more than 12 would without ties."""
    votes = jd.votes.from_counts([[0, 5], [4, 0]], [[0, 45], [45, 0]])
    sizes = {"draws": 40, "seeds": 100, "max_votes": 60, "checkpoints": [60]}
    plan = planned("uniform", votes, model="davidson", **sizes)
    of_draws, _ = jax.random.split(root_key(0))
    instances = plan.fit.instances(of_draws, 40)
    chances = np.array([chance_that_the_best_leads(votes, one, 60) for one in instances])
    error = np.sqrt(np.sum(chances * (1 - chances)) / 100) / 40
    assert abs(plan.correct["uniform"][..., 1].mean() - chances.mean()) <= 4 * error
    assert 0.75 < chances.mean() < 0.8  # .9 without ties
    assert (plan.cast["uniform"] == 60).all()
    assert not any("ties" in line for line in plan.summary())


def test_other_models_leave_ties_out_and_say_so(plan):
    ties = 2 - 2 * np.eye(VOTES.num_arms, dtype=int)
    also_tied = planned(votes=replace(VOTES, ties=ties))
    for policy, correct in plan.correct.items():
        np.testing.assert_array_equal(also_tied.correct[policy], correct)
    assert also_tied.summary()[-1] == (
        "25% of the log's votes are ties, but none of these further votes: with --model davidson "
        "they tie, too"
    )
    assert "ties" not in "".join(plan.summary())


BAD = {
    "no policy": ([], {}, "at least one policy"),
    "one twice": (["dts", "dts"], {}, "named twice"),
    "an unknown policy": (["dtz"], {}, "did you mean 'dts'"),
    "one that pulls arms": (["ucb1"], {}, "ucb1 pulls arms, and votes compare them in pairs"),
    "no target": (["dts"], {"targets": []}, "at least one target"),
    "a target of 1": (["dts"], {"targets": [1.0]}, "between 0 and 1, not 1"),
    "no votes": (["dts"], {"max_votes": 0}, "max_votes must be a whole number of at least 1"),
    "one instance": (["dts"], {"draws": 1}, "draws must be a whole number of at least 2"),
    "a policy itself": (jd.policies.make("dts", num_arms=3), {}, "policies of a plan are names"),
    "a policy in a list": ([("dts", {})], {}, "policies of a plan are names"),
    "a label without parameters": ({"u": "dts"}, {}, "policies of a plan are names"),
    "targets in lists": (["dts"], {"targets": [0.9, [0.95]]}, "between 0 and 1, not"),
    "no list of targets": (["dts"], {"targets": None}, "between 0 and 1, not None"),
    "a target that is text": (["dts"], {"targets": "0.95"}, "between 0 and 1, not"),
    "draws for a thousand years": (["dts"], {"draws": 10**8}, "draws must be at most 100,000"),
    "seeds for as long": (["dts"], {"seeds": 10**9}, "seeds must be at most"),
    "no seeds": (["dts"], {"seeds": 0}, "seeds must be a whole number of at least 1"),
    "an unknown model": (["dts"], {"model": "elo"}, "model 'elo'"),
    "an unknown rule": (["dts"], {"rule": "elo"}, "'elo'"),
    "checkpoints beyond": (["dts"], {"checkpoints": [61]}, "checkpoints must increase"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    policies, settings, message = BAD[case]
    with pytest.raises(InputError, match=message):
        planned(policies, **settings)


def test_an_interrupt_leaves_the_other_policies_out(monkeypatch):
    identify_cells, errors = planning.identify_cells, iter([None, KeyboardInterrupt])

    def interrupted(*args, **settings):
        if error := next(errors):
            raise error
        return identify_cells(*args, **settings)

    monkeypatch.setattr(planning, "identify_cells", interrupted)
    plan = planned()
    assert plan.left_out == ("round-robin",)
    assert "interrupted: without round-robin" in plan.summary()
