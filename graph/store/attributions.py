"""Attributions: what sentences of a node rest on, as relationships between sentences.

Source: Error-tolerant attribution 3.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import NotFound, shown
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedNode,
    AttributedSentence,
    AttributionCategory,
    CarriedSentence,
    Faithfulness,
    NodeAttribution,
    Proposition,
    Revision,
    SentenceAttribution,
    SourceMode,
    StoredNodeAttribution,
    StoredSentence,
    implied_label,
)
from veritrail_graph.graph.store.attributions_kept import WrittenAttributions, keep_judged
from veritrail_graph.graph.store.database import Database, Row, Transaction
from veritrail_graph.graph.store.nodes import MOST_CONTENT
from veritrail_graph.graph.store.removing import DELETE_BATCH
from veritrail_graph.graph.store.rows import noun_from, short
from veritrail_graph.graph.store.trail_writing import Capacity
from veritrail_graph.graph.store.versions import read_ready

_SENTENCE_KEYS = ("sentence", "start", "end", "text")
_PLACES = 1_000

SentencePlace = tuple[str, int, int, int]
"""Where a sentence stands: node_id, number, start, end."""

_SOURCE_KEYS = ("node_id", *_SENTENCE_KEYS, "categories")

_BY_WORDS = "lexical"
"""The engine that asks no model: what its categories imply is a guess, and no label."""


class AttributionStore:
    """Attributions of the processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(
        self,
        process_id: str,
        content_hash: str,
        nodes: Sequence[NodeAttribution],
        *,
        run: str,
        engine: str,
        indicative: bool,
        model: str | None = None,
        against: Against = Against.INPUTS,
        corrects: bool = False,
    ) -> WrittenAttributions:
        """Store attributions, all or none; only sentences that succeeded are stored.

        They take the place of what the same engine found for these sentences before. Of several
        engines the latest one counts, but one that asks no model never takes the place of one
        that does. A sentence that the same engine and model attribute to the same source sentences
        again keeps the judged label and the corrections that this run does not make anew.

        Args:
            process_id: The process.
            content_hash: Hash of the content that was attributed.
            nodes: The nodes with their sentences.
            run: The run.
            engine: The engine.
            indicative: Whether no model was asked.
            model: The model, where the engine has one.
            against: What the nodes were attributed to.
            corrects: Whether the run proposed wordings; these take the place of those that the
                same engine proposed before. A run that proposes none, or whose correction of a
                sentence failed, leaves those of sentences that are attributed to the same source
                sentences again, and removes the others.

        Returns:
            How many sentences were stored, and how many judged labels were removed.

        Raises:
            NotFound: The process was removed or replaced meanwhile; nothing was stored.
        """
        which = {"process_id": process_id, "run": run, "engine": engine, "indicative": indicative}
        known = {
            "attribution_engine": engine,
            "attribution_model": model,
            "attributed_against": against.value,
            "attributed_at": now(),
        }

        def work(tx: Transaction) -> WrittenAttributions:
            written = cleared = unjudged = 0
            for rows in _batches(nodes):
                places = _by_node(rows)
                found = tx.run(
                    "attribution/judged", process_id=process_id, places=places, engine=engine
                )
                kept = keep_judged(
                    rows,
                    found,
                    engine=engine,
                    against=against.value,
                    model=model,
                    indicative=indicative,
                    corrects=corrects,
                )
                unjudged += kept.unjudged
                ((count,),) = tx.run(
                    "attribution/clear", process_id=process_id, places=places, engine=engine
                )
                cleared += count
                ((count,),) = tx.run(
                    "attribution/write", content_hash=content_hash, known=known, rows=rows, **which
                )
                if count != len(rows):
                    raise NotFound(
                        f"Process {process_id!r} was removed or replaced meanwhile; what was "
                        "attributed was not stored."
                    )
                written += count
                if kept.outdated:
                    outdated = [
                        [row["node_id"], row["index"], modes] for row, modes in kept.outdated
                    ]
                    ids = {"process_id": process_id, "rows": outdated, "engine": engine}
                    tx.run("attribution/clear_revisions", **ids)
                if corrects:
                    _write_revisions(tx, process_id, rows, run, engine)
            # Looking for loose ends reads all sentences of the process.
            while cleared:
                ((cleared,),) = tx.run(
                    "process/remove_uncited", process_id=process_id, limit=DELETE_BATCH
                )
            return WrittenAttributions(written, unjudged)

        # A second attempt clears what an attempt in doubt has stored.
        return await self._database.write_with(work, repeatable=True)

    async def places(self, process_id: str, node_ids: Sequence[str]) -> list[SentencePlace]:
        """Return where the attributed sentences of some nodes stand, in no order."""
        found: list[SentencePlace] = []
        for start in range(0, len(node_ids), _PLACES):
            rows = await self._database.read(
                "attribution/places",
                process_id=process_id,
                node_ids=list(node_ids[start : start + _PLACES]),
            )
            found += [(node_id, index, first, end) for node_id, index, first, end in rows]
        return found

    async def of_sentences(
        self, process_id: str, places: Sequence[SentencePlace]
    ) -> list[CarriedSentence]:
        """Sentences with what they rest on; those that are not attributed are left out.

        Args:
            process_id: The process.
            places: Each as node_id, number, start and end.
        """
        found: list[CarriedSentence] = []
        for start in range(0, len(places), _PLACES):
            some = [list(one) for one in places[start : start + _PLACES]]
            rows = await self._database.read(
                "attribution/of_sentences", process_id=process_id, places=some
            )
            for (node_id, *place), known, sources, revisions in rows:
                one = _stored((place, known, sources, revisions), None)
                found.append(noun_from(CarriedSentence, {"node_id": node_id}, **one.__dict__))
        return found

    async def of_node(
        self,
        process_id: str,
        node_id: str,
        run: str | None = None,
        after: tuple[int, int] = (-1, -1),
        limit: int = 200,
    ) -> StoredNodeAttribution:
        """The attributed sentences of a node with what they rest on; none where none is stored.

        Args:
            process_id: The process.
            node_id: The node.
            run: Only what this run found; None: the attribution in force.
            after: `start` and `end` of the last sentence of the page before.
            limit: At most this many sentences; fewer where their texts are very long.

        Raises:
            NotFound: There is no such process or node.
            QueryTimeout: It took longer than a query may.
        """
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.query(
                "attribution/of_node",
                limit + 1,
                process_id=process_id,
                node_id=node_id,
                run=run,
                after_start=after[0],
                after_end=after[1],
            ),
        )
        if not rows:
            known = await self._database.read("nodes/known", process_id=process_id, node_id=node_id)
            if not known:
                raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")
        sentences = _fitting([_stored(row, run) for row in rows[:limit]])
        return noun_from(
            StoredNodeAttribution,
            {"process_id": process_id, "node_id": node_id},
            sentences=sentences,
            more=len(rows) > len(sentences),
        )

    async def before(
        self, process_id: str, node_id: str, number: int
    ) -> tuple[int, int, int] | None:
        """Start, end and number of the last attributed sentence before one with a number.

        None: there is none. No text is read.
        """
        rows = await self._database.read(
            "attribution/before", process_id=process_id, node_id=node_id, number=number
        )
        return None if not rows else (rows[0][0], rows[0][1], rows[0][2])

    async def nodes(
        self, process_id: str, after: tuple[int, int] = (-1, -1), limit: int = 100
    ) -> tuple[list[AttributedNode], bool]:
        """Nodes with attributed sentences by stage and place, and whether there are more.

        Args:
            process_id: The process.
            after: Stage and position of the last node of the page before.
            limit: At most this many.

        Raises:
            NotFound: There is no such process.
            QueryTimeout: It took longer than a query may.
        """
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.query(
                "attribution/nodes",
                limit + 1,
                process_id=process_id,
                after_stage=after[0],
                after_position=after[1],
            ),
        )
        keys = AttributedNode.model_fields
        found = [noun_from(AttributedNode, dict(zip(keys, row, strict=True))) for row in rows]
        return found[:limit], len(found) > limit


