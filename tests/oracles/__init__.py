"""Slow NumPy versions of the policies, written line by line from the papers, one seed each; and of
what is decided from votes, from the definitions.

They share no code with `jaxduel` and say what a policy MAY do rather than what it does: the set of
pairs (or of batches) over all its random choices, given everything that happened before.
"""
