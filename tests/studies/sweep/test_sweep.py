"""Sweeps as they run: what is stored, stopped, gone on with, extended, on any devices."""

from datetime import datetime

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.progress import current
from jaxduel.simulation.regret import regret_from_plays
from jaxduel.studies.engine import executor, identity, widths, work
from jaxduel.studies.engine.blocks import decode_block
from jaxduel.studies.engine.groups import tasks_of
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, open_sweep
from jaxduel.studies.sweep.sweep import (
    _opened,
    groups_of,
    run_sweep,
    warn_of_assumptions,
)

pytestmark = [
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning"),
]


def small(seeds=10, lanes=4, **settings):
    """Four cells of RUCB in one group of three blocks."""
    return Grid(
        policies=(PolicyEntry(name="rucb", parameters={"alpha": (0.51, 1.0)}),),
        problems=(ProblemEntry(name="cyclic"), ProblemEntry(name="arxiv[1,2,3]")),
        horizons=(200,),
        checkpoints=3,
        lanes=lanes,
        num_seeds=seeds,
        **settings,
    )


def stored(folder):
    """The names, which hold checksums, of a folder's blocks."""
    return sorted(path.name for path in (folder / "blocks").iterdir())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    outcome = run_sweep(small(keep=("seeds", "wins")), folder, devices=jax.devices()[:1])
    assert outcome.complete
    assert outcome.blocks == 3
    return folder


def test_the_data_set_is_what_simulate_gives(undisturbed):
    data = open_sweep(undisturbed)
    for problem in ("cyclic", "arxiv[1,2,3]"):
        for alpha in (0.51, 1.0):
            cell = data.sel(problem=problem, horizon=200, policy="rucb").sel(
                parameters=f"alpha={alpha}", definition="copeland"
            )
            instance = jd.problems.load(problem)
            padded = np.arange(4) < instance.num_arms
            policy = jd.policies.make("rucb", num_arms=4, active_arms=padded, alpha=alpha)
            times = cell.t.values.astype(int)
            alone = jd.simulate(
                policy, instance, 200, 10, checkpoints=times, lanes=4, record_pairs=True
            )
            np.testing.assert_array_equal(cell.regret, alone.regret)
            np.testing.assert_array_equal(cell.final_regret, alone.regret[:, -1])
            np.testing.assert_allclose(cell.regret_mean, alone.mean, rtol=1e-12)
            np.testing.assert_allclose(cell.regret_sem, alone.sem, rtol=1e-9)
            num = instance.num_arms
            np.testing.assert_allclose(cell.plays_mean[:, :num], alone.plays.mean(axis=0))
            np.testing.assert_allclose(cell.pairs_mean[:, :num, :num], alone.pairs.mean(axis=0))
            assert cell.num_seeds == 10


def test_progress_counts_what_runs_here_and_what_others_have_done(tmp_path, monkeypatch):
    seen = []

    def watched(*args, **options):
        seen.append(text_of(current()))
        yield from executor.run_tasks(*args, **options)
        seen.append(text_of(current()))

    def text_of(shown):
        return shown.line().partition("] ")[2]

    monkeypatch.setattr("jaxduel.studies.engine.machines.run_tasks", watched)
    run_sweep(small(), tmp_path, devices=jax.devices()[:1], progress=False)
    assert seen[0] == "0 % of 8k comparisons, 0 of 4 cells, 0 of 3 blocks"
    assert seen[1].startswith("100 % of 8k comparisons")
    assert seen[1].endswith("4 of 4 cells, 3 of 3 blocks")

    every = tasks_of(groups_of(small(), "cpu"))
    shown = StudyProgress("sweep", every, [every[0].key], False)
    assert text_of(shown) == "40 % of 8k comparisons, 0 of 4 cells, 1 of 3 blocks"
    for key, here in ((every[0].key, False), (every[2].key, False), (every[1].key, True)):
        shown.done(key, here=here)
    assert text_of(shown) == "60 % of 8k comparisons, 4 of 4 cells, 3 of 3 blocks"


