"""The conformance suite: what is asked of every policy, of the package or a user's own."""
