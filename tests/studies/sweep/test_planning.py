import pickle
from dataclasses import replace

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.studies.engine.cells import policy_of, problem_of
from jaxduel.studies.engine.groups import Group, tasks_of
from jaxduel.studies.engine.manifest import Manifest, decode_manifest
from jaxduel.studies.engine.planning import ARM_STEPS, SEEDS, bucket_of, padded_arms
from jaxduel.studies.engine.widths import Need, Width, width_of
from jaxduel.studies.sweep.describing.entries import PolicyEntry, ProblemEntry
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.describing.grid_file import examples, read_grid
from jaxduel.studies.sweep.listing import memory_line, summary
from jaxduel.studies.sweep.sweep import groups_of

ARXIV = ProblemEntry(name="arxiv")


def planned(policies, problems, horizons=(1000,), platform="cpu", **settings) -> tuple[Group, ...]:
    grid = Grid(policies=policies, problems=problems, horizons=horizons, **settings)
    return groups_of(grid, platform)


@pytest.fixture(scope="module")
def batched() -> tuple[Group, ...]:
    return groups_of(read_grid(examples()[0]).with_seeds(1000), "cpu")


def test_too_many_blocks_are_refused():
    dts = PolicyEntry("dts", {"alpha": (0.51, 0.6)})
    with pytest.raises(InputError, match=r"takes [\d,]{9,} blocks of seeds, and at most 1,000,000"):
        planned(dts, ARXIV, num_seeds=2**31 - 1)


def test_a_grid_of_batched_policies_compiles_once_per_policy_and_number_of_arms(batched):
    cells = [cell for group in batched for cell in group.cells]
    assert len(cells) == 975
    assert len({cell.key for cell in cells}) == 975
    assert len({group.program for group in batched}) == 3 * 5
    assert sorted(cell.index for cell in cells) == list(range(975))


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(examples())))
def test_records_have_the_keys_of_their_cells_and_groups(tmp_path, number):
    groups = groups_of(read_grid(examples()[number]), "cpu")
    whole = Manifest({}, tuple(group.record() for group in groups), "0", {})
    again = decode_manifest(whole.encode(), tmp_path)
    assert again == whole
    assert [group.key for group in again.groups] == [group.key for group in groups]
    assert [cell.key for group in again.groups for cell in group.cells] == [
        cell.key for group in groups for cell in group.cells
    ]


def test_groups_of_a_batched_policy_hold_cells_with_about_as_many_rounds(batched):
    for group in batched:
        rounds = [dict(cell.parameters)["num_batches"] for cell in group.cells]
        assert max(rounds) <= 2 * min(rounds)
        assert group.batched
        assert len(group.stacked) - len(group.cells) < group.size
        assert len(group.cells) <= max(group.size, 16)


def test_blocks_fit_the_memory_and_have_seeds_enough(batched):
    for group in batched:
        state = 4 * group.num_arms**2
        assert 64 <= group.lanes <= 256
        assert group.block_seeds == 512
        assert group.size * group.lanes * state <= 2**20


def test_the_summary_counts_cells_programs_and_blocks(batched):
    lines = summary(batched)
    assert lines[0] == "975 cells: 3 policies, 5 problems, 13 horizons"
    assert f"{len(batched)} groups" in lines[1]
    assert len(batched) == 3 * (3 * 5 + 2 * 5)
    assert "15 programs to compile" in lines[1]
    assert f"{len(tasks_of(batched))} blocks for 1,000 seeds a cell: 1.083e+14" in lines[2]
    assert lines[3] == "  pcomp: 325 cells, 5 programs, K = 4, 8, 16, 32, 64"


def test_memory_is_that_of_the_largest_blocks(batched):
    sizes = sorted((group.bytes for group in batched), reverse=True)
    for devices, words in ((1, "1 device"), (3, "3 devices"), (999, "999 devices")):
        mebibytes = f"{sum(sizes[:devices]) / 2**20:,.0f} MiB"
        line = f"at most {mebibytes} for the blocks that run at once on {words}"
        assert memory_line(batched, devices) == line