def test_progress_names_what_is_counted():
    arms, pair = ProblemEntry(name="gaussian[0.6,0.5]"), ProblemEntry(name="cyclic")
    for policies, problems, unit in (
        (("ucb1",), (arms,), "2k pulls"),
        (("ucb1", "rucb"), (arms, pair), "4k comparisons and pulls"),
    ):
        grid = Grid(
            policies=tuple(PolicyEntry(name=name) for name in policies), problems=problems,
            horizons=(200,), num_seeds=10,
        )  # fmt: skip
        shown = StudyProgress("sweep", tasks_of(groups_of(grid, "cpu")), (), False)
        assert f"0 % of {unit}, " in shown.line()


def test_a_stopped_sweep_goes_on_to_the_same_bits(undisturbed, tmp_path, monkeypatch):
    grid, stops = small(keep=("seeds", "wins")), []

    def one_block(*args):
        stops[-1].set()
        return work.simulated(*args)

    def watched(store, every, where, stop, **options):
        stops.append(stop)
        yield from executor.run_tasks(store, every, where, stop, **options)

    with monkeypatch.context() as patch:
        patch.setattr(executor, "simulated", one_block)
        patch.setattr("jaxduel.studies.engine.machines.run_tasks", watched)
        for done in (1, 2):
            outcome = run_sweep(grid, tmp_path, devices=jax.devices()[:1])
            assert (outcome.finished, outcome.complete) == (done, False)
            assert set(stored(tmp_path)) < set(stored(undisturbed))
    some = open_sweep(tmp_path)
    assert int(some.num_seeds.max()) == 8
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1]).complete
    assert stored(tmp_path) == stored(undisturbed)


def test_devices_and_extensions_do_not_change_a_bit(undisturbed, tmp_path):
    run_sweep(small(6, keep=("seeds", "wins")), tmp_path, devices=jax.devices()[:2])
    with pytest.raises(InputError, match="--extend-seeds adds"):
        run_sweep(small(keep=("seeds", "wins")), tmp_path)
    run_sweep(small(keep=("seeds", "wins")), tmp_path, extend_seeds=True)
    assert stored(tmp_path) == stored(undisturbed)


def test_other_code_does_not_go_on_with_a_sweep(undisturbed, monkeypatch):
    before = stored(undisturbed)
    monkeypatch.setattr(identity, "code_digest", lambda *files: "0" * 16)
    with pytest.raises(InputError, match="begun by other code"):
        run_sweep(small(keep=("seeds", "wins")), undisturbed)
    assert stored(undisturbed) == before


def test_too_little_memory_halves_the_block(undisturbed, tmp_path, monkeypatch):
    asked, run_prepared = [], work.run_prepared

    def scarce(prepared, settings, keep):
        asked.append(settings.lanes)
        if settings.lanes > most:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        return run_prepared(prepared, settings, keep)

    monkeypatch.setattr(work, "run_prepared", scarce)
    monkeypatch.setattr(work, "_fewer_lanes", {})
    most, grid = 2, small(keep=("seeds", "wins"))
    run_sweep(grid, tmp_path / "halves", devices=jax.devices()[:1])
    assert asked == [4, 2, 2, 2]
    one, other = (open_sweep(folder) for folder in (tmp_path / "halves", undisturbed))
    np.testing.assert_array_equal(one.regret, other.regret)
    blocks = [
        decode_block(path.read_bytes()) for path in (tmp_path / "halves" / "blocks").iterdir()
    ]
    assert [block.attributes["lanes"] for block in blocks] == [2, 2, 2]
    most = 0
    with pytest.raises(MemoryError, match="one seed of 4 cells such as rucb"):
        run_sweep(grid, tmp_path / "nothing", devices=jax.devices()[:1])


def test_a_sweep_keeps_the_plan_for_the_memory_it_was_begun_with(tmp_path):
    grid = small(keep=("seeds", "wins"), lanes=None)
    kind = {"platform": "gpu", "device": "NVIDIA X", "memory": 2**20}
    _, begun = _opened(grid, tmp_path, False, kind)
    _, gone_on = _opened(grid, tmp_path, False, {**kind, "memory": 2**34})
    assert gone_on == begun
    assert tasks_of(groups_of(grid, "gpu", 2**34)) != begun
    assert open_sweep(tmp_path).attrs["memory"] == 2**20


