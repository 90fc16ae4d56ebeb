"""Batched dueling bandits: `pcomp`, `scomp`, `scomp2`.

Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022). All share `rounds` (sizes of
batches, the commitment to a round, elimination); SCOMP and SCOMP2 share `seeds` (the sampling
of seeds, and the switch to PCOMP).
"""
