"""Names and titles of the papers that can be reproduced, for listings that do not import their
modules."""

TITLES = {
    "batched-dueling": "Batched Dueling Bandits (Agarwal, Ghuge and Nagarajan, ICML 2022)",
    "double-thompson": "Double Thompson Sampling for Dueling Bandits (Wu and Liu, NIPS 2016)",
    "copeland-dueling": (
        "Copeland Dueling Bandits (Zoghi, Karnin, Whiteson and de Rijke, NIPS 2015)"
    ),
    "copeland-rmed": (
        "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and "
        "Computationally Efficient Algorithm (Komiyama, Honda and Nakagawa, ICML 2016)"
    ),
    "batched-mab": "Batched Multi-armed Bandits Problem (Gao, Han, Ren and Zhou, NeurIPS 2019)",
}
"""Titles by the papers' names on the command line; modules have underscores for hyphens."""
