"""How expected regret depends on the instance: its gradient, exactly, and instances to vary."""

from jaxduel.gradients import families as families
from jaxduel.gradients.score import RegretGradient as RegretGradient
from jaxduel.gradients.score import regret_gradient as regret_gradient
