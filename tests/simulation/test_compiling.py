"""Programs are compiled once for all devices, and kept for later processes."""

import dataclasses
import errno
import os
import subprocess
import sys
import warnings
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

import jaxduel as jd
from jaxduel.policies.base import Duel
from jaxduel.simulation import (
    blocks,
    compilation_cache,
    compiling,
    events,
    program_names,
    skip_heuristic,
)
from jaxduel.simulation import run as simulation
from jaxduel.simulation.compiler_options import known, wanted
from jaxduel.simulation.memory_maps import forget_programs

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

NOT_RUN = {"plan", "<lambda>", "started"}
"""Traced for the kind of plan and the sizes of states, however programs come."""

DAMAGES = (
    lambda content: content[: len(content) // 2],
    lambda content: np.random.default_rng(0).bytes(len(content)),
    lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
)


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    """No programs in memory, and none on disk, before and after; nor in a cache of JAX's."""
    theirs = jax.config.jax_compilation_cache_dir
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    jax.config.update("jax_compilation_cache_dir", None)
    for name in ("WORTH", "FLOOR", "FIRST_TURNS", "HOST", "TRIALS_PART"):
        monkeypatch.setattr(skip_heuristic, name, 0)  # quiet runs are skipped in short simulations
    forget_programs()
    for lasting in (False, True):  # compiles something, to see what the compiler knows
        known(wanted("cpu", lasting))
    yield
    jd.use_compilation_cache("off")
    forget_programs()
    jax.config.update("jax_compilation_cache_dir", theirs)


@pytest.fixture(scope="module")
def compilations():
    """The names of functions, once for each time that one is compiled; and likewise for tracing."""
    seen = {"backend_compile_duration": [], "jaxpr_trace_duration": []}

    def listen(event, _, fun_name="", **__):
        if event.rpartition("/")[2] in seen:
            name = fun_name.removeprefix("jit(").removesuffix(")").lstrip("_")
            seen[event.rpartition("/")[2]].append(name)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield seen
    jax.monitoring.unregister_event_duration_listener(listen)


@pytest.fixture
def compiled(compilations):
    for names in compilations.values():
        names.clear()
    return compilations["backend_compile_duration"]


@pytest.fixture
def traced(compilations, compiled):
    return compilations["jaxpr_trace_duration"]


def run(name="rmed1", horizon=20_000, parameters=None, **settings):
    problem = jd.problems.load("cyclic")
    extra = {"num_batches": 4} if name in ("pcomp", "scomp2") else {}
    given = {**extra, **(parameters or {})}
    policy = jd.policies.make(name, num_arms=problem.num_arms, horizon=horizon, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        return jd.simulate(policy, problem, horizon, **{"num_seeds": 16, "lanes": 8, **settings})


def assert_same(one, other):
    np.testing.assert_array_equal(one.plays, other.plays)
    np.testing.assert_array_equal(one.regret, other.regret)


REQUESTS = (
    {"horizon": 12_345},
    {"checkpoints": [1, 7, 1000]},
    {"checkpoints": range(1, 65)},
    {"num_seeds": 5},
    {"seed": 3, "first_seed": 8},
    {"regret": "average"},
)
"""None of these numbers changes a program."""


@pytest.mark.parametrize(
    ("name", "parameters", "loops"),
    [
        ("rucb", [{"alpha": 0.6}, {"alpha": 1}], 2),
        pytest.param("rmed1", [{"scale": 1.0}], 2, marks=pytest.mark.slow),
        ("sparring", [], 1),
        ("pcomp", [{"num_batches": 7}], 1),
        ("scomp2", [{"num_batches": 7}], 1),
    ],
)
def test_no_number_changes_a_program(name, parameters, loops, compiled):
    def others(*requests):
        compiled.clear()
        for request in requests:
            run(name, devices=jax.devices()[:1], **request)
        return compiled

    assert others({}).count("advance") == loops
    assert others(*REQUESTS, *({"parameters": values} for values in parameters)) == []
    if loops == 2:
        assert others({"delay": 2}).count("advance") <= loops
        assert others({"delay": 3}, {"delay": 50, "horizon": 9_000}) == []


@pytest.mark.parametrize(
    ("name", "loops"),
    [("rucb", 2), pytest.param("rmed1", 2, marks=pytest.mark.slow), ("sparring", 1), ("pcomp", 1)],
)
def test_a_program_is_compiled_once_where_jax_alone_keeps_it(name, loops, compiled, monkeypatch):
    monkeypatch.setattr(blocks, "shared", lambda device: jax.default_device(device))
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)  # seeds wait for slots
    monkeypatch.setattr(events, "MOST_SLOTS", 4)
    run(name, devices=jax.devices()[:1])
    assert compiled.count("advance") == loops
    assert compiled.count("exchange") == loops - 1


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("name", ["sparring", "pcomp"])
def test_a_program_is_compiled_ahead_without_a_block_in_memory(name, alone, compiled, monkeypatch):
    if alone:
        monkeypatch.setattr(blocks, "shared", lambda device: jax.default_device(device))
    problem = jd.problems.load("cyclic")
    extra = {"num_batches": 4} if name == "pcomp" else {}
    policy = jd.policies.make(name, num_arms=4, horizon=500, **extra)
    settings = simulation.Settings(num_seeds=77, lanes=77)
    prepared = simulation.prepare([policy], [problem], [500], settings, stacked=False)
    held = {}

    def look(event, _, fun_name="", **__):
        if event.endswith("backend_compile_duration"):
            held[fun_name] = any(77 in x.shape for x in jax.live_arrays())

    jax.monitoring.register_event_duration_secs_listener(look)
    simulation.compile_ahead(prepared, jax.devices()[0])
    jax.monitoring.unregister_event_duration_listener(look)
    assert [held[name] for name in held if "advance" in name] == [False]
    assert {"started", "advance"} <= set(compiled)
    compiled.clear()
    simulation.run_prepared(prepared, settings, lambda first, record: None)
    assert not compiled


@pytest.mark.usefixtures("full_compilation")
def test_steps_are_compiled_quickly_at_first_and_well_later_to_the_same_bits(compiled, monkeypatch):
    monkeypatch.setattr(skip_heuristic, "WORTH", 2**62)
    results = []
    # seconds of the quick program: none, only the first call, all
    for seconds, programs in ((0.0, 1), (1e-9, 2), (np.inf, 1)):
        monkeypatch.setattr(blocks, "BRIEF_SECONDS", seconds)
        blocks._brief_seconds.clear()
        forget_programs()
        compiled.clear()
        results.append(run("rucb", 50_000, devices=jax.devices()[:1]))
        assert compiled.count("advance") == programs
    for other in results[1:]:
        assert_same(results[0], other)


@pytest.mark.parametrize("name", [pytest.param("rmed1", marks=pytest.mark.slow), "pcomp"])
def test_devices_share_programs_and_numbers_stay_the_same(name, compiled, monkeypatch):
    together = run(name)
    # policies that fall quiet have two loops
    assert compiled.count("started") == 1
    assert compiled.count("advance") == (1 if name == "pcomp" else 2)
    compiled.clear()
    assert_same(run(name, devices=jax.devices()[1:]), together)
    assert not compiled
    monkeypatch.setattr(blocks, "shared", lambda device: jax.default_device(device))
    assert_same(run(name), together)
    assert compiled.count("advance") >= 2


def test_a_device_that_is_not_the_first_compiles_for_the_others(compiled):
    last = run(devices=jax.devices()[1:])
    times = len(compiled)
    assert_same(run(devices=jax.devices()[:1]), last)
    assert len(compiled) == times > 0


@pytest.mark.slow
def test_programs_that_cannot_be_shared_are_compiled_for_each_device(compiled, monkeypatch):
    def refuse(*_):
        raise RuntimeError("not with this version")

    shared = run("pcomp")
    forget_programs()
    compiled.clear()
    with monkeypatch.context() as patch:
        patch.setattr("jaxduel.simulation.executables.load", refuse)
        assert_same(run("pcomp"), shared)
        assert compiled.count("advance") == 2
    forget_programs()
    monkeypatch.setattr("jaxduel.simulation.executables.dump", refuse)
    assert_same(run("pcomp"), shared)


@pytest.mark.parametrize("name", [pytest.param("rmed1", marks=pytest.mark.slow), "pcomp"])
def test_kept_programs_are_neither_traced_nor_compiled_again(name, traced, compiled, tmp_path):
    plain = run(name)
    forget_programs()
    jd.use_compilation_cache(tmp_path)
    compiled.clear()
    assert_same(run(name), plain)
    assert len(compiled) > 0
    assert len(list(tmp_path.rglob("*.program"))) == len(compiled)
    forget_programs()
    compiled.clear()
    traced.clear()
    assert_same(run(name), plain)
    assert not compiled
    assert set(traced) <= NOT_RUN


def test_a_program_is_at_hand_once_it_was_called_or_while_it_is_kept(tmp_path):
    def double(x):
        return 2 * x

    doubled, device = compiling.compiled_once(double, name="double"), jax.devices()[0]
    x = jax.device_put(np.arange(3.0, dtype=np.float32), device)
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)
    assert not doubled.is_at_hand(x)
    doubled(x)
    assert doubled.is_at_hand(shape)
    assert not doubled.is_at_hand(x[:2])
    forget_programs()
    assert not doubled.is_at_hand(x)
    jd.use_compilation_cache(tmp_path)
    with compiling.shared(device):
        doubled(x)
        forget_programs()
        assert doubled.is_at_hand(shape)
        assert not doubled.is_at_hand(x[:2])


