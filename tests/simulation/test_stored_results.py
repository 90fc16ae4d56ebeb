"""Files of results that somebody changed, digest and all, or that are of 0.2.0."""

from __future__ import annotations

import json
import os

import h5py
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.stored_results import require_sound, sealed
from tests.registered import PULLS, arms_for, needed
from tests.test_damages import result_of


@pytest.fixture
def path(tmp_path):
    return result_of(4, "weak").save(tmp_path / "r.nc")


def edited(path, change, seal=True):
    """Changes the file as HDF5 sees it; with `seal` by somebody who can make digests."""
    with h5py.File(path, "r+") as file:  # which cuts off what follows the end
        change(file)
    if seal:
        path.write_bytes(sealed(path.read_bytes()))
    return path


def put(name, values):
    def change(file):
        del file[name]
        file[name] = values

    return change


def set_to(name, value):
    return lambda file: file.attrs.__setitem__(name, value)


def made(**changes):
    def change(file):
        file.attrs["made_by"] = json.dumps({**json.loads(file.attrs["made_by"]), **changes})

    return change


def scaled(name, by):
    return lambda file: file[name].__setitem__(..., file[name][()] * by)


def one_more(name, place):
    def change(file):
        values = file[name][()]
        values[place] += 1
        file[name][...] = values

    return change


def remote(file):
    del file["regret"]
    file["regret"] = h5py.ExternalLink("/etc/passwd", "regret")


def huge(file):
    del file["plays"]
    file.create_dataset("plays", (2**20, 3, 2**20), np.int64)


def compressed(file):
    values = file["plays"][()]
    del file["plays"]
    file.create_dataset("plays", data=values, chunks=True, compression="gzip")


