"""The shape of a real process: which node was made from which, and nothing of its texts.

Source: VeriTrail 2 (processes as directed acyclic graphs).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from veritrail_graph.evaluation.held_process import adjacency_of
from veritrail_graph.evaluation.simulation.process_shape import ProcessShape
from veritrail_graph.graph.adjacency import Adjacency
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.ingest.check import survey

SENTENCES = (24, 10)
"""Sentences of a source text, and of any other node, where nothing else is said."""


def shape_of_file(path: Path, node_id: str | None = None) -> ProcessShape:
    """The shape of a process in a file of any format that can be ingested.

    Args:
        path: The file or folder.
        node_id: The verified node; None: the only terminal.

    Raises:
        InputError: It holds no process, or several, or has no such node.
    """
    found = survey(open_input(path))
    return shape_of(found.process_id, adjacency_of(found), found.terminals, node_id)


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
