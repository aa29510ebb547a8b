"""A report as CSV (RFC 4180): one row a claim.

A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a
formula: such a cell gets an apostrophe before it.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Any

from veritrail_graph.api.show.contrast import contrast_of
from veritrail_graph.api.show.costs import UNKNOWN
from veritrail_graph.api.show.parts import failed_words
from veritrail_graph.api.show.reports.data import ReportSource, ReportTrail
from veritrail_graph.api.show.routes import routes_of
from veritrail_graph.api.show.texts import visible
from veritrail_graph.api.show.trail_view import TrailView, trail_view
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Usage, Verdict, Verification

COLUMNS = (
    "process_id", "claim_id", "claim", "node_id", "state", "verdict", "indicative", "error_stages",
    "error_stage_names", "error_nodes", "reason", "review", "reviewed_verdict", "reviews",
    "disputed", "iterations", "nodes_with_evidence", "sentences", "roots_with_evidence", "routes",
    "termination", "q", "engine", "model", "calls", "input_tokens", "output_tokens", "cost_usd",
    "verification_id", "created_at", "content_hash", "question",
    "share_of_nodes", "category", "reused_from", "reuse_reason", "compared_with", "verdict_before",
    "error_stages_before", "share", "escalate_to",
    "failed_parts", "located_by", "source_node", "source_says", "step_node", "step_wrote",
)  # fmt: skip


async def csv_pieces(origin: ReportSource) -> AsyncIterator[str]:
    """The table, row by row."""
    yield csv_line(COLUMNS)
    names = origin.material.process.stage_names
    async for trail in origin.trails(origin.material.claims, counted=True):
        row = row_of(trail)
        row["process_id"] = origin.material.process.process_id
        row["share_of_nodes"] = origin.material.share_of(trail.checked)
        row["question"] = origin.material.question_of(trail.checked.claim.node_id)
        row["error_stage_names"] = "; ".join(
            names.get(stage, "") for stage in trail.checked.error_stages
        )
        yield csv_line([row.get(column) for column in COLUMNS])


def row_of(trail: ReportTrail) -> dict[str, Any]:
    """The cells of a claim by column; None is an empty cell: not known, or nothing."""
    one, found = trail.checked, trail.verification
    row: dict[str, Any] = {
        "claim_id": one.claim.claim_id,
        "claim": one.claim.text,
        "node_id": one.claim.node_id,
        "state": one.state.value,
        "verdict": one.verdict.value if one.verdict else None,
        "indicative": True if one.is_without_model else None,
        "error_stages": "; ".join(map(str, one.error_stages)),
        "reason": one.reason,
        "category": one.category.value if one.category else None,
        "reviews": one.reviewed.reviews if one.reviewed else 0,
    }
    if one.reviewed is not None:
        said = one.reviewed.reviewed_verdict
        row["review"] = one.reviewed.kind.value
        row["reviewed_verdict"] = said.value if said else None
        row["disputed"] = one.reviewed.disputed
    if one.before is not None:
        row["verdict_before"] = one.before.verdict.value if one.before.verdict else None
        row["error_stages_before"] = "; ".join(map(str, one.before.error_stages))
    return row | _of_verification(found) if found is not None else row


def _of_verification(found: Verification) -> dict[str, Any]:
    view = trail_view(found)
    by = found.located_by
    usage, asking = found.usage, judge_mode_of(found)
    return {
        "indicative": found.indicative,
        "error_nodes": "; ".join(node.node_id for node in found.error_nodes),
        "iterations": len(found.iterations),
        "nodes_with_evidence": len(view.nodes),
        "sentences": sum(one.sentences for one in view.iterations),
        "roots_with_evidence": sum(node.ref.is_root for node in view.nodes),
        "routes": routes_of(found, most=1).total,
        "termination": found.termination.value if found.termination else None,
        "q": found.q,
        "engine": found.engine,
        "model": found.model,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": _cost(usage),
        "verification_id": found.verification_id,
        "created_at": found.created_at,
        "content_hash": found.content_hash,
        "reused_from": found.reused_from,
        "reuse_reason": found.reuse_reason,
        "compared_with": found.compared_with,
        "share": asking.share,
        "escalate_to": asking.second,
        "failed_parts": failed_words(found),
        "located_by": by.value if by else None,
        **_pair(view),
    }


def _pair(view: TrailView) -> dict[str, str]:
    """Say what a source says beside what was written of it; empty where the claim is supported."""
    pair = contrast_of(view)
    if pair is None or view.verification.verdict is Verdict.FULLY_SUPPORTED:
        return {}
    wrote = {"step_node": pair.wrote.node_id, "step_wrote": pair.wrote.text}
    if pair.source is None:
        return wrote
    return {"source_node": pair.source.node_id, "source_says": pair.source.text, **wrote}


def _cost(usage: Usage) -> float | str | None:
    """US dollars; an empty cell where no model was asked, and never 0 where it is not known."""
    if usage.cost_usd is not None:
        return usage.cost_usd
    return UNKNOWN if usage.calls or usage.unpriced_calls else None


def csv_line(cells: Sequence[Any]) -> str:
    """A row of CSV; texts are guarded against spreadsheets that compute them."""
    file = io.StringIO()
    csv.writer(file).writerow([_cell(cell) for cell in cells])
    return file.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(visible(value))
    return value
