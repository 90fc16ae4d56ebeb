"""Bounds of an instance, computed without playing it: lower, upper, and optimal allocations.

Constants are factors of log T, natural logarithms, and times are counted in comparisons; the
bounds of batched policies depend on T and the number of batches as a whole, those of identification
on the probability of an error.

Bounds that are a single number take a problem, and give a float computed in float64; or a (K, K)
array of preferences, and give a JAX scalar of its dtype (float32 at least) that can be jitted,
vmapped and differentiated. An array is validated as a problem is, unless it is traced: then NaN,
gradient included, stands where a problem would be refused. Both triangles are read: the chain rule
is right for every parametrisation that keeps p + p.T = 1. Discrete choices, such as who wins, are
constant almost everywhere, and the gradient is that of the branch taken; where two branches meet,
that of one of them or their mean; at probabilities of 0 and 1, where a slope may be infinite,
finite.
"""

from jaxduel.display import exported as _exported
from jaxduel.theory.arm_bounds import adaptive_grid_minimax_rate as adaptive_grid_minimax_rate
from jaxduel.theory.arm_bounds import (
    adaptive_grid_problem_dependent_rate as adaptive_grid_problem_dependent_rate,
)
from jaxduel.theory.arm_bounds import base_minimax_rate as base_minimax_rate
from jaxduel.theory.arm_bounds import base_problem_dependent_rate as base_problem_dependent_rate
from jaxduel.theory.arm_bounds import static_grid_lower_bound as static_grid_lower_bound
from jaxduel.theory.arm_bounds import static_grid_minimax_rate as static_grid_minimax_rate
from jaxduel.theory.arm_bounds import (
    static_grid_problem_dependent_rate as static_grid_problem_dependent_rate,
)
from jaxduel.theory.arm_bounds import static_minimax_lower_bound as static_minimax_lower_bound
from jaxduel.theory.arm_bounds import (
    static_problem_dependent_lower_bound as static_problem_dependent_lower_bound,
)
from jaxduel.theory.arms_report import ArmBoundsReport as ArmBoundsReport
from jaxduel.theory.batched_bounds import pcomp_bound as pcomp_bound
from jaxduel.theory.batched_bounds import scomp2_order as scomp2_order
from jaxduel.theory.batched_bounds import scomp_order as scomp_order
from jaxduel.theory.characteristic_time import CharacteristicTime as CharacteristicTime
from jaxduel.theory.characteristic_time import characteristic_time as characteristic_time
from jaxduel.theory.condorcet import condorcet_lower_bound as condorcet_lower_bound
from jaxduel.theory.condorcet import rmed1_constant as rmed1_constant
from jaxduel.theory.ecw import ecw_allocation as ecw_allocation
from jaxduel.theory.ecw import ecw_constant as ecw_constant
from jaxduel.theory.exploration import CopelandBound as CopelandBound
from jaxduel.theory.hardness import h1 as h1
from jaxduel.theory.hardness import h2 as h2
from jaxduel.theory.identification import (
    identification_lower_bound as identification_lower_bound,
)
from jaxduel.theory.lai_robbins import lai_robbins_constant as lai_robbins_constant
from jaxduel.theory.lower_bound import copeland_lower_bound as copeland_lower_bound
from jaxduel.theory.lower_bound import lower_bound_constant as lower_bound_constant
from jaxduel.theory.report import BoundsReport as BoundsReport
from jaxduel.theory.report import bounds as bounds
from jaxduel.theory.report import proved as proved
from jaxduel.theory.table import Bound as Bound
from jaxduel.theory.uniqueness import copeland_optimum_is_unique as copeland_optimum_is_unique
from jaxduel.theory.uniqueness import ecw_optimum_is_unique as ecw_optimum_is_unique
from jaxduel.theory.uniqueness import optimal_extremes as optimal_extremes
from jaxduel.theory.upper_bounds import ccb_constant as ccb_constant
from jaxduel.theory.upper_bounds import dts_constant as dts_constant
from jaxduel.theory.upper_bounds import dts_loglog_constant as dts_loglog_constant
from jaxduel.theory.upper_bounds import dts_refined_constant as dts_refined_constant
from jaxduel.theory.upper_bounds import scb_order as scb_order


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals())
