"""Policies that stop, and name an arm at a given error: for `jaxduel.identify(stop="policy")`.

- `nts`, `select-then-verify`: Haddenhorst, Bengs, Brandt and Huellermeier, "Testification of
  Condorcet Winners in Dueling Bandits" (UAI 2021).
- `dkwt`: Haddenhorst, Bengs and Huellermeier, "Identification of the Generalized Condorcet Winner
  in Multi-dueling Bandits" (NeurIPS 2021), for duels.
- `pocowista`: Bengs, Haddenhorst and Huellermeier, "Identifying Copeland Winners in Dueling Bandits
  with Indifferences" (AISTATS 2024).

The first two share `knockout`: matches of a tournament, and the walks that decide a pair.
"""
