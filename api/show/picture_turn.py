"""The picture of a claim of a dialogue's turn: what it was checked against, and what it says.

A turn is checked as a whole against its documents and what was said before. There is no way
through steps, so the picture has two columns, and nothing is called the place of an error.

Source: VISTA 3; docs/adr/0067-one-picture.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from veritrail_graph.api.show.decisive import decisive_words
from veritrail_graph.api.show.dialogue import CLAIM_UNDECIDED
from veritrail_graph.api.show.drawing import Drawing, Joint, PictureBox, PictureColumn, Tone
from veritrail_graph.api.show.picture import marked_words
from veritrail_graph.api.show.words import CLAIM_CATEGORY_WORDS
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.finding import WRONG, Finding, FindingNode, FindingQuote
from veritrail_graph.graph.model.turn_claim import TurnClaimFound
from veritrail_graph.graph.word_diff import Piece

_TONES: Mapping[ClaimCategory | None, Tone] = MappingProxyType(
    {ClaimCategory.VERIFIED: Tone.RIGHT, **dict.fromkeys(WRONG, Tone.WRONG)}
)
_AGAINST: Mapping[ClaimCategory | None, str] = MappingProxyType(
    {
        ClaimCategory.VERIFIED: "Its documents, or what was said before, say this",
        ClaimCategory.LACKING_EVIDENCE: "No document of its turn says this",
        ClaimCategory.CONTRADICTED: "The documents of its turn say something else",
        ClaimCategory.OUT_OF_SCOPE: "It says nothing that a document could confirm",
        ClaimCategory.ABSTENTION: "The assistant says that it does not know",
        None: "Nothing decides whether this is so",
    }
)
"""What stands on the side of the sources where no sentence of them is known."""


def turn_picture(found: TurnClaimFound) -> Drawing:
    """Draw a claim of a turn.

    Args:
        found: The claim, with its finding where it is wrong.
    """
    if found.finding is not None:
        return finding_picture(found.finding)
    category = found.result.category
    why = found.result.reason if category is None else None
    verdict = CLAIM_CATEGORY_WORDS[category] if category is not None else _open(found.result.status)
    return _drawn(found.result.claim, category, None, found.turn, verdict, why or "")


def _open(status: Status | None) -> str:
    """Return why there is no category, in words."""
    return CLAIM_UNDECIDED.word if status is Status.UNDECIDED else str(status)


def finding_picture(finding: Finding) -> Drawing:
    """Draw the finding of a claim of a turn.

    Args:
        finding: A finding with a category.

    Raises:
        ValueError: It has none: it is a finding of a verification.
    """
    if finding.category is None or finding.wrote is None:
        raise ValueError("a finding of a verification is drawn by its trail")
    source, wrote = finding.source, finding.wrote
    against = _AGAINST[finding.category]
    news = against[:1].lower() + against[1:]
    if source is not None:
        news = f"contradicts what {source.name} says"
    verdict = CLAIM_CATEGORY_WORDS[finding.category]
    return _drawn(finding.claim, finding.category, source, wrote, verdict, news)


def _drawn(
    claim: str,
    category: ClaimCategory | None,
    source: FindingQuote | None,
    turn: FindingNode,
    verdict: str,
    news: str,
) -> Drawing:
    tone = _TONES.get(category, Tone.OPEN)
    before = after = ""
    if source is None:
        first = PictureBox((Piece(_AGAINST[category]),), Tone.OPEN if tone is Tone.WRONG else tone)
        heading = "Checked against"
    else:
        before, after = decisive_words(source.text, claim, claim)
        said = marked_words(source.text, before)
        first = PictureBox(said, Tone.RIGHT, source.name, source.node_id)
        heading = source.stage_name or "Said before"
    last = PictureBox(marked_words(claim, after), tone, turn.name, turn.node_id, verdict)
    lacks = category is ClaimCategory.LACKING_EVIDENCE
    joint = Joint(
        first.tone, tone, is_broken=bool(before or after) or lacks, source=before, wrote=after
    )
    columns = (
        PictureColumn(heading, (first,)),
        PictureColumn(turn.stage_name or "The turn", (last,)),
    )
    return Drawing(claim, verdict[:1].upper() + verdict[1:], news, columns, (joint,))
