import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError


@pytest.mark.parametrize(
    ("name", "rmed1", "lower"),
    [("cyclic", 7.45, 0.815), ("arithmetic", 12.71, 12.71), ("arxiv", 20.73, 20.73)],
)
def test_constants_of_the_rmed_paper(name, rmed1, lower):
    problem = jd.problems.load(name)
    assert jd.theory.rmed1_constant(problem) == pytest.approx(rmed1, abs=0.006)
    assert jd.theory.condorcet_lower_bound(problem) == pytest.approx(lower, abs=0.006)


def test_constants_of_sushi(data_folder):
    problem = jd.problems.load("sushi")
    assert jd.theory.rmed1_constant(problem) == pytest.approx(35.25, abs=0.005)
    assert jd.theory.condorcet_lower_bound(problem) == pytest.approx(34.04, abs=0.005)


@pytest.mark.parametrize("regret", ["average", "copeland"])
def test_line_by_line(regret):
    problem = jd.problems.load("cyclic")
    p, gaps = np.asarray(problem.preferences), problem.gaps(regret)
    total = with_winner = 0.0
    for i in (1, 2, 3):
        costs = {
            j: (gaps[i] + gaps[j])
            / 2
            / (p[i, j] * np.log(2 * p[i, j]) + p[j, i] * np.log(2 * p[j, i]))
            for j in range(4)
            if p[i, j] < 0.5
        }
        total += min(costs.values())
        with_winner += costs[0]
    assert jd.theory.condorcet_lower_bound(problem, regret) == pytest.approx(total)
    assert jd.theory.rmed1_constant(problem, regret) == pytest.approx(with_winner)


def test_what_must_be_known_of_copeland_instances_is_more():
    """Section 3.1 of Komiyama et al. 2016: table 2, where consistency on fewer instances costs
    less."""
    problem = jd.problems.load("cyclic")
    condorcet = jd.theory.condorcet_lower_bound(problem, "copeland")
    assert condorcet < jd.theory.copeland_lower_bound(problem).constant / 2


@pytest.mark.parametrize("function", [jd.theory.condorcet_lower_bound, jd.theory.rmed1_constant])
def test_bad_input(function):
    with pytest.raises(InputError, match="'gap' has no Condorcet winner"):
        function(jd.problems.load("gap"))
    with pytest.raises(InputError, match="unknown regret 'weak'"):
        function(jd.problems.load("cyclic"), "weak")
