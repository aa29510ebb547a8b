"""A process with its trails from one graph to another, and the proof that it arrived.

It goes through a process file in a temporary folder: written from the source, ingested into
the target as any other, so that no reader sees half of it and an interrupted copy is taken up
by the next. Then the target is written out in the same way, and both files are compared.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from veritrail_graph.graph.errors import EngineError, ProcessConflict
from veritrail_graph.graph.exporters.process_file import json_text, write_lines
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import IngestReport, ingest
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.ingest.restoring import restored_id
from veritrail_graph.graph.ingest.write import Progress, no_progress
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.states import READY
from veritrail_graph.graph.temporary import temporary_folder

KEPT_DIGITS, _LONGEST_ID = 12, 128
"""Digits of the content hash in the id of a kept version, and characters of an id."""
_ANY_LENGTH = 2**40
"""A stored text met the limit of the ingest that stored it."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The result of a copy.

    Attributes:
        process_id: The process.
        report: What the target's ingest did.
        nodes: Number of nodes.
        edges: Number of edges.
        claims: Number of claims.
        verifications: Number of verifications.
        reviews: Number of reviews.
    """

    process_id: str
    report: IngestReport
    nodes: int
    edges: int
    claims: int
    verifications: int
    reviews: int


def kept_id(process_id: str, content_hash: str) -> str:
    """The id under which an earlier content of a process is kept when it is replaced."""
    digits = content_hash[:KEPT_DIGITS]
    return f"{process_id[: _LONGEST_ID - KEPT_DIGITS - 1]}.{digits}"


async def keep_version(
    store: Store, process_id: str, *, progress: Progress = no_progress
) -> IngestReport:
    """Store what a process has now under an id of its own, with its verifications.

    Verifications get ids of their own there, which follow from both; doing it again changes
    nothing.

    Args:
        store: The graph.
        process_id: The process.
        progress: Called with what is done so far.

    Raises:
        NotFound: There is no such process.
        ProcessConflict: Another process has the id.
        EngineError: The engine failed; the process itself is as it was.
    """
    process = await store.processes.get(process_id)
    with temporary_folder() as folder:
        file = folder / "kept.jsonl"
        await _write(store, process_id, file)
        name = kept_id(process_id, process.content_hash)
        read = ProcessFileImporter().open(file, ImportOptions(max_node_text=_ANY_LENGTH))
        return await ingest(
            store, read, process_id=name, max_node_text=_ANY_LENGTH, progress=progress
        )


async def with_kept(store: Store, report: IngestReport, kept_as: str | None) -> IngestReport:
    """The report of an ingest that kept what it replaced: what is kept was not removed.

    Args:
        store: The graph.
        report: What the ingest did.
        kept_as: The process that the earlier content is kept as; None: it was not kept.
    """
    if kept_as is None:
        return report
    verifications = await store.processes.count_verifications(kept_as)
    reviews = await store.reviews.count(kept_as)
    return replace(
        report,
        kept_as=kept_as,
        kept_verifications=verifications,
        kept_reviews=reviews,
        removed_verifications=max(report.removed_verifications - verifications, 0),
        removed_reviews=max(report.removed_reviews - reviews, 0),
    )


async def copy_process(
    source: Store,
    target: Store,
    process_id: str,
    *,
    replace: bool = False,
    progress: Progress = no_progress,
) -> Copied:
    """Copy one process and compare what arrived.

    Args:
        source: The graph that has it.
        target: The graph that gets it.
        process_id: The process.
        replace: Whether other content under this id is replaced in the target.
        progress: Called with what is done so far.

    Raises:
        NotFound: The source has no such process.
        ProcessConflict: The target has other content under this id.
        EngineError: An engine failed, or what arrived is not what was sent.
    """
    if not replace:
        await _check_free(source, target, process_id)
    with temporary_folder() as folder:
        sent, arrived = folder / "sent.jsonl", folder / "arrived.jsonl"
        counts = await _write(source, process_id, sent)
        read = ProcessFileImporter().open(sent, ImportOptions(max_node_text=_ANY_LENGTH))
        report = await ingest(
            target, read, replace=replace, max_node_text=_ANY_LENGTH, progress=progress
        )
        await _compare(target, sent, arrived, report)
    return Copied(
        process_id,
        report,
        counts["nodes"],
        counts["edges"],
        counts["claims"],
        counts["verifications"],
        counts["reviews"],
    )


async def _check_free(source: Store, target: Store, process_id: str) -> None:
    """Raise before anything is written when the target has other content.

    Raises:
        ProcessConflict: The target has other content under this id.
    """
    there, here = [await store.processes.state(process_id) for store in (target, source)]
    is_there = there is not None and there.status == READY
    if there and here and is_there and there.content_hash != here.content_hash:
        raise ProcessConflict(
            f"The target has process {process_id!r} with another content.",
            code="other_content_in_target",
            process_id=process_id,
        )


async def _compare(target: Store, sent: Path, arrived: Path, report: IngestReport) -> None:
    """Write out what arrived, and make sure that it is what was sent.

    Raises:
        EngineError: It is not.
    """
    process_id = report.survey.process_id
    await _write(target, process_id, arrived)
    if not await asyncio.to_thread(_is_same, sent, arrived, report):
        raise EngineError(
            f"Process {process_id!r} is not the same in the target as in the source: its "
            "content, claims or verifications differ. Was one of them changed meanwhile? To take "
            "the source's, delete the process in the target and copy it again.",
            code="copy_differs",
            process_id=process_id,
        )


async def _write(store: Store, process_id: str, path: Path) -> dict[str, int]:
    stored = await StoredProcess.open(store.database, process_id)
    with path.open("wb") as file:
        counts = await write_lines(store, stored, file.write)
    await stored.check_unchanged()
    return counts


def _is_same(sent: Path, arrived: Path, report: IngestReport) -> bool:
    """Return whether everything that was sent is in what arrived, and the content is the same.

    The content hash is computed anew from what arrived. A process that was there before may
    hold more claims and verifications, and its nodes in another order.
    """
    if not _is_same_file(sent, arrived):
        there = {_digest(line) for line in _lines(arrived)}
        for line in _lines(sent):
            if not any(_digest(one) in there for one in _spellings(line, report)):
                return False
    read = ProcessFileImporter().open(arrived, ImportOptions(max_node_text=_ANY_LENGTH))
    return survey(read, max_node_text=_ANY_LENGTH).hash == report.survey.hash


def _is_same_file(one: Path, other: Path) -> bool:
    digests = set()
    for path in (one, other):
        with path.open("rb") as file:
            digests.add(hashlib.file_digest(file, "sha256").digest())
    return len(digests) == 1


def _lines(path: Path) -> Iterator[bytes]:
    """Everything behind the header."""
    with path.open("rb") as file:
        next(file)
        yield from file


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16).digest()


def _spellings(line: bytes, report: IngestReport) -> Iterator[bytes]:
    """Yield what a line may have become: ids that belong to another process are others there.

    A verification and its run change their ids together; a review, and the verification that it
    is about, each on its own.
    """
    yield line
    if line.startswith(b'{"verification"'):
        yield _restored(line, report, "verification", ("verification_id", "run_id"))
    elif line.startswith(b'{"review"'):
        for keys in (("review_id", "overrides"), ("review_id",), ("overrides",)):
            yield _restored(line, report, "review", keys)


def _restored(line: bytes, report: IngestReport, kind: str, keys: Sequence[str]) -> bytes:
    """A record under the ids that it gets where its own belong to another process."""
    value = json.loads(line)
    for key in keys:
        name = value[kind].get(key)
        if name is not None:
            value[kind][key] = restored_id(name, report.survey.process_id)
    return f"{json_text(value)}\n".encode()
