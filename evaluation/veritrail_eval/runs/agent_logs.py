"""The mistake that a person noted in a log of agents, read from its process.

Source: Zhang et al. 2025 (Who&When); how a log becomes a process: docs/formats/agents.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_eval.runs.record import AgentStep, RecordedMistake
from veritrail_graph.graph.importers.agents.pieces import FINAL_ANSWER
from veritrail_graph.verifier.held_process import HeldProcess


def noted_mistake(process: HeldProcess) -> RecordedMistake | None:
    """The agent and the step of the noted mistake; None: the process is no log with such a note.

    A note about a message without a text counts as well: nothing that is found can be right then.
    """
    for facts in process.metadata.values():
        noted = facts.get("mistake")
        if not isinstance(noted, Mapping):
            continue
        step, agent = _place(noted.get("step")), noted.get("agent")
        if step is not None and isinstance(agent, str) and agent.strip():
            return RecordedMistake(
                step=step,
                agent=agent,
                subset=_subset(process.process_id),
                messages=_messages(process),
            )
    return None


def _messages(process: HeldProcess) -> dict[str, AgentStep]:
    """The messages that agents wrote, by node_id.

    A final answer at the end of a message is a node with a step of its own, which no log has as an
    agent: who wrote the message wrote the answer.
    """
    authors = {
        process.metadata.get(node_id, {}).get("index"): agent
        for node_id, agent in process.steps.items()
        if agent != FINAL_ANSWER
    }
    found = {}
    for node_id, agent in process.steps.items():
        step = _place(process.metadata.get(node_id, {}).get("index"))
        node = process.node(node_id)
        # What has no inputs is source text, or what a user said.
        if step is None or node.is_root or node.is_unsourced:
            continue
        author = authors.get(step) if agent == FINAL_ANSWER else agent
        if author is not None:
            found[node_id] = AgentStep(step=step, agent=author)
    return found


def _place(value: Any) -> int | None:
    is_place = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_place else None


def _subset(process_id: str) -> str:
    """The folder or table of a log: what its id begins with, before its number."""
    return process_id.rpartition("-")[0] or process_id
