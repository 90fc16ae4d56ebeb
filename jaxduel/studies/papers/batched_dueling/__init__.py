"""Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022)."""
