"""The second look: what a selection says is missing is looked for once more.

Before a claim is Not Fully Supported because nothing addresses one of its parts, the nodes of the
iteration and the roots that are carried are read once more, for that part and with the words of
what is missing. Where another part is contradicted it would change nothing, and is left out.

Source: ours; docs/adr/0077-second-wording.md. VeriTrail G names lost context as a cause of errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    PartVerdict,
    Side,
)
from veritrail_graph.verifier.ports import Judgement, Selection


@dataclass(frozen=True, slots=True)
class MissingEvidence:
    """The parts that a verdict lacks evidence on, and what is missing.

    Attributes:
        parts: The parts of the claim that nothing addresses, ascending.
        text: What is missing, in the words of the evidence selection.
    """

    parts: tuple[int, ...]
    text: str

    def claim(self, claim: Claim) -> Claim:
        """The claim as it is looked for: those of its parts, and what was missing."""
        parts = (
            tuple(claim.sub_claims[part - 1] for part in self.parts)
            if self._is_apart(claim)
            else ()
        )
        text = parts[0] if len(parts) == 1 else claim.text
        sub_claims = parts if len(parts) > 1 else ()
        return claim.replace(text=f"{text} Still missing: {self.text}", sub_claims=sub_claims)

    def numbered(self, selection: Selection) -> Selection:
        """The selection of the second look, with the parts counted as in the whole claim."""
        return replace(
            selection, evidence=tuple(map(self._numbered, selection.evidence)), settled=None
        )

    def _numbered(self, evidence: Evidence) -> Evidence:
        sentences = tuple(
            CitedSentence.of(one.as_sentence(), one.role, tuple(map(self._side, one.all_sides)))
            for one in evidence.sentences
        )
        return evidence.replace(sentences=sentences)

    def _side(self, side: Side) -> Side:
        part = self.parts[min(side.part, len(self.parts)) - 1]
        return Side(part=part, says=side.says)

    def _is_apart(self, claim: Claim) -> bool:
        return len(claim.sub_claims) >= max(self.parts)


def missing_in(selection: Selection, judgement: Judgement) -> MissingEvidence | None:
    """Return what is to be looked for once more; None: nothing, or it was looked for."""
    text = " ".join(dict.fromkeys(one.missing for one in selection.evidence if one.missing))
    verdicts = {one.verdict for one in judgement.parts}
    parts = tuple(one.part for one in judgement.parts if one.verdict is PartVerdict.NOT_ADDRESSED)
    if not text or not parts or PartVerdict.CONTRADICTED in verdicts or judgement.looked_for:
        return None
    return MissingEvidence(parts, text)


def with_more(selection: Selection, more: Selection, known: Iterable[Evidence]) -> Selection:
    """A selection with what the second look found besides; `known` was found before it."""
    named = {
        (one.node_id, one.sentence)
        for evidence in (*selection.evidence, *known)
        for one in evidence.sentences
    }
    found = []
    for evidence in more.evidence:
        new = [one for one in evidence.sentences if (one.node_id, one.sentence) not in named]
        if new:
            found.append(evidence.replace(sentences=tuple(new)))
    return replace(
        selection,
        evidence=(*selection.evidence, *found),
        dropped_ids=selection.dropped_ids + more.dropped_ids,
        settled=None,
    )
