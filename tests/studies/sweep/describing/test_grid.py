import dataclasses
import json
import pickle

import numpy as np
import pytest

from jaxduel.errors import InputError
from jaxduel.studies.sweep.describing.entries import PolicyEntry, ProblemEntry
from jaxduel.studies.sweep.describing.fields import GridError
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.describing.recipes import GENERATORS

DTS = PolicyEntry("dts", {"alpha": (0.51, 0.6)})
ARXIV = ProblemEntry(name="arxiv")


def grid(**changes) -> Grid:
    return Grid(**{"policies": (DTS,), "problems": (ARXIV,), "horizons": (1000,), **changes})


def test_lists_numbers_and_whole_floats_become_tuples_of_integers():
    made = grid(policies=[DTS], problems=ARXIV, horizons=[1e3, np.int64(10)], checkpoints=[1, 5.0])
    assert made.policies == (DTS,)
    assert made.problems == (ARXIV,)
    assert made.horizons == (1000, 10)
    assert made.checkpoints == (1, 5)
    assert grid(horizons=1e6, delay=2).horizons == (1_000_000,)
    assert all(type(value) is int for value in made.horizons + made.checkpoints)


def test_parameters_have_the_type_and_order_of_the_policy_s_own():
    entry = PolicyEntry("pcomp", {"tau": 2.0, "q": 2, "num_batches": [2, 8.0], "elimination": "kl"})
    assert entry.parameters == {
        "num_batches": (2, 8),
        "elimination": ("kl",),
        "q": (2.0,),
        "tau": (2,),
    }
    assert list(entry.parameters) == ["num_batches", "elimination", "q", "tau"]
    types = [type(values[0]) for values in entry.parameters.values()]
    assert types == [int, str, float, int]


def test_times_of_a_grid_are_one_value():
    entry = PolicyEntry("base", {"grid": ["minimax", [10, 100, 1000]]})
    assert entry.parameters["grid"] == ("minimax", (10, 100, 1000))


def test_numpy_values_are_python_s():
    entry = PolicyEntry("dts", {"alpha": np.array([0.5, 1.0])})
    assert entry.parameters == {"alpha": (0.5, 1.0)}
    json.dumps(grid(policies=entry).to_json())


def test_checkpoints_are_a_log_grid_or_the_times_up_to_the_horizon():
    assert grid().checkpoints_of(1000)[0] == 1
    assert grid().checkpoints_of(1000)[-1] == 1000
    assert 15 <= len(grid().checkpoints_of(10**6)) <= 20
    listed = grid(checkpoints=(10, 100, 1000))
    assert listed.checkpoints_of(500) == (10, 100, 500)
    assert listed.checkpoints_of(100) == (10, 100)


