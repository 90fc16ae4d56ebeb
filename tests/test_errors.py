"""Messages: long names, unknown names, and where warnings point."""

import re
import warnings

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError, StorageError, printable, shorten, unknown_name, warn_caller


def test_long_names_are_shortened_with_their_length():
    assert shorten("abc") == "abc"
    short = shorten("x" * 5_000)
    assert len(short) < 65
    assert short.endswith("... (5,000 characters)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;a\x07\x9b", r"\x1b]0;a\x07\x9b"),
        ("a\nb\r\tc\0\x7f", r"a\nb\r\tc\x00\x7f"),
        ("\u202a\u202e\u2066\u2069\u200f\u061c", r"\u202a\u202e\u2066\u2069\u200f\u061c"),
        ("\u2028\u2029\u200b\u2060\ufeff", r"\u2028\u2029\u200b\u2060\ufeff"),
        ("\udcff\ud800", r"\udcff\ud800"),
        *[(text, text) for text in ("", r"a\x1b", "α = 0.6", "数\u3000é e\u0301 👩\u200d🔬 שלום")],
    ],
)
def test_text_that_acts_is_printed_as_escapes(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown
    assert str(InputError(text)) == str(StorageError(text)) == shown
    with pytest.warns(UserWarning, match=f"^{re.escape(shown)}$"):
        warn_caller(text)


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


def test_names_that_lie_in_a_room_are_said_with_it():
    for name, meant in jd._MEANT.items():
        with pytest.raises(AttributeError, match=f"{name}'; jaxduel.{meant} is meant$"):
            getattr(jd, name)
        place = jd
        for part in meant.split("."):
            place = getattr(place, part)
        assert callable(place)


def test_several_policies_and_old_keys_are_refused_with_what_is_meant():
    policies = [jd.policies.make("rucb", num_arms=6)] * 2
    with pytest.raises(InputError, match="simulate_many takes several"):
        jd.simulate(policies, "arxiv", 100)
    with pytest.raises(InputError, match=r"as jax\.random\.key makes one, not Array"):
        jd.simulate("rucb", "arxiv", 100, seed=jax.random.PRNGKey(0))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: jd.simulate("arxiv", "dts", 100), "'dts' is a policy"),
        (lambda: jd.simulate("dts", ["arxiv", "gap"], 100), "simulate_many takes several"),
        (lambda: jd.simulate("pcomp", "arxiv", 100, num_batches=8), "jaxduel.policies.make"),
        (lambda: jd.problems.gaussian(0.6, 0.5), "must be a list of at least two numbers, not 0.6"),  # type: ignore[arg-type]
    ],
)
def test_first_attempts_are_told_what_is_meant(call, says):
    with pytest.raises(InputError, match=says):
        call()
