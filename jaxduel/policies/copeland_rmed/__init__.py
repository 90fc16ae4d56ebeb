"""Optimal policies for Copeland winners: `cw-rmed`, `ecw-rmed`.

Komiyama, Honda and Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm" (ICML 2016). They share `loop` (Algorithm 1 with
its lists of pairs) and `quiet`. `evidence` and `demands` compute the exploration of each pair that
the estimates demand; `vertex` solves CW-RMED's linear program inside a step.
"""
