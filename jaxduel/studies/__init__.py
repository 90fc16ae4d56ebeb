"""Studies: sweeps over grids, and papers with their figures and claims."""
