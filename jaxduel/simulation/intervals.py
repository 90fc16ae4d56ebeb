"""95 % intervals of a mean over seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def t95(groups: int) -> float:
    """The 97.5 % quantile of Student's t with `groups` - 1 degrees of freedom; NaN for one group.

    It is 2.26 for 10 independent runs and 1.96 for many.
    """
    from scipy.special import stdtrit  # here: it takes as long to import as all of jaxduel

    return float(stdtrit(groups - 1, 0.975)) if groups > 1 else float("nan")


def interval95(mean: ArrayLike, sem: ArrayLike, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the 95 % interval of a mean.

    Args:
      mean: estimated means, any shape.
      sem: their standard errors.
      groups: number of independent values behind each mean (seeds, or instances).
    """
    half = t95(groups) * np.asarray(sem)
    return np.asarray(mean) - half, np.asarray(mean) + half
