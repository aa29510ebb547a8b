"""Starts the engine before the command line is loaded, which takes as long as half its start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

from veritrail_graph.graph.errors import VeriTrailError

_ASKING = ("verify", "list", "show", "runs", "compare", "attribute")
"""Commands that read the graph, unless one of the options below is given."""
_NOT_ASKING = ("-h", "--help", "--cancel")
_LOADED = "veritrail_graph.api.cli.app"


def begin_early(arguments: Sequence[str]) -> None:
    """Start the embedded engine, where it is used and a command is sure to ask it.

    Nothing is said of it: the command itself says that it starts, and what is wrong with it. An
    engine that a call with wrong options started ends when its idle time is over.

    Args:
        arguments: What follows `veritrail`.
    """
    if not arguments or arguments[0] not in _ASKING or _LOADED in sys.modules:
        return
    if any(one.partition("=")[0] in _NOT_ASKING for one in arguments):
        return
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.settings import Settings

    with suppress(VeriTrailError):  # settings that are wrong: the command says so
        begin_engine(Settings())
