"""Logs of pairwise votes: reading and fitting them, and what further votes would tell.

`read` counts the votes of a file, `from_counts` takes counts, `arena` has the votes of the Chatbot
Arena; `fit` gives a posterior distribution over instances, whose mean is a problem for `simulate`,
sweeps and bounds. `identify` simulates how often the best arm is named after so many votes, and
`plan` how many more votes of a log it takes; `next_pairs` says which pairs come next, and `replay`
how many votes of a log a policy would have needed.
"""

from jaxduel.display import exported as _exported
from jaxduel.votes.asking import next_pairs as next_pairs
from jaxduel.votes.columns import ReadAs as ReadAs
from jaxduel.votes.counts import Votes as Votes
from jaxduel.votes.counts import arena as arena
from jaxduel.votes.counts import from_counts as from_counts
from jaxduel.votes.fitted import Fit as Fit
from jaxduel.votes.fitting import fit as fit
from jaxduel.votes.found import Found as Found
from jaxduel.votes.identifying import identify as identify
from jaxduel.votes.identifying import identify_many as identify_many
from jaxduel.votes.misfit import Cycle as Cycle
from jaxduel.votes.misfit import Misfit as Misfit
from jaxduel.votes.models import MODELS as MODELS
from jaxduel.votes.models import Side as Side
from jaxduel.votes.planned import Plan as Plan
from jaxduel.votes.planning import plan as plan
from jaxduel.votes.posterior import Difference as Difference
from jaxduel.votes.reading import read as read
from jaxduel.votes.recommending import RULES as RULES
from jaxduel.votes.replaying import replay as replay
from jaxduel.votes.sides import Sides as Sides
from jaxduel.votes.voters import Voters as Voters


def __dir__() -> list[str]:
    """The public names."""
    return _exported(globals())
