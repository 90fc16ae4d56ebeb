"""`fit`: models of votes."""

from __future__ import annotations

from jaxduel.arguments import require_known, switch
from jaxduel.errors import InputError
from jaxduel.policies.checks import require_number
from jaxduel.problems.strengths import PRIOR_STD, Posterior, mode_of
from jaxduel.votes.counts import Votes, require_votes, warn_of_groups
from jaxduel.votes.fitted import Fit
from jaxduel.votes.models import MODELS, Model, compared


def fit(
    votes: Votes, model: Model = "btl", *, side: bool = False, prior_std: float = PRIOR_STD
) -> Fit:
    """Fits a model to votes.

    - "free": p_ij ~ Beta(w_ij + 1/2, w_ji + 1/2), pairs independent: nothing is assumed;
    - "btl", "thurstone": strengths with independent priors N(0, prior_std^2), and
      p_ij = 1 / (1 + exp(-d)) or Phi(d), d = theta_i - theta_j;
    - "davidson": btl with ties, P(i), P(j), P(tie) proportional to exp(d/2), exp(-d/2), nu, and log
      nu with the same prior.

    Posteriors of strengths are exact but for the number of draws (`jaxduel.votes.posterior`). Only
    davidson reads ties; other models ignore them. Where voters are known,
    the posterior is as wide as their votes, which are not independent, make it
    (`jaxduel.votes.design`).

    Args:
      votes: the votes.
      model: one of `MODELS`.
      side: fit an effect of the left side with the prior of strengths (`Fit.side`); strengths and
        preferences are without it.
      prior_std: standard deviation of the priors, from 1e-6 to 1e6; the free model has none.

    Raises:
      InputError: an unknown model, a `prior_std` out of range, no decisive vote for a model that
        needs some, no sides that `side` needs, or sides or voters for the free model.

    Warns:
      UserWarning: several groups of arms have no decisive vote between them (for davidson, no tie
        either): the prior decides their order.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 9, 12], [6, 0, 8], [3, 7, 0]])
      >>> fit = jd.votes.fit(votes, "free")
      >>> fit.problem.preferences[0].round(3).tolist()
      [0.5, 0.594, 0.781]
      >>> fit.table()[["arm", "copeland", "borda"]].values.tolist()[0][:2]
      ['0', 2]
    """
    require_known("model", model, MODELS)
    require_votes(votes, "fit", whole=model not in ("btl", "davidson"))
    require_number(
        prior_std, lambda x: (x >= 1e-6) & (x <= 1e6), "prior_std must be from 1e-6 to 1e6"
    )
    with_ties = model == "davidson"
    if not with_ties and not votes.wins.any():
        raise InputError(f"{votes.name} holds ties alone: only the model davidson reads them.")
    if switch(side, "side") and votes.sides is None:
        raise InputError(
            f"fit: {votes.name} has no sides: an effect of sides needs a file with a left and a "
            "right arm, such as columns left, right and winner."
        )
    if model == "free" and (side or votes.voters is not None):
        raise InputError(
            "the free model has no strengths, and takes neither sides nor voters: fit btl, for "
            "example."
        )
    warn_of_groups(votes, with_ties)
    if model == "free":
        return Fit(votes, model, None, None)
    posterior = Posterior(model, compared(votes, model, side), float(prior_std))
    return Fit(votes, model, posterior, mode_of(posterior))
