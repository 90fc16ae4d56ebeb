from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from jaxduel.errors import InputError
from jaxduel.studies.engine.identity import environment, git_revision
from jaxduel.studies.engine.manifest import read_manifest
from jaxduel.studies.engine.store import Store
from tests.studies.engine import stored


@pytest.fixture
def store(tmp_path):
    return Store.create_or_open(tmp_path / "s", stored.manifest())


def test_the_manifest_comes_back(store):
    again = Store.create_or_open(store.folder, stored.manifest())
    assert again.manifest == Store.open(store.folder).manifest == stored.manifest()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizons": [7], "delay": [2]}, r"another grid, which differs in delay, horizons:"),
        ({"horizons": [7], "seeds": 30}, r"another grid, which differs in horizons, seeds:"),
        ({"seeds": 30}, r"with 20 seeds, not 30: --extend-seeds"),
        ({"seeds": 10}, r"with 20 seeds, not 10: seeds cannot be taken away"),
        ({"version": "1"}, r"a sweep of jaxduel 0, and this is 1"),
        ({"block_seeds": 16}, r"cells, with 8 seeds a block instead of 16 for pcomp"),
    ],
)
def test_another_sweep_is_refused(store, changes, message):
    for extend in (False, True):
        if changes == {"seeds": 30} and extend:
            continue
        with pytest.raises(InputError, match=message):
            Store.create_or_open(store.folder, stored.manifest(**changes), extend=extend)
    assert read_manifest(store.folder) == stored.manifest()


def test_a_grid_takes_the_place_of_one_without_blocks_that_nobody_has_open(store):
    other = stored.manifest(horizons=[7], environment={**stored.ENVIRONMENT, "code": "d" * 16})
    with pytest.raises(InputError, match="other code"):
        Store.create_or_open(store.folder, other)
    store.close()
    removable = "other code, .* has no blocks yet, and can be removed if no process works on it"
    with pytest.raises(InputError, match=removable):  # there is no telling without locks
        Store.create_or_open(store.folder, other, locks=False)
    again = Store.create_or_open(store.folder, other)
    assert again.manifest == read_manifest(store.folder) == other
    again.add(stored.blocks(other)[0])
    again.close()
    with pytest.raises(InputError, match="other code"):
        Store.create_or_open(store.folder, stored.manifest())


def test_other_cells_are_refused(store):
    wanted = stored.manifest()
    group = wanted.groups[0]
    cell = replace(group.cells[1], digest="f" * 16)
    other = replace(group, cells=(group.cells[0], cell, group.cells[2]))
    for groups, message in [
        ((other, wanted.groups[1]), "pcomp on arxiv up to 1000 among them"),
        ((group,), "in 2 groups instead of 1"),
    ]:
        with pytest.raises(InputError, match=message):
            Store.create_or_open(store.folder, replace(wanted, groups=groups))


def test_another_environment_is_told_of(store):
    environment = {**stored.ENVIRONMENT, "jax": "2", "created": "later"}
    with pytest.warns(UserWarning, match="begun with jax 1 and goes on with 2"):
        again = Store.create_or_open(store.folder, stored.manifest(environment=environment))
    assert again.manifest.environment == stored.ENVIRONMENT


def test_other_code_is_refused(store):
    for code, message in [
        (
            "d" * 16,
            "by other code, digest c{16}, and this is digest d{16}: go on with that code, or",
        ),
        (None, "and this is its digest unknown"),
    ]:
        environment = {**stored.ENVIRONMENT, "code": code}
        with pytest.raises(InputError, match=message) as refused:
            Store.create_or_open(store.folder, stored.manifest(environment=environment))
        assert "\n" not in str(refused.value)


def test_a_sweep_of_before_digests_is_read_but_not_gone_on_with(tmp_path):
    environment = {name: x for name, x in stored.ENVIRONMENT.items() if name != "code"}
    before = stored.manifest(environment={**environment, "git_revision": "a1b2"})
    begun = Store.create_or_open(tmp_path, before)
    assert Store.open(tmp_path).manifest == begun.manifest == before
    with pytest.raises(InputError, match=r"code, its digest unknown \(revision a1b2\), and"):
        Store.create_or_open(tmp_path, stored.manifest())


def test_folders_of_something_else_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no sweep"):
        Store.create_or_open(tmp_path, stored.manifest())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(InputError, match=r"holds no sweep: it has no manifest\.json"):
        Store.open(tmp_path)
    with pytest.raises(InputError, match=r"notes\.txt. holds no sweep: it is a file;.*load_result"):
        Store.open(tmp_path / "notes.txt")
    with pytest.raises(InputError, match="missing' holds no sweep: it does not exist"):
        Store.open(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot be written"):
        Store.create_or_open(tmp_path / "notes.txt" / "s", stored.manifest())


def test_cells_with_the_same_labels_are_refused():
    wanted = stored.manifest()
    group = wanted.groups[0]
    same = replace(group, cells=(*group.cells, replace(group.cells[2], digest="f" * 16)))
    with pytest.raises(InputError, match=r'pcomp on arxiv up to 1000 .* \{"B": 8\} twice'):
        replace(wanted, groups=(same,))


@pytest.mark.parametrize(
    ("content", "message"),
    [('{"format": 1}', "of format 1, and this version"), ("{}", "damaged"), ("[", "damaged")],
)
def test_manifests_of_another_format_are_refused(store, content, message):
    (store.folder / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=message):
        Store.create_or_open(store.folder, stored.manifest())


def test_environments_name_versions_device_and_revision(tmp_path):
    found = environment("some device", "threefry2x32")
    assert (found["device"], found["prng"]) == ("some device", "threefry2x32")
    assert all(found[name] for name in ("jax", "jaxlib", "numpy", "scipy", "python"))
    assert all(found[name] for name in ("code", "platform", "created"))
    (tmp_path / "__init__.py").touch()
    assert git_revision(tmp_path) is None
    if not shutil.which("git"):
        return
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@e"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert git_revision(tmp_path) is None
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "m"], check=True)
    assert re.fullmatch("[0-9a-f]{40}", git_revision(tmp_path) or "")
    (tmp_path / "__init__.py").write_text("changed")
    assert (git_revision(tmp_path) or "").endswith("-dirty")


def test_groups_of_more_cells_or_arms_than_any_sweep_has_are_refused(store):
    """Readers make tables of them."""
    wanted = stored.manifest()
    group = wanted.groups[0]
    with pytest.raises(InputError, match="have room for more than"):
        replace(wanted, groups=(replace(group, size=10**9), *wanted.groups[1:]))
    with pytest.raises(InputError, match="num_arms = 1000000000"):
        replace(group.cells[0], num_arms=10**9)
