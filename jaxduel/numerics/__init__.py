"""Samplers with explicit keys, divergences and grids: what the rest of the house computes with."""

from jaxduel.numerics.bernoulli import evidence_against_half as evidence_against_half
from jaxduel.numerics.binomial import binomial as binomial
from jaxduel.numerics.choice import random_member as random_member
from jaxduel.numerics.choice import set_size as set_size
from jaxduel.numerics.grids import linear_grid as linear_grid
from jaxduel.numerics.grids import log_grid as log_grid
