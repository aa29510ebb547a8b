"""The conversation of a dialogue: its turns, each with its claims and what these contradict.

Nothing here grows with the data: turns come by the page, claims of a page are bounded in number,
and every text is cut by its size in HTML. What is cut can be opened, one turn or one background at
a time.

Source: VISTA 3, A.1.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.show.dialogue import (
    NOT_CHECKED,
    SPEAKER_WORDS,
    check_words,
    claim_counts,
    claim_mark,
    cut_words,
    ended_mark,
    turn_mark,
)
from veritrail_graph.api.show.texts import clip
from veritrail_graph.api.show.words import Mark
from veritrail_graph.graph.model.conversation import ClaimPlace, LinkedClaims, SaidTurn
from veritrail_graph.graph.model.dialogue import (
    DOCUMENT,
    ClaimCategory,
    Speaker,
    TurnClaim,
    TurnVerification,
)

TURNS = 20
"""Turns of a page."""

MOST_CLAIMS = 50
"""Claims of a page."""

OPEN_CLAIMS = 40
"""Claims of the open turn that are shown at a time."""

MOST_OTHERS = 2
"""Claims that are shown of those that one contradicts, and of those that contradict it."""

MOST_BACKGROUND = 200
"""Remembered claims that are shown of those that one was compared with."""

OTHERS_READ = (MOST_OTHERS, MOST_BACKGROUND, 1_000)
"""How much is read of linked claims: of each kind, of a background, characters of a text."""

MOST_DOCUMENTS = 3
"""Documents of a turn that are named."""

TEXT_ROOM = 1_600
"""Bytes of HTML for the text of a turn."""

OPEN_ROOM = 24_000
"""The same for the open turn."""

CLAIM_ROOM = 400
"""Bytes of HTML for a claim."""

REASON_ROOM = 300
"""Bytes of HTML for a reason, or for a quote."""

OTHER_ROOM = 160
"""Bytes of HTML for a claim that is only named."""

LONGEST = OPEN_ROOM
"""Characters of a text that are read for a page."""


def part_with(stage: int) -> int:
    """The page that shows a turn, from 1."""
    return max(stage - 1, 0) // TURNS + 1


@dataclass(frozen=True, slots=True)
class Other:
    """A claim that another one is linked with.

    Attributes:
        claim_id: The claim.
        text: What it says, cut where it is long.
        number: The number of its turn.
    """

    claim_id: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class ClaimInTurn:
    """A claim in its turn.

    Attributes:
        claim_id: The claim.
        text: What it says, cut where it is long.
        mark: Its category, or why it has none.
        reason: The reason; empty: there is none, or it is verified.
        earlier: Claims of earlier turns that it contradicts.
        more_earlier: How many more of them there are.
        knowledge: Facts of the initial knowledge, and earlier turns, that it contradicts.
        is_against_documents: Whether it is contradicted, and by no earlier claim or fact.
        later: Claims of later turns that contradict it.
        more_later: How many more of them there are.
        compared: How many remembered claims were shown with it.
        background: These, where they are open.
    """

    claim_id: str
    text: str
    mark: Mark
    reason: str
    earlier: tuple[Other, ...]
    more_earlier: int
    knowledge: tuple[str, ...]
    is_against_documents: bool
    later: tuple[Other, ...]
    more_later: int
    compared: int
    background: tuple[Other, ...] | None


@dataclass(frozen=True, slots=True)
class CheckRow:
    """The result of the check of a whole turn.

    Attributes:
        is_found: Whether it found a contradiction.
        words: What it says.
        quotes: What the turn says, and what the earlier one said.
        number: The number of the earlier turn; None: it is not known.
        model: The model that was asked.
    """

    is_found: bool
    words: str
    quotes: tuple[str, ...]
    number: int | None
    model: str | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn of the conversation.

    Attributes:
        number: Its number.
        turn_id: The turn.
        node_id: Its node.
        who: Who speaks.
        role: The same for the style sheet.
        text: What is said, cut where it is long.
        is_cut: Whether it was cut.
        is_open: Whether it is the open one.
        documents: node_ids of the first documents that it was written from.
        more_documents: How many more these are.
        mark: Its label, or why it has none; None: it is not the assistant's.
        counts: Its claims by mark.
        score: Its score; None: it has none.
        claims: Its claims, as far as they are shown.
        begin: How many claims come before these.
        total: How many claims it has.
        remarks: What its prompts left out, and why it did not succeed.
        check: What the check of the whole turn found; None: it was not asked.
    """

    number: int
    turn_id: str
    node_id: str
    who: str
    role: str
    text: str
    is_cut: bool
    is_open: bool
    documents: tuple[str, ...] = ()
    more_documents: int = 0
    mark: Mark | None = None
    counts: tuple[tuple[Mark, int], ...] = ()
    score: float | None = None
    claims: tuple[ClaimInTurn, ...] = ()
    begin: int = 0
    total: int = 0
    remarks: tuple[str, ...] = ()
    check: CheckRow | None = None


