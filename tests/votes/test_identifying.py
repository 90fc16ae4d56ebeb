"""Identification against histories of `simulate`, and its laws."""

import dataclasses
import itertools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.policies.base import NO_WINNER
from jaxduel.simulation import blocks, narrowing, skip_heuristic
from jaxduel.simulation.instances import instance_of
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.progress import Simulating
from jaxduel.votes.collecting import noise_of
from jaxduel.votes.recommending import RULES, order
from jaxduel.votes.stopping import log_evidence
from tests.choice import some

pytestmark = pytest.mark.usefixtures("quick_compilation")

SEEDS, HORIZON = 6, 240
GRID = [1, 2, 5, 11, 30, 70, 90]
TIED = jd.problems.from_matrix(
    [[0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.6, 0.7], [0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5]],
    ties=0.4 * (1 - np.eye(4)),
)
WAYS = {
    "dts": {},
    "dts later": {"delay": 7},
    "rucb without ties": {"ties": "drop"},
}


def made(name, problem, **parameters):
    return jd.policies.make(name, num_arms=problem.num_arms, horizon=HORIZON, **parameters)


def history(policy, problem, **settings):
    """Votes and wins after each comparison: (S, T), (S, T, K, K)."""
    result = jd.simulate(
        policy,
        problem,
        HORIZON,
        num_seeds=SEEDS,
        checkpoints=range(1, HORIZON + 1),
        record_pairs=True,
        record_outcomes=True,
        skip_quiet=False,
        **settings,
    )
    selves = np.trace(result.pairs, axis1=2, axis2=3)
    return result.pairs.sum(axis=(2, 3)) - selves, result.outcomes


def named_by_hand(rule, votes, wins, grid):
    """The arm that a rule names after so many votes: (S, M); of a seed with fewer, at its end."""
    noise = noise_of(root_key(0), 0, SEEDS, wins.shape[-1])
    named = np.empty((SEEDS, len(grid)), int)
    for seed, (at, number) in itertools.product(range(SEEDS), enumerate(grid)):
        when = min(np.searchsorted(votes[seed], number), HORIZON - 1)
        named[seed, at] = order(rule, wins[seed, when], noise[seed])[0]
    return named


@pytest.mark.parametrize("way", some(WAYS, (), ("dts", "dts later")))
def test_arms_named_are_those_of_the_votes_in_a_history(way):
    policy, settings = made(way.split()[0], TIED), WAYS.get(way, {})
    votes, wins = history(policy, TIED, **settings)
    settings = {**settings, "horizon": HORIZON, "skip_quiet": False}
    found = jd.identify(policy, TIED, GRID[-1], SEEDS, checkpoints=GRID, **settings)
    assert np.array_equal(found.cast, np.minimum(votes[:, -1], GRID[-1]))
    for rule in RULES:
        assert np.array_equal(found.named[rule], named_by_hand(rule, votes, wins, GRID))


@pytest.mark.slow
def test_policies_with_batches_know_the_outcomes_of_one_at_its_end():
    policy = made("pcomp", TIED, num_batches=3)
    found = jd.identify(policy, TIED, 72, SEEDS, checkpoints=[35, 36, 37, 71, 72])
    result = jd.simulate(policy, TIED, HORIZON, SEEDS, checkpoints=[36, 37], record_outcomes=True)
    noise = noise_of(root_key(0), 0, SEEDS, 4)
    nothing = np.zeros((SEEDS, 4, 4), int)
    first = result.outcomes[:, 1]  # q = 6.2: a first round of 6 votes for each of 6 pairs
    assert first.sum() == SEEDS * 36
    for rule in RULES:
        assert np.array_equal(found.named[rule][:, 0], order(rule, nothing, noise)[:, 0])
        assert np.array_equal(found.named[rule][:, 1], order(rule, first, noise)[:, 0])
        assert np.array_equal(found.named[rule][:, 1], found.named[rule][:, 2])


START = np.array([[0, 9, 8, 7], [6, 0, 5, 9], [4, 4, 0, 3], [5, 6, 7, 0]])


@pytest.mark.parametrize("name", some(["dts", "rucb"], (), ("dts",)))
def test_votes_at_the_start_are_as_if_they_had_been_played(name):
    policy = jd.policies.make(name, num_arms=4)
    settings = {"checkpoints": [1, 10, 40], "horizon": HORIZON, "start": START, "delta": 0.9}
    found = jd.identify(policy, TIED, 40, 1, **settings, stop="condorcet", shuffle_arms=False)
    votes, wins = _played(policy, jd.policies.state_from_wins(policy, START))
    noise = noise_of(root_key(0), 0, 1, 4)[0]
    for at, number in enumerate(found.checkpoints):
        when = min(np.searchsorted(votes, number), HORIZON - 1)
        for rule in RULES:
            assert found.named[rule][0, at] == order(rule, wins[when], noise)[0]
    assert (found.stops.at[0], found.stops.named[0]) == _stop(votes, wins, 40, 0.9)


