"""The figure of a search for a worst instance."""

import pytest

import jaxduel as jd
from jaxduel.plotting import worst_case_figure


def title(**settings):
    found = jd.gradients.worst_case(
        jd.policies.make("rucb", num_arms=2, alpha=0.7), jd.gradients.space("btl", 2), 100,
        num_starts=2, steps=2, num_seeds=4, fresh_seeds=8, **settings,
    )  # fmt: skip
    return worst_case_figure(found).legends[0].get_title().get_text().replace("\n", " ")


@pytest.mark.thorough
def test_the_title_names_policy_family_and_horizon():
    sizes = "family btl, K = 2, T = 100, 4 seeds for a step, 8 fresh ones"
    assert title() == rf"worst case of RUCB, $\alpha$ = 0.7, {sizes}"
    rival = jd.policies.make("rmed1", num_arms=2)
    said = title(objective="difference", against=rival)
    assert said == rf"worst case of RUCB, $\alpha$ = 0.7 minus RMED1, {sizes}"
