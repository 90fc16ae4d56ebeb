"""Jin, Xu, Xiao and Gu, "Double Explore-then-Commit: Asymptotic Optimality and Beyond" (COLT 2021).

- `detc-known-gap`, `detc`, `detc-minimax`: two arms, Algorithms 1 to 3.
- `detc-batched-known-gap`, `detc-batched`: two arms in few batches, Algorithms 4 and 5.
- `detc-anytime`: two arms, no horizon, Algorithm 6.
- `detc-arms`: K arms, Algorithm 7.

`detc`, `detc-minimax` and `detc-anytime` plan pulls: they may test after each, for long. The others
plan rounds: pulls that no decision can come between are one round, a pull with a decision after it
is a round of its own. The last commitment costs nothing, but for `detc-anytime`, which has none.
They share `stages`.
"""
