"""What `describe` says of a policy is what the policy is."""

import inspect
import re
from dataclasses import dataclass, field
from itertools import permutations

import jax
import pytest

import jaxduel as jd
from jaxduel.policies import registry, report
from tests.registered import arms_for, needed

PLANS = {
    jd.policies.Duel: "one comparison at a time",
    jd.policies.Batch: "batches of comparisons",
    jd.policies.Pull: "one pull at a time, of arms with rewards",
    jd.policies.PullBatch: "batches of pulls of arms with rewards",
}
PROTOCOLS = {
    jd.policies.SupportsDelay: "learn late (delay)",
    jd.policies.SupportsSkip: "skip quiet runs",
    jd.policies.SupportsWarmStart: "start from win counts (state_from_wins)",
    jd.policies.SupportsAnswer: "stop and name an arm (identify)",
}
ASKED = {
    jd.policies.Duel: tuple(PROTOCOLS),
    jd.policies.Pull: (
        jd.policies.SupportsDelay,
        jd.policies.SupportsSkip,
        jd.policies.SupportsAnswer,
    ),
    jd.policies.PullBatch: (jd.policies.SupportsAnswer,),
}
"""Abilities that are said, by the kind of plays."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, kw_only=True)
class Bare:
    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    width: float | jax.Array
    kind: str = field(default="one", metadata={"static": True})

    def init(self, key):
        return key

    def act(self, state, key):
        return jd.policies.Duel(0, 0)

    def update(self, state, plan, outcome, key):
        return state


def example(name):
    values = needed(name, num_batches=2)
    return jd.policies.make(name, num_arms=arms_for(name, 3), horizon=100, **values)


@pytest.mark.parametrize("name", jd.policies.names())
def test_every_policy_is_described_as_it_is(name):
    found, policy = jd.policies.describe(name), example(name)
    key = jax.random.key(0)
    plan = jax.eval_shape(lambda key: policy.act(policy.init(key), key), key)
    assert found.plays == PLANS[type(plan)]
    able = {text for kind, text in PROTOCOLS.items() if isinstance(policy, kind)}
    asked = {PROTOCOLS[kind] for kind in ASKED.get(type(plan), ())}
    assert set(found.can) == able & asked
    assert set(found.cannot) == asked - able
    assert len(found.assumes) == len(policy.assumes)
    document = " ".join(inspect.getdoc(type(policy)).split())
    assert document.startswith(found.title)
    assert found.cost is None or re.match(r"\.( |$)", document.partition(found.cost)[2])
    steps = isinstance(plan, jd.policies.Duel | jd.policies.Pull)
    assert (found.cost is not None) == (steps and name != "cw-rmed")  # a program, now and then


@pytest.mark.parametrize("name", jd.policies.names())
def test_every_parameter_is_described(name):
    found = {each.name: each for each in jd.policies.describe(name).parameters}
    known = jd.policies.parameters(name)
    assert found.keys() == known.keys()
    for each in found.values():
        assert each.meaning, each.name
        assert each.default != "None" or each.name == "horizon" or "None" in each.meaning
        assert not each.meaning.endswith((":", ","))
        assert each.default is None or each.default == str(known[each.name])
        assert not each.taken.startswith("be "), each.taken


def test_what_parameters_take_is_what_errors_say():
    found = {
        (name, each.name): each.taken
        for name in jd.policies.names()
        for each in jd.policies.describe(name).parameters
    }
    assert found["dts", "alpha"] == "positive"
    assert found["btm", "gamma"] == "at least 1"
    assert found["rmed2", "alpha"] == "not negative"
    assert found["pcomp", "delta"] == "in (0, 1)"
    assert found["pcomp", "elimination"] == "hoeffding, kl, kl-log-horizon, kl-safe"
    assert found["pcomp", "num_batches"] == "a whole number of at least 1"
    assert found["base", "grid"] == "arithmetic, geometric, minimax"
    assert found["multisbm", "clock"] == ""  # its meaning is '"own" or "global"'
    assert found["base", "commit"] == ""
    assert found["btm", "horizon"] == ""


def test_facts_of_some_policies():
    dts = jd.policies.describe("dts")
    assert dts.title == "D-TS, Wu and Liu (NIPS 2016), Algorithm 1, for Copeland winners."
    assert dts.assumes == ("a preference in every pair",)
    assert "assumes   nothing of the instance" in repr(jd.policies.describe("uniform"))
    assert "    alpha=0.51       width of the confidence bounds, > 1/2 in theory; " in str(dts)
    assert jd.policies.describe("rucb").cost == (
        "a step costs O(K), not O(K^2), and makes the same decisions"
    )
    assert jd.policies.describe("savage").assumes == ("a Condorcet winner",)
    assert jd.policies.describe("pure-dts").lines()[-1] == "  no parameters"
    first, *_, last = jd.policies.describe("scomp").parameters
    assert (first.name, first.default) == ("horizon", None)
    assert last.meaning.startswith("chance of each arm to be a seed")


def test_policies_by_paper():
    kinds = report.by_paper()
    assert list(kinds) == list(PLANS.values())
    duels = kinds["one comparison at a time"]
    assert duels["Wu and Liu (NIPS 2016)"] == ["dts", "dts+", "pure-dts"]
    assert duels["Yue, Broder, Kleinberg and Joachims (COLT 2009)"] == ["interleaved-filter"]
    assert duels["Saha, Koren and Mansour (ICML 2021)"] == ["borda-cb", "d-exp3"]
    for papers in kinds.values():
        assert not [pair for pair in permutations(papers, 2) if pair[0].endswith(pair[1])]
    listed = [name for papers in kinds.values() for names in papers.values() for name in names]
    assert sorted(listed) == list(jd.policies.names())


def test_a_policy_without_docstring_and_annotations(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    registry.register("bare")(Bare)
    found = jd.policies.describe("bare")
    assert (found.title, found.plays, found.cost) == ("Bare", None, None)
    assert [(each.name, each.default, each.text()) for each in found.parameters] == [
        ("width", None, ""),
        ("kind", "one", ""),
    ]
    assert report.by_paper()["others"] == {"Bare": ["bare"]}


def test_unknown_names():
    with pytest.raises(jd.InputError, match="did you mean 'dts'"):
        jd.policies.describe("dst")
