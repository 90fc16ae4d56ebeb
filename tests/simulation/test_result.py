import json
from dataclasses import fields, replace

import jax
import numpy as np
import pytest
import xarray
from scipy.special import stdtrit

import jaxduel as jd
from jaxduel.simulation import blocks, record
from jaxduel.simulation.checking import Settings
from jaxduel.simulation.identity import code_digest, problem_digest, versions
from jaxduel.simulation.provenance import request_of, same_request
from tests.registered import PULLS, arms_for, needed

HORIZON, SEEDS, LANES = 300, 40, 8
KEPT_BYTES = 8 * 3 * 7 + 8
"""Of a seed's rows: three checkpoints, K = 6."""


def simulated(policy="scomp2", num_seeds=SEEDS, problem="arxiv", parameters=None, **settings):
    instance = jd.problems.load(problem)
    if parameters is None:
        parameters = {"num_batches": 4} if policy == "scomp2" else {}
    made = jd.policies.make(policy, num_arms=instance.num_arms, horizon=HORIZON, **parameters)
    settings = {"lanes": LANES, "checkpoints": [20, 100, HORIZON], **settings}
    return jd.simulate(made, instance, HORIZON, num_seeds, 5, **settings)


pytestmark = [
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore:scomp2"),
]


def same(one, other):
    for field in fields(one):
        jax.tree.map(
            np.testing.assert_array_equal,
            getattr(one, field.name),
            getattr(other, field.name),
            is_leaf=lambda x: isinstance(x, dict),
        )


def test_arms_with_names_are_named(tmp_path):
    plain = jd.problems.load("cyclic")
    named = jd.problems.from_matrix(plain.preferences, "cyclic", arms=["a", "b", "c", "é"])
    results = [jd.simulate("rucb", each, 100, 4, 5, lanes=4) for each in (plain, named)]
    np.testing.assert_array_equal(results[0].plays, results[1].plays)
    results[1].save(tmp_path / "r.nc")
    kept = jd.load_result(tmp_path / "r.nc")
    same(kept, results[1])
    assert kept.made_by["arms"] == [*"abcé"]
    assert kept.made_by["problem"] == results[0].made_by["problem"]
    assert same_request(kept.made_by, results[0].made_by)
    last = kept.to_xarray().isel(checkpoint=-1).swap_dims(arm="name")
    np.testing.assert_array_equal(last.plays.sel(name="é"), kept.plays[:, -1, 3])
    assert "name" not in results[0].to_xarray().coords


def test_a_result_says_what_made_it():
    result = simulated("rucb", parameters={"alpha": 0.6}, delay=3, shuffle_arms=False)
    made, problem = result.made_by, jd.problems.load("arxiv")
    assert made["policy"]["parameters"]["alpha"] == 0.6
    assert made["policy"]["changed"] == ["alpha"]
    assert made["problem"] == {"name": "arxiv", "digest": problem_digest(problem), "num_arms": 6}
    assert (made["delay"], made["shuffle_arms"], made["skip_quiet"]) == (3, False, True)
    assert (made["prng"], made["lanes"], made["first_seed"]) == ("threefry2x32", LANES, 0)
    assert (made["code"], made["versions"]) == (code_digest(), versions())
    assert made["checkpoints"] == [20, 100, HORIZON]
    assert json.loads(json.dumps(made)) == made
    assert json.loads(result.to_xarray().attrs["made_by"]) == made


def test_defaults_are_no_changes():
    problems = {False: jd.problems.load("arxiv"), True: jd.problems.gaussian([0.5] * 6)}
    for name in jd.policies.names():
        known = jd.policies.parameters(name)
        required, arms = needed(name, num_batches=3), arms_for(name, 6)
        policy = jd.policies.make(name, num_arms=arms, horizon=50, **required)
        problem = problems[name in PULLS] if arms == 6 else jd.problems.gaussian([0.5] * arms)
        made = request_of(policy, problem, 50, Settings())
        assert made["policy"]["changed"] == list(required), name
        assert set(made["policy"]["parameters"]) == set(known)


def test_a_request_is_the_same_whatever_the_code_or_the_command():
    made = simulated().made_by
    assert same_request(made, {**made, "code": "another", "command": "jaxduel run", "versions": {}})
    assert same_request(made, {**made, "lanes": None})
    for change in ({"lanes": 2}, {"delay": 2}, {"seed": 6}, {"num_seeds": 41}, {"checkpoints": []}):
        assert not same_request(made, {**made, **change})


