"""Experiments: what is simulated for a figure, measured for a claim, and written to a folder."""
