"""Chen and Frazier, "Dueling Bandits with Weak Regret" (ICML 2017)."""
