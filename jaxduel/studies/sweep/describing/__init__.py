"""Grids: descriptions of sweeps, in Python or in a TOML file."""
