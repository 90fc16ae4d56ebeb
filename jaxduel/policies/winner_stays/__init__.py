"""Policies in which the winner of a duel meets the next challenger: small weak regret.

- `ws-w`, `ws-s`: Chen and Frazier, "Dueling Bandits with Weak Regret" (ICML 2017).
- `beat-the-winner`: Pekoez, Ross and Zhang (2020), by a public program.
"""
