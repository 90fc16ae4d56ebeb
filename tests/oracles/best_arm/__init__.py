"""Best-arm identification, with a budget or by sampling rules."""
