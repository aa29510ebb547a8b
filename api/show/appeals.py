"""Sentences that speak to their reader instead of about a matter, in words.

Source: ours (docs/adr/0059-what-nobody-sees.md).
"""

from __future__ import annotations

from collections.abc import Collection

from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Appeal, AppealKind, Iteration, Verification

KIND_WORDS = {
    AppealKind.ORDER: "gives orders",
    AppealKind.ANSWER_KEYS: "has keys of a judge's answer",
    AppealKind.VERDICT_WORD: "has the word of a verdict",
    AppealKind.CHAT_MARKUP: "has the markup of a chat",
    AppealKind.HIDDEN_TEXT: "hides a message",
}
NAMED = 5
"""Sentences that a line names."""


def appeal_words(verification: Verification) -> str | None:
    """That sentences which were read speak to their reader; None: none of them does."""
    read, cited = verification.appeals_read or 0, verification.appeals
    if not cited:
        return _only_read(read) if read else None
    kinds = dict.fromkeys(KIND_WORDS[kind] for one in cited for kind in one.why)
    others = read - len(cited)
    return (
        f"{counted(len(cited), 'sentence')} of the evidence {_speaks(len(cited))} to the reader or "
        f"to a judge instead of about the matter ({', '.join(kinds)}): {_named(cited)}. "
        + (f"{_only_read(others)} " if others > 0 else "")
        + "This changes no verdict; read them before you rely on it."
    )


def cited_words(iteration: Iteration, appeals: Collection[Appeal]) -> str | None:
    """Return which sentences of an iteration speak to their reader; None: none does."""
    places = {(one.node_id, one.sentence) for one in iteration.evidence}
    here = [one for one in appeals if (one.node_id, one.sentence) in places]
    return f"Speaks to the reader or to a judge: {_named(here)}." if here else None


def _only_read(number: int) -> str:
    which = "that was read and not cited" if number == 1 else "that were read and not cited"
    return f"{counted(number, 'sentence')} {which} {_speaks(number)} to the reader or to a judge."


def _speaks(number: int) -> str:
    return "speaks" if number == 1 else "speak"


def _named(appeals: Collection[Appeal]) -> str:
    """The first sentences, by their places."""
    first = [f"sentence {one.sentence} of {one_line(one.node_id, 60)}" for one in appeals][:NAMED]
    more = len(appeals) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")
