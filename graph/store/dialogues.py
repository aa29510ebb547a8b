"""Dialogues: their turns as they were said, and what runs found of them.

A turn is stored when it has ended, in one transaction: its claims, a verification of each claim
with what it was compared with and what it contradicts, and the turn as a whole. A run that was
killed goes on behind the last turn that it stored.

Source: VISTA 3; docs/adr/0037-dialogues.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Claim, NodeRef, Role, Status, Usage
from veritrail_graph.graph.model.ablation import left_out
from veritrail_graph.graph.model.conversation import (
    ClaimPlace,
    Denied,
    DialogueCost,
    DialogueSize,
    FoundTurn,
    SaidTurn,
    TurnCounts,
    Unfinished,
)
from veritrail_graph.graph.model.dialogue import (
    DOCUMENT,
    TURN,
    ClaimCategory,
    DialogueLabel,
    DialogueRunSummary,
    Speaker,
    Turn,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.rows import (
    batches,
    claim_row,
    noun_from,
    parts,
    properties,
    short,
)

METHOD = "vista"
"""The method of the verifications of claims of turns."""

Quotes = Mapping[tuple[str, str], tuple[str, str]]

WHOLE = 2**31 - 1
"""A number of characters that no text has: none is cut."""

_PAGE = 1_000
_READ_AT_ONCE = 50
_LINKS = 5_000
"""Links from verifications to remembered claims in one statement."""
_SUMMARY = tuple(DialogueRunSummary.model_fields)
_SPEAKERS = {speaker.kind: speaker for speaker in Speaker}
_KNOWLEDGE_KIND = "initial knowledge"


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """The turns of a dialogue as they were said.

    Attributes:
        turns: The turns, in their order, without the ids of their documents.
        knowledge: node_id and text of what the assistant counts as knowing at first.
    """

    turns: tuple[Turn, ...]
    knowledge: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RunOfTurns:
    """The fields that all turns of a run have in common.

    Attributes:
        process_id: The dialogue.
        content_hash: Hash of the content that is verified.
        run_id: The run.
        engine: The engine.
        model: The model; None: the engine has none.
        indicative: Whether no model is asked.
        created_at: When the run began.
        settings: What decides its outcome, as canonical JSON.
    """

    process_id: str
    content_hash: str
    run_id: str
    engine: str
    model: str | None
    indicative: bool
    created_at: str
    settings: str


class DialogueStore:
    """Dialogues of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def turns(self, process_id: str) -> StoredTurns:
        """The turns of a dialogue, and its initial knowledge; both empty where it is none."""
        found: list[tuple[int, int, str, str, str]] = []
        after = ""
        while True:
            rows = await self._database.read(
                "dialogue/spans",
                process_id=process_id,
                kinds=[*_SPEAKERS, _KNOWLEDGE_KIND],
                after=after,
                limit=_PAGE,
            )
            found += [
                (stage, position, node_id, kind, text)
                for node_id, kind, stage, position, text in rows
            ]
            if len(rows) < _PAGE:
                break
            after = rows[-1][0]
        found.sort()
        knowledge = [(name, text) for *_, name, kind, text in found if kind == _KNOWLEDGE_KIND]
        turns = [
            Turn.model_construct(
                turn_id=name.removeprefix(TURN), role=_SPEAKERS[kind], text=text, documents=()
            )
            for *_, name, kind, text in found
            if kind in _SPEAKERS and name.startswith(TURN)
        ]
        return StoredTurns(tuple(turns), tuple(knowledge))

    async def documents(
        self, process_id: str, node_ids: Sequence[str]
    ) -> dict[str, tuple[NodeRef, ...]]:
        """The documents that turns were written from, by node_id of the turn."""
        found: dict[str, list[NodeRef]] = {}
        for batch in batches(node_ids):
            rows = await self._database.read(
                "dialogue/documents", process_id=process_id, node_ids=batch
            )
            for turn, node_id, stage, position, role in rows:
                ref = NodeRef(node_id, stage, position, Role(role))
                found.setdefault(turn, []).append(ref)
        return {turn: tuple(refs) for turn, refs in found.items()}

    async def next_position(self, process_id: str) -> int:
        """The place of the next claim of a dialogue."""
        ((position,),) = await self._database.read(
            "ingest/next_claim_position", process_id=process_id
        )
        return int(position)

    async def write(
        self, run: RunOfTurns, turn: Turn, found: TurnVerification, quotes_of: Quotes, position: int
    ) -> None:
        """Store a turn of a run, all or nothing; what the run stored of it before is replaced.

        What counts for the turn is the latest run in which it succeeded, but a run without a
        model never takes the place of one with a model, nor one that leaves a part of the
        method out that of one with the whole method.

        Args:
            run: The run.
            turn: The turn.
            found: What was found.
            quotes_of: By the claim_ids of two claims that contradict each other: what they say.
            position: The place of its first claim among those of the dialogue.

        Raises:
            NotFound: The dialogue was removed or replaced meanwhile; nothing was stored.
        """
        ids = {"process_id": run.process_id, "node_id": turn.node_id, "run_id": run.run_id}
        claims = [
            {**claim_row(_claim_of(turn, one)), "position": position + place}
            for place, one in enumerate(found.claims)
        ]
        rows = [
            _claim_rows(run, turn, one, place, quotes_of) for place, one in enumerate(found.claims)
        ]

        def work(tx: Transaction) -> None:
            written = tx.run(
                "dialogue/write_turn",
                content_hash=run.content_hash,
                properties=turn_row(run, turn, found),
                **ids,
            )
            if not written:
                raise NotFound(
                    f"Dialogue {run.process_id!r} was removed or replaced meanwhile; what was "
                    "found of it was not stored.",
                    code="process_unknown",
                    process_id=run.process_id,
                )
            ((is_known,),) = written
            if is_known:
                tx.run("dialogue/clear_contradictions", **ids)
                tx.run("dialogue/clear_turn", **ids)
            for batch in batches(claims):
                tx.run("ingest/claims", process_id=run.process_id, rows=batch)
            for part in parts(rows, _links, _LINKS):
                tx.run("dialogue/write_claims", rows=part, **ids)
            tx.run("dialogue/put_in_force", **ids)

        # A second attempt replaces what an attempt in doubt has stored.
        await self._database.write_with(work, repeatable=True)

    async def size(self, process_id: str) -> DialogueSize:
        """Return how many turns a dialogue has; none where a process is no dialogue."""
        ((turns, spoken, last),) = await self._database.read(
            "dialogue/size",
            process_id=process_id,
            kinds=list(_SPEAKERS),
            assistant=Speaker.ASSISTANT.kind,
        )
        return DialogueSize(turns, spoken, last or 0)

    async def categories(self, process_id: str) -> dict[str, ClaimCategory | None]:
        """The categories that count, by claim_id; None: undecided. Others are left out."""
        rows = await self._database.read("dialogue/categories", process_id=process_id)
        return {name: ClaimCategory(category) if category else None for name, category in rows}

    async def said(
        self,
        process_id: str,
        after: tuple[int, int] = (-1, -1),
        limit: int = _READ_AT_ONCE,
        *,
        until: int = WHOLE,
        longest: int = WHOLE,
    ) -> list[SaidTurn]:
        """A page of the turns as they were said, each with the ids of its documents.

        Args:
            process_id: The dialogue.
            after: Stage and position of the last turn before the page.
            limit: At most this many.
            until: Number of the last turn that is wanted.
            longest: At most this many characters of a text.
        """
        stage, position = after
        rows = await self._database.read(
            "dialogue/said",
            process_id=process_id,
            kinds=list(_SPEAKERS),
            stage=stage,
            position=position,
            until=until,
            limit=limit,
            longest=longest,
        )
        spoken = [name for name, kind, *_ in rows if kind == Speaker.ASSISTANT.kind]
        documents = await self.documents(process_id, spoken) if spoken else {}
        return [
            SaidTurn(
                Turn.model_construct(
                    turn_id=name.removeprefix(TURN),
                    role=_SPEAKERS[kind],
                    text=text,
                    documents=tuple(
                        ref.node_id.removeprefix(DOCUMENT) for ref in documents.get(name, ())
                    ),
                ),
                number,
                place,
                length,
            )
            for name, kind, number, place, text, length in rows
        ]

    async def page(
        self, process_id: str, run_id: str | None, after: int, limit: int
    ) -> list[FoundTurn]:
        """A page of what was found of the turns of a dialogue, in their order.

        Args:
            process_id: The dialogue.
            run_id: The run; None: what counts for each turn.
            after: Number of the last turn before the page; -1 at first.
            limit: At most this many.
        """
        rows = await self._database.read(
            "dialogue/turns", process_id=process_id, run_id=run_id, after=after, limit=limit
        )
        turns = await self._with_claims(process_id, [one for _, one in rows]) if rows else []
        return [FoundTurn(stage, one) for (stage, _), one in zip(rows, turns, strict=True)]

    async def counts(self, process_id: str, run_id: str | None = None) -> list[TurnCounts]:
        """Return how many claims of each kind every turn has, in their order.

        Args:
            process_id: The dialogue.
            run_id: The run; None: what counts for each turn.
        """
        rows = await self._database.read("dialogue/scores", process_id=process_id, run_id=run_id)
        return [
            TurnCounts(stage, Status(status), label and DialogueLabel(label), *numbers)
            for stage, status, label, *numbers in rows
        ]

    async def costs(
        self, process_ids: Sequence[str], run_id: str | None = None, *, counting: bool = False
    ) -> dict[str, DialogueCost]:
        """Return what the verification of turns came to, by dialogue; others are left out.

        Args:
            process_ids: The dialogues.
            run_id: The run; None: all runs.
            counting: Whether only results that count are added up.
        """
        rows = await self._database.read(
            "dialogue/spent", process_ids=list(process_ids), run_id=run_id, counting=counting
        )
        return {process_id: _cost(*rest) for process_id, *rest in rows}

    async def places(
        self, process_id: str, claim_ids: Sequence[str], longest: int = WHOLE
    ) -> dict[str, ClaimPlace]:
        """Claims by their ids, with the turns that make them; one that is gone is left out."""
        found: dict[str, ClaimPlace] = {}
        for batch in batches(claim_ids):
            rows = await self._database.read(
                "dialogue/places", process_id=process_id, claim_ids=batch, longest=longest
            )
            found |= {row[0]: ClaimPlace(*row) for row in rows}
        return found

    async def denied(
        self,
        process_id: str,
        claim_ids: Sequence[str],
        run_id: str | None,
        most: int,
        longest: int = WHOLE,
    ) -> dict[str, Denied]:
        """By claim_id: the later claims that contradict a claim; others are left out.

        Args:
            process_id: The dialogue.
            claim_ids: The claims.
            run_id: The run; None: what counts for each turn.
            most: At most this many later claims of each.
            longest: At most this many characters of a text.
        """
        found: dict[str, Denied] = {}
        for batch in batches(claim_ids):
            rows = await self._database.read(
                "dialogue/denied", process_id=process_id, claim_ids=batch, run_id=run_id,
                most=most, longest=longest,
            )  # fmt: skip
            for claim_id, number, later in rows:
                places = tuple(
                    ClaimPlace(name, text, node_id, stage) for stage, node_id, name, text in later
                )
                found[claim_id] = Denied(number, places)
        return found

    async def unfinished(self, process_id: str, node_ids: Sequence[str]) -> dict[str, Unfinished]:
        """By node_id: how the latest verification of a turn ended; others are left out."""
        found: dict[str, Unfinished] = {}
        for batch in batches(node_ids):
            rows = await self._database.read(
                "dialogue/unfinished", process_id=process_id, node_ids=batch
            )
            found |= {
                name: Unfinished(Status(status), error, run) for name, status, error, run in rows
            }
        return found

    async def results(self, process_id: str, run_id: str | None = None) -> list[TurnVerification]:
        """Return what was found of the turns of a dialogue, in their order.

        Args:
            process_id: The dialogue.
            run_id: The run; None: what counts for each turn.
        """
        return [one async for page in self.pages(process_id, run_id) for one in page]

    async def pages(
        self, process_id: str, run_id: str | None = None
    ) -> AsyncIterator[list[TurnVerification]]:
        """Yield the same by the page."""
        after = -1
        while page := await self.page(process_id, run_id, after, _READ_AT_ONCE):
            yield [one.found for one in page]
            if len(page) < _READ_AT_ONCE:
                return
            after = page[-1].stage

    async def _with_claims(
        self, process_id: str, turns: Sequence[Mapping[str, Any]]
    ) -> list[TurnVerification]:
        rows = await self._database.read(
            "dialogue/claims",
            process_id=process_id,
            rows=[[one["node_id"], one["run_id"]] for one in turns],
        )
        claims: dict[str, list[TurnClaim]] = {}
        for node_id, values, compared, contradicts in rows:
            claims.setdefault(node_id, []).append(_claim_from(values, compared, contradicts))
        return [_turn_from(one, claims.get(one["node_id"], ())) for one in turns]

    async def runs(self, process_id: str) -> list[DialogueRunSummary]:
        """The runs of a dialogue, newest first."""
        rows = await self._database.read("dialogue/runs", process_id=process_id)
        return [
            noun_from(DialogueRunSummary, dict(zip(_SUMMARY, row, strict=True))) for row in rows
        ]


