"""The votes of the Chatbot Arena, from the file that `jaxduel.problems.downloads` finds."""

from __future__ import annotations

from jaxduel.arguments import switch
from jaxduel.problems.arena import counts
from jaxduel.votes.counts import Votes, from_counts


def arena(both_bad: bool = True) -> Votes:
    """Votes of the Chatbot Arena: 129 language models, the file of 14 August 2024.

    Anonymous battles without duplicates. The file, other people's, is found in the folder
    $JAXDUEL_DATA or the user's cache, else downloaded.

    Args:
      both_bad: count votes that both answers are bad as ties, as `read` does; else leave them out.

    Raises:
      InputError: the file can neither be found nor downloaded, or is not the one expected.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.arena()
      >>> votes
      Votes('arena', K=129, 1,670,250 votes, 576,375 of them ties)
      >>> votes.core(100).num_arms
      31
    """
    both_bad = switch(both_bad, "both_bad")
    found = counts()
    ties = found.ties + found.both_bad if both_bad else found.ties
    return from_counts(found.wins, ties, found.models, "arena")