@pytest.mark.slow
def test_other_sizes_are_other_programs(compiled, tmp_path):
    jd.use_compilation_cache(tmp_path)
    narrow, wide = run("pcomp", lanes=4), run("pcomp", lanes=8)
    forget_programs()
    compiled.clear()
    assert_same(run("pcomp", lanes=4), narrow)
    assert_same(run("pcomp", lanes=8), wide)
    assert not compiled


def test_damaged_files_are_compiled_anew_and_replaced(compiled, tmp_path):
    jd.use_compilation_cache(tmp_path)
    before = run("pcomp")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.program")}
    for damage in DAMAGES:
        for path, content in kept.items():
            path.write_bytes(damage(content))
        forget_programs()
        compiled.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_same(run("pcomp"), before)
        assert len(compiled) == len(kept) > 0
    forget_programs()
    compiled.clear()
    assert_same(run("pcomp"), before)
    assert not compiled


@pytest.mark.slow
def test_files_that_are_whole_but_no_programs_are_replaced(compiled, tmp_path):
    jd.use_compilation_cache(tmp_path)
    before = run("pcomp")
    folder = compilation_cache.current()
    for path in tmp_path.rglob("*.program"):
        folder.write(path.stem, b"no program")
    forget_programs()
    compiled.clear()
    assert_same(run("pcomp"), before)
    assert len(compiled) == len(list(tmp_path.rglob("*.program")))
    forget_programs()
    compiled.clear()
    assert_same(run("pcomp"), before)
    assert not compiled