def verification_id(run_id: str, claim_id: str) -> str:
    """The id of the verification of a claim in a run: the same however often it is written."""
    return f"{run_id}/{claim_id}"


_CHECK = ("contradiction", "quotes", "turn_id", "reason", "model")


def turn_row(run: RunOfTurns, turn: Turn, found: TurnVerification) -> dict[str, Any]:
    """Properties of what a run found of a turn."""
    check = found.turn_check
    made = properties(found, {"claims": True, "turn_check": True})
    made |= {
        "check_contradiction": None if check is None else check.contradiction,
        "check_quotes": list(check.quotes) if check is not None and check.quotes else None,
        "check_turn_id": check and check.turn_id,
        "check_reason": check and check.reason,
        "check_model": check and check.model,
        "process_id": run.process_id,
        "node_id": turn.node_id,
        "run_id": run.run_id,
        "engine": run.engine,
        "model": run.model,
        "indicative": run.indicative,
        "ablated": bool(left_out(run.settings)),
        "created_at": run.created_at,
        "content_hash": run.content_hash,
        "settings": run.settings,
        "in_force": False,
        "caption": short(f"{turn.turn_id}: {_words(found)}"),
    }
    return made


def _words(found: TurnVerification) -> str:
    if found.label is not None:
        return found.label.value.capitalize()
    is_done = found.status is Status.SUCCEEDED
    return "No claims" if is_done else found.status.value.replace("_", " ").capitalize()


