import math

import jaxduel as jd
from jaxduel.studies.papers import five_hundred


def test_the_instance_is_that_of_the_catalogue_with_larger_gaps():
    problem, smaller = five_hundred.problem(), jd.problems.load("copeland500")
    assert problem.copeland_winners == smaller.copeland_winners
    gaps = problem.preferences - 0.5
    assert (abs(gaps - five_hundred.GAP / 0.1 * (smaller.preferences - 0.5)) < 1e-6).all()


def test_all_pairs_are_told_apart_at_the_settling_time():
    time = five_hundred.settling_time()
    per_pair = time / math.comb(five_hundred.NUM_ARMS, 2)
    error = math.exp(-2 * per_pair * five_hundred.GAP**2)  # Hoeffding's inequality
    assert abs(math.log(error * time) / math.log(time)) < 0.01
