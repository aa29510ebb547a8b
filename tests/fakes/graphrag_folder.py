"""Small GraphRAG folders, written for a test."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq

from veritrail_graph.graph.importers.graphrag import GraphRagImporter
from veritrail_graph.graph.importers.registry import ImportOptions


def base_tables():
    """Two text units; A and its relationship to B come from both, B from the second."""
    return {
        "text_units": [
            {"id": "u0", "human_readable_id": 0, "text": "A one.", "document_id": "d"},
            {"id": "u1", "human_readable_id": 1, "text": "A two, B.", "document_id": "d"},
            {"id": "u2", "human_readable_id": 2, "text": "Nothing.", "document_id": "d"},
        ],
        "entities": [entity("a", 0, "A", ["u0", "u1"]), entity("b", 1, "B", ["u1"])],
        "relationships": [
            {
                "id": "r",
                "human_readable_id": 0,
                "source": "A",
                "target": "B",
                "description": "AB",
                "text_unit_ids": ["u1"],
            }
        ],
        "communities": [community(0, 0, ["a", "b"], ["r"]), community(1, 1, ["b"], [])],
        "community_reports": [
            report(0, 0, "Whole [Data: Entities (0)]."),
            report(1, 1, "Part, uncited."),
        ],
    }


def entity(key, number, title, units, kind="T"):
    return {
        "id": key,
        "human_readable_id": number,
        "title": title,
        "type": kind,
        "description": f"{title} is.",
        "text_unit_ids": units,
    }


def community(number, level, entities, relationships):
    return {
        "id": f"c{number}",
        "community": number,
        "level": level,
        "entity_ids": entities,
        "relationship_ids": relationships,
    }


def report(number, level, text):
    return {
        "id": f"p{number}",
        "human_readable_id": number,
        "community": number,
        "level": level,
        "full_content": text,
    }


def write(folder, tables, prefix=""):
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        at = "" if name.startswith("raw_") else prefix
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)
        pq.write_table(table, folder / f"{at}{name}.parquet")
    return folder


def opened(folder, answer="Yes [Data: Reports (0)].", **options):
    path = folder.parent / "answer.json"
    document = {"answer": answer} if isinstance(answer, str) else answer
    path.write_text(json.dumps(document), encoding="utf-8")
    return GraphRagImporter().open(
        folder, ImportOptions(answer=str(path), **{"answer_id": "a", **options})
    )
