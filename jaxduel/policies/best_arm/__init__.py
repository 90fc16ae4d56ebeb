"""Best-arm identification: policies that pull arms with rewards to name the best one.

With a budget, in rounds:

- `successive-rejects`: Audibert, Bubeck and Munos, "Best Arm Identification in Multi-Armed Bandits"
  (COLT 2010).
- `sequential-halving`: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed
  Bandits" (ICML 2013).

They share `keeping`: the choice of the arms that are left after a round. At a given error, one pull
at a time:

- `lucb`: Kalyanakrishnan, Tewari, Auer and Stone, "PAC Subset Selection in Stochastic Multi-armed
  Bandits" (ICML 2012).

- `top-two-thompson`: Russo, "Simple Bayesian Algorithms for Best Arm Identification" (COLT 2016),
  and T3C of Shang, de Heide, Menard, Kaufmann and Valko, "Fixed-confidence guarantees for Bayesian
  best-arm identification" (AISTATS 2020); it does not stop by itself.

`uniform-arms` pulls all arms in turn.
"""
