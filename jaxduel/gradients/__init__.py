"""How regret depends on the instance: its gradient, and relaxed simulators that can be
differentiated."""

from jaxduel.gradients.relaxed import RelaxedGradient as RelaxedGradient
from jaxduel.gradients.relaxed import relaxed_gradient as relaxed_gradient
from jaxduel.gradients.relaxed import relaxed_regret as relaxed_regret
