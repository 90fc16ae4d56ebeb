"""Folders of sweeps that somebody changed, or that may only be read."""

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import replace

import pytest

import jaxduel as jd
from jaxduel.studies.engine.manifest import decode_manifest
from jaxduel.studies.engine.store import Store
from tests.cli.command_line import outcome
from tests.studies.engine import stored

READING = {
    "show": ("show", "FOLDER"),
    "compare": ("compare", "FOLDER", "--policies", "pcomp[B=2]", "pcomp[B=4]"),
    "plot": ("plot", "FOLDER", "--out", "OUT"),
    "export": ("export", "FOLDER", "--out", "OUT/table.csv"),
    "report": ("report", "FOLDER", "--out", "OUT"),
    "status": ("sweep", "--status", "FOLDER"),
}


@pytest.fixture
def folder(tmp_path):
    store = Store.create_or_open(tmp_path / "s", stored.manifest())
    stored.fill(store)
    store.close()
    (tmp_path / "out").mkdir()
    return store.folder


def read(capsys, name, folder):
    places = {"FOLDER": str(folder), "OUT": str(folder.parent / "out")}
    words = (re.sub("FOLDER|OUT", lambda found: places[found[0]], word) for word in READING[name])
    return outcome(capsys, *words)


def refused(capsys, name, folder, message):
    code, text, errors = read(capsys, name, folder)
    assert (code, text) == (2, "")
    (line,) = errors.splitlines()
    assert line.startswith("jaxduel: error")
    assert re.search(message, line)


def cell(manifest, number):
    """A cell by its place in the grid."""
    return next(c for g in manifest["groups"] for c in g["cells"] if c["index"] == number)


def swap_horizons(manifest):
    one, two = cell(manifest, 3), cell(manifest, 4)
    for name in ("horizon", "checkpoints"):
        one[name], two[name] = two[name], one[name]


def rename(manifest):
    for one in (manifest["groups"][1], *manifest["groups"][1]["cells"]):
        one["policy"] = "rucb"


EDITS = {
    "a parameter": lambda manifest: cell(manifest, 3)["parameters"].update(alpha=0.52),
    "two horizons": swap_horizons,
    "a policy": rename,
    "a problem": lambda manifest: cell(manifest, 0).update(problem="cyclic"),
    "a delay": lambda manifest: cell(manifest, 3).update(delay=1),
    "a checkpoint": lambda manifest: cell(manifest, 3).update(checkpoints=[1, 11, 100]),
    "definitions": lambda manifest: manifest["groups"][0]["definitions"].reverse(),
    "seeds": lambda manifest: manifest["groups"][0].update(seeds=16),
    "the order of cells": lambda manifest: manifest["groups"][0]["cells"].reverse(),
    "the grid": lambda manifest: manifest["grid"].update(seed=1),
    "the environment": lambda manifest: manifest["environment"].update(code="d" * 16),
}


def write(folder, manifest, *, forged):
    """Writes a manifest; `forged`, with a digest of its own."""
    digest = manifest.pop("sha256")
    text = json.dumps(manifest).removesuffix("}").encode()
    digest = hashlib.sha256(text).hexdigest() if forged else digest
    (folder / "manifest.json").write_bytes(text + f', "sha256": "{digest}"}}\n'.encode())


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_a_manifest_is_refused(capsys, folder, edit):
    manifest = json.loads((folder / "manifest.json").read_text())
    EDITS[edit](manifest)
    write(folder, manifest, forged=False)
    for name in READING if edit == "a parameter" else ("export",):
        refused(capsys, name, folder, "is not as it was written: its digest does not hold")
    with pytest.raises(jd.InputError, match="its digest does not hold"):
        Store.create_or_open(folder, stored.manifest())


