"""Policies for outcomes that need follow no law, or best of both worlds.

- `versatile-db`: Saha and Gaillard, "Versatile Dueling Bandits: Best-of-both World Analyses for
  Learning from Relative Preferences" (ICML 2022); the weights of its players are in `tsallis`.

An arm is drawn in proportion to weights by `sampling`.
"""