def test_rules_alone_count_the_start_of_a_policy_that_begins_afresh():
    policy = made("savage", TIED)
    with pytest.raises(InputError, match="cannot start from win counts"):
        jd.identify(policy, TIED, 40, 2, start=START)
    settings = {"votes": 40, "num_seeds": 4, "checkpoints": [1, 40]}
    alone = jd.identify(policy, TIED, **settings)
    none = jd.identify(policy, TIED, **settings, start=1 - np.eye(4), afresh=True)
    assert np.array_equal(alone.cast, none.cast)  # level everywhere: Copeland's order is the same
    assert np.array_equal(alone.named["copeland"][:, 1], none.named["copeland"][:, 1])
    sure = 1000 * np.triu(np.ones((4, 4), int), 1)
    settled = jd.identify(policy, TIED, **settings, start=sure, afresh=True, stop="condorcet")
    assert all((arms == 0).all() for arms in settled.named.values())
    assert (settled.stops.at == 0).all()
    assert (settled.stops.named == 0).all()


def _played(policy, state):
    """Votes and wins after each of so many comparisons of seed 0, one by one: (T,), (T, K, K)."""
    seed = jax.random.fold_in(root_key(0), 0)
    environment, of_policy = (jax.random.fold_in(seed, stream) for stream in (0, 1))
    instance, arms = jax.tree.map(jnp.asarray, instance_of(TIED, 4)), jnp.arange(4)
    wins, table, votes = [], START.copy(), []

    @jax.jit
    def step(state, number):
        key = jax.random.fold_in(of_policy, number)
        keys = jax.random.fold_in(environment, number)[None]
        noise = jax.tree.map(lambda x: x[0], instance.noise(keys, jnp.array([number])))
        plan = policy.act(state, key)
        outcome = instance.sample(arms, plan, noise)
        return policy.update(state, plan, outcome, key), plan, outcome

    for number in range(1, HORIZON + 1):
        state, (left, right), outcome = step(state, number)
        if left != right:
            table[(left, right) if outcome > 0 else (right, left)] += 1
        votes.append((votes or [0])[-1] + int(left != right))
        wins.append(table.copy())
    return np.array(votes), np.array(wins)


def _stop(votes, wins, most, delta):
    """Votes at the first vote whose evidence is enough, and the arm: -1 and -1 if none is."""
    num = wins.shape[-1]
    evidence = log_evidence(wins, wins.swapaxes(1, 2))
    evidence[:, range(num), range(num)] = np.inf
    sure = (evidence >= np.log(num / delta)).all(axis=2)
    when = np.flatnonzero(sure.any(axis=1) & (votes <= most))
    return (votes[when[0]], np.argmax(sure[when[0]])) if len(when) else (-1, -1)


@pytest.fixture
def widths(monkeypatch) -> list[int]:
    """Those to which blocks are narrowed, which always pays."""
    widths, narrowed = [], narrowing.narrowed

    def recorded(*args, program):
        widths.append(args[-1].shape[-1])
        return narrowed(*args, program=program)

    monkeypatch.setattr(narrowing, "WORTH", 0)
    monkeypatch.setattr(narrowing, "narrowed", recorded)
    return widths


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) for name in ("dts", "ecw-rmed")] + ["rucb"]
)
def test_neither_chunks_nor_blocks_nor_skipping_change_what_is_named(name, monkeypatch, widths):
    problem = jd.problems.load("cyclic")
    policy = jd.policies.make(name, num_arms=4)
    settings = {"votes": 300, "num_seeds": 64, "horizon": 10_000, "stop": "condorcet"}
    plain = jd.identify(policy, problem, **settings, skip_quiet=False)
    assert len(widths) == 1
    several = jd.identify(policy, problem, **settings, skip_quiet=False, lanes=5)
    monkeypatch.setattr(narrowing, "NARROWEST", 1_000)  # in no case
    whole = jd.identify(policy, problem, **settings, skip_quiet=False)
    assert len(widths) == 1
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 37)
    monkeypatch.setattr(blocks, "FEWEST_STEPS", 5)
    cut = jd.identify(policy, problem, **settings, skip_quiet=False)
    others = [several, whole, cut]
    if name == "rucb":  # draws nothing for its quiet runs
        monkeypatch.setattr(skip_heuristic, "WORTH", 0)
        monkeypatch.setattr(skip_heuristic.SkipHeuristic, "_pays", lambda *_: True)
        monkeypatch.setattr(skip_heuristic, "TRIAL", 16)
        others.append(jd.identify(policy, problem, **settings))
    for other in others:
        assert np.array_equal(plain.cast, other.cast)
        assert all(np.array_equal(*pair) for pair in zip(plain.stops, other.stops, strict=True))
        for rule in RULES:
            assert np.array_equal(plain.named[rule], other.named[rule])
            assert np.array_equal(plain.tau[rule], other.tau[rule])


