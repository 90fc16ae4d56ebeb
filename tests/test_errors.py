"""Messages: long names, unknown names, and where warnings point."""

import warnings

import numpy as np

import jaxduel as jd
from jaxduel.errors import shorten, unknown_name


def test_long_names_are_shortened_with_their_length():
    assert shorten("abc") == "abc"
    short = shorten("x" * 5_000)
    assert len(short) < 65
    assert short.endswith("... (5,000 characters)")


def test_unknown_names_come_with_the_nearest_and_need_not_be_text():
    assert "did you mean 'dts'?" in str(unknown_name("policy", "dst", ["dts", "rucb"]))
    assert "did you mean 'num_seeds'?" in str(
        unknown_name("argument", "seeds", ["seed", "num_seeds"], meant="num_seeds")
    )
    assert "unknown policy '6'" in str(unknown_name("policy", 6, ["dts"]))


def test_warnings_point_at_the_callers_line():
    cyclic = jd.problems.from_matrix([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        policy = jd.policies.make("rucb", num_arms=3, alpha=0.4)
        jd.simulate(policy, cyclic, 10, num_seeds=2, lanes=2)
    assert {warning.category for warning in caught} == {jd.AssumptionWarning}
    assert {warning.filename for warning in caught} == {__file__}
    assert np.unique([warning.lineno for warning in caught]).size == 2
