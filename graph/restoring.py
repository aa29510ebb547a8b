"""Verifications, extracted sentences and reviews that an input carries: checked, then stored.

They are checked when the process is, so that nothing is stored of an input that breaks a
rule, and stored when the process is there, a few verifications a transaction. What is stored
already stays, so that an interrupted ingest is finished by the next one.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from veritrail_graph.graph.importers.records import (
    ExtractionRecord,
    ProcessInput,
    ReviewRecord,
    TrailInput,
    VerificationRecord,
)
from veritrail_graph.graph.model import NodeRef, Role, Status, Verification, stages_of
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.store import Store

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest import IngestReport

_AT_ONCE = 50
_NODES_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is stored under the id of a verification."""

    process_id: str
    status: str
    place: int | None
    content_hash: str | None


async def restore(store: Store, source: ProcessInput, report: IngestReport) -> IngestReport:
    """Store what a stored input carries beside its claims, as far as it is not there yet.

    Args:
        store: The graph.
        source: The input; `check_trails` found no fault in it.
        report: What became of its process.

    Raises:
        NotFound: The process was removed or replaced meanwhile.
    """
    if not isinstance(source, TrailInput):
        return report
    await _restore_extractions(store, source, report)
    added = 0
    renamed: list[str] = []
    for records in _groups(source):
        new, others = await _restore_some(store, records, report)
        added += new
        renamed += others
    reviews = await restore_reviews(store, source, report.survey.process_id, set(renamed))
    warnings = report.survey.warnings
    if renamed:
        warnings = (*warnings, _renamed_words(renamed))
    survey = replace(report.survey, warnings=warnings)
    return replace(report, survey=survey, verifications_added=added, reviews_added=reviews)


def restored_id(name: str, process_id: str) -> str:
    """The id of a verification, run or review whose own id belongs to another process.

    It follows from both, so that restoring the same again finds what is there.
    """
    digest = hashlib.sha256(canonical([name, process_id])).hexdigest()
    prefix = next((one for one in ("r", "review") if name.startswith(f"{one}-")), "v")
    return f"{prefix}-{digest[:32]}"


async def restore_reviews(
    store: Store, source: TrailInput, process_id: str, renamed: set[str]
) -> int:
    """Store the reviews of an input that are not there yet; give how many.

    Args:
        store: The graph.
        source: The input.
        process_id: Its process.
        renamed: Verifications that were stored under ids of this process.
    """
    given = [one.review for one in source.trails() if isinstance(one, ReviewRecord)]
    known = await store.reviews.known([one.review_id for one in given])
    own = []
    for one in given:
        name, about = one.review_id, one.overrides
        if known.get(name, process_id) != process_id:
            name = restored_id(name, process_id)
        if about in renamed:
            about = restored_id(about, process_id)
        own.append(one.replace(process_id=process_id, review_id=name, overrides=about))
    return await store.reviews.restore(process_id, own)


def _renamed_words(renamed: Sequence[str]) -> str:
    names = ", ".join(renamed[:3]) + (" …" if len(renamed) > 3 else "")
    return (
        f"{len(renamed):,} verification(s) have ids that belong to another process ({names}); "
        "they were stored under new ids"
    )


async def _restore_extractions(store: Store, source: TrailInput, report: IngestReport) -> None:
    """Store extracted sentences of the nodes that have none yet."""
    found = report.survey
    sentences = [one.sentence for one in source.trails() if isinstance(one, ExtractionRecord)]
    if not sentences:
        return
    claims = store.processes.claim_store
    there = {sentence.node_id for sentence in await claims.sentences(found.process_id)}
    sentences.sort(key=lambda sentence: (sentence.node_id, sentence.position))
    for node_id, some in groupby(sentences, key=lambda sentence: sentence.node_id):
        if node_id not in there:
            await claims.keep_extraction(found.process_id, found.hash, node_id, [*some], ())


def _groups(source: TrailInput) -> Iterator[list[VerificationRecord]]:
    """Verifications in groups that one transaction can hold."""
    records: list[VerificationRecord] = []
    nodes = 0
    for record in source.trails():
        if isinstance(record, VerificationRecord):
            records.append(record)
            nodes += sum(len(one.checked) for one in record.verification.iterations)
            if len(records) >= _AT_ONCE or nodes >= _NODES_AT_ONCE:
                yield records
                records, nodes = [], 0
    if records:
        yield records


