"""Facts about a fit as a whole."""

import pytest

import jaxduel as jd
from jaxduel.votes.facts import facts


def test_facts_are_of_the_votes_the_model_and_the_reading(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("day,winner,loser,count\n1,ada,bob,30\n2,bob,ada,10\n")
    fit = jd.votes.fit(jd.votes.read(log), "thurstone")
    (line,) = facts(fit)
    title = "log.csv: 2 arms, 40 votes, 0 of them ties; model thurstone"
    assert line == "; ".join([title, *fit.votes.notes])
    assert len(fit.votes.notes) == 2


def test_groups_that_only_the_prior_compares_are_said():
    votes = jd.votes.from_counts([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]])
    with pytest.warns(UserWarning, match="in 2 groups that never met") as caught:
        fit = jd.votes.fit(votes)
    assert facts(fit)[1:] == [f"warning: {caught[0].message}"]
    assert len(facts(fit, groups=False)) == 1


def test_a_warning_of_sides_allows_for_voters(tmp_path):
    """Voters repeat themselves nine times: 24 of 40 and 5 of 8 prefer the left answer."""
    log = tmp_path / "log.csv"
    rows = [f"{v},ada,bob,{'left' if v < 24 else 'right'}" for v in range(40) for _ in range(9)]
    rows += [f"{v},bob,ada,{'left' if v < 5 else 'right'}" for v in range(8) for _ in range(9)]
    log.write_text("\n".join(["voter,left,right,winner", *rows]) + "\n")
    alone = jd.votes.fit(jd.votes.read(log))
    assert any("the left side matters" in line for line in facts(alone))
    apart = jd.votes.fit(jd.votes.read(log, voter="voter"))
    assert not any("the left side matters" in line for line in facts(apart))
