"""Jin, Xu, Xiao and Gu, "Double Explore-then-Commit" (COLT 2021)."""