@pytest.mark.thorough
@pytest.mark.parametrize("edit", [name for name in EDITS if name not in ("seeds", "the grid")])
def test_no_digest_puts_results_under_other_labels(folder, edit):
    """By somebody who can make digests: other labels make other keys, which no block has."""
    whole = rows(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    EDITS[edit](manifest)
    write(folder, manifest, forged=True)
    with suppress(jd.InputError):
        assert rows(folder).items() <= whole.items()


def rows(folder):
    """Mean regret by all labels of a cell that has run."""
    frame = jd.open_sweep(folder).to_frame()
    there = frame[frame["num_seeds"] > 0]
    labels = ["policy", "parameters", "problem", "num_arms", "horizon", "delay", "definition", "t"]
    return dict(zip(there[labels].itertuples(index=False), there["mean"], strict=True))


STRUCTURES = {
    "a list": "[]",
    "deep": "[" * 100_000,
    "no groups": {"groups": []},
    "groups as text": {"groups": "none"},
    "no cells": lambda manifest: manifest["groups"][0].update(cells=[]),
    "a horizon as text": lambda manifest: cell(manifest, 0).update(horizon="1000"),
    "a horizon that is not whole": lambda manifest: cell(manifest, 0).update(horizon=1000.5),
    "NaN": lambda manifest: cell(manifest, 0).update(num_arms=float("nan")),
    "a negative number": lambda manifest: manifest["groups"][0].update(seeds=-1),
    "a huge number": lambda manifest: manifest["groups"][0].update(seeds=10**40),
    "falling checkpoints": lambda manifest: cell(manifest, 0).update(checkpoints=[10, 1, 1000]),
    "half of a pair": lambda manifest: cell(manifest, 0).update(problem="\ud800"),
    "two cells alike": lambda manifest: cell(manifest, 0).update(parameters={"B": 4}),
    "a format as text": {"format": "4"},
}


@pytest.mark.parametrize("change", STRUCTURES)
def test_another_structure_is_refused_whatever_its_digest(capsys, folder, change):
    how = STRUCTURES[change]
    if isinstance(how, str):
        (folder / "manifest.json").write_text(how)
    else:
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest.update(how) if isinstance(how, dict) else how(manifest)
        write(folder, manifest, forged=True)
    refused(capsys, "show", folder, "is damaged|is no manifest of a sweep: ")


@pytest.mark.parametrize("place", ["pipe", "device", "folder"])
@pytest.mark.parametrize("of", ["manifest.json", "a block"])
def test_what_is_no_file_is_not_waited_for(capsys, folder, of, place):
    path = next((folder / "blocks").iterdir()) if of == "a block" else folder / of
    path.unlink()
    made = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero")}
    made.get(place, os.mkdir)(path)
    if of == "a block":
        code, _, errors = read(capsys, "show", folder)
        assert code == 0
        assert re.search("is left out: .*(not a regular file|a directory)", errors)
        return
    refused(capsys, "show", folder, "cannot be read: (it is not a regular file|Is a directory)")


@pytest.mark.parametrize("place", ["file", "nothing", "link to nothing"])
def test_a_sweep_without_a_folder_of_blocks_is_refused(capsys, folder, place):
    blocks = folder / "blocks"
    for path in blocks.iterdir():
        path.unlink()
    blocks.rmdir()
    if place == "file":
        blocks.write_text("")
    elif place == "link to nothing":
        blocks.symlink_to("nowhere")
    for name in READING:
        refused(capsys, name, folder, r"the blocks of a sweep in '.*/blocks' cannot be read: ")


@pytest.mark.parametrize("name", READING)
def test_reading_writes_nothing(capsys, folder, name):
    damaged, *_ = sorted((folder / "blocks").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1])
    places = [path for path in (folder, *sorted(folder.rglob("*")))]

    def states():
        now = [folder, *sorted(folder.rglob("*"))]
        assert now == places
        stats = [path.stat() for path in now]
        contents = [path.read_bytes() for path in now if path.is_file()]
        return [(s.st_mode, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for s in stats], contents

    for path in reversed(places):
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = states()
    code, _, errors = read(capsys, name, folder)
    assert (code, errors.count("is left out: its checksum does not hold")) == (0, 1)
    assert states() == before
    for path in places:
        path.chmod(0o700)


def test_a_run_that_goes_on_sets_a_damaged_block_aside(folder):
    damaged, *_ = sorted((folder / "blocks").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1])
    store = Store.create_or_open(folder, stored.manifest())
    with pytest.warns(UserWarning, match="is run again"):
        assert len(store.finished()) == len(stored.blocks(store.manifest)) - 1
    assert not damaged.exists()
    assert damaged.with_name(f"{damaged.name}.damaged").exists()


def test_a_manifest_that_would_be_too_large_is_refused_before_anything_is_written(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("jaxduel.studies.engine.manifest.MOST_BYTES", 1_000)
    with pytest.raises(jd.InputError, match="would have more than 1,000 bytes: give fewer cells"):
        Store.create_or_open(tmp_path / "s", stored.manifest())
    assert not list(tmp_path.iterdir())


def test_parameters_are_those_that_the_results_were_made_with(tmp_path):
    manifest = stored.manifest()
    one = manifest.groups[1].cells[0]
    with pytest.raises(jd.InputError, match=r"dts had alpha = 0\.51, not 0\.52"):
        replace(one, parameters={"alpha": 0.52})
    again = decode_manifest(manifest.encode(), tmp_path)
    assert [group.key for group in again.groups] == [group.key for group in manifest.groups]
