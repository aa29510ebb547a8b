"""The earlier turns of the assistant that a claim is held against beside the background.

A claim of a turn may deny what was said before in words that no remembered claim keeps. So the few
exchanges that share most names and words with it are shown when it is categorised, and the latest
ones where fewer share any.

Source: VISTA 9 (selective context retrieval, as future work); the choice is ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log

from veritrail_graph.graph.model.dialogue import Speaker, Turn
from veritrail_graph.verifier import vocabulary
from veritrail_graph.verifier.dialogue.background import Fact
from veritrail_graph.verifier.dialogue.port import History
from veritrail_graph.verifier.excerpts import one_line

MOST_SHOWN = 3
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_TEXTS_KEPT = 4_000


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of the assistant, with what the user said just before it.

    Attributes:
        said: The turn.
        asked: The user's turn; None: something else came before.
    """

    said: Turn
    asked: Turn | None = None

    @property
    def line(self) -> str:
        """The line of a prompt."""
        asked = "" if self.asked is None else f"user: {one_line(self.asked.text)} | "
        return f"(earlier) {asked}assistant: {one_line(self.said.text)}"

    @property
    def fact(self) -> Fact:
        """Return what it says as a fact that a claim may contradict."""
        return Fact(self.said.text, self.said.node_id)


def earlier_exchanges(
    claim: str, history: History, most_turns: int, most: int = MOST_SHOWN
) -> list[Exchange]:
    """The exchanges that a claim is held against, the most alike first.

    A word counts the more, the fewer exchanges have it. Where fewer than `most` share a word with
    the claim, the latest others follow.

    Args:
        claim: The claim.
        history: The turns before its own.
        most_turns: Turns that are looked at, the latest ones.
        most: Exchanges that are chosen.
    """
    every = _exchanges(history, most_turns)
    words = [_words_of(one) for one in every]
    counts = Counter(word for some in words for word in some)
    wanted = _words(claim)

    def likeness(place: int) -> float:
        return sum(log(1 + len(every) / counts[word]) for word in wanted & words[place])

    # Of equally alike ones the latest; so the latest of all follow where nothing is shared.
    chosen = sorted(range(len(every)), key=lambda place: (-likeness(place), -place))
    return [every[place] for place in chosen[:most]]


def in_their_order(exchanges: Sequence[Exchange], history: History) -> list[Exchange]:
    """Exchanges as they were said."""
    chosen = {one.said.turn_id: one for one in exchanges}
    said = (turn.turn_id for _, turn in history.backward() if turn.turn_id in chosen)
    return [chosen[name] for name in islice(said, len(chosen))][::-1]


def _exchanges(history: History, most_turns: int) -> list[Exchange]:
    """The latest exchanges, oldest first."""
    turns = [turn for _, turn in islice(history.backward(), most_turns)][::-1]
    return [
        Exchange(turn, before if before is not None and before.role is Speaker.USER else None)
        for before, turn in zip([None, *turns], turns, strict=False)
        if turn.role is Speaker.ASSISTANT
    ]


def _words_of(one: Exchange) -> frozenset[str]:
    own = _words(one.said.text)
    return own if one.asked is None else own | _words(one.asked.text)


@lru_cache(maxsize=_TEXTS_KEPT)
def _words(text: str) -> frozenset[str]:
    """The words that say what a text is about, inflected forms as one."""
    plain = (word.casefold().replace("\u2019", "'") for word in _WORD.findall(text))
    words = (word.removesuffix("'s") for word in plain)
    return frozenset(
        vocabulary.key(word) for word in words if word not in vocabulary.STOP and "'" not in word
    )
