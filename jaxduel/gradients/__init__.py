"""Gradients of expected regret with respect to the instance, unbiased from outcomes or biased
through a relaxed simulator; families of instances, and the search for the worst one."""

from jaxduel.display import exported as _exported
from jaxduel.gradients import families as families
from jaxduel.gradients.ascent import WorstCase as WorstCase
from jaxduel.gradients.ascent import worst_case as worst_case
from jaxduel.gradients.relaxed import RelaxedGradient as RelaxedGradient
from jaxduel.gradients.relaxed import relaxed_gradient as relaxed_gradient
from jaxduel.gradients.relaxed import relaxed_regret as relaxed_regret
from jaxduel.gradients.score import RegretGradient as RegretGradient
from jaxduel.gradients.score import regret_gradient as regret_gradient
from jaxduel.gradients.spaces import Space as Space
from jaxduel.gradients.spaces import space as space


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals(), modules=("families",))
