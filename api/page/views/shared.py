"""The notice for a person who comes with a link: who shared it, until when, how it was checked."""

from __future__ import annotations

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.show.rendering import when
from veritrail_graph.api.show.words import BY_WORDS
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.listed import InForce, Tally

MOST_JUDGES = 3
LONGEST_NAME = 100


def shared_words(caller: Caller, tally: Tally) -> tuple[str, ...]:
    """Three sentences for who comes with a link; for everybody else none."""
    if caller.only_process is None:
        return ()
    who = caller.shared_by or "The operator of this service"
    return (
        f"{who} shared it with you, to read and to download.",
        f"The link works until {when(caller.shared_until)}.",
        _checked_words(tally),
    )


def _checked_words(tally: Tally) -> str:
    """Return how the claims were checked, and how many of them have a verdict."""
    if not tally.total:
        return "No claims of it were checked."
    claims = f"of its {counted(tally.total, 'claim')}"
    open_ones = _open_words(tally)
    if not tally.judged:
        return f"None {claims} has a verdict{open_ones or ' yet'}."
    judges = list(dict.fromkeys(map(_judge, tally.in_force)))
    more = len(judges) - MOST_JUDGES
    by = " and ".join(judges[:MOST_JUDGES]) + (f" and {more} more" if more > 0 else "")
    has = "has a verdict" if tally.judged == 1 else "have a verdict"
    words = f"{tally.judged:,} {claims} {has}, given {by}"
    if tally.indicative == tally.judged:
        words += ", which is indicative only"
    elif tally.indicative:
        words += f"; {tally.indicative:,} of them are indicative only"
    return f"{words}{open_ones}."


def _open_words(tally: Tally) -> str:
    """Return what was checked and has no verdict, as the end of a sentence."""
    undecided = tally.states.get(Status.UNDECIDED.value, 0)
    words = ""
    if undecided:
        words += f"; of {undecided:,} the check could not tell whether the sources say it"
    if tally.of_turns:
        words += f"; {tally.of_turns:,} were checked turn by turn, which the conversation shows"
    return words


def _judge(one: InForce) -> str:
    """Return who judged, as the end of a sentence."""
    if one.model is not None:
        return f"by {one.model[:LONGEST_NAME]}"
    if one.engine == BY_WORDS:
        return "by comparing words, without a language model"
    return f"by {one.engine[:LONGEST_NAME]}"
