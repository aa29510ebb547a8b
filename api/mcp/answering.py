"""How a tool answers: values with their text, and faults in our own words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from veritrail_graph.api.mcp.advice import ADVICE
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
            raise ToolError("\n".join(lines)) from error

    return tool


def answer_of(value: BaseModel, text: str) -> CallToolResult:
    """An answer as values and as text."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=value.model_dump(mode="json"),
    )