@pytest.mark.parametrize(
    "wrong",
    [
        *({"until": until} for until in (datetime(1, 1, 1), "07:45")),
        *({"shard": shard} for shard in ("1/2", (1,), (1.5, 2), (3, 2))),
        {"devices": []},
        *({"scheduler": scheduler} for scheduler in (5, "", b"local:2")),
    ],
)
def test_wrong_arguments_are_refused_before_a_folder_is_made(wrong, tmp_path):
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name} must be .*, not "):
        run_sweep(small(), tmp_path / "s", **wrong)
    assert not (tmp_path / "s").exists()


def test_a_failure_stops_the_others_and_is_raised(tmp_path, monkeypatch):
    def broken(*args):
        raise RuntimeError("broken")

    monkeypatch.setattr(executor, "simulated", broken)
    with pytest.raises(RuntimeError, match="broken"):
        run_sweep(small(), tmp_path, devices=jax.devices()[:2])
    assert stored(tmp_path) == []


def test_tasks_of_another_process_are_left_to_it(undisturbed, tmp_path, monkeypatch):
    """Another holds a claim for a while and dies; the task is run here then."""
    grid = small(keep=("seeds", "wins"))
    run_sweep(small(1, keep=("seeds", "wins")), tmp_path, devices=jax.devices()[:1])
    (held, *_) = tasks_of(groups_of(grid, "cpu"))
    ended, looks = Store.has_ended, []

    def looked(self, keys):
        looks.append(set(keys))
        return len(looks) > 1 or ended(self, keys)

    claims = {}

    def taken(self, key, original=Store.claim):
        if key == held.key and len(looks) < 2:
            return None
        claims[key] = True
        return original(self, key)

    monkeypatch.setattr(Store, "claim", taken)
    monkeypatch.setattr(Store, "has_ended", looked)
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1], extend_seeds=True).complete
    assert looks[0] == {held.key}
    assert len(claims) == 3
    assert stored(tmp_path) == stored(undisturbed)


@pytest.mark.thorough
def test_regret_of_pairs_and_delays_and_arms_with_rewards(tmp_path):
    grid = Grid(
        policies=(
            PolicyEntry(name="rucb"),
            PolicyEntry(name="ucb1"),
        ),
        problems=(ProblemEntry(name="arxiv[1,2,3]"), ProblemEntry(name="gaussian[0.5,0.0]")),
        horizons=(60,),
        checkpoints=(20, 40),
        delay=(1, 5),
        regret=("average", "weak", "binary weak", "pulls"),
        num_seeds=3,
        lanes=3,
    )
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1]).complete
    data = open_sweep(tmp_path)
    duels = data.sel(policy="rucb", problem="arxiv[1,2,3]", horizon=60)
    problem = jd.problems.load("arxiv[1,2,3]")
    policy = jd.policies.make("rucb", num_arms=3)
    alone = jd.simulate(
        policy, problem, 60, 3, checkpoints=[20, 40, 60], regret="weak", record_pairs=True, lanes=3
    )
    for regret, values in (
        ("weak", alone.mean),
        ("average", regret_from_plays(problem, "average", alone.plays).mean(axis=0)),
        ("binary weak", alone.pairs[:, :, 1:, 1:].sum(axis=(2, 3)).mean(axis=0)),
    ):
        there = duels.sel(parameters="", definition=regret)
        np.testing.assert_allclose(there.regret_mean, values, rtol=1e-12)
    late = duels.sel(parameters="delay=5")
    assert (late.plays_mean.sum("arm") == 2 * late.t).all()
    assert (late.regret_mean.sel(definition="average") > 0).all()
    assert np.isnan(duels.sel(definition="pulls").regret_mean).all()
    arms = data.sel(policy="ucb1", problem="gaussian[0.5,0.0]", horizon=60, definition="pulls")
    made = jd.policies.make("ucb1", num_arms=2, horizon=60)
    told = jd.simulate(
        made, jd.problems.load("gaussian[0.5,0.0]"), 60, 3, checkpoints=[20, 40, 60], lanes=3,
        delay=5,
    )  # fmt: skip
    np.testing.assert_allclose(arms.sel(parameters="delay=5").regret_mean, told.mean, rtol=1e-12)
    pulls = data.sel(policy="ucb1", problem="gaussian[0.5,0.0]", horizon=60, parameters="")
    assert (pulls.sel(definition="pulls").regret_mean[-1] > 0).all()
    assert float(pulls.plays_mean[-1, :2].sum()) == 60


