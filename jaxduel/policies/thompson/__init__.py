"""Thompson sampling on win counts.

- `dts`, `dts+`, `pure-dts`: Wu and Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016).
- `rcs`: Zoghi, Whiteson, de Rijke and Munos, "Relative Confidence Sampling for Efficient On-Line
  Ranker Evaluation" (WSDM 2014).

They share `sampling` (the state, and votes as coins of exact probability) and `quiet` (quiet runs),
which uses `leaders` (probabilities of winning the vote) and `runs` (the length of a run, and the
coin that ends it).
"""
