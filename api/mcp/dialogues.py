"""Answers about dialogues: values for programs, and text for people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, Field

from veritrail_graph.api.client.faults import Missing
from veritrail_graph.api.client.local import AsyncLocal
from veritrail_graph.api.client.service import AsyncClient
from veritrail_graph.api.mcp.results import TEXT, quoted
from veritrail_graph.api.show.dialogue import (
    check_words,
    claim_mark,
    cut_words,
    setting_words,
    turn_mark,
)
from veritrail_graph.api.show.dialogue_run import ClaimMade, Linked, TurnShown, turns_shown
from veritrail_graph.api.show.document import Document, Room, Tree
from veritrail_graph.api.show.plain import text
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    TURN,
    DialogueRunSummary,
    Speaker,
    Turn,
    TurnClaim,
    TurnVerification,
)

TURNS = 20
"""Turns of an answer."""
CLAIMS = 20
"""Claims that are shown of one turn."""
OTHERS = 5
"""Claims that are shown of those that one contradicts."""
EARLIER = 100
"""Claims of turns before the answer that are read; further ones are shown by their ids."""
RUNS = 5
"""Runs that are named."""
ROOM = Room({"claim": CLAIMS, "contradicted claim": OTHERS, "later claim": OTHERS}, TEXT)


class EarlierClaim(BaseModel):
    """A claim of an earlier turn."""

    turn_id: str | None
    claim: str


class DialogueClaim(BaseModel):
    """A claim of a turn."""

    claim_id: str
    claim: str
    words: str = Field(description="Its category, or why it has none, in words")
    status: str
    category: str | None = Field(
        description="VERIFIED, OUT_OF_SCOPE, CONTRADICTED, LACKING_EVIDENCE or ABSTENTION; null: "
        "it is undecided, its check failed, or the run asked for no categories"
    )
    reason: str | None
    compared_with: int = Field(description="How many remembered claims it was compared with")
    contradicts: list[EarlierClaim]
    error: str | None


class DialogueTurn(BaseModel):
    """A turn; of the assistant's, with what was found."""

    turn_id: str
    role: str
    text: str
    words: str | None = Field(
        description="Its label, or why it has none, in words; null: it is not the assistant's"
    )
    status: str | None
    label: str | None = Field(
        description="VERIFIED or UNVERIFIABLE; null: not checked, undecided, or no claim"
    )
    score: float | None
    claims: list[DialogueClaim]
    claims_left_out: int = 0
    remarks: list[str] = Field(description="What prompts left out, and what the turn check found")


class DialogueShown(BaseModel):
    """Turns of a dialogue; `next` names where to go on."""

    process_id: str
    turns: list[DialogueTurn]
    next: str | None = Field(description="Give it as `after` for the turns behind these")
    runs: list[str] = Field(description="Runs whose results count, or the run that was asked for")
    indicative: bool = Field(description="Whether no model was asked")


class TurnsVerified(DialogueShown):
    """The result of the verification of turns."""

    run_id: str | None
    status: str
    counts: dict[str, int] = Field(
        description="Turns by status; of those that failed, were over the budget or cancelled "
        "nothing is known; undecided ones have claims that cannot be told without a model"
    )
    cost_usd: float | None = Field(description="null: not known, or no model was asked")
    error: str | None


Door = AsyncLocal | AsyncClient