def _fitting(sentences: Sequence[StoredSentence]) -> tuple[StoredSentence, ...]:
    """Sentences from the first on, as long as their texts are no longer than one answer may be."""
    left = MOST_CONTENT
    for place, one in enumerate(sentences):
        left -= len(one.text) + sum(len(source.text) for source in one.attributed)
        if left < 0 and place:
            return tuple(sentences[:place])
    return tuple(sentences)


def _stored(row: Row, run: str | None) -> StoredSentence:
    """A sentence from what is stored of it."""
    place, known, sources, revisions = row
    # One read gives the stage and the place of each source: prompts show sources in that order.
    ordered = sorted(sources, key=lambda one: (one[7], one[8], one[0], one[2]))
    in_force = run is None or known["attributed_in"] == run
    attributed = [
        noun_from(AttributedSentence, dict(zip(_SOURCE_KEYS, one[:6], strict=True)))
        for one in ordered
    ]
    propositions = _propositions(known, ordered, attributed) if in_force else ()
    facts = known if in_force else {"engine": ordered[0][6]}
    label: Faithfulness | None = implied_label(attributed, propositions)
    if known["indicative"] if in_force else facts["engine"] == _BY_WORDS:
        # What categories imply is a guess there; what words decided of an earlier run is not kept.
        kept = known["implied_label"] if in_force else None
        label = None if kept is None else Faithfulness(kept)
    return noun_from(
        StoredSentence,
        dict(zip(_SENTENCE_KEYS, place, strict=True)) | facts,
        status=Status.SUCCEEDED,
        attributed=tuple(attributed),
        implied_label=label,
        propositions=propositions,
        run_id=run or known["attributed_in"],
        in_force=in_force,
        revisions=tuple(_revisions(revisions)) if in_force else (),
    )


