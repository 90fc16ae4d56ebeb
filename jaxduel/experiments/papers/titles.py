"""The papers that can be reproduced: their names and titles, which a listing needs without their
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
"""By the name that the command line knows a paper by; its module has underscores for hyphens."""
