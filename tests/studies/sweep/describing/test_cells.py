import pickle
from dataclasses import replace

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.progress import Progress
from jaxduel.studies.engine.cells import StudyCell, policy_of, problem_of
from jaxduel.studies.sweep.describing import cells
from jaxduel.studies.sweep.describing.cells import expand
from jaxduel.studies.sweep.describing.entries import PolicyEntry, ProblemEntry
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.describing.recipes import GENERATORS, ProblemSpec

DTS = PolicyEntry("dts", {"alpha": (0.51, 0.6)})
ARXIV = ProblemEntry(name="arxiv")
ARMS = ProblemEntry(name="gaussian[0.6,0.5]")


def cells_of(policies, problems, horizons=(1000,), **settings) -> tuple[StudyCell, ...]:
    return expand(Grid(policies=policies, problems=problems, horizons=horizons, **settings))


@pytest.mark.parametrize(
    ("problems", "horizons", "settings", "count"),
    [
        (ARXIV, range(1, 50_002), {}, "100,002"),
        (ARXIV, range(1, 10_001), {"delay": (1, 2, 3, 4, 5, 6)}, "120,000"),
        (ProblemEntry(generator="btl", parameters={"num_arms": (3, 4)}, instances=[*range(50_000)]),
         (10,), {}, "200,000"),
        ([ProblemEntry(generator="btl", parameters={"num_arms": 3}, instances=[*range(100_000)]),
          ARXIV], range(1, 501), {}, "100,001,000"),
    ],
)  # fmt: skip
def test_too_many_cells_are_refused_before_they_are_made(
    monkeypatch, problems, horizons, settings, count
):
    monkeypatch.setattr(ProblemSpec, "build", None)
    grid = Grid(policies=DTS, problems=problems, horizons=list(horizons), **settings)
    with pytest.raises(InputError, match=rf"^the grid has {count} combinations .* at most 100,000"):
        expand(grid)


