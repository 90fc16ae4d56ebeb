"""Optimal policies for Copeland winners: `cw-rmed`, `ecw-rmed`.

Komiyama, Honda and Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm" (ICML 2016). They share `loop` (Algorithm 1 with
its lists of pairs) and `quiet`. `evidence` and `demands` are what estimates demand of each pair;
`vertex` solves CW-RMED's linear program inside a step.
"""
