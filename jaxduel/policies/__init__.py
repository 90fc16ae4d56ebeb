"""Policies, one file per algorithm, each a pure state-transition function; and their registry."""

from jaxduel.display import exported as _exported
from jaxduel.policies.base import WITHHELD as WITHHELD
from jaxduel.policies.base import Batch as Batch
from jaxduel.policies.base import Duel as Duel
from jaxduel.policies.base import FallsQuiet as FallsQuiet
from jaxduel.policies.base import FallsQuietAmong as FallsQuietAmong
from jaxduel.policies.base import Feedback as Feedback
from jaxduel.policies.base import LearnsLate as LearnsLate
from jaxduel.policies.base import Policy as Policy
from jaxduel.policies.base import Pull as Pull
from jaxduel.policies.base import PullBatch as PullBatch
from jaxduel.policies.base import Quiet as Quiet
from jaxduel.policies.base import StartsFromWins as StartsFromWins
from jaxduel.policies.batched_successive_elimination import BaSE as BaSE
from jaxduel.policies.btm import BTM as BTM
from jaxduel.policies.ccb import CCB as CCB
from jaxduel.policies.cw_rmed import CWRMED as CWRMED
from jaxduel.policies.dts import DTS as DTS
from jaxduel.policies.dts_plus import DTSPlus as DTSPlus
from jaxduel.policies.ecw_rmed import ECWRMED as ECWRMED
from jaxduel.policies.etc import ETC as ETC
from jaxduel.policies.interleaved_filter import InterleavedFilter as InterleavedFilter
from jaxduel.policies.multisbm import MultiSBM as MultiSBM
from jaxduel.policies.pbr import PBR as PBR
from jaxduel.policies.pcomp import PCOMP as PCOMP
from jaxduel.policies.pure_dts import PureDTS as PureDTS
from jaxduel.policies.rcs import RCS as RCS
from jaxduel.policies.registry import make as make
from jaxduel.policies.registry import names as names
from jaxduel.policies.registry import parameters as parameters
from jaxduel.policies.registry import register as register
from jaxduel.policies.report import PolicyReport as PolicyReport
from jaxduel.policies.report import describe as describe
from jaxduel.policies.rmed1 import RMED1 as RMED1
from jaxduel.policies.rmed2 import RMED2 as RMED2
from jaxduel.policies.rmed2fh import RMED2FH as RMED2FH
from jaxduel.policies.rucb import RUCB as RUCB
from jaxduel.policies.savage import SAVAGE as SAVAGE
from jaxduel.policies.scb import SCB as SCB
from jaxduel.policies.scomp import SCOMP as SCOMP
from jaxduel.policies.scomp2 import SCOMP2 as SCOMP2
from jaxduel.policies.sparring import Sparring as Sparring
from jaxduel.policies.successive_elimination import SuccessiveElimination as SuccessiveElimination
from jaxduel.policies.thompson_gaussian import ThompsonGaussian as ThompsonGaussian
from jaxduel.policies.ucb1 import UCB1 as UCB1
from jaxduel.policies.warm_start import state_from_wins as state_from_wins


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals())