def test_json_gives_the_grid_back(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0.5,0.6\n0.4,0.5\n")
    made = grid(
        policies=(DTS, PolicyEntry("multisbm", {"unplayed": float("inf")})),
        problems=(
            ARXIV,
            ProblemEntry(file=path),
            ProblemEntry(generator="btl", parameters={"num_arms": (4, 8)}, instances=(0, 3)),
        ),
        horizons=(10, 1000),
        num_seeds=7,
        batches=(2,),
        regret=("average", "copeland"),
        delay=(1, 8),
        lanes=64,
        keep=("seeds",),
    )
    text = json.dumps(made.to_json())
    assert Grid.from_json(json.loads(text)) == made
    assert json.dumps(Grid.from_json(json.loads(text)).to_json()) == text
    assert made.to_json()["seeds"] == 7
    assert made.to_json()["delay"] == [1, 8]


def test_another_number_of_seeds_is_the_same_grid_otherwise():
    assert grid().with_seeds(5) == grid(num_seeds=5)


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"policies": ()}, ("policies",), "^policies is an empty list: it needs at least one"),
        ({"problems": []}, ("problems",), "^problems is an empty list"),
        ({"horizons": ()}, ("horizons",), "^horizons is an empty list"),
        ({"policies": (3,)}, ("policies", 0), "class PolicyEntry, not 3"),
        ({"horizons": (0,)}, ("horizons", 0), "^horizons must be at least 1, not 0"),
        ({"horizons": (9, 2**31)}, ("horizons", 1), "at most 2147483647, not 2147483648"),
        ({"horizons": (1.5,)}, ("horizons", 0), "a whole number, not 1.5"),
        ({"horizons": ("1e3",)}, ("horizons", 0), "a whole number, not '1e3'"),
        ({"num_seeds": 0}, ("seeds",), "^seeds must be at least 1, not 0"),
        ({"num_seeds": True}, ("seeds",), "a whole number, not True"),
        ({"num_seeds": (1, 2)}, ("seeds",), r"a whole number, not \(1, 2\)"),
        ({"num_seeds": 10**400}, ("seeds",), r"at most 2147483647, not 10+\.\.\. \(401 char"),
        ({"seed": 2**32}, ("seed",), "at most 4294967295"),
        ({"delay": ()}, ("delay",), "^delay is an empty list"),
        ({"batches": (0,)}, ("batches", 0), "at least 1, not 0"),
        ({"checkpoints": 0}, ("checkpoints", "one"), "^checkpoints must be at least 1, not 0"),
        ({"checkpoints": (1, 0.5)}, ("checkpoints", "several", 1), "whole number, not 0.5"),
        ({"checkpoints": (5, 5)}, ("checkpoints", "several"), r"increase, not \(5, 5\)"),
        ({"checkpoints": ()}, ("checkpoints", "several"), "increase"),
        ({"lanes": 0}, ("lanes",), "at least 1, not 0"),
        ({"lanes": 2 * 10**9}, ("lanes",), "at most 1048576, not 2000000000"),
        ({"regret": ("averge",)}, ("regret", 0), "^unknown .* regret 'averge' .*'average'\\?"),
        ({"keep": ("win",)}, ("keep", 0), "did you mean 'wins'"),
        ({"prng": "rbg"}, ("prng",), "^unknown value of prng 'rbg': .*threefry2x32"),
        ({"shuffle_arms": 1}, ("shuffle_arms",), "true or false, not 1"),
        ({"sede": 1}, ("sede",), "^unknown key of the grid 'sede' .did you mean 'seed'"),
        ({"seeds": 1}, ("seeds",), "did you mean 'num_seeds'"),
        ({"ties": "dropp"}, ("ties",), "^unknown value of ties 'dropp' .*'drop'"),
        (
            {"votes": 10},
            ("votes",),
            "^votes is for grids that identify arms: write ident",
        ),
        ({"delta": 0.1}, ("delta",), "^delta is for grids that identify arms"),
        ({"identify": True}, ("horizons",), "^horizons is for regret, .*its runs end with votes"),
        ({"identify": 1}, ("identify",), "^identify must be true or false, not 1"),
        (
            {"policies": (DTS, PolicyEntry("pcomp"))},
            ("policies", 1, "name"),
            "num_batches', or the grid's batches",
        ),
    ],
)
def test_values_out_of_range_are_refused(changes, place, message):
    with pytest.raises(GridError, match=message) as caught:
        grid(**changes)
    assert caught.value.place == place
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("dtss", {}, "did you mean 'dts'"),
        (3, {}, "must be text"),
        ("dts", {"alhpa": 1.0}, "did you mean 'alpha'"),
        ("pure-dts", {"alpha": 1.0}, "has none"),
        ("btm", {"horizon": 10}, "set by the grid's horizons"),
        ("dts", {"alpha": ()}, "empty"),
        ("dts", {"alpha": "big"}, "must be a number, not 'big'"),
        ("dts", {"alpha": True}, "must be a number"),
        ("dts", {"alpha": {"a": 1}}, "must be a number, not {'a': 1}"),
        ("dts", {"alpha": 10**400}, "must be a number, not 10"),
        ("base", {"grid": {"a": 1}}, "numbers, text or true/false, not {'a': 1}"),
        ("dts", 3, r"^parameters must be .*, not 3"),
        ("dts+", {"over_candidates": 1}, "true or false"),
        ("pcomp", {"elimination": 1}, "must be text"),
        ("pcomp", {"num_batches": 2.5}, "whole number"),
    ],
)
def test_policies_that_make_no_sense_are_refused(name, parameters, message):
    with pytest.raises(GridError, match=message):
        PolicyEntry(name, parameters)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of name, file and generator, not none"),
        ({"name": "arxiv", "generator": "btl"}, "not name and generator"),
        ({"name": "arxivv"}, "did you mean 'arxiv'"),
        ({"name": "my.csv"}, 'write file = "my.csv"'),
        ({"name": 3}, "must be text"),
        ({"name": "piecewise[gap,strong-borda]"}, "does not name instances with the times"),
        ({"name": "piecewise[gap,10,my.csv]"}, "unknown problem 'my.csv'"),
        ({"name": "arxiv", "parameters": {"num_arms": 4}}, "has no parameter 'num_arms'"),
        ({"name": "arxiv", "instances": (1,)}, "draws nothing"),
        ({"generator": "arithmetic", "instances": (1,)}, "draws nothing"),
        ({"file": "nowhere.csv"}, "does not exist"),
        ({"file": "mine.xls"}, "unknown kind"),
        ({"generator": "blt"}, "did you mean 'btl'"),
        ({"generator": "btl", "parameters": {"num_arm": 4}}, "did you mean 'num_arms'"),
        ({"generator": "btl", "parameters": {"instance": 4}}, "did you mean 'instances'"),
        ({"generator": "btl", "parameters": {"num_arms": 4.5}}, "whole number"),
        ({"generator": "random_sst"}, "needs the parameter 'num_arms'"),
        ({"generator": "btl", "instances": (-1,)}, "not -1"),
        ({"generator": "btl", "instances": (0.5,)}, "not 0.5"),
        ({"parameters": {"nmae": "arxiv"}}, "did you mean 'name'"),
    ],
)
def test_problems_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(GridError, match=message):
        ProblemEntry(**settings)


