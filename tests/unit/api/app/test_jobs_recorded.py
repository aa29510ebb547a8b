"""The audit log has who did what with a job, whichever door was taken."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from veritrail_graph.api.app.jobs import Jobs
from veritrail_graph.api.auth.access import LOCAL
from veritrail_graph.api.auth.audit import Audit, Filters
from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.chosen import turn_rows
from veritrail_graph.api.jobs.storage import changes
from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.api.settings import Settings

JOB = f"j-{'1' * 32}"
ROW: dict[str, Any] = {
    "job_id": JOB, "run_id": f"r-{'1' * 32}", "process_id": "p", "content_hash": "h",
    "status": "queued", "key_id": "", "name": "local", "input_hash": "i",
    "request": DialogueRequest(dialogue_id="p").to_json(), "settings": "{}",
    "header": json.dumps({"kind": "dialogue", "turns": ["t2"]}), "is_extracted": True,
    "is_cancelled": False, "created_at": "2026-11-21T00:00:00Z",
}  # fmt: skip


def test_who_cancels_and_resumes_a_job_is_recorded_and_nobody_who_is_not_named(
    service: ServiceDatabase,
) -> None:
    async def recorded() -> list[tuple[str, str | None, str]]:
        made = Jobs(Settings(), service, cast(Any, None))  # nothing is asked of the graph
        service.run_now(lambda one: changes.insert(one, ROW, turn_rows(1), made.events))
        await made.cancel(JOB)
        await made.cancel(JOB, by=LOCAL)
        await made.resume(JOB)
        await made.resume(JOB, by=LOCAL)
        await made.stop()
        return [
            (one.action, one.target, one.name) for one in await Audit(service).entries(Filters())
        ]

    assert asyncio.run(recorded()) == [
        ("job.resume", JOB, LOCAL.name), ("job.cancel", JOB, LOCAL.name),
    ]  # fmt: skip
