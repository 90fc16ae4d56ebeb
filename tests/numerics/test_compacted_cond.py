"""`compacted_cond` is `lax.cond` for lanes: whatever the lanes, whoever needs the work."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.target import tracing_for


def _collatz(value, limit):
    """Turns until 1, up to a limit: as many as the number needs."""

    def turn(carry):
        n, turns = carry
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), turns + 1

    n, turns = jax.lax.while_loop(lambda c: (c[0] > 1) & (c[1] < limit), turn, (value["n"], 0))
    return {"n": n, "turns": value["turns"] + turns}


def _expected(n, limit):
    turns = 0
    while n > 1 and turns < limit:
        n, turns = (n // 2 if n % 2 == 0 else 3 * n + 1), turns + 1
    return n, turns


@pytest.mark.parametrize(
    ("platform", "together"),
    [
        ("cpu", 8),
        *(
            pytest.param(*one, marks=pytest.mark.thorough)
            for one in (("cpu", 1), ("gpu", 8), ("gpu", 1))
        ),
    ],
)
@pytest.mark.parametrize("with_effort", [False, True])
@pytest.mark.parametrize("lanes", [1, 83])
def test_lanes_that_need_the_work_get_it_and_the_others_stay(
    lanes, with_effort, platform, together
):
    @jax.jit
    def run(needed, n, effort, limit):
        def one(needed, n, effort):
            value = {"n": n, "turns": jnp.int32(7)}
            effort = effort if with_effort else None
            return compacted_cond(_collatz, needed, value, limit, effort=effort, together=together)

        return jax.vmap(one)(needed, n, effort)

    rng = np.random.default_rng(0)
    for share in (0.0, 0.1, 1.0):
        needed = rng.random(lanes) < share
        n = rng.integers(1, 200, lanes).astype(np.int32)
        effort = rng.integers(-3, 3, lanes).astype(np.int32)
        with tracing_for(platform):
            done = jax.tree.map(np.asarray, run(needed, n, effort, jnp.int32(50)))
        for lane in range(lanes):
            expected = _expected(int(n[lane]), 50) if needed[lane] else (n[lane], 0)
            assert (done["n"][lane], done["turns"][lane] - 7) == expected


def _read(value, start, entry):
    return value + entry(start, start + 1) + entry(0, start)


def test_a_table_is_read_by_lane_in_one_lane_in_many_and_in_cells_of_many():
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 100, (3, 40, 5, 6)).astype(np.int32)
    needed = rng.random((3, 40)) < 0.6
    start = rng.integers(0, 4, (3, 40)).astype(np.int32)

    def one(needed, start, table):
        return compacted_cond(_read, needed, jnp.int32(1), start, table=table)

    lanes = jax.vmap(one)
    expected = np.where(
        needed,
        1
        + np.take_along_axis(tables, start[..., None, None], 2)[:, :, 0, :][
            np.arange(3)[:, None], np.arange(40), start + 1
        ]
        + tables[np.arange(3)[:, None], np.arange(40), 0, start],
        1,
    )
    assert (np.asarray(jax.jit(jax.vmap(lanes))(needed, start, tables)) == expected).all()
    assert (np.asarray(jax.jit(lanes)(needed[0], start[0], tables[0])) == expected[0]).all()
    for lane in range(4):
        alone = one(jnp.asarray(needed[0, lane]), jnp.asarray(start[0, lane]), tables[0, lane])
        assert int(alone) == expected[0, lane]
        (of_one,) = lanes(*(x[0, lane : lane + 1] for x in (needed, start, tables)))
        assert int(of_one) == expected[0, lane]


def _add_sorted(value, given):
    return value + jnp.sort(given)


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_loop_does_not_do_the_work_before_it_is_needed(lanes):
    """The work is in a branch or in a loop of its own inside of that over time, never beside it."""

    def step(number, value):
        needed = number > jnp.arange(100, 100 + lanes)
        work = jax.vmap(lambda need, x: compacted_cond(_add_sorted, need, x, -x))
        return work(needed, value)

    run = jax.jit(lambda value: jax.lax.fori_loop(0, 200, step, value))
    with jax.default_device(jax.devices("cpu")[0]):
        text = run.lower(jnp.zeros((lanes, 50))).compile().as_text()
    loop = re.search(r" while\(.*body=%([\w.]+)", text.split("ENTRY")[1])
    assert loop is not None
    body = text.split(f"\n%{loop[1]} ")[1].split("\n}")[0]
    assert " sort(" not in body
    assert " conditional(" in body if lanes == 1 else " while(" in body


def _scale(value, factor):
    return value * factor


def _scaled(needed, value):
    return compacted_cond(_scale, needed, value, jnp.float32(3), is_light=True)


def test_light_work_is_done_by_all_lanes_of_an_accelerator():
    needed, value = jnp.array([True, False, True]), jnp.arange(3.0)
    for platform, has_loop in (("cpu", True), ("gpu", False)):
        with tracing_for(platform):
            work = jax.vmap(lambda *lane: _scaled(*lane))
            assert ("while" in str(jax.make_jaxpr(work)(needed, value))) == has_loop
            np.testing.assert_array_equal(work(needed, value), [0.0, 1.0, 6.0])


def test_what_the_cells_share_is_broadcast():
    needed = jnp.array([[True, False, True], [False, True, True]])
    value = jnp.arange(6.0).reshape(2, 3)
    cells = jax.vmap(
        jax.vmap(lambda n, v, f: compacted_cond(_scale, n, v, f), (0, 0, None)), (0, 0, 0)
    )
    scaled = cells(needed, value, jnp.array([10.0, 100.0]))
    expected = jnp.where(needed, value * jnp.array([[10.0], [100.0]]), value)
    assert (scaled == expected).all()
