"""Reports: papers and sweeps as one self-contained HTML page."""
