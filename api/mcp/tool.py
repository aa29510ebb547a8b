"""A tool that refuses what it does not know, and says what is wrong in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import ValidationError

_MOST = 5
_LONGEST = 100


class StrictTool(Tool):
    """A tool whose arguments are exactly those of its description.

    An argument that is not known would else be left out without a word, and the assistant would
    believe that it counted.
    """

    def model_post_init(self, context: Any, /) -> None:
        """Let the description say that there are no other arguments."""
        super().model_post_init(context)
        self.parameters = {**self.parameters, "additionalProperties": False}

    async def run(self, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Run the tool.

        Raises:
            ToolError: An argument is not as it must be, or the tool refused.
        """
        wrong = self._unknown(arguments) + self._wrong(arguments)
        if wrong:
            more = [f"and {len(wrong) - _MOST} more"] if len(wrong) > _MOST else []
            raise ToolError("\n".join(wrong[:_MOST] + more))
        return await super().run(arguments, *args, **kwargs)

    def _unknown(self, arguments: Mapping[str, Any]) -> list[str]:
        known = self.parameters["properties"]
        names = ", ".join(known)
        return [
            f"{name[:_LONGEST]!r}: {self.name} has no such argument; it has {names}"
            for name in arguments
            if name not in known
        ]

    def _wrong(self, arguments: dict[str, Any]) -> list[str]:
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            return [f"{'.'.join(map(str, one['loc']))}: {_said(one['msg'])}" for one in found]
        return []


def _said(message: str) -> str:
    """A message of the checker as the end of a sentence."""
    return "is missing" if message == "Field required" else message[:1].lower() + message[1:]
