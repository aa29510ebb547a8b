"""Operations about runs: list them, and compare two of them over all claims."""

from __future__ import annotations

from typing import Literal

from veritrail_graph.api.app.runs import RunComparison, RunList
from veritrail_graph.api.app.search import SearchResult
from veritrail_graph.api.client.calls import AsyncPages, Call
from veritrail_graph.api.client.carrying import CarriedOut

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
            q: Words; those in quotation marks stand side by side, the last may go on.
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