def test_names_of_arms_change_no_key(tmp_path):
    found = []
    for folder, text in {"plain": "0.5,0.6\n0.4,0.5\n", "named": "a;b\n0,5;0,6\n0,4;0,5\n"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my.csv").write_text(text)
        (cell,) = cells_of(PolicyEntry("rucb"), ProblemEntry(file=tmp_path / folder / "my.csv"))
        found.append((cell.key, problem_of(cell).arms))
    assert found == [(found[0][0], None), (found[0][0], ("a", "b"))]


def test_numbers_of_batches_are_counted(monkeypatch):
    monkeypatch.setattr(cells, "MOST_CELLS", 5)
    pcomp = [PolicyEntry("pcomp"), PolicyEntry("scomp", {"num_batches": 3})]
    assert len(cells_of(pcomp, ARXIV, batches=(2, 3, 4, 5))) == 5
    with pytest.raises(InputError, match="has 6 combinations"):
        cells_of(pcomp, ARXIV, batches=(2, 3, 4, 5, 6))


def test_planning_counts_what_it_does(monkeypatch):
    opened = []

    class Counting(Progress):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            opened.append(self)

    monkeypatch.setattr(cells, "Progress", Counting)
    btl = ProblemEntry(generator="btl", parameters={"num_arms": 3}, instances=(0, 1, 2))
    assert len(cells_of((DTS, PolicyEntry("rucb")), (ARXIV, btl), (100, 10))) == 24
    (one,) = opened
    assert one.line().startswith("plan: [############] 100 % of 28 problems and cells")


def test_the_order_is_that_of_the_grid():
    btl = ProblemEntry(generator="btl", parameters={"num_arms": (4, 3)}, instances=(0, 7))
    cells = cells_of((DTS, PolicyEntry("rucb")), (ARXIV, btl), (100, 10))
    assert [str(cell) for cell in cells[:4]] == [
        "dts(alpha=0.51) on arxiv up to 100",
        "dts(alpha=0.51) on arxiv up to 10",
        "dts(alpha=0.51) on btl(num_arms=4, instance=0) up to 100",
        "dts(alpha=0.51) on btl(num_arms=4, instance=0) up to 10",
    ]
    assert [cell.problem for cell in cells[2:10:2]] == [
        "btl(num_arms=4, instance=0)",
        "btl(num_arms=4, instance=7)",
        "btl(num_arms=3, instance=0)",
        "btl(num_arms=3, instance=7)",
    ]
    assert len(cells) == (2 + 1) * 5 * 2
    assert (cells[-1].policy, cells[-1].label) == ("rucb", "")
    assert [cell.index for cell in cells] == list(range(len(cells)))
    assert [cell.num_arms for cell in cells[::2][:5]] == [6, 4, 4, 3, 3]


def test_a_cell_that_is_described_twice_has_the_label_that_names_more():
    for policies in ((PolicyEntry("dts"), DTS), (DTS, PolicyEntry("dts"))):
        cells = cells_of(policies, (ARXIV,))
        assert [(cell.label, cell.index) for cell in cells] == [("alpha=0.51", 0), ("alpha=0.6", 1)]


def test_numbers_of_batches_are_for_policies_that_have_them_and_do_not_set_them():
    policies = (
        PolicyEntry("pcomp", {"elimination": ("kl", "kl-safe")}),
        PolicyEntry("scomp", {"num_batches": (3,)}),
        PolicyEntry("rucb"),
    )
    cells = cells_of(policies, (ARXIV,), batches=(2, 8))
    assert [(cell.policy, dict(cell.parameters)) for cell in cells] == [
        ("pcomp", {"elimination": "kl", "num_batches": 2}),
        ("pcomp", {"elimination": "kl", "num_batches": 8}),
        ("pcomp", {"elimination": "kl-safe", "num_batches": 2}),
        ("pcomp", {"elimination": "kl-safe", "num_batches": 8}),
        ("scomp", {"num_batches": 3}),
        ("rucb", {}),
    ]


def test_policies_that_know_the_horizon_get_the_cell_s():
    cells = cells_of((PolicyEntry("pcomp"), PolicyEntry("rucb")), (ARXIV,), (100, 50), batches=2)
    made = [policy_of(cell) for cell in cells]
    assert [int(policy.horizon) for policy in made[:2]] == [100, 50]
    assert cells[0].all_parameters["horizon"] == 100
    assert cells[0].all_parameters["elimination"] == "kl"
    assert "horizon" not in cells[2].all_parameters


def test_padded_policies_have_inactive_arms():
    (cell, _) = cells_of((DTS,), (ARXIV,))
    policy = policy_of(replace(cell, padded_arms=8))
    np.testing.assert_array_equal(policy.active_arms, [True] * 6 + [False] * 2)


def test_a_cell_described_twice_is_there_once():
    twice = PolicyEntry("dts", {"alpha": (0.6, 0.7)})
    cells = cells_of((DTS, twice), (ARXIV, ARXIV), (1000, 1000))
    assert [cell.label for cell in cells] == ["alpha=0.51", "alpha=0.6", "alpha=0.7"]


def test_keys_tell_cells_apart_and_nothing_else():
    (cell, other) = cells_of((DTS,), (ARXIV,))
    assert cell.key == cells_of((DTS,), (ARXIV,), num_seeds=5, keep=("seeds",))[0].key
    assert len(cell.key) == 16
    changes = [
        {"horizon": 10},
        {"checkpoints": (1, 1000)},
        {"delay": 2},
        {"shuffle_arms": False},
        {"prng": "philox4x32"},
        {"seed": 1},
        {"lanes": 8},
        {"padded_arms": 8},
        {"digest": "0" * 16},
    ]
    keys = {cell.key, other.key, *(replace(cell, **change).key for change in changes)}
    assert len(keys) == len(changes) + 2
    assert replace(cell, index=5).key == cell.key


def test_keys_stay_what_they_are():
    """Blocks on disk are found by them."""
    cell = cells_of((DTS,), (ARXIV,), checkpoints=(10, 100))[0]
    assert cell.digest == "30de34609f0491c4"
    assert cell.key == "4a5b8f0f36f6138b"


def test_where_arms_are_identified_votes_are_the_horizons():
    grid = Grid(
        policies=(PolicyEntry("pcomp"), PolicyEntry("rucb")),
        problems=(ARXIV,),
        batches=4,
        identify=True,
        votes=(50, 100),
        recommend=("btl",),
        target="borda",
    )
    cells = expand(grid)
    assert [(cell.policy, cell.horizon) for cell in cells] == [
        ("pcomp", 50), ("pcomp", 100), ("rucb", 50), ("rucb", 100)
    ]  # fmt: skip
    assert {cell.definitions for cell in cells} == {("btl",)}
    assert {cell.question.target for cell in cells} == {"borda"}
    assert cells[0].all_parameters["horizon"] == 50
    assert str(cells[2]) == "rucb on arxiv up to 50 votes"
    arms = replace(grid, problems=(ProblemEntry(name="gaussian[0.6,0.5]"),))
    with pytest.raises(InputError, match="has no cell in the grid"):
        expand(arms)


def test_an_explicit_default_is_the_default():
    explicit, implicit = (
        cells_of((PolicyEntry("dts", parameters),), (ARXIV,))[0]
        for parameters in ({"alpha": 0.51}, {})
    )
    assert explicit.key == implicit.key


def test_pairs_that_cannot_play_are_no_cells():
    policies = (PolicyEntry("ucb1"), PolicyEntry("rucb"), PolicyEntry("pcomp"))
    cells = cells_of(policies, (ARXIV, ARMS), batches=2, delay=(1, 8))
    assert [(cell.policy, cell.problem, cell.delay) for cell in cells] == [
        ("ucb1", "gaussian[0.6,0.5]", 1),
        ("ucb1", "gaussian[0.6,0.5]", 8),
        ("rucb", "arxiv", 1),
        ("rucb", "arxiv", 8),
        ("pcomp", "arxiv", 1),
    ]
    assert cells[3].label == "delay=8"
    assert [cell.definitions for cell in cells[1:3]] == [("pulls",), ("copeland",)]


@pytest.mark.parametrize(
    ("policies", "problems", "settings", "message"),
    [
        (("ucb1", "rucb"), (ARXIV,), {}, "ucb1 has no cell in the grid: it pulls arms"),
        (("ucb1",), (ARXIV, ARMS), {}, "no policy of the grid can play 'arxiv'"),
        (("rucb",), (ARXIV, ARMS), {}, r"no policy of the grid can play 'gaussian\[0.6,0.5\]'"),
        (("rucb", "pcomp"), (ARXIV,), {"delay": 4, "batches": 2}, "pcomp has no cell"),
        (("ucb1",), (ARXIV,), {}, "ucb1 has no cell"),
        (
            ("pcomp",),
            (ARXIV,),
            {"batches": (2, 2000)},
            r"pcomp\(num_batches=2000\) on arxiv up to 1000: .*at most the horizon",
        ),
        (("rucb",), (ARXIV,), {"regret": "pulls"}, "'arxiv' has none of the regrets asked for"),
        (
            ("rucb",),
            (ProblemEntry(generator="btl", parameters={"num_arms": 1}),),
            {},
            r"problem 'btl\(num_arms=1, instance=0\)': .*at least 2",
        ),
        (
            ("rucb",),
            (ProblemEntry(name="piecewise[gap,300,strong-borda]"),),
            {"identify": True, "votes": 100, "horizons": None},
            r"'piecewise\[gap,300,strong-borda\]' changes: it has no arm",
        ),
        (
            ("ucb1",),
            (ProblemEntry(name="piecewise[gaussian[1,0],1001,gaussian[0,1]]"),),
            {},
            "changes after 1,001, beyond the horizon 1,000",
        ),
    ],
)
def test_grids_that_make_no_sense_are_refused(policies, problems, settings, message):
    with pytest.raises(InputError, match=message):
        cells_of(tuple(PolicyEntry(name) for name in policies), problems, **settings)


def test_a_problem_has_the_regrets_that_make_sense_for_it():
    cyclic = ProblemEntry(name="noncondorcet-cyclic")
    policies = (PolicyEntry("rucb"), PolicyEntry("ucb1"))
    cells = cells_of(policies, (ARXIV, cyclic, ARMS), regret=("average", "copeland", "pulls"))
    assert [cell.definitions for cell in cells] == [
        ("average", "copeland"),
        ("copeland",),
        ("pulls",),
    ]


def test_changes_are_among_the_checkpoints():
    pieces = ProblemEntry(name="piecewise[gap,300,strong-borda,2000,gap]")
    cells = cells_of((PolicyEntry("rucb"),), (pieces,), (1000, 3000), checkpoints=(10, 2500))
    assert [cell.checkpoints for cell in cells] == [
        (10, 300, 1000),
        (10, 300, 2000, 2500, 3000),
    ]


def test_files_are_problems_until_they_change(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0.5,0.6\n0.4,0.5\n")
    cell = cells_of((DTS,), (ProblemEntry(file=path),))[0]
    assert cell.problem == "mine.csv"
    np.testing.assert_array_equal(problem_of(cell).preferences, [[0.5, 0.6], [0.4, 0.5]])
    path.write_text("0.5,0.7\n0.3,0.5\n")
    with pytest.raises(InputError, match=r"'mine\.csv' is not what it was"):
        problem_of(cell)
    again = cells_of((DTS,), (ProblemEntry(file=path),))[0]
    assert problem_of(again).preferences[0, 1] == 0.7


def test_files_of_one_name_are_refused(tmp_path):
    paths = [tmp_path / folder / "mine.csv" for folder in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.write_text("0.5,0.6\n0.4,0.5\n")
    with pytest.raises(InputError, match=r"two problems are called 'mine\.csv'"):
        cells_of((DTS,), tuple(ProblemEntry(file=path) for path in paths))


def test_an_array_of_an_npz_file_is_chosen_by_its_key(tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, a=[[0.5, 0.6], [0.4, 0.5]], b=[[0.5, 0.9], [0.1, 0.5]])
    entry = ProblemEntry(file=path, parameters={"key": ("a", "b")})
    cells = cells_of((PolicyEntry("rucb"),), (entry,))
    assert [cell.problem for cell in cells] == ["two.npz(key=a)", "two.npz(key=b)"]
    assert problem_of(cells[1]).preferences[0, 1] == 0.9


def test_instances_are_what_the_generators_make():
    entry = ProblemEntry(generator="btl", parameters={"num_arms": 4}, instances=(7,))
    cell = cells_of((DTS,), (entry,))[0]
    import jax

    expected = jd.problems.btl(jax.random.key(7), num_arms=4)
    np.testing.assert_array_equal(problem_of(cell).preferences, expected.preferences)


def test_cells_can_be_sent_to_other_processes():
    cell = cells_of((DTS,), (ARXIV,))[0]
    assert pickle.loads(pickle.dumps(cell)) == cell


def test_a_problem_that_takes_too_much_memory_is_named(monkeypatch):
    def too_large(num_arms: int):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setitem(GENERATORS, "arithmetic", too_large)
    large = ProblemEntry(generator="arithmetic", parameters={"num_arms": 4_321})
    with pytest.raises(MemoryError, match=r"'arithmetic\(num_arms=4321\)' takes too .*: Unable"):
        cells_of((DTS,), (large,))
