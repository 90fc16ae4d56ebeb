"""Instances to play: preference matrices with their winners and assumptions, and arms with rewards;
a catalogue and generators."""

from jaxduel.display import exported as _exported
from jaxduel.problems.arms import ArmsProblem as ArmsProblem
from jaxduel.problems.arms import adaptive_grid_family as adaptive_grid_family
from jaxduel.problems.arms import bernoulli as bernoulli
from jaxduel.problems.arms import gaussian as gaussian
from jaxduel.problems.arms import one_better_arm as one_better_arm
from jaxduel.problems.arms import static_grid_family as static_grid_family
from jaxduel.problems.assumptions import Violation as Violation
from jaxduel.problems.assumptions import broken_assumptions as broken_assumptions
from jaxduel.problems.assumptions import condorcet_violation as condorcet_violation
from jaxduel.problems.assumptions import preference_order as preference_order
from jaxduel.problems.assumptions import sst_violation as sst_violation
from jaxduel.problems.assumptions import sti_violation as sti_violation
from jaxduel.problems.assumptions import total_order_violation as total_order_violation
from jaxduel.problems.catalogue import CatalogueEntry as CatalogueEntry
from jaxduel.problems.catalogue import entries as entries
from jaxduel.problems.catalogue import load as load
from jaxduel.problems.catalogue import names as names
from jaxduel.problems.dueling import GAP_KINDS as GAP_KINDS
from jaxduel.problems.dueling import DuelingProblem as DuelingProblem
from jaxduel.problems.dueling import from_matrix as from_matrix
from jaxduel.problems.files import from_file as from_file
from jaxduel.problems.generators import arithmetic as arithmetic
from jaxduel.problems.generators import batched_lower_bound as batched_lower_bound
from jaxduel.problems.generators import btl as btl
from jaxduel.problems.generators import btl_from_weights as btl_from_weights
from jaxduel.problems.generators import condorcet_hard as condorcet_hard
from jaxduel.problems.generators import copeland_cycle as copeland_cycle
from jaxduel.problems.generators import random_condorcet as random_condorcet
from jaxduel.problems.generators import random_sst as random_sst
from jaxduel.problems.generators import random_tournament as random_tournament
from jaxduel.problems.piecewise import PiecewiseProblem as PiecewiseProblem
from jaxduel.problems.piecewise import piecewise as piecewise
from jaxduel.problems.report import ArmsReport as ArmsReport
from jaxduel.problems.report import MatrixReport as MatrixReport
from jaxduel.problems.report import examine as examine

Problem = DuelingProblem | ArmsProblem | PiecewiseProblem
"""An instance of any kind."""


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals())
