"""The benchmark of a GPU on the CPU, in its smallest size; and how programs for one are counted."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import gpu, gpu_programs
from benchmarks.gpu_rows import SMALL, rows_of
from benchmarks.gpu_table import Table
from jaxduel.numerics.target import LOOPS_VARIABLE

ROOT = Path(__file__).parents[1]


def test_all_rows_on_the_cpu(tmp_path):
    out, model = tmp_path / "table.json", tmp_path / "model.json"
    numbers = {"policy": "rucb", "arms": 4, "lanes": 64, "loop": "step", "million a second": 2.0}
    model.write_text(json.dumps([numbers]))
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "benchmarks.gpu", "--small", "--out", out, "--model", model]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    rows = json.loads(out.read_text())
    assert process.returncode == 0, process.stdout + process.stderr
    names = ["graph = static = dynamic", *(row.name for row in rows_of(SMALL, {}, None, 0.0))]
    assert list(rows) == list(dict.fromkeys(names))
    assert [line.split(":")[0] for line in process.stdout.splitlines()] == list(rows)
    assert not any("error" in row for row in rows.values())
    assert [row["holds"] for row in rows.values() if "holds" in row] == [True] * 4
    for row in rows.values():
        found = [value for value in row.values() if isinstance(value, int | float)]
        assert found
        assert all(map(math.isfinite, found))
    rucb = rows["rucb, K = 4, 64 lanes"]
    assert rucb["times the model"] == rucb["million a second"] / 2.0 > 0


def test_chosen_policies_alone():
    rows = [row.name for row in rows_of(SMALL, {}, None, 0.0, ("btm", "rcs"))]
    assert rows == ["versions", "btm, K = 4, 64 lanes", "rcs, K = 4, 64 lanes"]


WORKER = """
import os, sys
from benchmarks.gpu_table import Table
table = Table(sys.argv[1])
for name in ("first", "breaks", "last"):
    if name not in table.rows:
        table.begin(name, 60.0)
        if name == "breaks":
            os._exit(9)
        table.end(name, loops=os.environ["LOOPS"])
"""


def test_a_row_that_ends_the_process(tmp_path, capfd):
    path = tmp_path / "table.json"
    command = [sys.executable, "-c", WORKER.replace("LOOPS", LOOPS_VARIABLE), str(path)]
    environment = {**os.environ, LOOPS_VARIABLE: "graph", "PYTHONPATH": str(ROOT)}
    assert gpu.supervise(path, command, environment, time.time() + 60.0) == 0
    rows = Table(path).rows
    assert [rows[name].get("loops") for name in rows] == ["graph", None, "static"]
    assert rows["breaks"]["error"] == "ended with code 9; no graphs from here on"
    assert [line.split(":")[0] for line in capfd.readouterr().out.splitlines()] == list(rows)


THUNKS = """\
001: kCopy  [source | next=002 (1)] kCopy
002: kWhile [prev=001 (1) | sink  ]
condition:
    003: kCustomKernel [source | sink] compare
  body:
    004: kCustomKernel [source | sink] add
    000: kCommandBuffer [source | sink]
        005: kWhile [source | sink]
condition:
            006: kCustomKernel [source | sink] compare
          body:
            007: kCustomKernel [source | sink] scatter
            008: kCustomKernel [source | sink] add
"""
HLO = """\
HloModule jit_advance

%one_more (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %one = s32[] constant(1)
  ROOT %sum = s32[] add(%p, %one)
}

%put (x: f32[100], at: s32[4,1], new: f32[4]) -> f32[100] {
  %x = f32[100]{0} parameter(0)
  %at = s32[4,1]{1,0} parameter(1)
  %new = f32[4]{0} parameter(2)
  ROOT %scatter.1 = f32[100]{0} scatter(%x, %at, %new), to_apply=%second
}

%less (loop: (s32[], f32[100], s32[4,1], f32[4], s32[])) -> pred[] {
  %loop = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%loop), index=0
  %end = s32[] get-tuple-element(%loop), index=4
  ROOT %compare = pred[] compare(%i, %end), direction=LT
}

