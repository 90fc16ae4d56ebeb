"""Policies that compare pairs to estimate preferences, not to earn: no arm ever meets itself.

- `uniform`, `round-robin`: every pair alike, at random or in turn.
- `arena`: Chiang et al., "Chatbot Arena: An Open Platform for Evaluating LLMs by Human Preference"
  (ICML 2024), section 5; its variances by inverse probability weighting are in `weighted_outcomes`,
  the choice of a pair in proportion to weights in `weighted_choice`.
"""