@pytest.mark.slow
def test_progress_of_a_block_that_is_narrowed_goes_forward_to_its_end(monkeypatch, widths):
    shares = []
    monkeypatch.setattr(Simulating, "tick", lambda _, share: shares.append(share))
    policy = jd.policies.make("rucb", num_arms=4)
    jd.identify(policy, jd.problems.load("cyclic"), votes=300, num_seeds=64, horizon=10_000)
    assert len(widths) == 1
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(1)


@pytest.mark.slow
def test_cells_of_one_program_are_those_on_their_own():
    problems = [jd.problems.load("cyclic"), jd.problems.arithmetic(4, 0.1)]
    policies = [jd.policies.make("rucb", num_arms=4, alpha=alpha) for alpha in (0.51, 0.9)]
    settings = {"votes": 100, "num_seeds": 6, "stop": "condorcet", "top": 2, "lanes": 4}
    settings["horizon"] = 1_000
    together = jd.identify_many(policies, problems, **settings)
    for found, policy, problem in zip(together, policies, problems, strict=True):
        alone = jd.identify(policy, problem, **settings)
        assert np.array_equal(found.cast, alone.cast)
        assert np.array_equal(found.stops.at, alone.stops.at)
        for rule in RULES:
            assert np.array_equal(found.named[rule], alone.named[rule])
            assert np.array_equal(found.top[rule], alone.top[rule])


@pytest.mark.thorough
def test_the_rule_stops_at_the_first_vote_whose_evidence_is_enough():
    easy = jd.problems.arithmetic(4, 0.16)
    policy = made("dts", easy)
    settings = {"horizon": HORIZON, "skip_quiet": False, "delta": 0.9}
    found = jd.identify(policy, easy, 90, SEEDS, **settings, stop="condorcet")
    expected = [_stop(*one, 90, 0.9) for one in zip(*history(policy, easy), strict=True)]
    assert list(zip(found.stops.at, found.stops.named, strict=True)) == expected
    assert found.stops.at.max() > -1


@pytest.mark.parametrize("delay", [1, pytest.param(7, marks=pytest.mark.slow)])
def test_runs_end_with_the_answer_of_the_policy(delay):
    problem = jd.problems.load("cyclic")  # arm 0 beats all
    policy = jd.policies.make("nts", num_arms=4, margin=0.2, gamma=0.2)
    settings = {"num_seeds": 20, "delay": delay}
    found = jd.identify(policy, problem, 1_000, **settings, stop="policy", target="condorcet")
    result = jd.simulate(policy, problem, 3_000, **settings, record_pairs=True, checkpoints=[3_000])
    pairs = result.pairs[:, 0]
    selves = np.diagonal(pairs, axis1=1, axis2=2)
    ends = pairs.sum(axis=(1, 2)) - selves.sum(axis=1)
    assert ((selves > 0).sum(axis=1) == 1).all()
    named = np.where(found.stops.named >= 0, found.stops.named, selves.argmax(axis=1))
    assert np.array_equal(named, selves.argmax(axis=1))
    assert np.array_equal(found.stops.at, ends)
    assert np.array_equal(found.cast, ends)
    right = found.stops.named == problem.condorcet_winner
    assert np.array_equal(found.truth.is_right(found.stops.named), right)
    assert 0.5 < right.mean() < 1 or delay > 1
    cut = jd.identify(policy, problem, int(np.median(ends)), **settings, stop="policy")
    late = ends + (delay > 1) > cut.checkpoints[-1]  # told late, it answers at the next comparison
    assert np.array_equal(cut.stops.at, np.where(late, -1, ends))
    assert np.array_equal(cut.stops.named, np.where(late, -1, found.stops.named))
    assert f"stopped: {(~late).mean():.1%} of runs" in "\n".join(cut.summary())


