import csv
import io
from dataclasses import replace

import pytest

from jaxduel.studies import claims
from jaxduel.studies.claims import (
    Claim,
    Measurement,
    all_hold,
    at_least,
    between,
    less,
    more,
    over,
    similar,
    under,
)
from jaxduel.studies.estimates import Estimate, exact


def ratio(value: float) -> Estimate:
    return Estimate(value, 0.98 * value, 1.02 * value, 50)


def claim(*verdicts: str, expected: int | None = None, combine=all_hold) -> Claim:
    measured = tuple(Measurement("toy", "a / b", ratio(1.0), v, medians=1.1) for v in verdicts)
    record = Claim(
        "it wins", "section 5", "a < b", lambda found: found, expected or len(verdicts), combine
    )
    return record.measured(measured)


def test_any_number_of_measurements_will_do_where_none_is_expected():
    record = Claim("it wins", "section 5", "a < b", lambda found: found, None)
    assert record.verdict == "not measured"
    for number in (1, 3):
        measured = Measurement("toy", "a / b", ratio(1.0), "confirmed", medians=1.1)
        made = record.measured([measured] * number)
        assert made.verdict == "confirmed"
        assert "measured)" not in "\n".join(claims.lines([made]))


def test_no_claims_have_no_lines():
    assert claims.lines([]) == []


@pytest.mark.parametrize(
    ("judge", "value", "verdict"),
    [
        (less, 0.5, "confirmed"), (less, 2.0, "not confirmed"), (less, 1.001, "undecided"),
        (more, 2.0, "confirmed"), (more, 0.5, "not confirmed"), (more, 0.999, "undecided"),
        (under(0.5), 0.9, "not confirmed"), (over(0.5), 0.9, "confirmed"),
        (similar, 0.9, "confirmed"), (similar, 1.25, "undecided"), (similar, 0.8, "undecided"),
        (similar, 1.5, "not confirmed"), (similar, 0.7, "not confirmed"),
        (between(0.5, 2.0), 1.9, "confirmed"), (between(1.0, 2.0), 0.9, "not confirmed"),
    ],
)  # fmt: skip
def test_the_interval_decides(judge, value, verdict):
    assert judge(ratio(value)) == verdict


@pytest.mark.parametrize("judge", [under(1.0), over(1.0), between(0.5, 1.0), between(1.0, 2.0)])
def test_one_group_and_the_limit_itself_decide_nothing(judge):
    assert judge(Estimate(0.1, float("nan"), float("nan"), 1)) == "undecided"
    assert judge(exact(1.0)) == "undecided"


def test_infinity_is_above_each_limit():
    infinite = exact(float("inf"))
    found = [judge(infinite) for judge in (over(50.0), under(50.0), between(1.0, 50.0))]
    assert found == ["confirmed", "not confirmed", "not confirmed"]


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (claim("confirmed", "confirmed"), "confirmed"),
        (claim("confirmed", "not confirmed"), "not confirmed"),
        (claim("confirmed", "undecided"), "undecided"),
        (claim("confirmed", expected=2), "undecided"),
        (claim("not confirmed", expected=2), "not confirmed"),
        (claim(expected=2), "not measured"),
        (claim(*["confirmed"] * 3, expected=4, combine=at_least(3)), "confirmed"),
        (claim("confirmed", *["not confirmed"] * 2, "undecided", combine=at_least(3)),
         "not confirmed"),
        (claim("confirmed", "confirmed", "not confirmed", "undecided", combine=at_least(3)),
         "undecided"),
    ],
)  # fmt: skip
def test_verdict_of_a_claim(made, verdict):
    assert made.verdict == verdict


def test_text_and_table_say_the_same():
    made = [claim("confirmed", "undecided"), claim(expected=1)]
    text = "\n".join(claims.lines(made))
    assert 'UNDECIDED: "it wins" (section 5)' in text
    assert text.endswith("Not measured here: 1 of 2 claims (2), on what was not simulated.")
    assert [line[:4].strip() for line in text.splitlines()[3:5]] == ["yes", "?"]
    rows = list(csv.DictReader(io.StringIO(claims.table(made))))
    assert [row["verdict"] for row in rows] == ["confirmed", "undecided", ""]
    assert [row["claim_verdict"] for row in rows] == ["undecided"] * 2 + ["not measured"]
    assert float(rows[0]["lower95"]) < 1 < float(rows[0]["upper95"])


@pytest.mark.parametrize(
    ("verdict", "decidable", "said"),
    [
        ("undecided", True, ""),
        ("undecided", False, "To decide it: a longer run."),
        ("not confirmed", True, "It loses."),
        ("confirmed", True, ""),
    ],
)
def test_what_decides_a_claim_or_why_it_fails_is_said_with_its_verdict(verdict, decidable, said):
    full = replace(claim(verdict), needs="a longer run.", reason="It loses.")
    if not decidable:
        full = replace(full, measurements=tuple(m.left_open() for m in full.measurements))
    made = [full, claim("confirmed")]
    told = [line.strip() for line in claims.lines(made)]
    known = ("To decide it: a longer run.", "It loses.")
    assert [each for each in known if each in told] == ([said] if said else [])
    rows = csv.DictReader(io.StringIO(claims.table(made)))
    assert [row["remark"] for row in rows] == [said, ""]


def test_quantities_other_than_ratios_of_means_have_no_medians():
    slope = Measurement("toy", "a slope", Estimate(0.95, 0.93, 0.97, 50), "confirmed")
    record = Claim("it is linear", "section 5", "> 0.9", lambda found: found, 1)
    made = [record.measured([slope])]
    (text,) = [line for line in claims.lines(made) if "a slope" in line]
    assert text.endswith("0.95 [0.93, 0.97], 50 runs (1 in 14)")
    (row,) = csv.DictReader(io.StringIO(claims.table(made)))
    assert (row["ratio_of_means"], row["ratio_of_medians"]) == ("", "")
    numbers = float(row["value"]), int(row["num_runs"]), int(row["missed_one_in"])
    assert numbers == (0.95, 50, 14)


def test_each_measurement_says_what_its_runs_can_miss():
    for runs in (1, 10, 500):
        most = 1 / (1 - 0.025 ** (1 / runs))  # misses its event with probability 2.5 %
        measured = Measurement("toy", "a / b", replace(ratio(1.0), runs=runs), "undecided")
        assert measured.sample == f"{runs} run{'s' * (runs > 1)} (1 in {int(most)})"
    computed = Measurement("toy", "a / b", exact(2.0), "confirmed")
    assert computed.sample == "computed"
    record = Claim("it wins", "section 5", "a < b", lambda found: found, 1).measured([computed])
    (row,) = csv.DictReader(io.StringIO(claims.table([record])))
    assert (row["num_runs"], row["missed_one_in"]) == ("", "")
