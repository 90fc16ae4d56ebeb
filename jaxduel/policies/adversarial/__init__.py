"""Policies for outcomes that need follow no law, or best of both worlds.

- `versatile-db`: Saha and Gaillard, "Versatile Dueling Bandits: Best-of-both World Analyses for
  Learning from Relative Preferences" (ICML 2022); the weights of its players are in `tsallis`.
- `rex3`: Gajane, Urvoy and Clérot, "A Relative Exponential Weighing Algorithm for Adversarial
  Utility-based Dueling Bandits" (ICML 2015); its probabilities, and those of D-EXP3, are in
  `exponential`.
- `self-sparring`: Sui, Zhuang, Burdick and Yue, "Multi-dueling Bandits with Dependent Arms" (UAI
  2017).
- `d-exp3`, `borda-cb`: Saha, Koren and Mansour, "Adversarial Dueling Bandits" (ICML 2021).

An arm is drawn in proportion to weights by `sampling`.
"""