%inner (loop: (s32[], f32[100], s32[4,1], f32[4], s32[])) -> (s32[], f32[100], s32[4,1], f32[4], s32[]) {
  %loop = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%loop), index=0
  %x = f32[100]{0} get-tuple-element(%loop), index=1
  %at = s32[4,1]{1,0} get-tuple-element(%loop), index=2
  %new = f32[4]{0} get-tuple-element(%loop), index=3
  %end = s32[] get-tuple-element(%loop), index=4
  %put.1 = f32[100]{0} fusion(%x, %at, %new), kind=kInput, calls=%put
  %next = s32[] fusion(%i), kind=kLoop, calls=%one_more
  ROOT %all = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) tuple(%next, %put.1, %at, %new, %end)
}

%outer (loop: (s32[], f32[100], s32[4,1], f32[4], s32[])) -> (s32[], f32[100], s32[4,1], f32[4], s32[]) {
  %loop = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) parameter(0)
  %i = s32[] get-tuple-element(%loop), index=0
  %x = f32[100]{0} get-tuple-element(%loop), index=1
  %at = s32[4,1]{1,0} get-tuple-element(%loop), index=2
  %new = f32[4]{0} get-tuple-element(%loop), index=3
  %end = s32[] get-tuple-element(%loop), index=4
  %next = s32[] fusion(%i), kind=kLoop, calls=%one_more
  %start = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) tuple(%i, %x, %at, %new, %end)
  ROOT %while.1 = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) while(%start), condition=%less, body=%inner
}

ENTRY %main (x: f32[100], at: s32[4,1], new: f32[4], i: s32[], end: s32[]) -> f32[100] {
  %x = f32[100]{0} parameter(0)
  %at = s32[4,1]{1,0} parameter(1)
  %new = f32[4]{0} parameter(2)
  %i = s32[] parameter(3)
  %end = s32[] parameter(4)
  %copy = f32[100]{0} copy(%x)
  %start = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) tuple(%i, %copy, %at, %new, %end)
  %while.2 = (s32[], f32[100]{0}, s32[4,1]{1,0}, f32[4]{0}, s32[]) while(%start), condition=%less, body=%outer{known}
  ROOT %result = f32[100]{0} get-tuple-element(%while.2), index=1
}
"""  # noqa: E501  (as XLA writes it)


@pytest.mark.smallest("False", "True")
@pytest.mark.parametrize("known", [False, True])
def test_program_of_two_loops(known):
    trips = ', backend_config={"known_trip_count":{"n":"7"}}' if known else ""
    program = gpu_programs.program_of(THUNKS, HLO.replace("{known}", trips))
    (outer,) = program.inner
    (inner,) = outer.inner
    assert [loop.kernels for loop in (program, outer, inner)] == [1, 2, 3]
    assert [loop.syncs for loop in (program, outer, inner)] == [0, not known, 0]
    assert [loop.in_graph for loop in (program, outer, inner)] == [False, False, True]
    assert [loop.work.scatters for loop in (program, outer, inner)] == [0, 0, 1]
    assert program.total("scatters") == 1
    assert program.total("sorts") == 0
    counted, compared = 4 + 4, 4 + 4 + 1  # bytes read and written
    put = 4 * 4 + 4 * 4 + 2 * 4 * 4  # positions and values; four numbers changed, read and written
    assert program.work.moved == 2 * 400
    assert outer.work.moved == counted + compared
    assert inner.work.moved == put + counted + compared
    loose = 2 * gpu_programs.LOOSE_LAUNCH + outer.syncs * gpu_programs.HOST_SYNC
    assert outer.own_seconds() == pytest.approx(loose)
    nodes = 3 * gpu_programs.GRAPH_NODE + gpu_programs.DEVICE_TURN
    assert inner.own_seconds() == pytest.approx(nodes)


def test_a_condition_without_thunks():
    """XLA writes the body's head on its line."""
    empty = THUNKS.replace("    006: kCustomKernel [source | sink] compare\n", "    No thunks.")
    (outer,) = gpu_programs.program_of(empty, HLO.replace("{known}", "")).inner
    assert [loop.kernels for loop in (outer, *outer.inner)] == [2, 2]
