"""One node: what is said of it, and what of it was cited for which claims.

Source: VeriTrail 3.2 (evidence trail, read downstream).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from veritrail_graph.api.show.words import RANK, Mark, mark_of
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.listed import CitedSentenceHere

MOST_SENTENCES = 25
"""Cited sentences that are shown."""

MOST_CLAIMS = 6
"""Claims that are named beside a sentence."""

WINDOW = 2
"""Pieces of a text that are linked on either side of the one that is shown."""


@dataclass(frozen=True, slots=True)
class CitingClaim:
    """A claim that a sentence was cited for, as evidence or as context that evidence needs."""

    claim_id: str
    text: str
    mark: Mark
    is_evidence: bool


@dataclass(frozen=True, slots=True)
class CitedHere:
    """A sentence of the node that is evidence.

    Attributes:
        index: Its number in the node, counted from 0.
        text: The sentence.
        claims: Claims that it was cited for.
        more: How many claims more.
    """

    index: int
    text: str
    claims: tuple[CitingClaim, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Cited:
    """Sentences of a node that are evidence.

    Attributes:
        sentences: The sentences, in their order in the text.
        left_out: How many more there are among those that were read.
        is_cut: Whether there are more than were read.
    """

    sentences: tuple[CitedHere, ...]
    left_out: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Resting:
    """A claim that depends on the node.

    Attributes:
        claim_id: The claim.
        text: Its text.
        mark: Its state.
        is_evidence: Whether the node is in the claim's evidence trail; else it is only an input,
            direct or not, to the claim's node.
        hops: Steps of the process between the two.
    """

    claim_id: str
    text: str
    mark: Mark
    is_evidence: bool
    hops: int


def cited_here(found: Sequence[CitedSentenceHere], *, is_cut: bool) -> Cited:
    """Sentences with the claims that they were cited for.

    Args:
        found: Every sentence with every claim that it was cited for, by its place in the text.
        is_cut: Whether there are more than were read.
    """
    claims: dict[int, list[CitingClaim]] = {}
    for one in found:
        mark = mark_of(one.verdict, Status.UNDECIDED, indicative=one.indicative)
        claim = CitingClaim(one.claim_id, one.claim, mark, one.is_evidence)
        claims.setdefault(one.index, []).append(claim)
    texts = {one.index: one.text for one in found}
    shown = tuple(
        CitedHere(
            index,
            texts[index],
            tuple(sorted(claims[index], key=lambda claim: RANK[claim.mark.kind])[:MOST_CLAIMS]),
            max(0, len(claims[index]) - MOST_CLAIMS),
        )
        for index in list(texts)[:MOST_SENTENCES]
    )
    return Cited(shown, len(texts) - len(shown), is_cut)


def resting(
    rows: Iterable[Mapping[str, Any]],
    ends: Mapping[str, tuple[Status | None, str | None]] = MappingProxyType({}),
) -> tuple[Resting, ...]:
    """Claims that depend on a node.

    Args:
        rows: Rows of the query `impact`.
        ends: By claim_id, the state of the latest verification without a verdict, and why.
    """
    return tuple(
        Resting(
            row["claim_id"],
            row["claim"],
            mark_of(
                Verdict(row["verdict"]) if row["verdict"] else None,
                *ends.get(row["claim_id"], (None, None)),
            ),
            row["relation"] == "evidence",
            row["hops"],
        )
        for row in rows
    )


def pieces_near(number: int, pieces: int) -> tuple[int, ...]:
    """Pieces of a text to go to: the first, those around this one, and the last."""
    near = range(max(1, number - WINDOW), min(pieces, number + WINDOW) + 1)
    return tuple(sorted({1, *near, pieces}))


def as_text(metadata: str | None) -> str | None:
    """Metadata to be read: a line a value; as it is where it was cut or is none of ours."""
    if not metadata:
        return None
    try:
        return json.dumps(json.loads(metadata), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return metadata