def test_the_plan_does_not_depend_on_the_number_of_seeds():
    policies, problems = (PolicyEntry("pcomp"),), (ARXIV,)
    few, many = (planned(policies, problems, batches=2, num_seeds=n) for n in (10, 10**6))
    assert [replace(group, num_seeds=10) for group in many] == list(few)
    assert {task.key for task in tasks_of(few)} <= {task.key for task in tasks_of(many)}


def test_tasks_cover_the_seeds_block_by_block():
    groups = planned((PolicyEntry("pcomp"),), (ARXIV,), batches=2, lanes=100, num_seeds=250)
    found = tasks_of(groups)
    assert [task.number for task in found] == [0, 1, 2]
    assert [task.first_seed for task in found] == [0, 100, 200]
    assert [task.seeds for task in found] == [100, 100, 50]
    assert len({task.key for task in found}) == 3
    assert all(len(task.key) == 16 for task in found)


def test_policies_that_play_step_by_step_share_a_horizon_but_programs_serve_all():
    policies = (PolicyEntry("rucb", {"alpha": (0.51, 0.6, 0.7)}),)
    groups = planned(policies, (ARXIV,), (100, 10_000), delay=(1, 2, 8))
    assert [len(group.cells) for group in groups] == [3, 3, 6, 6]
    for group in groups:
        assert len({cell.horizon for cell in group.cells}) == 1
        assert {cell.delay for cell in group.cells} in ({1}, {2, 8})
    assert len({group.program for group in groups}) == 2
    assert len({group.num_checkpoints for group in groups}) == 1


def test_groups_of_policies_that_play_step_by_step_hold_one_problem_if_they_can():
    groups = groups_of(read_grid(examples()[1]), "cpu")
    assert {len(group.cells) for group in groups} == {8}
    assert [len({cell.problem for cell in group.cells}) for group in groups] == 10 * [1]


def test_switches_and_parameters_left_out_make_other_programs():
    pcomp = PolicyEntry("pcomp", {"elimination": ("kl", "hoeffding"), "num_batches": (2, 4)})
    given = PolicyEntry("pcomp", {"num_batches": 2, "q": (2, 3)})
    groups = planned((pcomp, given), (ARXIV,))
    assert [[cell.label for cell in group.cells] for group in groups] == [
        ["elimination=kl, num_batches=2", "elimination=kl, num_batches=4"],
        ["elimination=hoeffding, num_batches=2", "elimination=hoeffding, num_batches=4"],
        ["num_batches=2, q=2.0", "num_batches=2, q=3.0"],
    ]
    assert len({group.program for group in groups}) == 3


def test_kinds_of_rewards_make_other_programs():
    problems = tuple(ProblemEntry(name=f"{law}[0.6,0.5]") for law in ("gaussian", "bernoulli"))
    groups = planned((PolicyEntry("base"),), problems, batches=2)
    assert [group.cells[0].problem for group in groups] == [
        "gaussian[0.6,0.5]",
        "bernoulli[0.6,0.5]",
    ]


@pytest.mark.parametrize("policy", ["rucb", "pcomp"])
def test_numbers_of_stretches_make_other_programs(policy):
    names = ("gap", "piecewise[gap,300,gap]", "piecewise[gap,300,gap,700,gap]")
    problems = tuple(ProblemEntry(name=name) for name in names)
    groups = planned((PolicyEntry(policy),), problems, batches=2 if policy == "pcomp" else ())
    assert [group.cells[0].problem for group in groups] == list(names)
    assert len({group.program for group in groups}) == 3


def test_rewards_that_change_make_programs_by_law_and_stretches():
    laws = ("gaussian", "bernoulli")
    names = [f"piecewise[{law}[0.6,0.5],300,{law}[0.5,0.6]]" for law in laws]
    names += ["piecewise[bernoulli[0.1,0.2],300,bernoulli[0.5,0.6]]", "bernoulli[0.6,0.5]"]
    problems = tuple(ProblemEntry(name=name) for name in names)
    groups = planned((PolicyEntry("ucb1"),), problems)
    assert len({group.program for group in groups}) == 3