def test_submatrices_arms_with_rewards_and_pieces_are_names():
    assert ProblemEntry(name="arxiv[1,2]").name == "arxiv[1,2]"
    assert ProblemEntry(name="gaussian[0.6,0.5]").name == "gaussian[0.6,0.5]"
    pieces = "piecewise[cyclic,10,arithmetic[1,2,3,4]]"
    assert ProblemEntry(name=pieces).name == pieces


def test_all_generators_of_one_instance_are_known():
    import jaxduel as jd

    families = {"adaptive_grid_family", "static_grid_family"}
    modules = (jd.problems.generators, jd.problems.arms)
    made = {
        name
        for module in modules
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        if callable(value) and not isinstance(value, type)
    }
    assert set(GENERATORS) == made - families - {"gaussian", "bernoulli"}


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(GridError("wrong.", "policies", 3, "alpha")))
    assert (str(error), error.place) == ("wrong.", ("policies", 3, "alpha"))


def test_what_is_not_given_is_said():
    with pytest.raises(GridError, match=r"^the grid needs the key 'policies'"):
        Grid(problems=ARXIV, horizons=10)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"votes": ()}, ("votes",), "^votes is an empty list"),
        ({"votes": 0}, ("votes", 0), "^votes must be at least 1, not 0"),
        ({"horizons": 10}, ("horizons",), "^horizons is for regret"),
        ({"regret": "average"}, ("regret",), "^regret is for regret"),
        ({"keep": "seeds"}, ("keep",), "^keep is for regret"),
        ({"recommend": ("bordo",)}, ("recommend", 0), "^unknown value of recommend .*'borda'"),
        ({"recommend": ()}, ("recommend",), "^recommend is an empty list"),
        (
            {"target": "btl"},
            ("target",),
            "^unknown value of target 'btl': .*borda, condorcet, copeland",
        ),
        ({"stop": "never"}, ("stop",), "^unknown value of stop 'never': .*condorcet"),
        ({"delta": 0}, ("delta",), "^delta must be a probability between 0 and 1, not 0"),
        ({"delta": "a"}, ("delta",), "^delta must be a number, not 'a'"),
        (
            {"policies": (DTS, PolicyEntry("thompson-gaussian"))},
            ("policies", 1, "name"),
            "^thompson-gaussian pulls arms: a grid that identifies arms needs pulls in place of v",
        ),
        ({"pulls": 10}, ("pulls",), "^a grid has votes or pulls, not both"),
        (
            {"votes": None, "pulls": 10},
            ("policies", 0, "name"),
            "^dts compares arms: a grid that identifies arms needs votes in place of pulls",
        ),
        (
            {"votes": None, "pulls": 10, "stop": "condorcet"},
            ("stop",),
            "^stop 'condorcet' is not for arms with rewards: known are glr, policy",
        ),
        (
            {"recommend": "mean"},
            ("recommend",),
            "^recommend 'mean' is not for arms that are compared: known are copeland",
        ),
        ({"target": "mean"}, ("target",), "^target 'mean' is not for arms that are compared"),
        ({"stop": "policy"}, ("policies", 0, "name"), "^dts does not stop by itself"),
        ({"ties": "tell"}, ("policies", 0, "name"), "^dts does not learn from ties"),
    ],
)
def test_questions_that_make_no_sense_are_refused(changes, place, message):
    asked = {"policies": (DTS,), "problems": (ARXIV,), "identify": True, "votes": 10}
    with pytest.raises(GridError, match=message) as caught:
        Grid(**{**asked, **changes})
    assert caught.value.place == place


