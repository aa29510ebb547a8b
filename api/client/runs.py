"""Operations about runs: list them, and compare two of them over all claims."""

from __future__ import annotations

from veritrail_graph.api.app.runs import RunComparison, RunList
from veritrail_graph.api.client.calls import Call
from veritrail_graph.api.client.carrying import CarriedOut

_PROCESS = "/v1/processes/{}"


class RunOperations(CarriedOut):
    """Runs of a process."""

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