def test_settings_may_be_of_numpy():
    policy, problem = jd.policies.make("rucb", num_arms=6), jd.problems.load("arxiv")
    switches = ("shuffle_arms", "record_pairs", "record_outcomes", "skip_quiet")
    given = {name: np.bool_(True) for name in switches} | {"prng": np.str_("threefry2x32")}
    given |= {"num_seeds": np.int32(1), "delay": np.uint8(2), "lanes": np.int64(1)}
    made = json.loads(jd.simulate(policy, problem, 5, **given).to_xarray().attrs["made_by"])
    assert {name: made[name] for name in given} == given


def test_its_seed_is_an_integer_whatever_number_was_given():
    policy, problem = jd.policies.make("rucb", num_arms=6), jd.problems.load("arxiv")
    for seed in (np.int64(3), 3.0, np.uint32(3)):
        result = jd.simulate(policy, problem, 5, 1, seed, lanes=1)
        assert (result.seed, type(result.seed), result.made_by["seed"]) == (3, int, 3)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"policy": "rucb", "record_pairs": True, "record_outcomes": True, "regret": "weak"},
        {"table_budget": 11 * KEPT_BYTES},
        {"policy": "rucb", "num_seeds": 1},
    ],
)
@pytest.mark.filterwarnings("ignore:tables of")
def test_what_is_saved_is_loaded(tmp_path, settings):
    result = simulated(**settings)
    path = result.save(tmp_path / "r.nc")
    loaded = jd.load_result(path)
    same(loaded, result)
    for name in ("mean", "std", "sem", "num_seeds", "mean_plays"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert loaded.summary() == result.summary()
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_as_seed_is_saved_too(tmp_path):
    policy, problem = jd.policies.make("rucb", num_arms=6), jd.problems.load("arxiv")
    results = [
        jd.simulate(policy, problem, 50, 2, jax.random.key(seed), lanes=2) for seed in (1, 1, 2)
    ]
    same(jd.load_result(results[0].save(tmp_path / "r.nc")), results[0])
    results[1].save(tmp_path / "r.nc")
    with pytest.raises(jd.InputError, match="another request"):
        results[2].save(tmp_path / "r.nc")


def test_a_file_of_another_request_stays_unless_forced(tmp_path):
    path = tmp_path / "r.nc"
    first, second = simulated("rucb"), simulated("rucb", parameters={"alpha": 0.7})
    first.save(path)
    first.save(path)
    with pytest.raises(jd.InputError, match="another request"):
        second.save(path)
    same(jd.load_result(path), first)
    second.save(path, force=True)
    same(jd.load_result(path), second)
    path.write_text("notes")
    with pytest.raises(jd.InputError, match="not a result"):
        first.save(path)
    assert path.read_text() == "notes"
    with pytest.raises(jd.InputError, match=r"must end in \.nc"):
        first.save(tmp_path / "r.txt")
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_results_are_said(tmp_path):
    with pytest.raises(jd.InputError, match="no file"):
        jd.load_result(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("notes")
    with pytest.raises(jd.InputError, match="cannot be read"):
        jd.load_result(tmp_path / "text.nc")
    xarray.Dataset({"x": 1}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(
        jd.InputError, match=r"is no result of jaxduel: it has no checkpoint, plays"
    ):
        jd.load_result(tmp_path / "other.nc")


def test_a_summary_names_what_is_not_at_its_default():
    result = simulated("rucb", num_seeds=8, parameters={"alpha": 0.6}, delay=3)
    lines = result.summary()
    assert lines[0] == "rucb[alpha=0.6] on arxiv: 8 runs of T = 300 comparisons, delay=3"
    assert lines[1].startswith(f"copeland regret {result.mean[-1]:.6g}, 95 % interval [")
    assert simulated("rucb", num_seeds=8).summary()[0].startswith("rucb on arxiv: 8 runs")
    assert simulated(num_seeds=8).summary()[0].startswith("scomp2[num_batches=4] on arxiv")


def test_its_repr_names_what_ran_and_its_regret():
    result = simulated("rucb", num_seeds=8, parameters={"alpha": 0.6}, delay=3)
    half = stdtrit(7, 0.975) * result.sem[-1]
    low, high = (f"{result.mean[-1] + side:.6g}" for side in (-half, half))
    assert repr(result) == (
        "<Result: rucb[alpha=0.6] on arxiv: 8 runs of T = 300 comparisons, delay=3, seed 5\n"
        f"copeland regret at T {result.mean[-1]:.6g}, 95 % interval [{low}, {high}]>"
    )
    table = replace(result, problem="<a & b>")._repr_html_()
    for text in ("rucb[alpha=0.6]", "&lt;a &amp; b&gt;", f"[{low}, {high}]", "300 comparisons",
                 "8, from root seed 5", '<th scope="row">delay</th><td>3</td>'):  # fmt: skip
        assert text in table
    one = simulated("rucb", num_seeds=1)
    assert repr(one).splitlines() == [
        "<Result: rucb on arxiv: 1 run of T = 300 comparisons, seed 5",
        f"copeland regret at T {one.mean[-1]:.6g}>",
    ]
    assert one.summary()[1:] == [f"copeland regret {one.mean[-1]:.6g}"]
    early = replace(result, horizon=1_000)
    assert f"copeland regret at t = 300 {result.mean[-1]:.6g}" in repr(early)
    assert early.summary()[1].startswith(f"copeland regret at t = 300 {result.mean[-1]:.6g}")


@pytest.mark.parametrize("q", [1.5, np.nan, "a", [0.5, -0.1], None, [[0.5], [0.1, 0.2]]])
def test_quantiles_are_from_0_to_1(q):
    with pytest.raises(jd.InputError, match=r"a quantile must be in \[0, 1\], not"):
        simulated("rucb", num_seeds=8).quantile(q)


@pytest.mark.parametrize(("policy", "definition"), [("scomp2", None), ("rucb", "weak")])
@pytest.mark.parametrize("kept", [3, 8, 21])
def test_statistics_of_seeds_without_rows_are_those_of_the_full_table(policy, definition, kept):
    full = simulated(policy, num_seeds=SEEDS - 1, regret=definition)
    with pytest.warns(UserWarning, match=f"of the first {kept}, mean"):
        some = simulated(
            policy, num_seeds=SEEDS - 1, regret=definition, table_budget=kept * KEPT_BYTES
        )
    assert (some.num_seeds, some.num_kept) == (SEEDS - 1, kept)
    np.testing.assert_array_equal(some.regret, full.regret[:kept])
    np.testing.assert_array_equal(some.plays, full.plays[:kept])
    np.testing.assert_array_equal(some.mean_plays, full.mean_plays)
    for name in ("mean", "std", "sem"):
        np.testing.assert_allclose(getattr(some, name), getattr(full, name), rtol=1e-12)
    np.testing.assert_array_equal(some.quantile(0.5), np.quantile(full.regret[:kept], 0.5, axis=0))
    if policy == "scomp2":
        np.testing.assert_array_equal(some.batches, full.batches[:kept])
        assert some.totals.batches == full.batches.sum()
        assert some.totals.most_batches == full.batches.max()
        assert some.summary()[-1] == full.summary()[-1]
    assert f"of the first {kept} runs" in some.summary()[2]


def test_a_budget_that_all_rows_fit_changes_nothing():
    same(simulated(table_budget=SEEDS * KEPT_BYTES), simulated())


@pytest.mark.filterwarnings("ignore:tables of")
def test_small_slices_of_a_block_give_the_same_statistics(monkeypatch):
    whole = simulated("rucb", table_budget=3 * KEPT_BYTES)
    monkeypatch.setattr(record, "_SLICE_BYTES", 3 * KEPT_BYTES)
    sliced = simulated("rucb", table_budget=3 * KEPT_BYTES)
    np.testing.assert_array_equal(sliced.regret, whole.regret)
    np.testing.assert_array_equal(sliced.mean_plays, whole.mean_plays)
    np.testing.assert_allclose(sliced.std, whole.std, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:tables of", "ignore:interrupted")
@pytest.mark.parametrize("finished", [1, 3])
def test_an_interrupted_run_returns_the_statistics_of_the_seeds_that_finished(
    monkeypatch, finished
):
    full = simulated("rucb", num_seeds=finished * LANES)

    def some_blocks(runner, job, num_blocks, devices, keep):
        every = range(num_blocks)
        for number in [*reversed(every[:finished]), *every[finished + 1 :]]:
            keep(number, runner.run(job, job.first_seed + number * job.lanes))
        return finished

    monkeypatch.setattr(blocks, "run_blocks", some_blocks)
    some = simulated("rucb", table_budget=10 * KEPT_BYTES)
    assert some.num_seeds == finished * LANES
    assert some.made_by["num_seeds"] == SEEDS
    np.testing.assert_allclose(some.mean, full.mean, rtol=1e-12)
    np.testing.assert_allclose(some.std, full.std, rtol=1e-12)
    np.testing.assert_array_equal(some.mean_plays, full.mean_plays)
    np.testing.assert_array_equal(some.regret, full.regret[: min(10, finished * LANES)])


def test_cells_share_the_budget():
    problem = jd.problems.load("arxiv")
    policies = [jd.policies.make("rucb", num_arms=6, alpha=alpha) for alpha in (0.51, 0.6)]
    with pytest.warns(UserWarning, match="of the first 5,"):
        results = jd.simulate_many(
            policies, problem, 50, num_seeds=9, lanes=4, checkpoints=[10, 30, 50],
            table_budget=10 * KEPT_BYTES,
        )  # fmt: skip
    assert [result.num_kept for result in results] == [5, 5]
    assert [result.num_seeds for result in results] == [9, 9]
    assert [result.variant for result in results] == ["rucb", "rucb[alpha=0.6]"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"record_pairs": True, "num_seeds": 10**7}, "fewer seeds"),
        ({"record_outcomes": True, "num_seeds": 10**8}, "fewer seeds"),
        ({"table_budget": KEPT_BYTES - 1}, "fewer checkpoints"),
        ({"table_budget": 48}, "may take 48 bytes"),
        ({"table_budget": 0}, "table_budget must be a whole number"),
    ],
)
def test_tables_that_cannot_be_are_said_before_anything_is_computed(settings, message):
    with pytest.raises(jd.InputError, match=message):
        simulated("rucb", **settings)


def test_seeds_are_numbered_on_where_an_earlier_run_is_continued():
    begun, more = (simulated("rucb", first_seed=first, num_seeds=4) for first in (0, 4))
    both = xarray.concat([begun.to_xarray(), more.to_xarray()], "seed", combine_attrs="drop")
    np.testing.assert_array_equal(both["seed"], np.arange(8))
    frame = more.to_frame(seeds=True)
    np.testing.assert_array_equal(frame["seed"].unique(), np.arange(4, 8))


def test_its_table_has_a_row_per_checkpoint_or_per_seed():
    problem = jd.problems.load("cyclic")
    policy = jd.policies.make("pcomp", num_arms=4, horizon=200, num_batches=3)
    result = jd.simulate(policy, problem, 200, num_seeds=5, checkpoints=[50, 200], delay=1)
    frame = result.to_frame()
    assert frame["t"].tolist() == [50, 200]
    for name in ("mean", "std", "sem"):
        assert frame[name].tolist() == getattr(result, name).tolist()
    for name, q in (("q25", 0.25), ("median", 0.5), ("q75", 0.75)):
        assert frame[name].tolist() == result.quantile(q).tolist()
    assert set(frame["num_batches"]) == {3}
    assert set(frame["parameters"]) == {"num_batches=3"}
    assert set(frame["batches_mean"]) == {result.batches.mean()}
    seeds = result.to_frame(seeds=True)
    assert seeds.pivot(index="seed", columns="t", values="regret").values.tolist() == (
        result.regret.tolist()
    )
    with pytest.warns(UserWarning, match="of the first 3, mean"):
        some = simulated("scomp2", num_seeds=SEEDS, table_budget=3 * KEPT_BYTES)
    assert set(some.to_frame()["num_seeds"]) == {SEEDS}
    assert some.to_frame()["batches_mean"][0] == some.totals.batches / SEEDS
    assert len(some.to_frame(seeds=True)) == some.regret.size


def test_its_final_regret_and_interval_are_of_the_last_checkpoint_and_of_all():
    result = simulated("rucb")
    np.testing.assert_array_equal(result.final, result.regret[:, -1])
    half = stdtrit(SEEDS - 1, 0.975) * result.regret.std(axis=0, ddof=1) / np.sqrt(SEEDS)
    np.testing.assert_allclose(result.interval, [result.mean - half, result.mean + half])


@pytest.mark.thorough
def test_results_are_compared_by_the_seeds_that_they_share():
    one, other = simulated("rucb"), simulated("rmed1", num_seeds=24, first_seed=8)
    found = one.compare(other)
    apart = one.final[8:32] - other.final
    assert (found.num_seeds, found.difference) == (24, pytest.approx(apart.mean()))
    assert found.sem == pytest.approx(apart.std(ddof=1) / np.sqrt(24))
    for unlike in ({"first_seed": SEEDS}, {"shuffle_arms": False}, {"prng": "philox4x32"}):
        independent = one.compare(simulated("rmed1", **unlike))
        assert independent.sem == independent.unpaired_sem


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"problem": "arithmetic"}, "the same instance, not arxiv and arithmetic"),
        ({"regret": "weak"}, "the same definition of regret, not copeland and weak"),
        ({"checkpoints": [20, 100]}, "the same last checkpoint, not 300 and 100"),
    ],
)
def test_results_that_cannot_be_compared_are_refused(settings, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        simulated("rucb").compare(simulated("rucb", **settings))


def test_only_results_are_compared():
    with pytest.raises(jd.InputError, match=r"^compare needs a result, .*, not 'rucb'\.$"):
        simulated("rucb").compare("rucb")  # pyright: ignore[reportArgumentType]
