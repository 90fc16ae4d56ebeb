"""Policies for Copeland winners.

- `ccb`, `scb`: Zoghi, Karnin, Whiteson and de Rijke, "Copeland Dueling Bandits" (NIPS 2015); CCB's
  line 9 is in `hypotheses`, the bandit inside SCB in `score_elimination`.
- `savage`: Urvoy, Clerot, Feraud and Naamane, "Generic Exploration and K-armed Voting Bandits"
  (ICML 2013).
- `pbr`: Busa-Fekete, Szorenyi, Weng, Cheng and Huellermeier, "Top-k Selection based on Adaptive
  Sampling of Noisy Preferences" (ICML 2013).
"""
