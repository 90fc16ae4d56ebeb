"""Wu and Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016)."""
