"""The simulator: the only loops over time, on blocks of seeds, and the results with checkpoints."""

from jaxduel.simulation.joining import join as join
from jaxduel.simulation.result import Result as Result
from jaxduel.simulation.result import load_result as load_result
from jaxduel.simulation.simulate import simulate as simulate
from jaxduel.simulation.simulate import simulate_many as simulate_many
