"""A stored process as tables: nodes, edges, claims, verifications, evidence, reviews as CSV.

Texts stand as they are. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a
formula: files for spreadsheets have an apostrophe before it.

Source: VeriTrail 2, 3.2.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from veritrail_graph.graph.exporters.cells import FORMULA, guarded
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Claim, Iteration, Usage, Verification
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.reviews import review_from
from veritrail_graph.graph.store.rows import Properties, claim_from

_SOME_TRAILS = 20
_USAGE = tuple(Usage.model_fields)

COLUMNS: dict[str, tuple[str, ...]] = {
    "nodes": (
        "node_id", "stage", "position", "role", "kind", "step", "model", "prompt", "metadata",
        "origin", "question", "text",
    ),
    "edges": ("source", "target", "cited", "inferred", "score"),
    "claims": (
        "claim_id", "node_id", "text", "start", "end", "also", "sub_claims", "label", "origin",
        "said", "position",
    ),
    "verifications": (
        "verification_id", "claim_id", "claim", "node_id", "status", "verdict", "reasoning",
        "score", "termination", "error_stages", "error_nodes", "propagated_nodes", "iterations",
        "q", "engine", "model", "indicative", "created_at", "run_id", "error", *_USAGE,
        "reused_from", "reuse_reason", "compared_with", "share", "escalate_to",
        "located_by", "value_nodes", "source_node", "source_says", "step_node", "step_wrote",
    ),
    "evidence": (
        "verification_id", "claim_id", "iteration", "interim_verdict", "evidence", "node_id",
        "sentence", "start", "end", "role", "text", "summary", "missing",
    ),
    "reviews": (
        "review_id", "claim_id", "claim", "verdict", "kind", "reason", "reviewer", "recorded_by",
        "created_at", "overrides", "model_verdict", "blind", "adjudicates",
    ),
}  # fmt: skip
"""The columns of each file."""


class Tables:
    """Writes the files.

    Attributes:
        counts: Rows by file.
        formulas: Cells that a spreadsheet would take for a formula.
    """

    def __init__(self, folder: Path, *, for_spreadsheets: bool = False) -> None:
        self._folder = folder
        self._guarded = for_spreadsheets
        self._writers: dict[str, Any] = {}
        self.counts = dict.fromkeys(COLUMNS, 0)
        self.formulas = 0

    async def run(self, store: Store, stored: StoredProcess) -> None:
        """Write everything."""
        with ExitStack() as stack:
            for name, columns in COLUMNS.items():
                file = stack.enter_context(self._open(name))
                self._writers[name] = csv.writer(file)
                self._writers[name].writerow(columns)
            async for spans in stored.spans():
                self._write("nodes", map(_node_row, spans))
            ids = stored.ids
            async for edges in stored.edges():
                self._write("edges", ([ids[u], ids[v], *facts] for u, v, facts in edges))
            async for claims in stored.claims():
                self._write("claims", (_claim_row(claim_from(one), one) for one in claims))
            await self._trails(store, stored.process_id)
            async for reviews in stored.reviews():
                self._write("reviews", map(_review_row, reviews))

    async def _trails(self, store: Store, process_id: str) -> None:
        names = await store.trails.all_ids(process_id)
        names.reverse()
        for start in range(0, len(names), _SOME_TRAILS):
            for found in await store.trails.read(names[start : start + _SOME_TRAILS]):
                self._write("verifications", [_verification_row(found)])
                for iteration in found.iterations:
                    self._write("evidence", _evidence_rows(found, iteration))

    def _open(self, name: str) -> IO[str]:
        # The mark at the beginning tells spreadsheets that it is UTF-8.
        encoding = "utf-8-sig" if self._guarded else "utf-8"
        return (self._folder / f"{name}.csv").open("w", encoding=encoding, newline="")

    def _write(self, name: str, rows: Iterable[list[Any]]) -> None:
        for row in rows:
            self._writers[name].writerow([self._cell(value) for value in row])
            self.counts[name] += 1

    def _cell(self, value: Any) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | tuple):
            return json_text(list(value))
        if isinstance(value, str) and value.startswith(FORMULA):
            self.formulas += 1
            return guarded(value) if self._guarded else value
        return value


def _node_row(span: Properties) -> list[Any]:
    return [span.get(column) for column in COLUMNS["nodes"]]


def _claim_row(claim: Claim, stored: Properties) -> list[Any]:
    also = [list(place) for place in claim.also]
    label = claim.label.value if claim.label else None
    origin = claim.origin.value if claim.origin else None
    where = [claim.start, claim.end, also or None, list(claim.sub_claims), label]
    where += [origin, claim.said]
    return [claim.claim_id, claim.node_id, claim.text, *where, stored.get("position")]


def _verification_row(found: Verification) -> list[Any]:
    asking = judge_mode_of(found)
    return [
        found.verification_id,
        found.claim_id,
        found.claim,
        found.node_id,
        found.status.value,
        found.verdict.value if found.verdict else None,
        found.reasoning,
        found.score,
        found.termination.value if found.termination else None,
        found.error_stages,
        [node.node_id for node in found.error_nodes],
        [node.node_id for node in found.propagated_nodes],
        len(found.iterations),
        found.q,
        found.engine,
        found.model,
        found.indicative,
        found.created_at,
        found.run_id,
        found.error,
        *found.usage.model_dump().values(),
        found.reused_from,
        found.reuse_reason,
        found.compared_with,
        asking.share,
        asking.second,
        *_place_cells(found),
    ]


def _place_cells(found: Verification) -> list[Any]:
    """Return how the place of an error was found, and the two sentences where a value came in."""
    by, place = found.located_by, found.value_place
    cells: list[Any] = [by.value if by else None]
    if place is None:
        return [*cells, *[None] * 5]
    pair = (place.source, place.wrote)
    return [*cells, place.node_ids, *(cell for said in pair for cell in (said.node_id, said.text))]


def _review_row(stored: Properties) -> list[Any]:
    made = review_from(stored).json_object()
    return [made.get(column) for column in COLUMNS["reviews"]]


def _evidence_rows(found: Verification, iteration: Iteration) -> Iterator[list[Any]]:
    interim = iteration.verdict.value if iteration.verdict else None
    of = [found.verification_id, found.claim_id, iteration.number, interim]
    for number, evidence in enumerate(iteration.summaries):
        for cited in evidence.sentences:
            one = cited
            place = [one.node_id, one.sentence, one.start, one.end, cited.role.value, one.text]
            yield [*of, number, *place, evidence.text, evidence.missing]
