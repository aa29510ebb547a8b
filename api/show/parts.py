"""Parts of a claim in words: the verdict on each, which failed, and what sentences say of them.

Source: ours (docs/adr/0077-second-wording.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.model import (
    CitedSentence,
    JudgedPart,
    PartVerdict,
    Says,
    Verification,
)
from veritrail_graph.graph.model.part import FAILED

PART_WORDS: Mapping[PartVerdict, str] = MappingProxyType(
    {
        PartVerdict.SUPPORTED: "supported",
        PartVerdict.CONTRADICTED: "contradicted",
        PartVerdict.NOT_ADDRESSED: "not addressed",
        PartVerdict.CONTESTED: "contested",
    }
)
LONGEST_PART = 120
"""Characters of a part that are shown beside its verdict."""


@dataclass(frozen=True, slots=True)
class PartView:
    """A part of a claim with its verdict.

    Attributes:
        number: Its number, counted from 1.
        text: What it says.
        words: The verdict on it.
        reason: The reason for it; empty: none was given.
        is_failed: Whether it makes the claim Not Fully Supported.
    """

    number: int
    text: str
    words: str
    reason: str
    is_failed: bool


def part_views(found: Verification, parts: Sequence[JudgedPart] | None = None) -> list[PartView]:
    """Parts with their verdicts, as far as they were given part by part.

    Args:
        found: The verification; a claim that was not taken apart is its only part.
        parts: The verdicts; None: those behind the final one.
    """
    return [
        PartView(
            one.part,
            found.part_text(one.part),
            PART_WORDS[one.verdict],
            one.reason,
            one.verdict in FAILED,
        )
        for one in (found.parts if parts is None else parts)
    ]


def failed_words(found: Verification) -> str | None:
    """Return which parts of a claim failed, and how; None: none did, or no judge said it."""
    return "; ".join(_failed(found)) or None


def _failed(found: Verification) -> Iterator[str]:
    for one in part_views(found):
        if one.is_failed:
            is_whole = len(found.parts) == 1
            yield one.words if is_whole else f"{one.words}: {one_line(one.text, LONGEST_PART)}"


def side_words(cited: CitedSentence, parts: int = 0) -> str:
    """Return what a sentence says of the claim, such as `against part 2`; empty: no judge said it.

    Args:
        cited: The sentence.
        parts: How many parts the claim has; of one part the number goes without saying.
    """
    if cited.says is None:
        return ""
    if parts == 1:
        return _SAYS[cited.says]
    return ", ".join(f"{_SAYS[one.says]} part {one.part}" for one in cited.all_sides)


_SAYS = {Says.FOR: "for", Says.AGAINST: "against", Says.BOTH: "for and against"}
