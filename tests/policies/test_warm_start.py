"""States from win counts."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback
from tests.choice import some
from tests.oracles.condorcet.rucb import RUCB
from tests.oracles.copeland.ccb import CCB
from tests.policies.histories import KEY
from tests.policies.oracle_runs import seen
from tests.registered import arms_for, needed

pytestmark = pytest.mark.thorough

WINS = [[0, 3, 1], [2, 0, 0], [4, 1, 0]]
BY_COUNTS = ("arena", "dts", "dts+", "pure-dts", "round-robin", "self-sparring", "uniform")
ANEW = {"ccb": CCB, "rucb": RUCB}
"""Oracles of those whose memory beside counts begins anew; of RCS, all but champions is counts."""
IN_PASSES = ("cw-rmed", "ecw-rmed", "rmed1", "rmed2", "rmed2fh")
"""Those that work through a list of arms or pairs, which counts do not tell."""
ABLE = sorted((*BY_COUNTS, *ANEW, "rcs", *IN_PASSES))
REFUSED = (
    "base",
    "beat-the-winner",
    "borda-cb",
    "btm",
    "d-exp3",
    "d-ucb",
    "detc",
    "detc-anytime",
    "detc-arms",
    "detc-batched",
    "detc-batched-known-gap",
    "detc-known-gap",
    "detc-minimax",
    "dkwt",
    "etc",
    "interleaved-filter",
    "lucb",
    "merge-dts",
    "merge-rucb",
    "multisbm",
    "nts",
    "pbr",
    "pcomp",
    "pocowista",
    "rex3",
    "savage",
    "scb",
    "scomp",
    "scomp2",
    "select-then-verify",
    "sequential-halving",
    "sparring",
    "successive-elimination",
    "successive-rejects",
    "sw-ucb",
    "thompson-gaussian",
    "top-two-thompson",
    "ucb1",
    "uniform-arms",
    "versatile-db",
    "ws-s",
    "ws-w",
)
ARMS, PADDING, COMPARISONS = 4, 1, 60


def make(name, num_arms=ARMS, padding=PADDING):
    mask = np.arange(num_arms + padding) < arms_for(name, num_arms)
    values = needed(name, num_batches=3)
    return jd.policies.make(
        name, num_arms=num_arms + padding, horizon=1000, active_arms=mask, **values
    )


def forced_history(seed):
    """Random comparisons of different arms: all pairs once, in order, then at random."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(ARMS) for j in range(i + 1, ARMS)]
    while len(pairs) < COMPARISONS:
        i, j = rng.choice(ARMS, 2, replace=False)
        pairs.append((i, j))
    left, right = np.array(pairs, np.int32).T
    outcomes = np.where(rng.random(COMPARISONS) < 0.5 + 0.1 * (right - left), 1, -1)
    return left, right, outcomes.astype(np.int32)


def wins_of(left, right, outcomes, size=ARMS + PADDING):
    wins = np.zeros((size, size), np.int32)
    won = outcomes > 0
    np.add.at(wins, (np.where(won, left, right), np.where(won, right, left)), 1)
    return wins


@jax.jit
def played(policy, left, right, outcomes):
    """The state after these comparisons, whatever the policy would have compared."""

    def step(state, duel):
        *pair, outcome = duel
        return policy.update(state, Duel(*pair), outcome, KEY), None

    return jax.lax.scan(step, policy.init(KEY), (left, right, outcomes))[0]


@partial(jax.jit, static_argnames="steps")
def run_on(policy, state, steps):
    """The next comparisons of the policy's own choice and their outcomes, and the last state."""

    def step(state, t):
        key = jax.random.key(t)
        duel = policy.act(state, key)
        p = 0.5 + 0.1 * (duel.right - duel.left)
        outcome = jnp.where(jax.random.uniform(key) < p, 1, -1).astype(jnp.int32)
        return policy.update(state, duel, outcome, key), (*duel, outcome)

    state, comparisons = jax.lax.scan(step, state, jnp.arange(steps))
    return comparisons, state


@partial(jax.jit, static_argnames="num")
def shares(policy, state, seed, num):
    """How often each pair comes next, of `num` keys."""
    duels = jax.vmap(policy.act, in_axes=(None, 0))(state, jax.random.split(seed, num))
    size = policy.num_arms
    return jnp.bincount(duels.left * size + duels.right, length=size**2) / num


