"""Write a process file with another library's graph writer, and say how long that took.

Run by benchmarks/peers.py in the environment of those libraries, which is not ours: nothing of
ours can be imported here. Each is used as its documentation says, with its own batch sizes.
What they are given is built before the clock starts; ours reads and checks its file within.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LABEL, RELATIONSHIP = "Passage", "INPUT_TO"
LANGCHAIN_ROWS = 1_000
"""langchain-neo4j has no batches of its own: a document is one. The others have these."""

Rows = list[dict[str, Any]]
Work = Callable[[], object]


def neo4j_graphrag(login: dict[str, Any], nodes: Rows, edges: Rows) -> Work:
    """`Neo4jWriter` of neo4j-graphrag."""
    import neo4j
    from neo4j_graphrag.components.kg_writer import Neo4jWriter  # type: ignore[import-not-found]
    from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship  # type: ignore[import-not-found]

    graph = Neo4jGraph(
        nodes=[
            Neo4jNode(id=node["node_id"], label=LABEL, properties=_properties(node))
            for node in nodes
        ],
        relationships=[
            Neo4jRelationship(
                start_node_id=edge["source"], end_node_id=edge["target"], type=RELATIONSHIP
            )
            for edge in edges
        ],
    )
    driver = neo4j.GraphDatabase.driver(login["uri"], auth=(login["username"], login["password"]))
    writer = Neo4jWriter(driver, neo4j_database=login["database"])

    def work() -> None:
        done = asyncio.run(writer.run(graph))
        if done.status != "SUCCESS":  # it does not raise
            raise RuntimeError(f"neo4j-graphrag: {done.metadata}")

    return work


def langchain_neo4j(login: dict[str, Any], nodes: Rows, edges: Rows) -> Work:
    """`Neo4jGraph.add_graph_documents` of langchain-neo4j, with the label that it indexes."""
    from langchain_neo4j import Neo4jGraph  # type: ignore[import-not-found]
    from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship  # type: ignore[import-not-found]

    made = {
        node["node_id"]: Node(id=node["node_id"], type=LABEL, properties=_properties(node))
        for node in nodes
    }
    related = [
        Relationship(source=made[edge["source"]], target=made[edge["target"]], type=RELATIONSHIP)
        for edge in edges
    ]
    documents = [
        *[GraphDocument(nodes=part, relationships=[]) for part in _parts(list(made.values()))],
        *[GraphDocument(nodes=[], relationships=part) for part in _parts(related)],
    ]
    graph = Neo4jGraph(
        login["uri"], login["username"], login["password"], database=login["database"]
    )
    return lambda: graph.add_graph_documents(documents, baseEntityLabel=True)


def llama_index(login: dict[str, Any], nodes: Rows, edges: Rows) -> Work:
    """`Neo4jPropertyGraphStore` of llama-index, with its class for texts."""
    from llama_index.core.graph_stores.types import ChunkNode, Relation  # type: ignore[import-not-found]
    from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore  # type: ignore[import-not-found]

    chunks = [
        ChunkNode(text=node["text"], id_=node["node_id"], properties=_properties(node, "text"))
        for node in nodes
    ]
    relations = [
        Relation(label=RELATIONSHIP, source_id=edge["source"], target_id=edge["target"])
        for edge in edges
    ]
    store = Neo4jPropertyGraphStore(
        login["username"], login["password"], login["uri"], database=login["database"]
    )

    def work() -> None:
        store.upsert_nodes(chunks)
        store.upsert_relations(relations)

    return work


WRITERS = {
    "neo4j-graphrag": neo4j_graphrag,
    "langchain-neo4j": langchain_neo4j,
    "llama-index": llama_index,
}


def _properties(node: dict[str, Any], *without: str) -> dict[str, Any]:
    """What we store of a node, except what follows from the others."""
    kept = {**node, "metadata": json.dumps(node["metadata"])}
    return {name: value for name, value in kept.items() if name not in without}


def _parts(items: list[Any]) -> list[list[Any]]:
    starts = range(0, len(items), LANGCHAIN_ROWS)
    return [items[start : start + LANGCHAIN_ROWS] for start in starts]


def _rows(file: Path) -> tuple[Rows, Rows]:
    with file.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    nodes = [record["node"] for record in records if "node" in record]
    return nodes, [record["edge"] for record in records if "edge" in record]


def main() -> None:
    """Do one task from standard input, and print its seconds as JSON."""
    task = json.load(sys.stdin)
    logging.disable(logging.WARNING)
    work = WRITERS[task["writer"]](task["login"], *_rows(Path(task["file"])))
    start = time.perf_counter()
    work()
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
