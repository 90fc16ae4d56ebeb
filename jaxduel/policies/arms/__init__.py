"""Multi-armed bandits: policies that pull single arms.

- `base`, `etc`, `successive-elimination`: Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits
  Problem" (NeurIPS 2019), and explore-then-commit of Perchet, Rigollet, Chassang and Snowberg,
  "Batched Bandit Problems" (2016); they share `grids` (ends of batches) and `elimination`.
- `ucb1`: Auer, Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem"
  (2002).
- `sw-ucb`, `d-ucb`: Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
  Problems" (ALT 2011), for means that jump.
- `thompson-gaussian`: Thompson sampling with Gaussian rewards.
- `double_etc`: double explore-then-commit, Jin, Xu, Xiao and Gu (COLT 2021), seven algorithms.
"""
