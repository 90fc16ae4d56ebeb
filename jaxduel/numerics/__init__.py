"""Numerical building blocks: samplers with explicit keys, divergences, tails and grids."""

from jaxduel.numerics.bernoulli import evidence_against_half as evidence_against_half
from jaxduel.numerics.beta import beta as beta
from jaxduel.numerics.beta import logit_above_half as logit_above_half
from jaxduel.numerics.beta import propose_logit as propose_logit
from jaxduel.numerics.binomial import binomial as binomial
from jaxduel.numerics.choice import count_true as count_true
from jaxduel.numerics.choice import masked_choice as masked_choice
from jaxduel.numerics.normal import normal as normal
from jaxduel.numerics.tail import signed_tail as signed_tail
from jaxduel.numerics.times import linear_times as linear_times
from jaxduel.numerics.times import log_times as log_times