def _propositions(
    known: Mapping[str, Any],
    rows: Sequence[Sequence[Any]],
    attributed: Sequence[AttributedSentence],
) -> tuple[Proposition, ...]:
    """The propositions of a sentence; none where it was attributed as a whole.

    Args:
        known: What is stored of it.
        rows: Its source sentences as they are read; the last value of each says for which
            propositions it counts.
        attributed: The same source sentences.
    """
    texts, stretches = known["propositions"] or (), known["proposition_spans"] or ()
    found: list[list[AttributedSentence]] = [[] for _ in texts]
    for row, one in zip(rows, attributed, strict=True):
        categories: dict[int, list[AttributionCategory]] = {}
        for number, category in (each.split() for each in row[9] or ()):
            categories.setdefault(int(number), []).append(AttributionCategory(category))
        for number, named in categories.items():
            found[number].append(one.replace(categories=tuple(named)))
    return tuple(
        Proposition(
            spans=_spans(spans),
            text=text,
            attributed=tuple(sources),
            implied_label=implied_label(sources),
        )
        for text, spans, sources in zip(texts, stretches, found, strict=True)
    )


def _spans(written: str) -> tuple[tuple[int, int], ...]:
    """The stretches of a proposition from how they are stored: `0-9 14-30`."""
    pairs = (one.split("-") for one in written.split())
    return tuple((int(start), int(end)) for start, end in pairs)


def _written_spans(one: Proposition) -> str:
    """The stretches of a proposition as they are stored."""
    return " ".join(f"{start}-{end}" for start, end in one.spans)


def _revisions(rows: Sequence[dict[str, Any]]) -> list[Revision]:
    """Proposed wordings, the best first; those of several engines may be there."""
    modes = list(SourceMode)
    found = [noun_from(Revision, row) for row in rows]
    return sorted(found, key=lambda one: (*one.order, modes.index(one.mode)))