async def _restore_some(
    store: Store, records: Sequence[VerificationRecord], report: IngestReport
) -> tuple[int, list[str]]:
    """Store those that are not there; give how many, and whose ids belonged to others."""
    process_id, content_hash = report.survey.process_id, report.survey.hash
    stored = await _stored(store, [record.verification.verification_id for record in records])
    renamed = [
        name for record in records
        if (name := record.verification.verification_id) in stored
        and stored[name].process_id != process_id
    ]  # fmt: skip
    stored |= await _stored(store, [restored_id(name, process_id) for name in renamed])
    taken = set(renamed)
    ready = [
        (_own(one.verification, process_id, one.verification.verification_id in taken), one.place)
        for one in records
    ]
    new = [(found, place) for found, place in ready if _is_missing(found, stored)]
    await _write(store, process_id, content_hash, [found for found, _ in new])
    facts = [
        [found.verification_id, place, found.content_hash]
        for found, place in ready
        if _lacks_facts(found, place, stored.get(found.verification_id))
    ]
    if facts:
        await store.database.write("export/keep_facts", rows=facts)
    return len(new), renamed


async def _stored(store: Store, names: Sequence[str]) -> dict[str, _Stored]:
    if not names:
        return {}
    rows = await store.database.read("export/known_verifications", verification_ids=list(names))
    return {name: _Stored(*facts) for name, *facts in rows}


def _own(found: Verification, process_id: str, is_taken: bool) -> Verification:
    """A verification under the ids that it is stored with."""
    if not is_taken:
        return found.replace(process_id=process_id)
    run_id = found.run_id and restored_id(found.run_id, process_id)
    name = restored_id(found.verification_id, process_id)
    return found.replace(process_id=process_id, verification_id=name, run_id=run_id)


def _is_missing(found: Verification, stored: dict[str, _Stored]) -> bool:
    there = stored.get(found.verification_id)
    return there is None or (there.status == Status.QUEUED and found.status is not Status.QUEUED)


def _lacks_facts(found: Verification, place: int | None, there: _Stored | None) -> bool:
    if there is None:
        return place is not None or found.content_hash is not None
    return (there.place is None and place is not None) or (
        there.content_hash is None and found.content_hash is not None
    )


async def _write(
    store: Store, process_id: str, content_hash: str, found: Sequence[Verification]
) -> None:
    if not found:
        return
    names = {node.node_id for one in found for node in _placed(one)}
    rows = await store.database.read(
        "export/positions", process_id=process_id, node_ids=sorted(names)
    )
    refs = {
        node_id: NodeRef(node_id, stage, position, Role(role))
        for (packed,) in rows
        for node_id, stage, position, role in packed
    }
    placed = [with_nodes(one, refs) for one in found]
    # A verification may be about what the process was before it grew. That is kept too, but it
    # is not what the process is now, which is what writing would ask for.
    ready = [
        one if one.content_hash == content_hash else one.replace(content_hash=None)
        for one in placed
    ]
    await store.trails.write(*ready)


def _placed(found: Verification) -> Iterator[NodeRef]:
    """Nodes of which more than the id is stored with the verification."""
    for iteration in found.iterations:
        yield from iteration.carried_roots
    yield from found.error_nodes
    yield from found.propagated_nodes


def with_nodes(found: Verification, refs: dict[str, NodeRef]) -> Verification:
    """A verification whose nodes say where they stand, as far as that is known."""

    def placed(nodes: Sequence[NodeRef]) -> tuple[NodeRef, ...]:
        return tuple(refs.get(node.node_id, node) for node in nodes)

    iterations = tuple(
        one.replace(checked=placed(one.checked), carried_roots=placed(one.carried_roots))
        for one in found.iterations
    )
    introduced = placed(found.error_nodes)
    return found.replace(
        iterations=iterations,
        error_nodes=introduced,
        error_stages=stages_of(introduced),
        propagated_nodes=placed(found.propagated_nodes),
    )
