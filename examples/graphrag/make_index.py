"""Write the tables of the small index in this folder, in the layout of GraphRAG 2 and 3.

    python examples/graphrag/make_index.py

Texts and the error are invented: the crane lifts 40 tons, and the report of the community says 60.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

OUTPUT = Path(__file__).parent / "output"
TEXTS = (
    "The quay of Solvik opened in 1901. The quay is 212 metres long.",
    "The crane on the quay, built in Hull, lifts 40 tons.",
    "The ferry Tern leaves from the quay twice a day.",
)


def entity(number: int, title: str, description: str, *units: int) -> dict[str, Any]:
    """Return a row of the entities."""
    return {
        "id": f"e{number}",
        "human_readable_id": number,
        "title": title,
        "type": "PLACE",
        "description": description,
        "text_unit_ids": [f"u{unit}" for unit in units],
    }


TABLES: dict[str, list[dict[str, Any]]] = {
    "text_units": [
        {"id": f"u{number}", "human_readable_id": number, "text": text, "document_id": "d0"}
        for number, text in enumerate(TEXTS)
    ],
    "entities": [
        entity(0, "QUAY OF SOLVIK", "The quay opened in 1901 and is 212 metres long.", 0),
        entity(1, "CRANE", "The crane on the quay, built in Hull, lifts 40 tons.", 1),
        entity(2, "FERRY TERN", "The ferry Tern leaves from the quay twice a day.", 2),
    ],
    "relationships": [
        {
            "id": "r0",
            "human_readable_id": 0,
            "source": "CRANE",
            "target": "QUAY OF SOLVIK",
            "description": "The crane stands on the quay.",
            "text_unit_ids": ["u1"],
        }
    ],
    "communities": [
        {
            "id": "c0",
            "community": 0,
            "level": 0,
            "entity_ids": ["e0", "e1", "e2"],
            "relationship_ids": ["r0"],
        }
    ],
    "community_reports": [
        {
            "id": "p0",
            "human_readable_id": 0,
            "community": 0,
            "level": 0,
            "full_content": (
                "The quay of Solvik opened in 1901 [Data: Entities (0)]. "
                "The crane on the quay, built in Hull, lifts 60 tons [Data: Entities (1)]. "
                "The ferry Tern leaves from the quay twice a day [Data: Entities (2)]."
            ),
        }
    ],
}


def main() -> None:
    """Write a file for each table."""
    OUTPUT.mkdir(exist_ok=True)
    for name, rows in TABLES.items():
        pq.write_table(pa.Table.from_pylist(rows), OUTPUT / f"{name}.parquet")


if __name__ == "__main__":
    main()
