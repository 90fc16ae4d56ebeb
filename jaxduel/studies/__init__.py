"""Experiments: simulations for figures, measurements of claims, and the files they produce."""
