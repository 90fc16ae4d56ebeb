"""Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019)."""
