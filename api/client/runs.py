"""Operations about runs: list them, and compare two of them over all claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from veritrail_graph.api.app.projects import By, ProjectList, Trend
from veritrail_graph.api.app.runs import RunComparison, RunList
from veritrail_graph.api.app.search import SearchResult
from veritrail_graph.api.app.sharing import NewShare, ShareList
from veritrail_graph.api.client.answers import Process
from veritrail_graph.api.client.calls import AsyncPages, Call
from veritrail_graph.api.client.carrying import CarriedOut
from veritrail_graph.api.requests.limits import LINK_DAYS

_PROCESS = "/v1/processes/{}"


class RunOperations(CarriedOut):
    """Runs of a process, and search over all processes."""

    def search(
        self,
        q: str,
        *,
        kind: Literal["node", "claim"] | None = None,
        process_id: str | None = None,
        page: int = 20,
    ) -> AsyncPages[SearchResult]:
        """Nodes and claims of all processes that hold all words, the best first.

        Args:
            q: Words; those in quotation marks must be side by side, the last may go on.
            kind: Only nodes, or only claims.
            process_id: Only of this process.
            page: Results in one answer.
        """
        query = {"q": q, "kind": kind, "process_id": process_id, "limit": page}
        return self._pages(Call("search", "GET", "/v1/search", (), query), SearchResult, "results")

    async def runs(self, process_id: str) -> RunList:
        """The runs of a process, newest first, with their verdicts and costs."""
        return await self._one(Call("runs", "GET", f"{_PROCESS}/runs", (process_id,)), RunList)

    async def compare_runs(self, process_id: str, a: str, b: str) -> RunComparison:
        """Compare two runs, or two judges, over all claims.

        Args:
            process_id: The process.
            a: A run_id, or the name of a model or engine.
            b: The other side.
        """
        path, sides = f"{_PROCESS}/run-comparison", {"a": a, "b": b}
        call = Call("compare_runs", "GET", path, (process_id,), sides)
        return await self._one(call, RunComparison)

    async def projects(self) -> ProjectList:
        """The projects, by their names."""
        return await self._one(Call("projects", "GET", "/v1/projects"), ProjectList)

    async def tag(
        self, process_id: str, *, project: str | None, tags: Sequence[str] = ()
    ) -> Process:
        """Say to which project a process belongs, and which tags it has."""
        body = {"project": project, "tags": list(tags)}
        return await self._one(Call("tag", "PATCH", _PROCESS, (process_id,), {}, body), Process)

    async def trend(self, project: str, *, by: By = "day") -> Trend:
        """Return how much of a project is unsupported, and where that came in, in groups.

        Args:
            project: The project.
            by: What makes a group.
        """
        query = {"project": project, "by": by}
        return await self._one(Call("trend", "GET", "/v1/trend", (), query), Trend)

    async def share(self, process_id: str, *, days: float = LINK_DAYS, note: str = "") -> NewShare:
        """Make a link that shows a process, read-only, without a key, until its end.

        Args:
            process_id: The process.
            days: How long it works.
            note: What it is for.
        """
        body = {"days": days, "note": note}
        call = Call("share", "POST", f"{_PROCESS}/shares", (process_id,), {}, body)
        return await self._one(replace(call, is_repeatable=False), NewShare)

    async def shares(self, process_id: str) -> ShareList:
        """The links of a process, newest first, those that have ended too."""
        call = Call("shares", "GET", f"{_PROCESS}/shares", (process_id,))
        return await self._one(call, ShareList)

    async def end_share(self, process_id: str, share_id: str) -> None:
        """End a link at once."""
        ids = (process_id, share_id)
        call = Call("end_share", "DELETE", f"{_PROCESS}/shares/{{}}", ids)
        await self.perform(call, lambda _document: None)
