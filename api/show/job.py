"""A job as a document: how far it is, what it asks, and what it costs.

Source: ours (docs/adr/0015-jobs.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from veritrail_graph.api.show.asking import asking_short
from veritrail_graph.api.show.costs import usage_words
from veritrail_graph.api.show.document import (
    Block,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Remark,
    Style,
    Table,
    name,
    names,
    ours,
    quoting,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model.job import Job, JobKind

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Job.asks_models": "its model says it",
        "Job.key_id": "the name of the key is shown",
        "Job.content_hash": "its process says it",
        "Job.since_content": "the process that it is stored as is named",
        "Job.left_out": "warnings name these nodes",
    }
)
"""Fields of the noun that no writer shows, and why."""
NAMED = 5
_PARTS = {
    JobKind.VERIFICATION: "verifications",
    JobKind.ATTRIBUTION: "sentences",
    JobKind.DIALOGUE: "turns",
}
"""What a job has many of."""


def job_shown(job: Job) -> Document:
    """Show a job."""
    about = [Fact("kind", (ours(job.kind.value),)), Fact("status", (ours(job.status.value),))]
    for words, value in (("process", job.process_id), ("run", job.run_id), ("since", job.since),
                         ("submitted by", job.submitted_by)):  # fmt: skip
        if value:
            about.append(Fact(words, (name(value),)))
    if job.model:
        how = f"{asking_short(job.asking)}{', in batches' if job.mode == 'batch' else ''}"
        about.append(Fact("model", (name(job.model), ours(how))))
    if job.escalate_to:
        about.append(Fact("second judge", (name(job.escalate_to),)))
    for words, value in (("created", job.created_at), ("started", job.started_at),
                         ("ended", job.ended_at)):  # fmt: skip
        if value:
            about.append(Fact(words, (ours(value),)))
    counts = ", ".join(f"{number:,} {one}" for one, number in job.counts.items())
    counts = counts or f"{len(job.verification_ids):,}"
    done = [Fact(_PARTS[job.kind], (ours(counts),))]
    for words, ids in (("of", job.verification_ids), ("nodes", job.node_ids),
                       ("turns asked for", job.turn_ids)):  # fmt: skip
        if ids:
            done.append(Fact(words, names(ids, NAMED)))
    if job.reused:
        done.append(Fact("verified before", (ours(f"{job.reused:,}"),)))
    done.append(Fact("in all", (ours(usage_words(job.usage)),)))
    blocks: list[Block] = [Heading((name(job.job_id),)), Facts(tuple(about)), Facts(tuple(done))]
    if job.cancelling:
        blocks.append(Remark((ours("It was cancelled, and something of it still runs."),)))
    if job.error:
        blocks.append(Remark((ours("Error: "), quoting(job.error)), Style.WARNING))
    if job.explanation is not None:
        line: Line = (ours(f"Explanation: {job.explanation.status.value.replace('_', ' ')}"),)
        why = job.explanation.error
        blocks.append(Remark((*line, ours(": "), quoting(why)) if why else line))
    if job.batches:
        rows = tuple(
            ((name(one.batch_id or "being made"),), (name(one.model),), (name(one.status),),
             *((ours(f"{each:,}"),) for each in (one.lines, one.done, one.failed)),
             (ours(one.since),))
            for one in job.batches
        )  # fmt: skip
        blocks.append(Table(("batch", "model", "status", "calls", "done", "failed", "since"), rows))
        blocks.append(Remark((ours(f"It waits for {counted(len(rows), 'batch', 'batches')}."),)))
    blocks += [Remark((ours("Warning: "), quoting(one)), Style.NOTE) for one in job.warnings]
    return Document(tuple(blocks))
