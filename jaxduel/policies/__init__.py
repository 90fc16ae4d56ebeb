"""Policies, one file per algorithm, each a pure state-transition function; and their registry.

Families are folders. A policy registers itself where it is defined: every file here is imported, so
that a new one is found without being named anywhere else.
"""

from importlib import import_module as _import_module
from pkgutil import walk_packages as _walk_packages

from jaxduel.display import exported as _exported
from jaxduel.policies.adversarial.borda_cb import BordaCB as BordaCB
from jaxduel.policies.adversarial.d_exp3 import DEXP3 as DEXP3
from jaxduel.policies.adversarial.rex3 import REX3 as REX3
from jaxduel.policies.adversarial.self_sparring import SelfSparring as SelfSparring
from jaxduel.policies.adversarial.versatile_db import VersatileDB as VersatileDB
from jaxduel.policies.arms.base import BaSE as BaSE
from jaxduel.policies.arms.d_ucb import DUCB as DUCB
from jaxduel.policies.arms.double_etc.anytime import DETCAnytime as DETCAnytime
from jaxduel.policies.arms.double_etc.batched import DETCBatched as DETCBatched
from jaxduel.policies.arms.double_etc.batched_known_gap import (
    DETCBatchedKnownGap as DETCBatchedKnownGap,
)
from jaxduel.policies.arms.double_etc.known_gap import DETCKnownGap as DETCKnownGap
from jaxduel.policies.arms.double_etc.many_arms import DETCArms as DETCArms
from jaxduel.policies.arms.double_etc.minimax import DETCMinimax as DETCMinimax
from jaxduel.policies.arms.double_etc.unknown_gap import DETC as DETC
from jaxduel.policies.arms.etc import ETC as ETC
from jaxduel.policies.arms.successive_elimination import (
    SuccessiveElimination as SuccessiveElimination,
)
from jaxduel.policies.arms.sw_ucb import SWUCB as SWUCB
from jaxduel.policies.arms.thompson_gaussian import ThompsonGaussian as ThompsonGaussian
from jaxduel.policies.arms.ucb1 import UCB1 as UCB1
from jaxduel.policies.base import WITHHELD as WITHHELD
from jaxduel.policies.base import Batch as Batch
from jaxduel.policies.base import Duel as Duel
from jaxduel.policies.base import Feedback as Feedback
from jaxduel.policies.base import Policy as Policy
from jaxduel.policies.base import Pull as Pull
from jaxduel.policies.base import PullBatch as PullBatch
from jaxduel.policies.base import Quiet as Quiet
from jaxduel.policies.base import RewardFeedback as RewardFeedback
from jaxduel.policies.base import SupportsAnswer as SupportsAnswer
from jaxduel.policies.base import SupportsDelay as SupportsDelay
from jaxduel.policies.base import SupportsSharedSkip as SupportsSharedSkip
from jaxduel.policies.base import SupportsSkip as SupportsSkip
from jaxduel.policies.base import SupportsWarmStart as SupportsWarmStart
from jaxduel.policies.batched_dueling.pcomp import PCOMP as PCOMP
from jaxduel.policies.batched_dueling.scomp import SCOMP as SCOMP
from jaxduel.policies.batched_dueling.scomp2 import SCOMP2 as SCOMP2
from jaxduel.policies.best_arm.lucb import LUCB as LUCB
from jaxduel.policies.best_arm.sequential_halving import SequentialHalving as SequentialHalving
from jaxduel.policies.best_arm.successive_rejects import SuccessiveRejects as SuccessiveRejects
from jaxduel.policies.best_arm.top_two_thompson import TopTwoThompson as TopTwoThompson
from jaxduel.policies.best_arm.uniform_arms import UniformArms as UniformArms
from jaxduel.policies.condorcet.btm import BTM as BTM
from jaxduel.policies.condorcet.interleaved_filter import InterleavedFilter as InterleavedFilter
from jaxduel.policies.condorcet.multisbm import MultiSBM as MultiSBM
from jaxduel.policies.condorcet.rucb import RUCB as RUCB
from jaxduel.policies.condorcet.sparring import Sparring as Sparring
from jaxduel.policies.copeland.ccb import CCB as CCB
from jaxduel.policies.copeland.pbr import PBR as PBR
from jaxduel.policies.copeland.savage import SAVAGE as SAVAGE
from jaxduel.policies.copeland.scb import SCB as SCB
from jaxduel.policies.copeland_rmed.cw_rmed import CWRMED as CWRMED
from jaxduel.policies.copeland_rmed.ecw_rmed import ECWRMED as ECWRMED
from jaxduel.policies.estimation.arena import Arena as Arena
from jaxduel.policies.estimation.round_robin import RoundRobin as RoundRobin
from jaxduel.policies.estimation.uniform import Uniform as Uniform
from jaxduel.policies.identification.dkwt import DKWT as DKWT
from jaxduel.policies.identification.nts import NTS as NTS
from jaxduel.policies.identification.pocowista import Pocowista as Pocowista
from jaxduel.policies.identification.select_then_verify import SelectThenVerify as SelectThenVerify
from jaxduel.policies.many_arms.merge_dts import MergeDTS as MergeDTS
from jaxduel.policies.many_arms.merge_rucb import MergeRUCB as MergeRUCB
from jaxduel.policies.registry import label as label
from jaxduel.policies.registry import make as make
from jaxduel.policies.registry import names as names
from jaxduel.policies.registry import parameters as parameters
from jaxduel.policies.registry import register as register
from jaxduel.policies.report import PolicyReport as PolicyReport
from jaxduel.policies.report import describe as describe
from jaxduel.policies.rmed.rmed1 import RMED1 as RMED1
from jaxduel.policies.rmed.rmed2 import RMED2 as RMED2
from jaxduel.policies.rmed.rmed2fh import RMED2FH as RMED2FH
from jaxduel.policies.thompson.dts import DTS as DTS
from jaxduel.policies.thompson.dts_plus import DTSPlus as DTSPlus
from jaxduel.policies.thompson.pure_dts import PureDTS as PureDTS
from jaxduel.policies.thompson.rcs import RCS as RCS
from jaxduel.policies.warm_start import state_from_wins as state_from_wins
from jaxduel.policies.winner_stays.beat_the_winner import BeatTheWinner as BeatTheWinner
from jaxduel.policies.winner_stays.ws_s import WSS as WSS
from jaxduel.policies.winner_stays.ws_w import WSW as WSW

for _found in _walk_packages(__path__, f"{__name__}."):
    _import_module(_found.name)


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals())