def test_no_winner_is_the_right_answer_where_there_is_none():
    problem = jd.problems.from_matrix([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
    policy = jd.policies.make("nts", num_arms=3, margin=0.3, gamma=0.01)
    found = jd.identify(policy, problem, 500, 20, stop="policy", target="condorcet")
    assert (found.stops.named == NO_WINNER).all()
    assert found.truth.best == ()
    assert found.truth.is_right(found.stops.named).all()
    assert not found.correct["copeland"].any()
    assert "stopped: 100.0% of runs, 0.00% wrongly" in found.summary()


def test_measures_are_those_of_the_arms_named():
    problem = jd.problems.load("cyclic")
    policy = jd.policies.make("rucb", num_arms=4)
    found = jd.identify(
        policy, problem, 60, 20, target="borda", top=4, checkpoints=[1, 60], first_seed=7
    )
    assert np.array_equal(found.correct["btl"], np.isin(found.named["btl"], problem.borda_winners))
    expected = problem.gaps("borda")[found.named["btl"]]
    assert np.array_equal(found.simple_regret("btl"), expected)
    assert all(right.all() for right in found.top.values())  # four of four arms
    data, frame = found.to_xarray(), found.to_frame()
    assert np.array_equal(data["seed"], np.arange(7, 27))
    assert data["correct"].sel(rule="borda", votes=60).sum() == found.correct["borda"][:, 1].sum()
    row = frame[(frame["rule"] == "borda") & (frame["votes"] == 60)].iloc[0]
    assert row["probability"] == found.correct["borda"][:, 1].mean()
    assert row["lower95"] < row["probability"] < row["upper95"]
    for rule in ("elo", ["btl"]):
        with pytest.raises(InputError, match="unknown rule "):
            found.probability(rule)


BAD = {
    "a matrix": ((), {}, "identify: the problem must be one that"),
    "no votes": ((), {"votes": 0}, "votes must be a whole number of at least 1, not 0"),
    "too many votes": ((), {"votes": 2**31}, "votes must be at most"),
    "an unknown rule": ((), {"recommend": ["elo"]}, "rule to recommend by 'elo'"),
    "no rule": ((), {"recommend": []}, "recommend must name"),
    "an unknown rule that stops": ((), {"stop": "borda"}, "rule to stop by 'borda'"),
    "a policy that does not stop": ((), {"stop": "policy"}, "dts does not stop by itself"),
    "ties that it does not hear": ((), {"ties": "tell"}, "dts does not learn from ties"),
    "an error of 1": ((), {"delta": 1.0}, "delta must be a probability"),
    "an error that is text": ((), {"delta": "0.05"}, "delta must be a probability"),
    "several numbers of votes": ((), {"votes": [100, 1000]}, "votes must be a whole number"),
    "pulls of arms that are compared": ((), {"votes": None, "pulls": 9}, "give votes, no pulls"),
    "seeds left out": ((), {"num_seeds": None}, "num_seeds must be a whole number"),
    "an unknown target": ((), {"target": "elo"}, "target 'elo'"),
    "more arms than there are": ((), {"top": 5}, "top must be at most"),
    "an unknown treatment of ties": ((), {"ties": "half"}, "value of ties 'half'"),
    "checkpoints beyond": ((), {"checkpoints": [1, 101]}, "checkpoints must increase"),
    "an unknown argument": ((), {"seeds": 3}, "num_seeds"),
    "votes that are none": ((), {"start": [[0, -1], [1, 0]]}, "counts are from 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    _, settings, message = BAD[case]
    problem = jd.problems.load("cyclic")
    policy = jd.policies.make("dts", num_arms=4)
    if case == "a matrix":
        problem = problem.preferences
    with pytest.raises(InputError, match=message):
        jd.identify(policy, problem, **{"votes": 100, "num_seeds": 2, **settings})


def test_several_are_lists():
    problem, policy = jd.problems.load("cyclic"), jd.policies.make("dts", num_arms=4)
    for given in ((policy, problem), ([policy], None), (None, [problem])):
        with pytest.raises(InputError, match=r"identify_many: the .* must be a list"):
            jd.identify_many(*given)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Adversary:
    """Compares arm 1 with arm 2 until it leads by far, then with arm 0 for ever."""

    num_arms: int = dataclasses.field(metadata={"static": True})
    active_arms: jax.Array
    assumes: ClassVar[tuple[str, ...]] = ()

    def init(self, key):
        return jnp.int32(0)  # the lead of arm 1 over arm 2

    def act(self, state, key) -> jd.policies.Duel:
        return jd.policies.Duel(jnp.int32(1), jnp.where(state < 20, 2, 0))

    def update(self, state, plan, outcome, key):
        return state + jnp.where(plan.right == 2, outcome, 0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "even", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["no winner", "a winner"]
)
def test_the_rule_names_a_wrong_arm_with_its_probability_whatever_is_compared(even):
    p = 0.5 if even else 0.505
    problem = jd.problems.from_matrix([[0.5, p, 0.6], [1 - p, 0.5, 0.95], [0.4, 0.05, 0.5]])
    delta, runs = 0.3, 100_000
    policy = Adversary(num_arms=3, active_arms=np.ones(3, bool))
    settings = {"checkpoints": [1_000], "recommend": ["borda"], "shuffle_arms": False}
    found = jd.identify(
        policy, problem, 1_000, runs, **settings, stop="condorcet", delta=delta, lanes=512
    )
    assert set(found.stops.named) == {-1, 1}  # right is arm 0, or none
    wrong = (found.stops.named == 1).mean()
    assert 0.02 < wrong < delta / 3 + 4 * np.sqrt(delta / 3 / runs)
