"""Relative minimum empirical divergence: `rmed1`, `rmed2`, `rmed2fh`.

Komiyama, Honda, Kashima and Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling Bandit
Problem" (COLT 2015). All share `lists` (divergences, the list of arms, the opponent, quiet runs);
RMED2 and RMED2FH share `forced` (forced comparisons, and the opponent of the lowest price).
"""