@dataclass(frozen=True, slots=True)
class TurnsRead:
    """Turns of a dialogue as they are read for one answer.

    Attributes:
        process_id: The dialogue.
        turns: The turns.
        found: What was found of them, by turn_id.
        earlier: Claims that they make and contradict, by claim_id.
        next: Where to go on; None: there are no more.
        runs: The runs whose results are shown.
    """

    process_id: str
    turns: Sequence[Turn]
    found: Mapping[str, TurnVerification]
    earlier: Mapping[str, ClaimMade]
    next: str | None
    runs: Sequence[DialogueRunSummary]

    @property
    def indicative(self) -> bool:
        """Return whether no model was asked."""
        return any(one.indicative for one in self.runs)

    @property
    def value(self) -> DialogueShown:
        """Return so much of it as an assistant should read."""
        return DialogueShown(
            process_id=self.process_id,
            turns=[_turn(one, self.found.get(one.turn_id), self.earlier) for one in self.turns],
            next=self.next,
            runs=[_run_words(one) for one in self.runs[:RUNS]],
            indicative=self.indicative,
        )


async def read_turns(
    door: Door,
    process_id: str,
    run_id: str | None = None,
    *,
    only: Sequence[str] = (),
    after: str | None = None,
) -> TurnsRead:
    """Turns of a dialogue with what was found of them; no turn before these is read.

    Args:
        door: The operations.
        process_id: The dialogue.
        run_id: The run; None: what counts for each turn.
        only: Only these turns, in the order of the dialogue; empty: all.
        after: The turn behind which the answer begins; of no effect where turns are named.

    Raises:
        InputError: A turn is not in the dialogue.
        Missing: The dialogue or the run is not stored.
    """
    begin = only[0] if only else after
    page = 1 if len(only) == 1 else TURNS + 2  # with the turn before, and one behind
    pages = door.turns(process_id, from_turn=begin, page=page)
    turns, following = await _slice(aiter(pages), only, after)
    runs = [
        one
        for one in await door.dialogue_runs(process_id)
        if (one.counting if run_id is None else one.run_id == run_id)
    ]
    found: dict[str, TurnVerification] = {}
    wanted = [one.turn_id for one in turns if one.role is Speaker.ASSISTANT]
    refused = () if run_id is not None else (Missing,)
    with suppress(*refused):  # nothing was verified yet
        found = await _found_of(door, process_id, run_id, wanted, is_whole=not only)
    said = await _said(door, process_id, list(found.values()))
    return TurnsRead(process_id, turns, found, said, following, runs)


async def _slice(
    pages: AsyncIterator[Turn], only: Sequence[str], after: str | None
) -> tuple[list[Turn], str | None]:
    """The turns of an answer, and the last of them where there are more."""
    found: list[Turn] = []
    left = set(only)
    async for one in pages:
        if one.turn_id in left if only else one.turn_id != after:
            if len(found) == TURNS:
                return found, found[-1].turn_id
            found.append(one)
            left.discard(one.turn_id)
            if only and not left:
                return found, None
    if left:
        raise InputError(f"Turn {shown(min(left))} is not in the dialogue.", code="wrong_turns")
    return found, None


async def _found_of(
    door: Door, process_id: str, run_id: str | None, wanted: Sequence[str], *, is_whole: bool
) -> dict[str, TurnVerification]:
    """Return what was found of turns of the assistant, read from the first of them to the last.

    Args:
        door: The operations.
        process_id: The dialogue.
        run_id: The run; None: what counts for each turn.
        wanted: The turns, in their order.
        is_whole: Whether no other turn of the assistant is between them.

    Raises:
        Missing: The run is not stored, or nothing was verified.
    """
    found: dict[str, TurnVerification] = {}
    if not wanted:
        return found
    pages = door.verified_turns(process_id, run_id=run_id, from_turn=wanted[0], page=len(wanted))
    async for one in pages:
        if one.turn_id in wanted:
            found[one.turn_id] = one
        elif is_whole:
            break
        if one.turn_id == wanted[-1]:
            break
    return found


