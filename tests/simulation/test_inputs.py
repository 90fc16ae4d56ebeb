"""Bad input: one clear sentence before anything is computed; broken assumptions warn."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Quiet
from jaxduel.simulation import provenance
from jaxduel.simulation.instances import require_in_float32
from tests.simulation.toys import Cycle, PullRounds, Rounds

pytestmark = pytest.mark.usefixtures("quick_compilation")

ARXIV = jd.problems.load("arxiv")
RUCB = jd.policies.make("rucb", num_arms=6)
PCOMP = jd.policies.make("pcomp", num_arms=6, horizon=100, num_batches=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, r"must be a whole number from 1 to 2\^31 - 1 = 2147483647, not 0"),
        ({"horizon": 2**31}, "horizon must be a whole number from 1"),
        ({"horizon": 10.5}, "horizon must be a whole number .* not 10.5"),
        ({"horizon": float("nan")}, "horizon must be a whole number from 1"),
        ({"horizon": "10"}, "horizon must be a whole number .* not '10'"),
        ({}, "rucb has no horizon of its own"),
        ({"horizon": 9, "num_seeds": 0}, "num_seeds must be a whole number of at least 1, not 0"),
        ({"horizon": 9, "num_seeds": 2.5}, "num_seeds must be a whole number"),
        ({"horizon": 9, "first_seed": -1}, "first_seed must be a whole number of at least 0"),
        ({"horizon": 9, "first_seed": 2**31}, r"numbered up to 2\^31 - 2, and .* is 2147483748"),
        ({"horizon": 9, "delay": 0}, "delay must be a whole number of at least 1"),
        ({"horizon": 9, "delay": 2**31}, "delay must be at most 2,147,483,647, not 2,147,483,648"),
        ({"horizon": 9, "shuffle_arms": "no"}, "shuffle_arms must be True or False, not 'no'"),
        ({"horizon": 9, "record_pairs": np.array([True, False])}, "record_pairs must be True or"),
        ({"horizon": 9, "skip_quiet": np.array([True, False])}, "skip_quiet must be True, False"),
        ({"horizon": 9, "lanes": 0}, "lanes must be a whole number"),
        ({"horizon": 9, "checkpoints": [3, 2]}, "checkpoints must increase"),
        ({"horizon": 9, "checkpoints": [1, 10]}, "from 1 to the horizon 9"),
        ({"horizon": 9, "checkpoints": [0, 9]}, "they go from 0 to 9"),
        ({"horizon": 9, "checkpoints": [1.5]}, "whole numbers"),
        ({"horizon": 9, "regret": "copland"}, "unknown regret 'copland'.*did you mean 'copeland'"),
        ({"horizon": 9, "prng": "rbg"}, "unknown random number generator 'rbg'"),
        ({"horizon": [9, 9]}, "must be one whole number"),
        (
            {"horizon": 9, "num_seeds": [2, 3]},
            r"num_seeds must be a whole number of at least 1, not \[2, 3\]",
        ),
        ({"horizon": 9, "num_seeds": None}, "num_seeds must be a whole number of at least 1"),
        ({"horizon": 9, "delay": None}, "delay must be a whole number"),
        ({"horizon": 9, "seed": jax.random.split(jax.random.key(0), 3)}, "seed must be one key"),
        (
            {"horizon": 9, "seed": jax.random.key(0, impl="rbg")},
            "seed must not be a key of rbg, whose numbers change under vmap: give an integer, or",
        ),
        ({"horizon": 9, "seeds": 10}, "argument of simulate 'seeds'.*did you mean 'num_seeds'"),
        ({"horizon": 9, "devices": "gpu"}, "devices must be a list of JAX's devices"),
        ({"horizon": 9, "devices": []}, "devices must be a list of JAX's devices"),
        ({"horizon": 9, "seed": 1.5}, "seed must be a whole number or a typed JAX key"),
        ({"horizon": 9, "seed": "abc"}, "seed must be a whole number or a typed JAX key"),
        ({"horizon": 9, "seed": -1}, r"seed must be from 0 to 2\^32 - 1, not -1"),
        ({"horizon": 9, "skip_quiet": "all"}, "skip_quiet must be True, False or 'winners', not"),
        (
            {"horizon": 9, "skip_quiet": "winners", "record_pairs": True},
            "does not tell which winner was played: record_pairs and record_outcomes must be False",
        ),
    ],
)
def test_arguments_of_simulate(arguments, message):
    with pytest.raises(jd.InputError, match=message):
        jd.simulate(RUCB, ARXIV, **arguments)


def test_simulate_many_suggests_the_nearest_argument():
    with pytest.raises(jd.InputError, match="did you mean 'num_seeds'"):
        jd.simulate_many([RUCB], ARXIV, 9, seeds=10)
    with pytest.raises(
        jd.InputError, match=r"argument of simulate_many 'horizon'.*mean 'horizons'"
    ):
        jd.simulate_many([RUCB], ARXIV, horizon=9)


@pytest.mark.parametrize("mask", [[True, False, True], [True, True], True, None])
def test_masks_of_policies_made_by_their_class_are_checked(mask):
    policy = jd.policies.RUCB(num_arms=3, active_arms=mask)
    with pytest.raises(jd.InputError, match="rucb: active_arms must be a mask of 3 arms"):
        jd.simulate(policy, jd.problems.arithmetic(3), 9)


@pytest.mark.filterwarnings("error")
def test_a_seed_out_of_range_is_an_error_before_any_warning():
    policy = jd.policies.make("scomp2", num_arms=6, horizon=9, num_batches=2)  # warns on arxiv
    with pytest.raises(jd.InputError, match=r"seed must be from 0 to 2\^32 - 1"):
        jd.simulate(policy, ARXIV, 9, seed=2**32)


def test_numbers_of_seeds_may_be_whole_floats():
    assert (
        jd.simulate(RUCB, ARXIV, 9.0, 2.0, lanes=2).plays.sum(axis=-1)[:, -1].tolist() == [18] * 2
    )


def test_names_stand_for_policies_and_problems():
    wanted = jd.simulate(RUCB, ARXIV, 50, 2, checkpoints=[50])
    for policy, problem in (("rucb", "arxiv"), (RUCB, "arxiv"), ("rucb", ARXIV)):
        found = jd.simulate(policy, problem, 50.0, 2, checkpoints=[50])
        assert found.made_by == wanted.made_by
        np.testing.assert_array_equal(found.regret, wanted.regret)
    several = jd.simulate_many(["rucb", RUCB], "arxiv", 50, num_seeds=2, checkpoints=[50])
    assert [result.regret.tolist() for result in several] == [wanted.regret.tolist()] * 2
    made = jd.simulate("savage", "arxiv", 50, 2).made_by["policy"]
    assert made["parameters"]["horizon"] == 50


def test_policy_and_problem_must_be_objects_or_names():
    for policy in (jd.policies.RUCB, None, 7):
        with pytest.raises(jd.InputError, match=r"the policy must be an object .* not .*"):
            jd.simulate(policy, ARXIV, 10)
    for problem in (np.full((6, 6), 0.5), None):
        with pytest.raises(jd.InputError, match=r"the problem must be one that .* returns, not"):
            jd.simulate(RUCB, problem, 10)
    with pytest.raises(jd.InputError, match=r"unknown policy 'rucbb'.*did you mean 'rucb'"):
        jd.simulate("rucbb", ARXIV, 10)
    with pytest.raises(jd.InputError, match=r"unknown problem 'arxive'.*did you mean 'arxiv'"):
        jd.simulate(RUCB, "arxive", 10)
    with pytest.raises(jd.InputError, match=r"the policy must be an object .* not 7"):
        jd.simulate_many([7], ARXIV, 10)
    for policies in ("rucb", RUCB):
        with pytest.raises(jd.InputError, match="simulate_many: the policies must be a list, not"):
            jd.simulate_many(policies, ARXIV, 10)
    with pytest.raises(jd.InputError, match=r"simulate_many: the problem must be one that"):
        jd.simulate_many([RUCB], np.full((6, 6), 0.5), 10)
    with pytest.raises(jd.InputError, match="worst_case: the policy must be an object"):
        jd.gradients.worst_case("rucb", jd.gradients.space("btl", 4))
    for space in ("btl", jd.gradients.families.btl):
        with pytest.raises(jd.InputError, match="worst_case: the space must be one that"):
            jd.gradients.worst_case(RUCB, space)
    with pytest.raises(jd.InputError, match="regret_gradient: the policy must be an object"):
        jd.gradients.regret_gradient("rucb", jd.gradients.families.btl, np.zeros(4), num_seeds=2)
    for policy in ("rucb", jd.policies.RUCB):
        with pytest.raises(jd.InputError, match="state_from_wins: the policy must be an object"):
            jd.policies.state_from_wins(policy, np.zeros((2, 2)))
    assert provenance._seed(2.0) == provenance._seed(jnp.int32(2)) == provenance._seed(2) == 2
    with pytest.raises(jd.InputError, match=r"needs a function of .* not 'rucb'"):
        jd.check_policy("rucb")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class TaughtLate(PullRounds):
    """Pulls in batches, and has what delayed outcomes of single pulls are told to."""

    def learn(self, state, feedback):
        return state


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Silent(Rounds):
    """Plans batches, and says how many comparisons of an arm with itself come next."""

    def quiet(self, state, limit, key):
        return state, Quiet(jnp.int32(0), limit)


@pytest.mark.thorough
def test_only_single_comparisons_and_pulls_are_told_late_or_skipped():
    def taught_late(num_arms, horizon, active_arms):
        active = np.ones(num_arms, bool) if active_arms is None else active_arms
        counts = active.astype(np.int32)
        return TaughtLate(num_arms=num_arms, active_arms=active, horizon=horizon, counts=counts)

    arms = jd.problems.gaussian([0.2, 0.1, 0.0])
    late = taught_late(3, 10, None)
    assert (jd.simulate(late, arms, 10, 2, lanes=2).plays.sum(axis=-1)[:, -1] == 10).all()
    sentence = r"delay must be 1 \(the outcomes of a batch come at its end anyway\)"
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate(late, arms, 10, 2, delay=2)
    jd.check_policy(taught_late)

    def silent(num_arms, horizon, active_arms):
        active = np.ones(num_arms, bool) if active_arms is None else active_arms
        counts = np.triu(np.outer(active, active), 1).astype(np.int32)
        return Silent(num_arms=num_arms, active_arms=active, horizon=horizon, counts=counts)

    with pytest.raises(jd.InputError, match="Silent has a method `quiet` and plans a Batch: only"):
        jd.simulate(silent(3, 10, None), jd.problems.arithmetic(3), 10, 2)
    with pytest.raises(jd.InputError, match="Silent has a method `quiet` and plans a Batch: only"):
        jd.check_policy(silent)


def test_policy_and_problem_must_fit():
    with pytest.raises(jd.InputError, match="policy has 6 arms and the problem 'cyclic' has 4"):
        jd.simulate(RUCB, jd.problems.load("cyclic"), 10)
    with pytest.raises(jd.InputError, match="horizon 101 exceeds the 100"):
        jd.simulate(PCOMP, ARXIV, 101)
    with pytest.raises(jd.InputError, match="pcomp cannot learn late"):
        jd.simulate(PCOMP, ARXIV, delay=2)
    cycle = jd.problems.load("noncondorcet-cyclic")
    with pytest.raises(jd.InputError, match=r"no Condorcet winner.*use 'copeland'"):
        jd.simulate(jd.policies.make("rucb", num_arms=9), cycle, 10, regret="average")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rucbb", {}, "unknown policy 'rucbb'.*did you mean 'rucb'"),
        ("rucb", {"alfa": 1}, "unknown parameter of rucb 'alfa'.*did you mean 'alpha'"),
        ("rucb", {"alpha": 0.0}, "rucb: alpha must be positive, not 0"),
        ("rucb", {"alpha": float("nan")}, "rucb: alpha must be positive, not nan"),
        ("rucb", {"num_arms": 1}, "num_arms must be a whole number from 2"),
        ("btm", {}, "btm needs the parameter 'horizon'"),
        ("btm", {"horizon": 2**31}, "btm: the horizon must be a whole number from 1"),
        ("btm", {"horizon": 10, "gamma": 0.5}, "gamma must be at least 1"),
        ("pcomp", {"horizon": 10}, "pcomp needs the parameter 'num_batches'"),
        (
            "pcomp",
            {"horizon": 10, "num_batches": 0},
            "whole number of at least 1, not 0",
        ),
        ("pcomp", {"horizon": 10, "num_batches": 2.5}, "num_batches must be a whole number"),
        ("pcomp", {"horizon": 10, "num_batches": 11}, "at most the horizon 10, not 11"),
        (
            "scomp2",
            {"horizon": 10, "num_batches": 3, "elimination": "hoefding"},
            "unknown elimination 'hoefding'.*did you mean 'hoeffding'",
        ),
        (
            "scomp",
            {"horizon": 10, "num_batches": 3, "seed_probability": 1.5},
            r"seed_probability must be in \[0, 1\], not 1.5",
        ),
        ("rmed1", {"scale": -1.0}, "rmed1: scale must not be negative"),
        ("rucb", {"active_arms": [True, False, True]}, "active_arms must be a mask of 3 arms"),
        ("dts", {"active_arms": [1.0, float("nan"), 0.0]}, "active_arms must be a mask of 3 arms"),
        ("dts", {"active_arms": ["a", "b", ""]}, "active_arms must be a mask of 3 arms"),
        (
            "rucb",
            {"unseen": float("nan")},
            "unseen must be a number of at least 0.5, or inf, not nan",
        ),
        ("rucb", {"unseen": -1.0}, "unseen must be a number of at least 0.5, or inf, not -1.0"),
    ],
)
def test_arguments_of_make(name, arguments, message):
    with pytest.raises(jd.InputError, match=message):
        jd.policies.make(name, **{"num_arms": 3, **arguments})


def test_cells_of_one_program_must_be_of_one_kind():
    four = jd.problems.arithmetic(4)
    with pytest.raises(jd.InputError, match="at least one policy"):
        jd.simulate_many([], ARXIV)
    with pytest.raises(jd.InputError, match=r"as many problems \(1\) and horizons \(2\)"):
        jd.simulate_many([RUCB, RUCB], [ARXIV], 10)
    for policies, problems in ((["rucb", "rmed1"], ARXIV), (["rucb", "rucb"], [ARXIV, four])):
        with pytest.raises(jd.InputError, match="of one class, with the same number of arms"):
            jd.identify_many(policies, problems, votes=10)
    short, long = (jd.policies.make("rmed2fh", problem=ARXIV, horizon=t) for t in (100, 200))
    with pytest.raises(jd.InputError, match="must share the horizon"):
        jd.identify_many([short, long], ARXIV, votes=10)


def test_a_policy_that_stops_short_is_named():
    policy = Rounds(active_arms=np.ones(3, bool), horizon=10, counts=np.zeros((3, 3), np.int32))
    with pytest.raises(jd.InputError, match="Rounds committed to nothing"):
        jd.simulate(policy, jd.problems.arithmetic(3), 10, 2)


@pytest.mark.parametrize("pair", [(0, 3), (-7, 0)])
def test_plays_of_arms_that_are_not_there_are_refused(pair):
    policy = Cycle(active_arms=np.ones(3, bool), pairs=(pair,))
    with pytest.raises(
        jd.InputError, match=r"the plays of existing arms by Cycle sum to 1, not 2: .* from 0 to 2"
    ):
        jd.simulate(policy, jd.problems.arithmetic(3), 10, 2)


def test_a_policy_says_which_arms_exist():
    class Maskless:
        num_arms = 3
        init = act = update = id

    with pytest.raises(jd.InputError, match="the fields num_arms and active_arms and the methods"):
        jd.simulate(Maskless(), jd.problems.arithmetic(3), 10, 2)


def test_broken_assumptions_warn_and_run():
    cycle = jd.problems.load("noncondorcet-cyclic")
    with pytest.warns(jd.AssumptionWarning, match="rucb: .*Condorcet"):
        jd.simulate(jd.policies.make("rucb", num_arms=9), cycle, 5, 2, lanes=2)


def test_a_typed_key_is_a_root_as_it_is():
    by_number = jd.simulate(RUCB, ARXIV, 50, 3, seed=7, lanes=4)
    by_key = jd.simulate(RUCB, ARXIV, 50, 3, seed=jax.random.key(7), lanes=4)
    assert np.array_equal(by_number.plays, by_key.plays)
    assert by_key.seed == "key"


@pytest.mark.parametrize(
    ("means", "std", "message"),
    [
        ([0, 1], 1e60, r"std from 1e\+60 to 1e\+60: float32"),
        ([0, 1], [1.0, 1e-60], "std from 1e-60 to 1: float32"),
        ([-1e39, 0], 1.0, r"means up to 1e\+39 from 0"),
    ],
)
def test_rewards_beyond_float32_are_refused(means, std, message):
    policy = jd.policies.make("thompson-gaussian", num_arms=2)
    with pytest.raises(jd.InputError, match=message):
        jd.simulate(policy, jd.problems.gaussian(means, std), 10, 2)


@pytest.mark.parametrize(
    ("means", "std"), [([1e7 + 0.1, 1e7], 1.0), ([1e8 + 8, 1e8], 1.0), ([1e4, 1e4 + 1e-4], 1.0)]
)
def test_means_that_float32_cannot_tell_apart_warn(means, std):
    with pytest.warns(UserWarning, match="so far from 0 .*: subtract a number from all means"):
        require_in_float32(jd.problems.gaussian(means, std))


def test_means_that_float32_tells_apart_do_not_warn(recwarn):
    require_in_float32(jd.problems.gaussian([1e4 + 0.1, 1e4]))
    require_in_float32(jd.problems.gaussian([1e6, 0.0]))
    require_in_float32(jd.problems.gaussian([1e-12, 0.0], 1e-12))
    assert not recwarn
