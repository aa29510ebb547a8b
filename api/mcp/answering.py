"""The answers of a tool: values with their text, and faults in our own words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from veritrail_graph.api.mcp.advice import ADVICE
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import VeriTrailError, with_advice

P = ParamSpec("P")


def reported(
    work: Callable[P, Awaitable[CallToolResult]],
) -> Callable[P, Awaitable[CallToolResult]]:
    """Let faults of ours reach the assistant as errors of the tool, in their own words."""

    @wraps(work)
    async def tool(*args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        try:
            return await work(*args, **kwargs)
        except VeriTrailError as error:
            violations = getattr(error, "violations", ())
            lines = [
                with_advice(error, ADVICE),
                *(str(one) for one in violations[:5] if str(one) not in str(error)),
            ]
            raise ToolError(clean("\n".join(lines))) from error

    return tool


HANDED_BACK = frozenset(
    {"node_id", "node_ids", "error_nodes", "made_of", "carried_on", "turn_id", "next"}
)
"""Values that an assistant gives to other tools as they are; where they are read, they are quoted.

Other ids are made of harmless characters alone.
"""
_IN_LINES = frozenset({"text"})
"""Values whose line breaks say something."""


def answer_of(value: BaseModel, text: str) -> CallToolResult:
    """An answer as values and as text, both without control and hidden characters."""
    return CallToolResult(
        content=[TextContent(type="text", text=clean(text))],
        structured_content=_harmless(value.model_dump(mode="json")),
    )


def _harmless(value: Any, name: str = "") -> Any:
    """A value of an answer; in it no text can drive a terminal, hide or begin a line."""
    if isinstance(value, str):
        if name in HANDED_BACK:
            return value
        return clean(value) if name in _IN_LINES else one_line(value)
    if isinstance(value, dict):
        return {one_line(key): _harmless(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_harmless(one, name) for one in value]
    return value