def test_names_stand_for_entries_without_parameters():
    by_name = Grid(policies=["dts", "rucb"], problems="arxiv", horizons=10)
    entries = PolicyEntry("dts"), PolicyEntry("rucb")
    assert by_name == Grid(policies=entries, problems=ProblemEntry(name="arxiv"), horizons=10)


def test_a_grid_needs_an_end():
    for identify, key in ((True, "votes"), (False, "horizons")):
        with pytest.raises(GridError, match=f"^the grid needs the key '{key}'"):
            Grid(policies=(DTS,), problems=(ARXIV,), identify=identify)


def test_json_of_a_grid_has_the_keys_of_its_kind():
    asked = {"recommend": ["btl"], "target": "borda", "stop": "condorcet", "delta": 0.1}
    found = Grid(
        policies=(DTS,), problems=(ARXIV,), identify=True, votes=[1e3, 2000], ties="drop", **asked
    )
    plain = found.to_json()
    assert plain["votes"] == [1000, 2000]
    assert plain["ties"] == "drop"
    assert {key: plain[key] for key in asked} == asked
    assert plain.keys().isdisjoint({"horizons", "regret", "keep"})
    assert Grid.from_json(plain) == found
    assert found.ends == (1000, 2000)
    of_regret = grid().to_json()
    assert of_regret.keys().isdisjoint({"identify", "votes", "recommend", "delta", "ties"})


def test_grids_are_values():
    made = grid(num_seeds=5, batches=[2, 8])
    assert dataclasses.replace(made, num_seeds=7) == grid(num_seeds=7, batches=(2, 8))
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(GridError, match="seeds must be at least 1"):
        dataclasses.replace(made, num_seeds=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.seed = 3


def test_votes_and_pulls_at_once_are_told_before_what_policies_can_do():
    document = {
        "policies": [{"name": "rucb"}],
        "problems": [{"name": "cyclic"}],
        "identify": True,
        "votes": 10,
        "pulls": 10,
    }
    with pytest.raises(GridError, match=r"^a grid has votes or pulls, not both"):
        Grid.from_json(document)