EDITS = {
    "no regret": (lambda file: file.__delitem__("regret"), "it has no regret"),
    "no seeds": (lambda file: file.__delitem__("seed"), "it has no seed"),
    "no policy": (lambda file: file.attrs.__delitem__("policy"), "policy: Field required"),
    "horizon in words": (set_to("horizon", "long"), "horizon: Input should be a valid integer"),
    "horizon 0": (set_to("horizon", 0), "horizon: Input should be greater"),
    "two horizons": (set_to("horizon", [300, 300]), "horizon has not one value"),
    "made_by no JSON": (set_to("made_by", "{"), "made_by: Invalid JSON"),
    "made_by a list": (set_to("made_by", "[]"), "made_by: Input should be"),
    "made_by deep": (set_to("made_by", "[" * 60_000), "made_by: Invalid JSON"),
    "made_by half": (made(policy={"name": "rucb"}), "made_by.policy.num_arms: Field required"),
    "versions a list": (made(versions=[1]), "made_by.versions: Input should be"),
    "code a list": (made(code=[1]), "made_by.code: Input should be"),
    "changes without values": (
        made(policy={"name": "rucb", "num_arms": 6, "parameters": {}, "changed": ["alpha"]}),
        "parameters are missing",
    ),
    "a later format": (set_to("format", 9), "it is of format 9"),
    "an external link": (remote, "regret is a link"),
    "a huge array": (huge, "plays is larger than the file"),
    "a compressed array": (compressed, "not stored plainly"),
    "regret in 32 bits": (put("regret", np.zeros((4, 3), np.float32)), "regret is of another type"),
    "plays of another shape": (put("plays", np.zeros((4, 2, 6), np.int64)), "plays have another"),
    "no checkpoints": (put("checkpoint", np.zeros(0, np.int64)), "a table is empty"),
    "plays as one number": (put("plays", np.int64(1)), "a table is empty"),
    "no definition": (put("regret", 1.0), "definition: Field required"),
    "regret twice as large": (scaled("regret", 2.0), "regret is not that of the plays"),
    "regret NaN": (scaled("regret", np.nan), "regret decreases, or grows"),
    "regret negative": (scaled("regret", -1.0), "regret decreases, or grows"),
    "one play more": (one_more("plays", (0, 1, 2)), "plays do not add up to the checkpoints"),
    "one pair more": (one_more("pairs", (0, 2, 2, 1)), "pairs do not add up to the plays"),
    "checkpoints swapped": (put("checkpoint", np.array([100, 20, 300])), "do not increase"),
    "a checkpoint after T": (put("checkpoint", np.array([20, 100, 301])), "after the horizon"),
    "seeds from 1": (put("seed", np.arange(1, 5)), "seeds are numbered otherwise"),
    "two names": (made(arms=["a", "b"]), "its arms have another number of names"),
    "another policy": (set_to("policy", "dts"), "it names another policy"),
    "another horizon": (set_to("horizon", 400), "its provenance has another horizon"),
    "another root seed": (set_to("root_seed", 6), "its provenance has another seed"),
    "fewer seeds asked for": (made(num_seeds=3), "more seeds than were asked for"),
    "an unknown regret": (
        lambda file: file["regret"].attrs.__setitem__("definition", "none"),
        "its definition of regret is unknown",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_no_run_can_have_written_is_refused_in_a_sentence(path, edit):
    change, sentence = EDITS[edit]
    edited(path, change)
    with pytest.raises(jd.InputError, match=sentence) as refused:
        jd.load_result(path)
    assert str(refused.value).startswith(f"'{path}' is no result of jaxduel: ")
    assert "\n" not in str(refused.value)


def test_a_file_whose_digest_was_taken_away_is_refused(path):
    edited(path, lambda file: None, seal=False)
    with pytest.raises(jd.InputError, match="its digest is missing"):
        jd.load_result(path)


def test_a_file_of_before_digests_is_read_with_one_warning(path):
    result = jd.load_result(path)
    edited(path, lambda file: file.attrs.__delitem__("format"), seal=False)
    with pytest.warns(UserWarning, match="has no digest, as files of jaxduel 0.2.0") as told:
        again = jd.load_result(path)
    assert len(told) == 1
    assert again.to_xarray().identical(result.to_xarray())
    edited(path, scaled("regret", 2.0), seal=False)
    with pytest.raises(jd.InputError, match="regret is not that of the plays"):
        jd.load_result(path)


def test_hdf5_that_comes_to_no_end_is_refused(path, monkeypatch):
    trial = "import sys, time; sys.stdin.buffer.read(); time.sleep(600)"
    monkeypatch.setattr("jaxduel.netcdf._TRIAL", trial)
    monkeypatch.setattr("jaxduel.netcdf._SECONDS", 0.1)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(jd.InputError, match="cannot be read as NetCDF within"):
        jd.load_result(path)
    monkeypatch.setattr("jaxduel.netcdf._TRIAL", "import os; os.abort()")
    monkeypatch.setattr("jaxduel.netcdf._SECONDS", 60)
    with pytest.raises(jd.InputError, match=r"cannot be read as NetCDF \("):
        jd.load_result(path)


@pytest.mark.parametrize("place", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path, place):
    path = tmp_path / "r.nc"
    os.mkfifo(path) if place == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(jd.InputError, match="it is not a regular file"):
        jd.load_result(path)


def test_a_result_that_would_be_refused_is_not_saved(tmp_path):
    result = result_of(4, "copeland")
    result.plays[0, 0, 0] += 1
    with pytest.raises(jd.InputError, match=r"save: .* plays do not add up to the checkpoints"):
        result.save(tmp_path / "r.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning", "ignore:tables of")
@pytest.mark.parametrize("name", jd.policies.names())
def test_results_of_every_policy_are_sound(name):
    arms = arms_for(name, 5)
    pulled = jd.problems.gaussian([0.9, 0.8, 0.7, 0.6, 0.5][:arms])
    problem = pulled if name in PULLS else jd.problems.load("mslr5-condorcet")
    policy = jd.policies.make(name, num_arms=arms, horizon=90, **needed(name))
    asked = {"num_seeds": 12, "checkpoints": [1, 7, 50, 80], "lanes": 8}
    pairs = {} if name in PULLS else {"regret": "weak", "record_pairs": True}
    require_sound(jd.simulate(policy, problem, 90, **asked, **pairs, record_outcomes=True))
    require_sound(jd.simulate(policy, problem, 90, **asked, table_budget=3 * 300))