def _turn_from(values: Mapping[str, Any], claims: Sequence[TurnClaim]) -> TurnVerification:
    check = None
    if values.get("check_contradiction") is not None:
        given = {name: values.get(f"check_{name}") for name in _CHECK}
        check = noun_from(TurnCheck, given)
    return noun_from(TurnVerification, values, claims=claims, turn_check=check)


def _claim_of(turn: Turn, claim: TurnClaim) -> Claim:
    return Claim(claim_id=claim.claim_id, text=claim.claim, node_id=turn.node_id)


def _claim_rows(
    run: RunOfTurns, turn: Turn, claim: TurnClaim, place: int, quotes_of: Quotes
) -> dict[str, Any]:
    key = verification_id(run.run_id, claim.claim_id)
    category = claim.category
    words = category.value.replace("_", " ").capitalize() if category else claim.status.value
    return {
        "verification_id": key,
        "claim_id": claim.claim_id,
        "properties": {
            "verification_id": key,
            "caption": short(words),
            "process_id": run.process_id,
            "claim_id": claim.claim_id,
            "claim": claim.claim,
            "node_id": turn.node_id,
            "method": METHOD,
            "engine": run.engine,
            "model": run.model,
            "indicative": run.indicative,
            "created_at": run.created_at,
            "status": claim.status.value,
            "category": category and category.value,
            "reasoning": claim.reason,
            "contradicts_knowledge": list(claim.contradicts_knowledge) or None,
            "error": claim.error,
            "content_hash": run.content_hash,
            "run_id": run.run_id,
            "place": place,
        },
        "compared": [[name, number] for number, name in enumerate(claim.compared_with)],
        "contradicts": [
            [name, number, list(quotes_of[claim.claim_id, name])]
            for number, name in enumerate(claim.contradicts)
        ],
    }


def _claim_from(
    values: Mapping[str, Any], compared: Sequence[Any], contradicts: Sequence[Any]
) -> TurnClaim:
    label = None
    if values.get("status") == Status.SUCCEEDED:
        is_verified = values.get("category") == ClaimCategory.VERIFIED
        label = DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE
    return noun_from(
        TurnClaim,
        values,
        reason=values.get("reasoning"),
        label=label,
        compared_with=[name for _, name in sorted(compared)],
        contradicts=[name for _, name in sorted(contradicts)],
    )


def _cost(turns: int, *row: Any) -> DialogueCost:
    calls, cached, given, reread, written, reasoned, cost, unpriced, *rest = row
    usage = Usage(
        calls=calls,
        cached_calls=cached,
        input_tokens=given,
        cached_input_tokens=reread,
        output_tokens=written,
        reasoning_tokens=reasoned,
        cost_usd=None if unpriced else cost,
        unpriced_calls=unpriced,
    )
    return DialogueCost(turns, usage, *rest)


def _links(row: Mapping[str, Any]) -> int:
    """The relationships that a row of a claim becomes."""
    return 1 + len(row["compared"]) + len(row["contradicts"])