def _write_revisions(
    tx: Transaction,
    process_id: str,
    sentences: Sequence[Mapping[str, Any]],
    run: str,
    engine: str,
) -> None:
    rows = []
    for sentence in sentences:
        place = {name: sentence[name] for name in ("node_id", "index", "start", "end")}
        ids = {"process_id": process_id, **place}
        for one in sentence["revisions"]:
            about = {"revision_id": f"w-{uuid.uuid4().hex}", **ids}
            properties = {**about, **one, "run": run, "engine": engine}
            rows.append({**place, "properties": properties})
    for start in range(0, len(rows), _PLACES):
        some = rows[start : start + _PLACES]
        tx.run("attribution/write_revisions", process_id=process_id, rows=some)


def _batches(nodes: Sequence[NodeAttribution]) -> Iterator[list[dict[str, Any]]]:
    """Rows of sentences that succeeded, in parts that an engine may be made to hold.

    A part has sentences of many nodes; a sentence that is too long goes alone.
    """
    # What a statement writes it does not clear: of two answers for a sentence the later counts.
    latest = {
        (node.node_id, one.sentence): (node.node_id, one)
        for node in nodes
        for one in node.sentences
        if one.status is Status.SUCCEEDED
    }
    capacity, part = Capacity(), list[dict[str, Any]]()
    for node_id, sentence in latest.values():
        # While it links a sentence, an engine holds the text of its whole span.
        held = sentence.end + sum(one.end for one in sentence.attributed)
        rows = 1 + len(sentence.attributed)
        if part and not capacity.has(rows, held):
            yield part
            capacity, part = Capacity(), []
        capacity.take(min(rows, capacity.rows), min(held, capacity.held))
        part.append(_row(node_id, sentence))
    if part:
        yield part


def _by_node(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The numbers of the sentences of each node: [node_id, numbers]."""
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(row["node_id"], []).append(row["index"])
    return [[node_id, indexes] for node_id, indexes in found.items()]


def _row(node_id: str, sentence: SentenceAttribution) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "index": sentence.sentence,
        "start": sentence.start,
        "end": sentence.end,
        "text": sentence.text,
        "caption": short(sentence.text),
        "labels": {
            "implied_label": _word(sentence.implied_label),
            "judged_label": _word(sentence.judged_label),
            "judged_reason": sentence.judged_reason,
            "correction": sentence.correction,
            "corrected_label": _word(sentence.corrected_label),
            "dropped_ids": sentence.dropped_ids or None,
            "propositions": [one.text for one in sentence.propositions] or None,
            "proposition_spans": list(map(_written_spans, sentence.propositions)) or None,
            "proposition_labels": [one.implied_label.value for one in sentence.propositions]
            or None,
        },
        "attributed": [_source(one, sentence.propositions) for one in sentence.attributed],
        "revisions": [_revision(one) for one in sentence.revisions],
        "failed": sentence.error is not None,
    }


def _revision(one: Revision) -> dict[str, Any]:
    """The properties of a proposed wording; what is not known is left out."""
    known = {name: value for name, value in one.json_object().items() if value is not None}
    return {**known, "caption": short(one.text)}


def _word(label: Faithfulness | None) -> str | None:
    return None if label is None else label.value


def _source(one: AttributedSentence, propositions: Sequence[Proposition]) -> list[Any]:
    """A source sentence: [node_id, index, start, end, text, caption, categories, propositions].

    The last value says for which propositions it counts and as what, such as `0 EVIDENCE`; null
    where the sentence was attributed as a whole.
    """
    categories = [category.value for category in one.categories]
    place = [one.node_id, one.sentence, one.start, one.end]
    parts = [
        f"{number} {category.value}"
        for number, proposition in enumerate(propositions)
        for each in proposition.attributed
        if (each.node_id, each.sentence) == (one.node_id, one.sentence)
        for category in each.categories
    ]
    return [*place, one.text, short(one.text), categories, parts or None]
