"""Policies for a Condorcet winner, and reductions of duels to bandits.

- `rucb`: Zoghi, Whiteson, Munos and de Rijke, "Relative Upper Confidence Bound for the K-Armed
  Dueling Bandit Problem" (ICML 2014).
- `btm`: Yue and Joachims, "Beat the Mean Bandit" (ICML 2011).
- `interleaved-filter`: Yue, Broder, Kleinberg and Joachims, "The K-armed Dueling Bandits Problem"
  (COLT 2009).
- `sparring`, `multisbm`: Ailon, Karnin and Joachims, "Reducing Dueling Bandits to Cardinal Bandits"
  (ICML 2014); they share `sbm`, the UCB learner of one side.
"""
