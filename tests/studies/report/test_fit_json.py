"""fit.json: by its schema, and with the numbers of the fit."""

import json

import jsonschema
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.studies.report.fit_json import FORMAT, schema
from jaxduel.studies.report.votes import write_fit
from tests.studies.report.boards import blank, hostile, small


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    monkeypatch.setattr("jaxduel.plotting.png", blank)
    monkeypatch.setattr("jaxduel.plotting.pdf", blank)


def written(fit, folder, **asked):
    """The content of fit.json, checked by the schema."""
    write_fit(fit, folder, **asked)
    content = json.loads((folder / "fit.json").read_text())
    validator = jsonschema.Draft202012Validator(schema())
    assert [error.message for error in validator.iter_errors(content)] == []
    return content


def column(content, name):
    return [arm[name] for arm in content["arms"]]


def test_every_field_is_described():
    jsonschema.Draft202012Validator.check_schema(schema())
    for record in (schema(), *schema()["$defs"].values()):
        assert record["description"]
        assert all(field["description"] for field in record["properties"].values())
    assert len(schema()["$defs"]) == 3


@pytest.mark.parametrize("model", ["btl", "thurstone", "davidson"])
def test_numbers_are_those_of_the_fit(model, tmp_path):
    fit = small(model)
    asked = {"anchor": "cyd", "rating": 1500, "top": 2, "command": "jaxduel fit small.csv"}
    content = written(fit, tmp_path, **asked)
    table, elo, ranks = fit.table(), fit.elo("cyd", 1500), fit.ranks(2)
    assert column(content, "arm") == table["arm"].tolist() == elo["arm"].tolist()
    renamed = {"strength_low": "low", "strength_high": "high"}
    for name in ("votes", "wins", "ties", "copeland", "borda", "best", "strength", *renamed):
        assert column(content, name) == table[renamed.get(name, name)].tolist()
    assert content["arms"][0]["gap"] is None
    for name in ("gap", "gap_low", "gap_high", "gap_above"):
        assert column(content, name)[1:] == table[name].tolist()[1:]
    for name in ("elo", "elo_low", "elo_high"):
        assert column(content, name) == elo[name].tolist()
    for name in ("rank", "rank_low", "rank_high"):
        assert column(content, name) == ranks[name].tolist()
    assert column(content, "top") == ranks["top_2"].tolist()
    order = [fit.votes.arms.index(arm) for arm in table["arm"]]
    within = np.ix_(order, order)
    np.testing.assert_array_equal(content["preferences"], fit.problem.preferences[within])
    np.testing.assert_array_equal(content["stronger"], fit.stronger[within])
    for pair, (first, second) in zip(
        content["pairs"], zip(table["arm"], table["arm"][1:], strict=False), strict=True
    ):
        assert [pair] == fit.between(first, second).to_dict("records")
    misfit = content["misfit"]
    assert misfit["p_value"] == fit.misfit.p_value
    assert misfit["fits"] == fit.misfit.fits == (fit.misfit.p_value >= 0.01)
    i, j = fit.misfit.worst.arms
    assert misfit["worst_pair"] == [fit.votes.arms[i], fit.votes.arms[j]]
    assert (misfit["triples"], misfit["never_compared"]) == (4, 0)
    plain = {
        "format": FORMAT, "name": "small.csv", "num_votes": 611, "num_ties": 11, "model": model,
        "prior_std": 2, "nu": fit.nu, "elo_anchor": "cyd", "elo_rating": 1500, "top": 2,
        "command": "jaxduel fit small.csv",
    }  # fmt: skip
    assert {name: content[name] for name in plain} == plain
    assert content["versions"]["jaxduel"] == jd.__version__


def test_the_free_model_has_no_strengths(tmp_path):
    fit = small("free")
    content = written(fit, tmp_path)
    assert column(content, "best") == fit.table()["best"].tolist()
    nothing = ("strength", "elo", "rank", "top", "gap")
    assert {value for name in nothing for value in column(content, name)} == {None}
    assert [content[name] for name in ("prior_std", "stronger", "pairs")] == [None, None, []]
    assert content["misfit"]["model"] == "btl"


def test_what_cannot_be_tested_is_null(tmp_path):
    votes = jd.votes.from_counts([[0, 2.5], [1, 0]])
    content = written(jd.votes.fit(votes), tmp_path)
    assert [content["misfit"][name] for name in ("fits", "p_value", "worst_pair")] == [None] * 3
    assert content["num_votes"] == 3.5


def test_names_come_back_whatever_they_are(tmp_path):
    fit = hostile()
    content = written(fit, tmp_path)
    assert set(column(content, "arm")) == set(fit.votes.arms)
    assert (tmp_path / "fit.json").read_text().isascii()