def test_numbers_of_arms_of_one_bucket_share_a_program_and_lone_ones_are_not_padded():
    names = ("arxiv[1,2,3]", "arxiv[1,2,3,4,5]", "gap", "arxiv")
    problems = tuple(ProblemEntry(name=name) for name in names)
    groups = planned((PolicyEntry("pcomp"),), problems, batches=2)
    assert [(group.num_arms, [c.num_arms for c in group.cells]) for group in groups] == [
        (3, [3]),
        (6, [5, 5, 6]),
    ]
    assert [cell.padded_arms for cell in groups[1].cells] == [6, 6, 6]


def test_padding_must_not_cost_more_than_compiling():
    affordable = ARM_STEPS / SEEDS
    assert padded_arms({5: affordable / 3, 8: 1e9}, batched=False) == {5: 8, 8: 8}
    assert padded_arms({5: affordable / 2, 8: 1e9}, batched=False) == {5: 5, 8: 8}
    assert padded_arms({5: 100, 8: 100, 9: 100}, batched=True) == {5: 8, 8: 8, 9: 9}
    assert padded_arms({257: 1e5, 512: 1}, batched=True) == {257: 257, 512: 512}
    assert padded_arms({513: 1, 514: 1}, batched=False) == {513: 513, 514: 514}


def test_buckets_are_powers_of_two():
    assert [bucket_of(num) for num in (2, 3, 4, 5, 512, 600)] == [2, 4, 4, 8, 512, 600]


NEED = Need(total=1000, state=600, largest=400, default=512)
LARGE = NEED._replace(default=2**20)


@pytest.mark.parametrize(
    ("num_cells", "need", "settings", "expected"),
    [
        (1, NEED, {}, Width(1, 512, 1, 512)),
        (3, NEED, {}, Width(3, 160, 3, 160)),
        (100, NEED, {}, Width(8, 64, 8, 64)),
        (100, NEED._replace(default=64), {}, Width(1, 64, 1, 64)),
        (100, NEED, {"lanes": 16}, Width(8, 16, 8, 16)),
        (100, NEED, {"lanes": 4096}, Width(1, 4096, 1, 4096)),
        (100, NEED, {"batched": True}, Width(15, 160, 15, 480)),
        (66, NEED, {"batched": True}, Width(11, 224, 11, 448)),
        (66, NEED, {"batched": True, "lanes": 64}, Width(11, 64, 11, 64)),
        (66, NEED._replace(largest=2**12), {"batched": True}, Width(4, 64, 16, 512)),
        (66, NEED._replace(largest=2**14), {"batched": True}, Width(1, 64, 16, 512)),
        (66, NEED._replace(largest=2**18), {"batched": True}, Width(1, 64, 16, 512)),
        (66, NEED._replace(largest=2**14, total=2**24), {"batched": True}, Width(1, 64, 16, 64)),
        (66, NEED._replace(total=2**26), {"batched": True}, Width(1, 16, 16, 16)),
        (1, LARGE, {"platform": "gpu"}, Width(1, 65_536, 1, 65_536)),
        (1, LARGE._replace(state=2**14), {"platform": "gpu"}, Width(1, 16_384, 1, 16_384)),
        (8, LARGE, {"platform": "gpu"}, Width(8, 8192, 8, 8192)),
        (66, LARGE, {"platform": "gpu"}, Width(33, 1984, 33, 1984)),
        (1000, LARGE, {"platform": "gpu", "batched": True}, Width(250, 1024, 250, 1024)),
        (1000, LARGE, {"platform": "gpu", "lanes": 4096}, Width(250, 4096, 250, 4096)),
        (66, NEED._replace(default=4096), {"platform": "gpu"}, Width(33, 96, 33, 96)),
        (66, NEED._replace(default=32), {"platform": "gpu"}, Width(1, 32, 1, 32)),
    ],
)
def test_widths(num_cells, need, settings, expected):
    settings = {"batched": False, "platform": "cpu", **settings}
    assert width_of(num_cells, need, **settings) == expected