async def _said(
    door: Door, process_id: str, found: Sequence[TurnVerification]
) -> dict[str, ClaimMade]:
    """Return the claims that turns make and that these contradict, by their ids.

    A contradicted claim of a turn before is read by itself; one that was removed is left out.
    """
    said = {
        claim.claim_id: ClaimMade(turn.turn_id, claim.claim)
        for turn in found
        for claim in turn.claims
    }
    shown_claims = [claim for turn in found for claim in turn.claims[:CLAIMS]]
    denied = [name for claim in shown_claims for name in claim.contradicts[:OTHERS]]
    for name in [one for one in dict.fromkeys(denied) if one not in said][:EARLIER]:
        with suppress(Missing):
            claim = await door.claim(process_id, name)
            said[name] = ClaimMade(claim.node_id.removeprefix(TURN), claim.text)
    return said


def _run_words(run: DialogueRunSummary) -> str:
    model = f" {one_line(run.model, 100)}" if run.model else ""
    how = setting_words(run.settings)
    model += f", {how}" if how else ""
    engine = one_line(run.engine, 100)
    return f"{run.run_id} ({engine}{model}, {run.counting:,} of {run.turns:,} turns count)"


def _turn(
    turn: Turn, found: TurnVerification | None, said: Mapping[str, ClaimMade]
) -> DialogueTurn:
    claims = found.claims if found is not None else ()
    remarks = cut_words(found) if found is not None else []
    if found is not None and found.error:
        remarks.insert(0, quoted(found.error))
    check = found.turn_check if found is not None else None
    if check is not None and check.contradiction:
        quotes = " against ".join(quoted(one) for one in check.quotes[:2])
        remarks.append(f"{check_words(check)} {quotes}")
    return DialogueTurn(
        turn_id=turn.turn_id,
        role=turn.role,
        text=one_line(turn.text, TEXT),
        words=turn_mark(found).word if turn.role is Speaker.ASSISTANT else None,
        status=found.status if found is not None else None,
        label=found.label if found is not None else None,
        score=found.score if found is not None else None,
        claims=[_claim(one, said) for one in claims[:CLAIMS]],
        claims_left_out=max(0, len(claims) - CLAIMS),
        remarks=remarks,
    )


def _claim(claim: TurnClaim, said: Mapping[str, ClaimMade]) -> DialogueClaim:
    return DialogueClaim(
        claim_id=claim.claim_id,
        claim=one_line(claim.claim, TEXT),
        words=claim_mark(claim).word,
        status=claim.status,
        category=claim.category,
        reason=one_line(claim.reason, TEXT) if claim.reason else None,
        compared_with=len(claim.compared_with),
        contradicts=[
            EarlierClaim(turn_id=made.turn_id, claim=one_line(made.text, TEXT))
            for made in (said.get(one, ClaimMade(None, one)) for one in claim.contradicts[:OTHERS])
        ],
        error=one_line(claim.error, TEXT) if claim.error else None,
    )


def dialogue_text(read: TurnsRead) -> str:
    """Turns of a dialogue, to be read."""
    shown = [TurnShown(one.turn_id, read.found.get(one.turn_id), one) for one in read.turns]
    branches = turns_shown(shown, Linked(earlier=read.earlier))
    lines = [text(Document((Tree((), branches),)), ROOM)]
    if read.next is not None:
        lines.append(f"… and more turns: ask again with after={quoted(read.next)}")
    if not read.runs:
        lines.append("No turn was verified yet; verify_turns does so.")
    if read.indicative:
        lines.append("Indicative only: no language model was asked, words were compared.")
    return "\n".join(lines)


def verified_text(read: TurnsRead, done: TurnsVerified) -> str:
    """Return what the verification of turns came to, to be read."""
    lines = [dialogue_text(read)]
    left = sum(n for status, n in done.counts.items() if not Status(status).is_result)
    if left:
        counts = ", ".join(f"{n:,} {name}" for name, n in done.counts.items())
        lines.append(
            f"{left:,} turn(s) could not be verified ({counts}): nothing is known of them."
        )
    if done.error:
        lines.append(f"The run was stopped: {quoted(done.error)}")
    lines.append(f"Run: {done.run_id}, {done.status}")
    return "\n".join(lines)
