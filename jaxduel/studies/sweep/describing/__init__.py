"""Grids: what a sweep is asked for, in Python or in a TOML file."""