def test_the_last_group_is_filled_up_with_its_last_cell():
    policies = (PolicyEntry("pcomp", {"num_batches": tuple(range(1, 18))}),)
    groups = planned(policies, (ARXIV,))
    assert [len(group.cells) for group in groups] == [9, 8]
    assert {group.size for group in groups} == {9}
    assert len({group.program for group in groups}) == 1
    assert groups[1].stacked[-1] is groups[1].cells[-1]
    assert len(groups[1].stacked) == 9


def test_keys_depend_on_the_company(batched):
    policies = (PolicyEntry("pcomp", {"num_batches": (2, 4)}), PolicyEntry("pcomp"))
    both, alone = (
        planned(policies[:n], (ARXIV,), batches=batches)[0] for n, batches in ((1, ()), (2, (8,)))
    )
    assert both.cells[0].parameters == alone.cells[0].parameters
    assert both.key != alone.key
    assert len({group.key for group in batched}) == len(batched)


def test_pairs_are_recorded_where_they_are_asked_for_or_needed():
    pcomp = (PolicyEntry("pcomp", {"num_batches": 2}),)
    assert planned(pcomp, (ARXIV,), keep=("wins",))[0].pairs
    for regret in ("weak", "binary weak", "binary strong"):
        assert planned(pcomp, (ARXIV,), regret=(regret,))[0].pairs
    assert not planned(pcomp, (ARXIV,), keep=("seeds",))[0].pairs
    base = (PolicyEntry("base", {"num_batches": 2}),)
    assert not planned(base, (ProblemEntry(name="gaussian[1,0]"),), keep=("wins",))[0].pairs


def test_a_group_has_all_regrets_of_its_cells():
    problems = (ARXIV, ProblemEntry(name="arxiv[1,2,3]"), ProblemEntry(name="noncondorcet-cyclic"))
    pcomp = (PolicyEntry("pcomp", {"num_batches": 2}),)
    groups = planned(pcomp, problems, regret=("average", "borda"))
    assert {group.definitions for group in groups} == {("average", "borda"), ("borda",)}


def test_what_can_never_fit_is_refused_by_name():
    with pytest.raises(InputError, match=r"cw-rmed with 500 arms needs 6\.3e\+10 bytes"):
        planned((PolicyEntry("cw-rmed"),), (ProblemEntry(name="copeland500"),))


def test_tasks_can_be_sent_to_other_processes():
    task, *_ = tasks_of(planned((PolicyEntry("pcomp"),), (ARXIV,), batches=2))
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    assert copy.key == task.key


@pytest.mark.usefixtures("quick_compilation")
def test_a_group_runs_as_one_program():
    policies = (PolicyEntry("ucb1", {"scale": (0.5, 1, 2)}),)
    problems = tuple(ProblemEntry(name=f"gaussian[{means}]") for means in ("1,0,0", "1,0,0,0"))
    groups = planned(policies, problems, (200,), lanes=8, checkpoints=(50, 200))
    (group,) = groups
    assert (group.num_arms, group.size, group.lanes) == (4, 6, 8)
    results = jd.simulate_many(
        [policy_of(cell) for cell in group.stacked],
        [problem_of(cell) for cell in group.stacked],
        [cell.horizon for cell in group.stacked],
        checkpoints=group.cells[0].checkpoints,
        num_seeds=8,
        lanes=group.lanes,
    )
    assert results[0].mean[-1] < results[-2].mean[-1]  # the larger scale explores more
    for cell, result in zip(group.stacked, results, strict=True):
        assert result.plays.shape == (8, 2, cell.num_arms)
        np.testing.assert_array_equal(result.plays.sum(axis=-1), [[50, 200]] * 8)
