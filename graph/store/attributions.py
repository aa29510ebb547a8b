"""Attributions: what sentences of a node rest on, as relationships between sentences.

Source: Error-tolerant attribution 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    Faithfulness,
    NodeAttribution,
    SentenceAttribution,
)
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.processes import DELETE_BATCH
from veritrail_graph.graph.store.rows import short
from veritrail_graph.graph.store.trail_writing import Capacity


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
    ) -> int:
        """Store attributions, all or none; only sentences that succeeded are stored.

        They take the place of what the same engine found for these sentences before. Of several
        engines the latest one counts, but one that asks no model never takes the place of one
        that does.

        Args:
            process_id: The process.
            content_hash: Hash of the content that was attributed.
            nodes: The nodes with their sentences.
            run: The run.
            engine: The engine.
            indicative: Whether no model was asked.

        Returns:
            How many sentences were stored.

        Raises:
            NotFound: The process was removed or replaced meanwhile; nothing was stored.
        """
        which = {"process_id": process_id, "run": run, "engine": engine, "indicative": indicative}

        def work(tx: Transaction) -> int:
            written = 0
            for node in nodes:
                done = [one for one in node.sentences if one.status is Status.SUCCEEDED]
                for rows in _batches(done):
                    tx.run(
                        "attribution/clear",
                        process_id=process_id,
                        node_id=node.node_id,
                        indexes=[row["index"] for row in rows],
                        engine=engine,
                    )
                    ((count,),) = tx.run(
                        "attribution/write",
                        content_hash=content_hash,
                        node_id=node.node_id,
                        rows=rows,
                        **which,
                    )
                    if count != len(rows):
                        raise NotFound(
                            f"Process {process_id!r} was removed or replaced meanwhile; what was "
                            "attributed was not stored."
                        )
                    written += count
            while tx.run("process/remove_uncited", process_id=process_id, limit=DELETE_BATCH)[0][0]:
                pass
            return written

        # A second attempt clears what an attempt in doubt has stored.
        return await self._database.write_with(work, repeatable=True)


def _batches(sentences: Sequence[SentenceAttribution]) -> Iterator[list[dict[str, Any]]]:
    """Rows in parts that an engine may be made to hold; one that is too long goes alone."""
    capacity, part = Capacity(), list[dict[str, Any]]()
    for sentence in sentences:
        # While it links a sentence, an engine holds the text of its whole span.
        held = sentence.end + sum(one.end for one in sentence.attributed)
        rows = 1 + len(sentence.attributed)
        if part and not capacity.has(rows, held):
            yield part
            capacity, part = Capacity(), []
        capacity.take(min(rows, capacity.rows), min(held, capacity.held))
        part.append(_row(sentence))
    if part:
        yield part


def _row(sentence: SentenceAttribution) -> dict[str, Any]:
    return {
        "index": sentence.sentence,
        "start": sentence.start,
        "end": sentence.end,
        "text": sentence.text,
        "caption": short(sentence.text),
        "implied_label": _word(sentence.implied_label),
        "judged_label": _word(sentence.judged_label),
        "correction": sentence.correction,
        "attributed": [_source(one) for one in sentence.attributed],
    }


def _word(label: Faithfulness | None) -> str | None:
    return None if label is None else label.value


def _source(one: AttributedSentence) -> list[Any]:
    """A source sentence: [node_id, index, start, end, text, caption, categories]."""
    categories = [category.value for category in one.categories]
    place = [one.node_id, one.sentence, one.start, one.end]
    return [*place, one.text, short(one.text), categories]
