"""Experiments: what is simulated for a figure, measured for a claim, and written to a folder."""

from jaxduel.experiments.claims import Claim as Claim
from jaxduel.experiments.claims import Measurement as Measurement
from jaxduel.experiments.estimates import Number as Number
from jaxduel.experiments.estimates import Ratio as Ratio
from jaxduel.experiments.output import OutputFolder as OutputFolder
from jaxduel.experiments.samples import Sample as Sample
