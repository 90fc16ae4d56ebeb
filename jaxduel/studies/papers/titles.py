"""Titles of the papers, for listings that import no paper."""

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
    "double-etc": "Double Explore-then-Commit (Jin, Xu, Xiao and Gu, COLT 2021)",
    "winner-stays": "Dueling Bandits with Weak Regret (Chen and Frazier, ICML 2017)",
    "best-of-both": (
        "Versatile Dueling Bandits: Best-of-both World Analyses for Learning from Relative "
        "Preferences (Saha and Gaillard, ICML 2022)"
    ),
    "many-arms": (
        "MergeRUCB (Zoghi, Whiteson and de Rijke, WSDM 2015), MergeDTS (Li, Markov, de Rijke and "
        "Zoghi, TOIS 2020) and REX3 (Gajane, Urvoy and Clerot, ICML 2015) on many arms"
    ),
    "testification": (
        "Testification of Condorcet Winners in Dueling Bandits (Haddenhorst, Bengs, Brandt and "
        "Huellermeier, UAI 2021)"
    ),
    "switching-bandits": (
        "On Upper-Confidence Bound Policies for Switching Bandit Problems (Garivier and Moulines, "
        "ALT 2011)"
    ),
}
"""Titles by the papers' names on the command line; folders have underscores for hyphens."""
