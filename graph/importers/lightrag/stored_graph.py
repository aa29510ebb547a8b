"""The graph of an index that LightRAG keeps in Neo4j, beside a working folder with the chunks.

Entities have the label of their workspace (`base` where it has no name), and up to 1.3 their type
as another one; a relationship is `DIRECTED`, though its direction means nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.lightrag.folder import WorkingFolder, take_described

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import DatabaseAddress
    from veritrail_graph.graph.store.source_graph import SourceGraph

_BASE = "base"


def read_stored_graph(folder: WorkingFolder, address: DatabaseAddress) -> None:
    """Take up the descriptions of a stored graph.

    Raises:
        InputError: The graph holds no entities of LightRAG, those of several workspaces, or those
            of another folder.
        EngineError: The engine cannot be reached, or does not let us in.
    """
    from veritrail_graph.graph.store.source_graph import SourceGraph

    folder.graph = address.uri
    with SourceGraph(address) as graph:
        workspace = _workspace(graph, folder.path.name, address.uri)
        take_described(folder, _described(graph, workspace))
    known = folder.chunks.keys()
    if folder.described and not any(known & {*one.chunks} for one in folder.described):
        raise InputError(
            f"{address.uri}: the entities of the workspace {workspace!r} name no chunk of "
            f"{folder.path}: they are of another index. Name the folder of that one."
        )


def _workspace(graph: SourceGraph, folder: str, address: str) -> str:
    """Return the label of the entities of a folder.

    Raises:
        InputError: There are none, or of several workspaces none has the folder's name.
    """
    counts: Counter[str] = Counter()
    total = 0
    for labels, *_ in graph.stream("source_graph/lightrag_entities"):
        counts.update(labels)
        total += 1
    if not counts:
        raise InputError(
            f"{address}: holds no entities of LightRAG (nodes with `entity_id`). Is it the right "
            "database?"
        )
    for label in (folder, _BASE):
        if counts[label]:
            return label
    ((label, count), *_) = counts.most_common(1)
    if count < total:
        names = some([name for name, _ in counts.most_common()])
        raise InputError(
            f"{address}: holds several workspaces ({names}), and none is called {folder!r} like "
            "the folder or 'base'. Give the folder the name of its workspace."
        )
    return label


def _described(
    graph: SourceGraph, workspace: str
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield names and attributes of the entities and relationships of a workspace."""
    entities = graph.stream("source_graph/lightrag_entities")
    for labels, name, entity_type, description, source_id in entities:
        if workspace in labels:
            known = {"entity_type": entity_type, "description": description}
            yield (str(name),), {**known, "source_id": source_id}
    relationships = graph.stream("source_graph/lightrag_relationships")
    for labels, source, target, keywords, description, source_id in relationships:
        if workspace in labels:
            known = {"keywords": keywords, "description": description}
            yield (str(source), str(target)), {**known, "source_id": source_id}