def test_a_folder_that_others_may_write_to_is_one_warning(tmp_path):
    plain = run("pcomp")
    forget_programs()
    tmp_path.chmod(0o777)
    jd.use_compilation_cache(tmp_path)
    with pytest.warns(UserWarning, match=r"others may write to it: chmod go-w\).*compiles") as seen:
        assert_same(run("pcomp"), plain)
    assert len(seen) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_warning(tmp_path):
    plain = run("pcomp")
    (tmp_path / "file").write_text("")
    forget_programs()
    jd.use_compilation_cache(tmp_path / "file" / "folder")
    with pytest.warns(UserWarning, match=r"cannot be kept in '.*file/folder' \(.*'off'") as seen:
        assert_same(run("pcomp"), plain)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert compilation_cache.current() is None, "it would be tried, and said, again"


@pytest.mark.slow
def test_a_full_disk_is_one_warning_and_leaves_no_parts(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    plain = run("pcomp")
    forget_programs()
    jd.use_compilation_cache(tmp_path)
    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(UserWarning, match="No space left") as seen:
        assert_same(run("pcomp"), plain)
    assert len(seen) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_jax_s_own_cache_is_left_alone(tmp_path):
    plain = run("pcomp")
    jd.use_compilation_cache(tmp_path / "ours")
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "theirs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    try:
        for _ in range(2):  # compiled, then loaded by JAX
            forget_programs()
            assert_same(run("pcomp"), plain)
    finally:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
        jax.config.update("jax_compilation_cache_dir", None)
        reset_cache()
    assert any((tmp_path / "theirs").iterdir())
    assert not (tmp_path / "ours").exists()


class State(NamedTuple):
    """Nothing."""

    step: jax.Array


def always(name, pair):
    """A policy class of that name that plays one pair, which its code alone says."""

    def act(self, state, key):
        return Duel(jnp.int32(pair[0]), jnp.int32(pair[1]))

    methods = {
        "init": lambda self, key: State(jnp.int32(0)),
        "act": act,
        "update": lambda self, state, plan, outcome, key: State(state.step + 1),
    }
    fields = [("num_arms", int), ("active_arms", object)]
    made = dataclasses.make_dataclass(name, fields, namespace=methods, frozen=True)
    return jax.tree_util.register_dataclass(made, ["active_arms"], ["num_arms"])


def test_policies_of_the_user_s_own_are_told_apart_by_what_they_do(compiled, tmp_path):
    jd.use_compilation_cache(tmp_path)
    problem = jd.problems.load("cyclic")

    def plays(pair):
        policy = always("Mine", pair)(problem.num_arms, np.ones(problem.num_arms, bool))
        result = jd.simulate(policy, problem, 100, 8, lanes=8, shuffle_arms=False)
        return result.plays[0, -1].tolist()

    assert plays((0, 1)) == [100, 100, 0, 0]
    compiled.clear()
    assert plays((2, 3)) == [0, 0, 100, 100]
    assert compiled.count("advance") == 1
    forget_programs()
    compiled.clear()
    assert plays((0, 1)) == [100, 100, 0, 0]
    assert plays((2, 3)) == [0, 0, 100, 100]
    assert not compiled


def test_code_that_was_changed_after_the_import_is_not_trusted(compiled, traced, tmp_path):
    jd.use_compilation_cache(tmp_path)
    before = run("pcomp")
    forget_programs()
    traced.clear()
    program_names._code.cache_clear()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jd, "IMPORTED_AT", 0.0)
            assert_same(run("pcomp"), before)
    finally:
        program_names._code.cache_clear()
    assert "advance" in traced


RUN = """
import sys, hashlib
import jaxduel as jd
jd.use_all_cores()
jd.use_compilation_cache(sys.argv[1])
policy = jd.policies.make("pcomp", num_arms=4, horizon=500, num_batches=3)
result = jd.simulate(policy, jd.problems.load("cyclic"), 500, num_seeds=20, lanes=16)
print(hashlib.sha256(result.plays.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_processes_share_a_folder(tmp_path):
    command = [sys.executable, "-W", "error::UserWarning", "-c", RUN, str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    at_once = [subprocess.Popen(command, **pipes) for _ in range(4)]
    said = [process.communicate(timeout=300) for process in at_once]
    files = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    said.append(subprocess.Popen(command, **pipes).communicate(timeout=300))
    assert len({text for text, _ in said}) == 1
    assert len(said[0][0]) > 60
    assert {errors for _, errors in said} == {""}
    assert {path.suffix for path in files} == {".program"}
    now = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    assert now == files, "the last process wrote what was there"
