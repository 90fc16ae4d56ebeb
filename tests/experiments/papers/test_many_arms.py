import math

import jaxduel as jd
from jaxduel.experiments.papers import many_arms


def test_the_instance_is_that_of_the_catalogue_with_larger_gaps():
    problem, smaller = many_arms.problem(), jd.problems.load("copeland500")
    assert problem.copeland_winners == smaller.copeland_winners
    gaps = problem.preferences - 0.5
    assert (abs(gaps - many_arms.GAP / 0.1 * (smaller.preferences - 0.5)) < 1e-6).all()


def test_all_pairs_are_told_apart_at_the_settling_time():
    time = many_arms.settling_time()
    per_pair = time / math.comb(many_arms.NUM_ARMS, 2)
    error = math.exp(-2 * per_pair * many_arms.GAP**2)  # Hoeffding's inequality
    assert abs(math.log(error * time) / math.log(time)) < 0.01
