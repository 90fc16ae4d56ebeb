"""Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems" (ALT
2011)."""
