"""Sweeps: grids of policies and instances, stored as they run, resumed after an interruption."""

from jaxduel.studies.sweep.describing.entries import PolicyEntry as PolicyEntry
from jaxduel.studies.sweep.describing.entries import ProblemEntry as ProblemEntry
from jaxduel.studies.sweep.describing.grid import Grid as Grid
from jaxduel.studies.sweep.describing.grid_file import examples as examples
from jaxduel.studies.sweep.describing.grid_file import read_grid as read_grid
from jaxduel.studies.sweep.describing.grid_file import schema as schema
from jaxduel.studies.sweep.reading.dataset import open_sweep as open_sweep
from jaxduel.studies.sweep.sweep import Outcome as Outcome
from jaxduel.studies.sweep.sweep import run_sweep as run_sweep