def shown_claims(
    said: Sequence[SaidTurn],
    found: Mapping[int, TurnVerification],
    opened: int | None,
    begin: int = 0,
    open_claim: str | None = None,
) -> dict[int, tuple[int, tuple[TurnClaim, ...]]]:
    """The claims of a page that are shown, by the number of their turn, behind how many others.

    Args:
        said: The turns.
        found: What was found of them.
        opened: The number of the open turn.
        begin: How many claims of the open turn come before.
        open_claim: A claim of the open turn that is shown in any case.
    """
    claims = {one.stage: found[one.stage].claims for one in said if one.stage in found}
    shown: dict[int, tuple[int, tuple[TurnClaim, ...]]] = {}
    room = MOST_CLAIMS
    if opened is not None and opened in claims:
        mine = claims[opened]
        place = next((n for n, one in enumerate(mine) if one.claim_id == open_claim), None)
        if place is not None:
            begin = place - place % OPEN_CLAIMS
        begin = min(begin, max(len(mine) - 1, 0))
        shown[opened] = (begin, mine[begin : begin + OPEN_CLAIMS])
        room -= len(shown[opened][1])
    others = {number: some for number, some in claims.items() if number not in shown and some}
    fits = sum(map(len, others.values())) <= room
    each = max(room // max(len(others), 1), 1)
    shown |= {number: (0, some if fits else some[:each]) for number, some in others.items()}
    return shown


def rows_of(
    said: Sequence[SaidTurn],
    found: Mapping[int, TurnVerification],
    shown: Mapping[int, tuple[int, Sequence[TurnClaim]]],
    opened: int | None,
    around: LinkedClaims,
) -> list[TurnRow]:
    """The turns of a page.

    Args:
        said: The turns, in their order.
        found: What was found of them, by number.
        shown: The claims that are shown, by number.
        opened: The number of the open turn.
        around: What the claims are linked with.
    """
    return [
        _turn_row(one, found.get(one.stage), shown, one.stage == opened, around) for one in said
    ]


def _turn_row(
    said: SaidTurn,
    found: TurnVerification | None,
    shown: Mapping[int, tuple[int, Sequence[TurnClaim]]],
    is_open: bool,
    around: LinkedClaims,
) -> TurnRow:
    turn = said.turn
    cut = clip(turn.text, OPEN_ROOM if is_open else TEXT_ROOM)
    row = TurnRow(
        number=said.stage,
        turn_id=turn.turn_id,
        node_id=turn.node_id,
        who=SPEAKER_WORDS[turn.role],
        role=turn.role.value,
        text=cut.text,
        is_cut=cut.is_cut or len(turn.text) < said.length,
        is_open=is_open,
    )
    if turn.role is not Speaker.ASSISTANT:
        return row
    begin, claims = shown.get(said.stage, (0, ()))
    left = around.unfinished.get(turn.turn_id) if found is None else None
    mark = turn_mark(found) if left is None else ended_mark(left.status, left.error, "turn")
    return TurnRow(
        number=row.number,
        turn_id=row.turn_id,
        node_id=row.node_id,
        who=row.who,
        role=row.role,
        text=row.text,
        is_cut=row.is_cut,
        is_open=is_open,
        documents=tuple(f"{DOCUMENT}{name}" for name in turn.documents[:MOST_DOCUMENTS]),
        more_documents=max(0, len(turn.documents) - MOST_DOCUMENTS),
        mark=mark,
        counts=tuple(claim_counts(found.claims)) if found is not None else (),
        score=found.score if found is not None else None,
        claims=tuple(_claim_row(one, around) for one in claims),
        begin=begin,
        total=len(found.claims) if found is not None else 0,
        remarks=tuple(_remarks(mark, found)),
        check=_check_row(found, around) if found is not None else None,
    )


def _remarks(mark: Mark, found: TurnVerification | None) -> list[str]:
    """Return what is told below a turn."""
    lines = cut_words(found) if found is not None else []
    if mark == NOT_CHECKED or (found is not None and found.status.is_result):
        return lines
    return [clip(mark.hint, 2 * REASON_ROOM).text, *lines]


def _check_row(found: TurnVerification, around: LinkedClaims) -> CheckRow | None:
    check = found.turn_check
    if check is None:
        return None
    quotes = tuple(clip(one, REASON_ROOM).text for one in check.quotes[:2])
    number = around.numbers.get(check.turn_id) if check.turn_id is not None else None
    model = clip(check.model, OTHER_ROOM).text if check.model else None
    return CheckRow(check.contradiction, check_words(check), quotes, number, model)


def _claim_row(claim: TurnClaim, around: LinkedClaims) -> ClaimInTurn:
    earlier = _others(claim.contradicts[:MOST_OTHERS], around)
    denied = around.denied.get(claim.claim_id)
    knowledge = [around.knowledge.get(name, name) for name in claim.contradicts_knowledge]
    is_verified = claim.category is ClaimCategory.VERIFIED
    reason = claim.error or ("" if is_verified else claim.reason) or ""
    is_open = around.open_claim == claim.claim_id
    return ClaimInTurn(
        claim_id=claim.claim_id,
        text=clip(claim.claim, CLAIM_ROOM).text,
        mark=claim_mark(claim),
        reason=clip(reason, REASON_ROOM).text,
        earlier=earlier,
        more_earlier=max(0, len(claim.contradicts) - MOST_OTHERS),
        knowledge=tuple(clip(one, OTHER_ROOM).text for one in knowledge[:MOST_OTHERS]),
        is_against_documents=claim.category is ClaimCategory.CONTRADICTED
        and not earlier
        and not knowledge,
        later=tuple(map(_other, denied.later[:MOST_OTHERS])) if denied is not None else (),
        more_later=max(0, denied.number - MOST_OTHERS) if denied is not None else 0,
        compared=len(claim.compared_with),
        background=_others(claim.compared_with[:MOST_BACKGROUND], around) if is_open else None,
    )


def _others(claim_ids: Sequence[str], around: LinkedClaims) -> tuple[Other, ...]:
    return tuple(_other(around.places[one]) for one in claim_ids if one in around.places)


def _other(place: ClaimPlace) -> Other:
    return Other(place.claim_id, clip(place.text, OTHER_ROOM).text, place.stage)
