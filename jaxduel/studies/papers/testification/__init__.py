"""Haddenhorst, Bengs, Brandt and Huellermeier, "Testification of Condorcet Winners in Dueling
Bandits" (UAI 2021)."""