@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["rucb", "pcomp", "ucb1", "base"])
def test_instances_that_change(policy, tmp_path):
    name = "piecewise[cyclic,50,arithmetic[4,3,2,1]]"
    if policy in ("ucb1", "base"):
        name = "piecewise[bernoulli[0.6,0.5,0.4,0.1],50,bernoulli[0.1,0.5,0.4,0.9]]"
    more = {"num_batches": 3} if policy in ("pcomp", "base") else {}
    grid = Grid(
        policies=(PolicyEntry(name=policy, parameters=more),),
        problems=(ProblemEntry(name=name),),
        horizons=(200,),
        checkpoints=(20,),
        num_seeds=3,
        lanes=3,
    )
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1]).complete
    data = open_sweep(tmp_path).sel(policy=policy, problem=name, horizon=200)
    made = jd.policies.make(policy, num_arms=4, horizon=200, **more)
    alone = jd.simulate(made, jd.problems.load(name), 200, 3, checkpoints=[20, 50, 200], lanes=3)
    np.testing.assert_allclose(np.ravel(data.regret_mean), alone.mean, rtol=1e-12)


@pytest.mark.thorough
def test_batched_policies_of_several_horizons_share_a_program(tmp_path):
    grid = Grid(
        policies=(PolicyEntry(name="pcomp"),),
        problems=(ProblemEntry(name="cyclic"),),
        horizons=(50, 400),
        batches=(2, 3),
        checkpoints=4,
        num_seeds=3,
        lanes=3,
    )
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1]).blocks == 1
    data = open_sweep(tmp_path).sel(policy="pcomp", problem="cyclic", definition="copeland")
    np.testing.assert_allclose(data.plays_mean.sum("arm"), 2 * data.t.fillna(0))
    assert (data.t.max("checkpoint") == data.horizon).all()
    assert (data.batches_mean <= data.num_batches).all()
    assert (data.regret_mean.max("checkpoint") > 0).all()


@pytest.mark.filterwarnings("default::jaxduel.errors.AssumptionWarning")
def test_broken_assumptions_are_said_once_with_the_policies_that_make_them():
    grid = Grid(
        policies=(
            PolicyEntry(name="savage"),
            PolicyEntry(name="rucb", parameters={"alpha": (1, 2)}),
        ),
        problems=(ProblemEntry(name="gap"), ProblemEntry(name="cyclic")),
        horizons=(10, 20),
    )
    with pytest.warns(jd.AssumptionWarning) as caught:
        warn_of_assumptions(groups_of(grid, "cpu"))
    said = [str(warning.message).partition(":")[::2] for warning in caught]
    assert [policies for policies, _ in said] == ["savage, rucb"]
    assert said[0][1].startswith(" 'gap' lacks a Condorcet winner")


@pytest.mark.slow
def test_a_block_may_be_run_in_parts(tmp_path, monkeypatch):
    """Where the cache holds 64 seeds of a cell, a block has 512, or all of 300."""
    monkeypatch.setattr(widths, "ARRAY_BYTES", 1)
    grid = Grid(
        policies=(PolicyEntry(name="pcomp"),),
        problems=(ProblemEntry(name="cyclic"),),
        horizons=(50, 90, 400, 700, 800),
        batches=(2,),
        checkpoints=4,
        num_seeds=300,
    )
    assert run_sweep(grid, tmp_path, devices=jax.devices()[:1]).blocks == len(grid.horizons)
    data = open_sweep(tmp_path).sel(policy="pcomp", problem="cyclic", parameters="num_batches=2")
    assert data.final_regret.shape[-1] == 300
    for horizon in (50, 800):
        cell = data.sel(horizon=horizon, definition="copeland")
        policy = jd.policies.make("pcomp", num_arms=4, horizon=horizon, num_batches=2)
        (alone,) = jd.simulate_many(
            [policy], jd.problems.load("cyclic"), horizon, num_seeds=300, lanes=64
        )
        np.testing.assert_array_equal(cell.final_regret, alone.regret[:, -1])
