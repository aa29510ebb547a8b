"""What verifying claims would cost, told before any call is made.

The claims are verified as they would be, by the same driver, judge, prompts and packing, but
with models that are assumed ones. So calls and prompts are those of a real walk; how many
nodes yield evidence, and how long answers are, is assumed.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.verifier.assumed_model import HIGH, LIKELY, NARROW, NOTHING, Scenario, Supposed
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.ports import Judge, JudgeError, NodeSource

_OUTPUT_WEIGHT = 4  # of a token of an answer, where no price says which walk is the cheaper one


@dataclass(frozen=True, slots=True)
class Estimate:
    """What claims come to in one scenario.

    Attributes:
        usage: Calls, tokens and money of all claims.
        visited: node_ids of the nodes that are read, each once.
    """

    usage: Usage = Usage()
    visited: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """What estimates are compared by: money, else tokens."""
        usage = self.usage
        tokens = usage.input_tokens + _OUTPUT_WEIGHT * usage.output_tokens
        return tokens if usage.cost_usd is None else usage.cost_usd

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.usage + other.usage, self.visited | other.visited)


@dataclass(frozen=True, slots=True)
class Estimates:
    """Low, likely and high."""

    low: Estimate = Estimate()
    likely: Estimate = Estimate()
    high: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class Estimator:
    """Walks a process with assumed answers.

    Attributes:
        process_id: The process.
        judge: A judge whose models are `AssumedModel`s.
        supposed: The walk that these models share.
        nodes: Where nodes are read from.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
    """

    process_id: str
    judge: Judge
    supposed: Supposed
    nodes: NodeSource
    q: int

    async def estimate(
        self,
        tasks: Sequence[Task],
        on_progress: Callable[[int, int], None] = lambda _claims, _prompts: None,
    ) -> Estimates:
        """Low, likely and high of all claims; claims about one node are walked once.

        Args:
            tasks: The claims.
            on_progress: Told how many claims are done, and how many prompts were looked at.

        Raises:
            VeriTrailError: A node cannot be read.
        """
        alike: dict[tuple[str, bool], list[Task]] = {}
        for task in tasks:
            alike.setdefault((task.node.node_id, bool(task.claim.sub_claims)), []).append(task)
        whole, done = Estimates(), 0
        self.supposed.on_prompts = lambda prompts: on_progress(done, prompts)
        on_progress(0, 0)
        for group in alike.values():
            nothing, narrow, likely, high = [
                await self._walked(group, scenario) for scenario in (NOTHING, NARROW, LIKELY, HIGH)
            ]
            low = min((nothing, narrow, likely), key=lambda one: one.weight)
            high = max((high, likely), key=lambda one: one.weight)
            whole = Estimates(whole.low + low, whole.likely + likely, whole.high + high)
            done += len(group)
            on_progress(done, self.supposed.prompts)
        return whole

    async def _walked(self, group: Sequence[Task], scenario: Scenario) -> Estimate:
        """One walk, for the claim of middle length, times the claims."""
        by_length = sorted(group, key=lambda task: len(task.claim.text))
        task = by_length[len(group) // 2]
        self.supposed.begin(scenario, task.claim)
        ended = await verify_claim(task, self.process_id, self.judge, self.nodes, q=self.q)
        if ended.status is not Status.SUCCEEDED:
            raise JudgeError(f"no estimate for node {task.node.node_id!r}: {ended.failure}")
        visited = {ref.node_id for iteration in ended.iterations for ref in iteration.checked}
        usage = ended.usage + _times(self.supposed.warm, len(group) - 1)
        return Estimate(usage, frozenset(visited))


def assumptions() -> dict[str, dict[str, Any]]:
    """What is assumed in each scenario, as JSON; null: any number."""
    return {
        key: {
            name: None if value == sys.maxsize else value
            for name, value in asdict(scenario).items()
            if name != "name"
        }
        for key, scenario in (
            ("low_nothing_found", NOTHING),
            ("low_one_node", NARROW),
            ("likely", LIKELY),
            ("high", HIGH),
        )
    }


def _times(usage: Usage, times: int) -> Usage:
    return Usage(
        calls=usage.calls * times,
        input_tokens=usage.input_tokens * times,
        cached_input_tokens=usage.cached_input_tokens * times,
        output_tokens=usage.output_tokens * times,
        cost_usd=usage.cost_usd * times if usage.cost_usd is not None and times else None,
        unpriced_calls=usage.unpriced_calls * times,
    )
