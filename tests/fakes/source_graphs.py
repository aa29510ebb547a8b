"""Graphs as other applications write them, with invented texts; and what is in theirs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from veritrail_graph.graph.importers.lightrag.graphml import read_graphml
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database

SANDHOLM = Path(__file__).resolve().parents[2] / "examples" / "neo4j-sandholm.cypher"
GRAPH_BUILDER = SANDHOLM.read_text(encoding="utf-8")
"""As LLM Graph Builder writes it, with communities."""

GRAPHRAG = """
CREATE (d:__KGBuilder__:Document {path: 'quay.txt', createdAt: '2026-01-01T00:00:00+00:00',
          document_type: 'inline_text'}),
       (c0:__KGBuilder__:Chunk {index: 0, embedding: [0.1, 0.2],
          text: 'The quay of Brome is owned by the harbour board.'}),
       (c1:__KGBuilder__:Chunk {index: 1, embedding: [0.1, 0.2],
          text: 'Its warehouse burnt down in 1951.'}),
       (c0)-[:FROM_DOCUMENT]->(d), (c1)-[:FROM_DOCUMENT]->(d), (c0)-[:NEXT_CHUNK]->(c1),
       (q:__KGBuilder__:Place:__Entity__ {name: 'Quay', description: 'The quay of Brome.'}),
       (b:__KGBuilder__:Organization:__Entity__ {name: 'Harbour board'}),
       (w:__KGBuilder__:Place:__Entity__ {name: 'Warehouse', description: 'It burnt in 1951.'}),
       (q)-[:FROM_CHUNK]->(c0), (b)-[:FROM_CHUNK]->(c0), (w)-[:FROM_CHUNK]->(c1),
       (b)-[:OWNS {description: 'The board owns the quay of Brome.'}]->(q)
"""
"""As SimpleKGPipeline of neo4j-graphrag writes it."""

LIGHTRAG_NODE = "MERGE (n:`{workspace}` {{entity_id: $name}}) SET n += $known"
LIGHTRAG_EDGE = (
    "MATCH (a:`{workspace}` {{entity_id: $source}}) WITH a "
    "MATCH (b:`{workspace}` {{entity_id: $target}}) "
    "MERGE (a)-[r:DIRECTED]-(b) SET r += $known"
)
"""As Neo4JStorage of LightRAG writes them."""

THEIRS = (
    "Document", "Chunk", "__Entity__", "__Community__", "Session", "Message", "Person", "base",
    "elsewhere",
)  # fmt: skip
_NODES = (
    "MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) "
    "RETURN elementId(n), labels(n), properties(n)"
)
_EDGES = (
    "MATCH (n)-[r]->(m) WHERE any(label IN labels(n) WHERE label IN $labels) "
    "RETURN elementId(n), type(r), properties(r), elementId(m)"
)
_REMOVE = "MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) DETACH DELETE n"


def run(address: DatabaseAddress, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement of theirs."""

    async def work() -> list[tuple[Any, ...]]:
        database = Database(address)
        try:
            return (await database.run_text(text, parameters, 100_000, write=True)).rows
        finally:
            await database.close()

    return asyncio.run(work())


def store_graphml(address: DatabaseAddress, path: Path, workspace: str) -> None:
    """Store a graph that LightRAG kept in a file as it stores it in Neo4j."""
    found = read_graphml(path)
    for name, known in found.nodes.items():
        run(address, LIGHTRAG_NODE.format(workspace=workspace), name=name, known=dict(known))
    for source, target, known in found.edges:
        ends = {"source": source, "target": target}
        run(address, LIGHTRAG_EDGE.format(workspace=workspace), known=dict(known), **ends)


def dump(address: DatabaseAddress) -> list[str]:
    """Their nodes and relationships, each with all that it holds, sorted."""
    rows = [*run(address, _NODES, labels=THEIRS), *run(address, _EDGES, labels=THEIRS)]
    return sorted(repr([_plain(value) for value in row]) for row in rows)


def remove(address: DatabaseAddress) -> None:
    """Remove their graph."""
    run(address, _REMOVE, labels=THEIRS)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(value) if all(isinstance(one, str) for one in value) else value
    return sorted(value.items()) if isinstance(value, dict) else value
