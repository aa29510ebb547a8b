"""The address of traces in a tool: `langfuse://PROJECT?since=1d&id=TRACE`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, unquote

from veritrail_graph.graph.errors import InputError, shown

FORMATS = {"langfuse": "langfuse", "mlflow": "mlflow", "phoenix": "otlp", "langsmith": "langchain"}
"""Tools whose traces have addresses, with the format of their files."""
TOOLS = tuple(FORMATS)
MOST_IDS = 1_000

_ADDRESS = re.compile(rf"({'|'.join(TOOLS)}):/+(.*)", re.IGNORECASE | re.DOTALL)
_KEYS = ("since", "id")


@dataclass(frozen=True, slots=True)
class ToolAddress:
    """The place of traces in a tool.

    Attributes:
        tool: One of `TOOLS`.
        project: The project or experiment, by its name or id.
        since: The age of the oldest traces, in seconds; None: any.
        since_text: The same as it was written.
        ids: The traces; empty: all.
    """

    tool: str
    project: str
    since: float | None = None
    since_text: str = ""
    ids: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The format of its traces."""
        return FORMATS[self.tool]

    def __str__(self) -> str:
        return f"{self.tool}://{self.project}"


def is_address(text: str) -> bool:
    """Return whether a text is meant as the address of a tool."""
    return _ADDRESS.match(text) is not None


def spelled(text: str) -> str:
    """Return a path or address as people write it; an address loses a slash as a path."""
    return _ADDRESS.sub(lambda found: f"{found[1]}://{found[2]}", text)


def read_address(
    text: str, seconds: Callable[[str], float], since: str | None = None
) -> ToolAddress:
    """Read an address.

    Args:
        text: The address.
        seconds: Reads a duration such as `1d`; raises ValueError where it is none.
        since: The age of the oldest traces where the address says none.

    Raises:
        InputError: It is no address, or says something that none can say.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise InputError(f"{shown(text)} is no address of {', '.join(TOOLS)}.")
    tool = found[1].lower()
    place, _, query = found[2].partition("?")
    if re.search(r":[^@]*@", place):  # it is not repeated: it is a password
        raise InputError(
            f"The address {tool}://… holds a login. Keys are read from the environment, and an "
            f"address names a project alone: {tool}://PROJECT."
        )
    made = ToolAddress(tool, unquote(place).strip().rstrip("/"))
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in _KEYS:
            known = " and ".join(_KEYS)
            raise InputError(f"{made}: {shown(key)} is not read in an address; {known} are.")
        if key == "since":
            since = value
        elif value:
            made = replace(made, ids=(*made.ids, value))
    if not made.project and tool != "langfuse":  # the keys of Langfuse are those of one project
        raise InputError(f"{tool}:// names no project; write {tool}://PROJECT?since=1d")
    if len(made.ids) > MOST_IDS:
        raise InputError(f"{made}: it names {len(made.ids):,} traces; {MOST_IDS:,} are the most.")
    if since is None:
        return made
    try:
        return replace(made, since=seconds(since), since_text=since)
    except ValueError as error:
        raise InputError(f"{made}: since={shown(since)} {error}") from None