def assert_same(one, other, but=()):
    """All leaves are equal, up to rounding, but those of these names."""
    leaves = jax.tree_util.tree_leaves_with_path(one)
    for (path, a), b in zip(leaves, jax.tree.leaves(other), strict=True):
        if not {entry.name for entry in path} & set(but):
            where = jax.tree_util.keystr(path)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=where)


def test_every_registered_policy_starts_from_counts_or_is_refused():
    assert sorted((*ABLE, *REFUSED)) == sorted(jd.policies.names())


@pytest.mark.parametrize("name", REFUSED)
def test_a_policy_that_counts_do_not_determine_is_refused(name):
    with pytest.raises(jd.InputError) as caught:
        jd.policies.state_from_wins(make(name, 3, 0), WINS)
    sentence = str(caught.value)
    assert sentence.startswith(f"{name} cannot start from win counts")
    assert sentence.endswith(f"; {', '.join(ABLE[:-1])} and {ABLE[-1]} can.")


@pytest.mark.parametrize("name", some(ABLE, (), ("cw-rmed",)))
def test_no_comparisons_give_the_first_state(name):
    policy = make(name)
    built = jd.policies.state_from_wins(policy, np.zeros((ARMS + PADDING,) * 2))
    assert_same(policy.init(KEY), built)


def unsigned(state):
    """The state, but for the side that a coin of probability 1/2 is tossed from."""
    if hasattr(state, "record"):
        return state._replace(record=unsigned(state.record))
    return state._replace(tail=jnp.abs(state.tail)) if hasattr(state, "tail") else state


FORGOTTEN = {
    "rcs": lambda state: state._replace(champions=jnp.zeros_like(state.champions)),
    "rucb": lambda state: state._replace(best=jnp.int32(-1)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*BY_COUNTS, *FORGOTTEN])
def test_the_next_duels_have_the_law_of_a_state_that_was_played(name, seed):
    """All of the state, and the law of the next comparison, by independent keys."""
    policy, history = make(name), forced_history(seed)
    before, built = played(policy, *history), jd.policies.state_from_wins(policy, wins_of(*history))
    before = FORGOTTEN.get(name, lambda state: state)(before)
    assert_same(unsigned(before), unsigned(built))
    num = 4096
    one, other = (
        np.asarray(shares(policy, state, jax.random.key(seed), num))
        for state, seed in ((before, 2 * seed), (built, 2 * seed + 1))
    )
    mean = (one + other) / 2
    assert np.count_nonzero(mean) > (0 if name == "round-robin" else 2)
    error = np.sqrt(2 * mean * (1 - mean) / num)
    assert (np.abs(one - other) <= 4.5 * error).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ANEW)
def test_a_memory_begins_anew_as_in_the_paper(name, seed):
    """The pairs that come next are those of an oracle that has seen these counts at its start."""
    rng, policy = np.random.default_rng(seed), make(name)
    wins = np.zeros((ARMS + PADDING,) * 2, np.int32)
    upper = np.triu(rng.integers(1, 60, (ARMS, ARMS)), 1)
    won = rng.binomial(upper, rng.choice([0.1, 0.4, 0.9], (ARMS, ARMS)))
    wins[:ARMS, :ARMS] = won + (upper - won).T
    oracle = ANEW[name](ARMS)
    seen(oracle, wins[:ARMS, :ARMS].tolist(), int(wins.sum()) + 1)
    start, key = jax.jit(jax.vmap(policy.from_wins, (None, 0))), jax.random.key(seed)
    states = start(jnp.asarray(wins), jax.random.split(key, 4096))
    duels = jax.jit(jax.vmap(policy.act))(states, jax.random.split(jax.random.key(seed + 9), 4096))
    found = set(zip(*(np.asarray(arms).tolist() for arms in duels), strict=True))
    assert found == oracle.allowed()


