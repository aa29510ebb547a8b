"""The shape of a real process: which node was made from which, and nothing of its texts.

Source: VeriTrail 2 (processes as directed acyclic graphs).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from veritrail_eval.simulation.process_shape import ProcessShape
from veritrail_graph.graph.adjacency import Adjacency
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import Survey, survey
from veritrail_graph.verifier.held_process import adjacency_of

SENTENCES = (24, 10)
"""Sentences of a source text, and of any other node, where nothing else is said."""
MOST_NAMED = 10
"""Ids that an error names."""


def shape_of_file(
    path: Path, node_id: str | None = None, process_id: str | None = None
) -> ProcessShape:
    """The shape of a process in a file of any format that can be ingested.

    Args:
        path: The file or folder.
        node_id: The verified node; None: the only terminal.
        process_id: Which process, where the path holds several; None: the only one.

    Raises:
        InputError: It holds no process, or several and none of them is named, or has no such
            process or node.
    """
    found = _chosen(path, process_id)
    return shape_of(found.process_id, adjacency_of(found), found.terminals, node_id)


def _chosen(path: Path, process_id: str | None) -> Survey:
    """The process that is named, or the only one.

    Raises:
        InputError: There is none, or none is named and there are several.
    """
    known: list[str] = []
    unread: list[InputError] = []
    every = list(find_processes(path))
    for one in every:
        try:
            source = one.open()
            name = source.header.process_id
            if name is not None and name != process_id and len(every) > 1:
                known.append(name)
                continue
            found = survey(source)
        except InputError as error:
            if len(every) == 1:
                raise
            unread.append(error)
            continue
        if found.process_id == process_id or (process_id is None and len(every) == 1):
            return found
        known.append(found.process_id)
    if not every:
        raise InputError(f"{path} holds no process.")
    some = ", ".join(known[:MOST_NAMED])
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    bad = ""
    if unread:
        bad = f" {counted(len(unread), 'process', 'processes')} cannot be read: {unread[0]}"
    if process_id is None:
        raise InputError(
            f"{path} holds {counted(len(every), 'process', 'processes')}: {some}{more}. Choose one "
            f"with --process.{bad}"
        )
    raise InputError(
        f"{path} holds no process {shown(process_id)}. It holds: {some or 'none'}{more}.{bad}"
    )


def shape_of(
    name: str, adjacency: Adjacency, terminals: Sequence[str], node_id: str | None = None
) -> ProcessShape:
    """The shape of a process whose edges were read.

    Raises:
        InputError: No node is named and there are several terminals, or there is no such node.
    """
    if node_id is None:
        if len(terminals) != 1:
            some = ", ".join(terminals[:5])
            raise InputError(
                f"{name}: it has {len(terminals):,} terminals ({some}). Name the node that the "
                "claims are about."
            )
        node_id = terminals[0]
    return ProcessShape.of_adjacency(name, adjacency, node_id, SENTENCES)
