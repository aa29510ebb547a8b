"""The run that goes on: attributions and dialogues of commands begin a job, or take one up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from veritrail_graph.api.requests.dialogue import DialogueRequest
from veritrail_graph.graph.model.job import JobKind

if TYPE_CHECKING:
    from veritrail_graph.api.app.jobs import Jobs, LocalOptions, LocalRun, Progress
    from veritrail_graph.api.requests.attribute import AttributeRequest


async def begin_here(
    jobs: Jobs,
    request: AttributeRequest | DialogueRequest,
    run_id: str | None,
    *,
    here: LocalOptions,
    progress: Progress,
) -> LocalRun:
    """Submit a job that this process carries out, or take up the run that goes on in its place.

    A run of a dialogue that goes on may spend what it wants where no limit is given anew.
    """
    if run_id is None:
        return await jobs.submit_here(request, here=here, progress=progress)
    is_of_dialogue = isinstance(request, DialogueRequest)
    return await jobs.resume_here(
        run_id,
        kind=JobKind.DIALOGUE if is_of_dialogue else JobKind.ATTRIBUTION,
        process_id=request.process_id,
        changes=request.changes,
        anew=is_of_dialogue,
        here=here,
        progress=progress,
    )
