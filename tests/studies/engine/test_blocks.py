from __future__ import annotations

import random
import sys
import threading
import time
from dataclasses import replace
from traceback import walk_stack

import numpy as np
import pytest
import xarray

from jaxduel.studies.engine.blocks import decode_block, encode_block


def test_blocks_come_back_from_bytes_and_equal_blocks_have_equal_bytes(store, first):
    content = encode_block(first, ["x", "y", "z"], ["average", "copeland"])
    again = decode_block(content)
    assert (again.key, again.group, again.number, again.first_seed, again.attributes) == (
        (first.key, store.manifest.groups[0].key, 0, 0, {"lanes": 8})
    )
    assert set(again.arrays) == set(first.arrays)
    for name, array in first.arrays.items():
        assert again.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(again.arrays[name], array)
    reordered = replace(first, arrays=dict(reversed(first.arrays.items())))
    assert encode_block(reordered, ["x", "y", "z"], ["average", "copeland"]) == content
    assert set(decode_block(content, skip=["regret"]).arrays) == set(first.arrays) - {"regret"}
    with pytest.raises(ValueError, match="no NetCDF file of jaxduel"):
        decode_block(content[:-100])


def test_bytes_do_not_depend_on_who_looks_at_a_thread(first):
    """A profiler holds frames for a while, and what is open in them stays open."""
    stop = threading.Event()

    def look():
        rng = random.Random(0)
        while not stop.is_set():
            frames = [walk_stack(frame) for frame in sys._current_frames().values()]
            held = [list(frame) for frame in frames]
            time.sleep(rng.uniform(0, 0.003))
            del frames, held

    interval = sys.getswitchinterval()
    profiler = threading.Thread(target=look, daemon=True)
    profiler.start()
    try:
        sys.setswitchinterval(1e-5)
        found = {encode_block(first, ["x", "y", "z"], ["average", "copeland"]) for _ in range(100)}
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        profiler.join()
    assert len(found) == 1


def test_files_open_in_xarray(store, first):
    with xarray.open_dataset(store.add(first), engine="h5netcdf") as data:
        assert data["regret"].dims == ("cell", "definition", "seed", "checkpoint")
        assert list(data["cell"].values) == [cell.key for cell in store.manifest.groups[0].cells]
        assert list(data["definition"].values) == ["average", "copeland"]
        assert (data.attrs["task"], data.attrs["number"]) == (first.key, 0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": np.zeros(3)}, "exactly"),
        ({"regret_count": np.int64(7)}, "regret_count is 7, not 8"),
        ({"regret_mean": np.zeros((3, 2))}, "regret_mean has shape"),
        ({"plays_mean": np.zeros((3, 6, 4))}, "another size"),
    ],
)
def test_blocks_that_do_not_fit_together_are_refused(first, arrays, message):
    with pytest.raises(ValueError, match=message):
        replace(first, arrays={**first.arrays, **arrays})
