"""jaxduel: vectorized simulation of dueling and batched bandits, exactly, for thousands of seeds at
once."""

from importlib.metadata import version

from jaxduel import gradients as gradients
from jaxduel import policies as policies
from jaxduel import problems as problems
from jaxduel import theory as theory
from jaxduel.errors import AssumptionWarning as AssumptionWarning
from jaxduel.errors import InputError as InputError
from jaxduel.errors import SolverError as SolverError
from jaxduel.experiments.sweep import open_sweep as open_sweep
from jaxduel.simulation import Result as Result
from jaxduel.simulation import check_policy as check_policy
from jaxduel.simulation import simulate as simulate
from jaxduel.simulation import simulate_many as simulate_many
from jaxduel.simulation.devices import use_all_cores as use_all_cores

__version__ = version("jaxduel")
