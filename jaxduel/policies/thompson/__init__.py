"""Thompson sampling on win counts.

- `dts`, `dts+`, `pure-dts`: Wu and Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016).
- `rcs`: Zoghi, Whiteson, de Rijke and Munos, "Relative Confidence Sampling for Efficient On-Line
  Ranker Evaluation" (WSDM 2014).

They share `sampling` (the state, and votes as coins of exact probability) and `quiet` (how long
arms will only meet themselves), which is made of `leaders` (who wins the vote) and `runs` (how long
a run is, and which coin ends it).
"""
