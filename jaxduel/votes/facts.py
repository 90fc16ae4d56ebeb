"""Facts about a fit as a whole, for the command line and its page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxduel.display import counted
from jaxduel.problems.strengths import preferences
from jaxduel.votes.counts import groups_text
from jaxduel.votes.design import spread_of
from jaxduel.votes.fitted import Fit

_FEW_VOTERS = 30
_Z95 = 1.96
_SHARE = 0.1
"""Of half an interval: a strength that sides move by more is worth a warning."""


def facts(fit: Fit, groups: bool = True) -> list[str]:
    """Lines about a fit as a whole: the votes, the model, how the file was read, voters, and sides.

    Args:
      fit: the fit.
      groups: say which groups of arms only the prior compares; `jaxduel.votes.fit` warns of them.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.votes.facts import facts
      >>> facts(jd.votes.fit(jd.votes.from_counts([[0, 9], [6, 0]])))
      ['votes: 2 arms, 15 votes, 0 of them ties; model btl']
    """
    votes = fit.votes
    title = (
        f"{votes.name}: {votes.num_arms} arms, {counted(votes.num_votes, 'vote')}, "
        f"{votes.num_ties:,} of them ties; model {fit.model}{' with sides' * fit.sided}"
    )
    lines = ["; ".join([title, *votes.notes]), *_of_voters(fit), *_of_sides(fit)]
    apart = groups_text(votes, fit.model == "davidson") if groups else ""
    return [*lines, f"warning: {apart}"] if apart else lines


def _of_voters(fit: Fit) -> Iterator[str]:
    if fit.votes.voters is None or fit.design_effect is None:
        return
    few = fit.votes.voters.num_voters < _FEW_VOTERS
    yield (
        "intervals allow for voters: variances of differences are "
        f"{fit.design_effect:.2f} times those of independent votes"
        + ", and intervals no shorter than theirs" * (fit.design_effect < 1)
        + "; so few voters tell little of it, hence long intervals" * few
    )


def _of_sides(fit: Fit) -> Iterator[str]:
    """The effect of sides, or a warning where it was not fitted and moves strengths."""
    if fit.posterior is None or fit.votes.sides is None or fit.strength_intervals is None:
        return
    sided, mode = fit.posterior_with_sides(True), fit.mode_with_sides(True)
    if fit.side is not None:
        value, low, high, above, moved = fit.side
        yield (
            f"left side: {value:+.2f} with 95 % interval [{low:.2f}, {high:.2f}], above 0 with "
            f"probability {above:.3f}; level arms win {_level(fit, value):.1%} of votes there; "
            f"strengths move by up to {moved:.2f}"
        )
        plain = fit.posterior_with_sides(False)
        if sided.num_comparable == plain.num_comparable:
            yield (
                "warning: arms stood in an order that cannot tell sides from strengths: between "
                "these the prior decides"
            )
        return
    value, variance = mode.parameters[-1], np.sum(mode.factor[-1] ** 2)
    if fit.votes.voters is not None:
        by_voters, independent = spread_of(sided, mode, fit.votes.voters).covariances(mode)
        variance *= max(by_voters[-1, -1] / independent[-1, -1], 1)
    moved = np.abs(mode.strengths - fit.strengths)
    half = np.ptp(fit.strength_intervals, axis=1) / 2
    if value**2 > _Z95**2 * variance and (moved > _SHARE * half).any():
        yield (
            f"warning: the left side matters (level arms win {_level(fit, value):.1%} of votes "
            f"there), and arms stood there unequally often, which moves strengths by up to "
            f"{moved.max():.2f}: fit with --side (in Python side=True)"
        )


def _level(fit: Fit, side: float) -> float:
    """The probability that the left of two level arms wins a vote."""
    return float(preferences(fit.model, np.asarray(side), np.log(fit.nu or 1.0)))
