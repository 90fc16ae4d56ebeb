"""Instances in which every arm beats those after it with one probability: for tests."""

import numpy as np

import jaxduel as jd


def ordered(num_arms, p):
    """O(K, p): p_ij = p for all i < j."""
    upper = np.triu(np.full((num_arms, num_arms), p), 1)
    matrix = upper + np.tril(1 - upper.T, -1) + np.eye(num_arms) / 2
    return jd.problems.from_matrix(matrix, f"O({num_arms}, {p})")