def same_lists(state, lists):
    """The state with the lists of another."""
    main = "main" in state._fields
    inside, other = (x.main if main else x for x in (state, lists))
    which = [name for name in ("queue", "waiting", "forced", "fewest") if name in inside._fields]
    inside = inside._replace(**{name: getattr(other, name) for name in which})
    return state._replace(main=inside) if main else inside


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
@pytest.mark.parametrize("name", some(IN_PASSES, (), ("cw-rmed", "ecw-rmed")))
def test_but_for_its_list_a_state_goes_on_as_one_that_was_played(name, seed):
    """With the list that the built state begins, the played one makes the same comparisons.

    Of CW-RMED and ECW-RMED, what line 4 has still to draw belongs to the list; what they demand and
    trust is computed when it may matter, and what their searches begin with does not.
    """
    policy, history = make(name), forced_history(seed)
    built = jd.policies.state_from_wins(policy, wins_of(*history))
    before = played(policy, *history)
    renewed = before
    if getattr(before, "stale", False):  # told nothing, it computes what its counts demand
        idle = before._replace(forced=jnp.zeros_like(before.forced))  # for line 4 it would wait
        renewed = policy.learn(idle, Feedback(*np.zeros((2, *before.estimates.wins.shape), int)))
    before, renewed = (same_lists(state, built) for state in (before, renewed))
    if name == "rmed2fh":  # its frozen estimates are those of all comparisons
        late = {"early": before.main.wins, "leader": jnp.argmin(before.main.divergence[:ARMS])}
        before, renewed = (state._replace(**late) for state in (before, renewed))
    assert_same(renewed, built, but=("confident_until", "confidence_bound", "levels", "program"))
    one, other = (np.array(run_on(policy, state, 60)[0]) for state in (before, built))
    np.testing.assert_array_equal(one, other)
    assert len(set(zip(*one[:2].tolist(), strict=True))) > 1


@pytest.mark.parametrize("name", ["rmed1", "rmed2", "rmed2fh"])
def test_within_the_initial_phase_all_is_known(name):
    policy = make(name)
    state, wins = policy.init(KEY), 0
    for _ in range(ARMS * (ARMS - 1) // 2):
        comparison, state = run_on(policy, state, 1)
        wins = wins + wins_of(*map(np.asarray, comparison))
        assert_same(state, jd.policies.state_from_wins(policy, wins))


def test_a_pass_begins_over_the_plausible_arms():
    """Arm 2 lost so often that RMED1 would not list it; RMED2 then compares what was never."""
    wins = [[0, 40, 90], [30, 0, 90], [2, 2, 0]]
    state = jd.policies.state_from_wins(make("rmed1", 3, 0), wins)
    assert state.queue.tolist() == [True, True, False]
    assert not state.waiting.any()
    wins = [[0, 40, 0], [30, 0, 90], [0, 2, 0]]
    for name in ("rmed1", "rmed2"):
        policy = make(name, 3, 0)
        state = jd.policies.state_from_wins(policy, wins)
        assert policy.act(state, KEY) == Duel(0, 2)


@pytest.mark.parametrize("name", ABLE)
def test_counts_may_be_many(name):
    """Under jit and vmap."""
    policy = make(name)
    wins = jnp.stack([wins_of(*forced_history(seed)) for seed in range(2)])
    many = jax.jit(jax.vmap(policy.from_wins, in_axes=(0, None)))(wins, KEY)
    alone = jd.policies.state_from_wins(policy, wins[1])
    assert_same(jax.tree.map(lambda leaf: leaf[1], many), alone)


@pytest.mark.parametrize(
    ("wins", "sentence"),
    [
        ([[0, -1, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] must be a whole number .* not -1"),
        ([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] must be a whole number .* not 0.5"),
        ([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] .* not nan"),
        ([[1, 0, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 0\] must be 0, not 1"),
        ([[0, 0], [0, 0]], r"must have the shape \(3, 3\), not \(2, 2\)"),
        ([[0, "x"], [0, 0]], "must be a 3 x 3 table of whole numbers"),
        (np.full((3, 3), 1j), "must be a 3 x 3 table of whole numbers"),
        ([[0, 2**31, 0], [0, 0, 0], [0, 0, 0]], "must sum to less than 2"),
    ],
)
def test_what_is_no_count_is_refused(wins, sentence):
    policy = jd.policies.make("dts", num_arms=3)
    with pytest.raises(jd.InputError, match=sentence):
        jd.policies.state_from_wins(policy, wins)


def test_inactive_arms_have_no_wins():
    policy = jd.policies.make("dts", num_arms=3, active_arms=[True, True, False])
    with pytest.raises(jd.InputError, match=r"wins\[0, 2\] must be 0, not 1: .* inactive"):
        jd.policies.state_from_wins(policy, [[0, 3, 1], [2, 0, 0], [0, 0, 0]])


def test_a_policy_of_ones_own_without_the_method_is_refused():
    class Own(type(make("sparring"))):
        """A policy that is not registered."""

    with pytest.raises(jd.InputError, match=r"Own cannot start .* no method `from_wins`"):
        jd.policies.state_from_wins(Own(num_arms=3, active_arms=np.ones(3, bool)), WINS)
