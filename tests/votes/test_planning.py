"""Plans: laws of simulated futures."""

from statistics import NormalDist

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.simulation.keys import root_key
from jaxduel.votes.fitting import Fit
from jaxduel.votes.planning import Needed, Plan
from jaxduel.votes.recommending import order, votes_needed
from tests.votes.cases import drawn

pytestmark = pytest.mark.usefixtures("quick_compilation")

VOTES = drawn(np.random.default_rng(5), per_pair=6)
SMALL = {"max_votes": 60, "draws": 12, "seeds": 3, "checkpoints": [20, 60], "progress": False}


def planned(policies=("uniform", "round-robin"), votes=VOTES, **settings):
    return jd.votes.plan(votes, policies, **{**SMALL, **settings})


@pytest.fixture(scope="module")
def plan():
    return planned()


@pytest.mark.parametrize(("model", "rule"), [("btl", "btl"), ("free", "copeland")])
def test_at_no_further_votes_it_is_the_share_of_instances_whose_best_arm_is_named(model, rule):
    plan = planned(["uniform"], model=model, draws=40, seeds=2)
    of_draws, _ = jax.random.split(root_key(0))
    preferences = plan.fit.sample(of_draws, 40)
    (named, *_) = order(rule, VOTES.wins, np.arange(VOTES.num_arms))
    scores = np.sum(preferences > 0.5, axis=2)
    share = np.mean(scores[:, named] == scores.max(axis=1))
    assert plan.rule == rule
    assert 0 < share < 1
    assert plan.now == plan.probability("uniform")[0][0] == pytest.approx(share)


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


def test_more_votes_than_the_first_do_not_change_those(plan):
    longer = planned(max_votes=90, checkpoints=[20, 60, 90])
    for policy, correct in plan.correct.items():
        np.testing.assert_array_equal(longer.correct[policy][:, :, :3], correct)


def test_further_votes_name_the_best_arm_in_the_end():
    plan = planned(["uniform"], max_votes=50_000, checkpoints=[50_000], draws=40)
    assert plan.probability("uniform")[1][-1] > plan.now
    assert plan.probability("uniform")[0][-1] > 0.95


@pytest.mark.slow
def test_a_policy_that_cannot_start_from_counts_begins_afresh():
    plan = planned(["pcomp", "uniform"])
    assert plan.afresh == ("pcomp",)
    assert "pcomp cannot start from counts: it began afresh" in plan.summary()
    np.testing.assert_array_equal(plan.correct["pcomp"][..., 0], plan.correct["uniform"][..., 0])


def by_hand(**correct):
    """A plan of these outcomes at 0, 100 and 1,000 further votes."""
    tables = {name: np.array(table, bool)[:, None, :] for name, table in correct.items()}
    cast = {name: np.full(table.shape[:2], 1_000) for name, table in tables.items()}
    fit = jd.votes.fit(VOTES)
    return Plan(fit, "btl", np.array([0, 100, 1_000]), (0.5, 0.95), tables, cast)


NEVER, LATE, SOON = (0, 0, 0), (0, 0, 1), (0, 1, 1)


