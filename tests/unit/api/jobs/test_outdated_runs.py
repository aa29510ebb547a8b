"""A run whose process has another content now says so, and names what it left at the endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.jobs.repeating import process_of
from veritrail_graph.graph.errors import NotFound, ProcessConflict, with_advice
from veritrail_graph.graph.model import Process
from veritrail_graph.verifier.models.batch_port import BatchRecord, BatchState

JOB: Any = {"process_id": "harbour", "run_id": "r-7", "content_hash": "a" * 64}


def stored(content_hash: str) -> Process:
    return Process.model_construct(process_id="harbour", content_hash=content_hash)


def batch(number: int, state: BatchState = BatchState.IN_PROGRESS) -> BatchRecord:
    name, since = f"n-{number}", "2026-01-31T09:30:00Z"
    return BatchRecord(name, "http://x", "m", 3, state, since, batch_id=f"batch_{number}")


def asking(found: Process | NotFound) -> Callable[[Any], Awaitable[Any]]:
    async def ask(_question: Any) -> Process:
        if isinstance(found, NotFound):
            raise found
        return found

    return ask


def outdated(found: Process | NotFound, *batches: BatchRecord) -> str:
    async def left() -> list[BatchRecord]:
        return [*batches]

    with pytest.raises(ProcessConflict) as caught:
        asyncio.run(process_of(asking(found), left, JOB))
    return with_advice(caught.value, ADVICE)


def test_a_process_with_the_same_content_is_given() -> None:
    async def left() -> list[BatchRecord]:
        raise AssertionError

    process = stored("a" * 64)
    assert asyncio.run(process_of(asking(process), left, JOB)) is process


def test_batches_that_go_on_are_named_with_what_ends_them() -> None:
    said = outdated(stored("b" * 64), batch(1), batch(2))
    assert said.startswith("Process 'harbour' was replaced or appended to since run r-7 began")
    assert "2 batches of it with 6 lines go on at the endpoint: batch_1, batch_2." in said
    assert "`veritrail verify --cancel r-7` ends them" in said


def test_batches_that_are_being_cancelled_already_are_not() -> None:
    said = outdated(stored("b" * 64), batch(1, BatchState.CANCELLING))
    assert "at the endpoint" not in said
    assert "--cancel" not in said
    assert "`veritrail verify PROCESS` starts a new one." in said


def test_a_removed_process_is_no_unknown_one() -> None:
    unknown = NotFound("No process 'harbour' is stored.", code="process_unknown")
    said = outdated(unknown, batch(1))
    assert said.startswith("Process 'harbour' was removed since run r-7 began")
    assert "1 batch of it with 3 lines goes on at the endpoint: batch_1." in said
