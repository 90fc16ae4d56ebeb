"""Saha and Gaillard, "Versatile Dueling Bandits: Best-of-both World Analyses for Learning from
Relative Preferences" (ICML 2022)."""