def test_votes_needed_and_saved_of_outcomes_by_hand():
    plan = by_hand(uniform=8 * [LATE], dts=8 * [SOON], rucb=8 * [NEVER])
    for target in (0.3, 0.5):  # be it one of the plan's or not
        slow = np.expm1(np.log(101) + target * np.log(1001 / 101))
        fast = np.expm1(target * np.log(101))
        assert plan.votes_needed("uniform", target).value == pytest.approx(slow)
        assert plan.votes_needed("dts", target).value == pytest.approx(fast)
        assert plan.saved("dts", target) == pytest.approx(Needed(*3 * [1 - fast / slow]))
        assert plan.saved("uniform", target) == (0, 0, 0)
    assert plan.votes_needed("rucb", 0.5).value == np.inf
    assert np.isnan(plan.saved("rucb", 0.5)).all()
    assert np.isnan(by_hand(uniform=8 * [NEVER], dts=8 * [SOON]).saved("dts", 0.5)).all()
    frame = plan.targets_frame().set_index(["policy", "target"])
    assert frame.loc[("dts", 0.5), "saved"] == plan.saved("dts", 0.5).value
    decided, *lines = plan.summary()[2:]
    assert decided == "0.5: the votes that there are already decide it"
    assert lines[-1] == "0.95: rucb needs more than 1,000 further votes"
    with pytest.raises(InputError, match="which this plan is without"):
        by_hand(dts=8 * [SOON]).saved("dts", 0.5)
    assert "saved" not in by_hand(dts=8 * [SOON]).targets_frame()
    for target in (95, -1, np.nan, None, "0.9"):
        for ask in (plan.votes_needed, plan.saved):
            with pytest.raises(InputError, match="target must be a probability between 0 and 1"):
                ask("dts", target)
    for ask in (plan.probability, lambda name: plan.votes_needed(name, 0.5)):
        with pytest.raises(InputError, match=r"policy of the plan 'dtz'.*did you mean 'dts'"):
            ask("dtz")


def test_value_is_that_of_independent_runs_where_there_is_a_run_for_each_instance():
    outcomes = [SOON, SOON, LATE, NEVER, SOON, LATE, LATE, LATE]
    value, *_ = votes_needed([0, 100, 1_000], np.array(outcomes, bool), 0.6)
    assert by_hand(uniform=outcomes).votes_needed("uniform", 0.6).value == value


def test_all_runs_right_are_no_proof():
    """With as many instances, all of them right, a probability may be a little below 1."""
    plan = by_hand(uniform=8 * [[True, True, True]])
    mean, low, high = plan.probability("uniform")
    assert mean.tolist() == high.tolist() == [1, 1, 1]
    assert low == pytest.approx(8 / (8 + NormalDist().inv_cdf(0.975) ** 2))
    assert plan.votes_needed("uniform", 0.95).high == np.inf


def test_what_is_known_now_is_of_the_arm_that_the_rule_names():
    votes = jd.votes.from_counts([[0, 2, 28], [0, 0, 20], [17, 0, 0]], arms=["a", "b", "c"])
    plan = planned(["uniform"], votes, rule="copeland", targets=[0.95])
    assert plan.fit.best[1] > 0.95
    assert (
        plan.summary()[1] == f"now: 'a', which is the best with probability {plan.fit.best[0]:.3f}"
    )
    assert "0.95: uniform needs" in plan.summary()[2]


def test_instances_have_the_law_of_decisive_votes(monkeypatch):
    asked, sample = [], Fit.sample

    def spied(*given, **settings):
        asked.append(settings)
        return sample(*given, **settings)

    monkeypatch.setattr(Fit, "sample", spied)
    planned("uniform", targets=0.5)
    assert asked == [{"decisive": True}]


BAD = {
    "no policy": ([], {}, "at least one policy"),
    "one twice": (["dts", "dts"], {}, "named twice"),
    "an unknown policy": (["dtz"], {}, "did you mean 'dts'"),
    "one that pulls arms": (["ucb1"], {}, "pulls arms"),
    "no target": (["dts"], {"targets": []}, "at least one target"),
    "a target of 1": (["dts"], {"targets": [1.0]}, "between 0 and 1, not 1"),
    "no votes": (["dts"], {"max_votes": 0}, "max_votes must be a whole number of at least 1"),
    "one instance": (["dts"], {"draws": 1}, "draws must be a whole number of at least 2"),
    "a policy itself": (jd.policies.make("dts", num_arms=3), {}, "policies of a plan are names"),
    "a policy in a list": ([("dts", {})], {}, "policies of a plan are names"),
    "a label without parameters": ({"u": "dts"}, {}, "policies of a plan are names"),
    "a target that is text": (["dts"], {"targets": "0.95"}, "between 0 and 1, not"),
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
