"""Facts about a fit as a whole."""

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
