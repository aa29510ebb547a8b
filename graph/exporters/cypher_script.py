"""A stored process as a Cypher script for `cypher-shell` and `veritrail db shell`.

The statements are files of `cypher/export`; what they write is before each of them as a
parameter. The process is seen when the last statement has run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.exporters.process_file import Write
from veritrail_graph.graph.exporters.property_graph import Nodes, Part, counts_of, parts
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.unseen import code_units, spelled

_ROWS = 500
_CHARACTERS = 500_000
_HOUSEKEEPING = ("owner", "beat", "replaces")

_OPEN, _READY = "process/begin", "export/script_ready"
_LINK_REUSED = "trail/link_reused_of_process"
_STATEMENTS = {
    "Span": "export/script_spans",
    "HAS_FINAL_OUTPUT": "export/script_final_outputs",
    "INPUT_TO": "export/script_edges",
    "Claim": "export/script_claims",
    "Extraction": "export/script_extractions",
    "Sentence": "export/script_sentences",
    "Verification": "export/script_verifications",
    "TurnVerification": "export/script_turns",
    "PART_OF": "export/script_part_of",
    "COMPARED_WITH": "export/script_compared",
    "CONTRADICTS": "export/script_contradicts",
    "Iteration": "export/script_iterations",
    "CHECKED": "export/script_checked",
    "FOUND": "export/script_evidence",
    "ATTRIBUTED_TO": "export/script_attributed",
    "Revision": "export/script_revisions",
    "CITES": "export/script_cited",
    "Step": "export/script_steps",
    "TrailNode": "export/script_trail",
    "LEADS_TO": "export/script_links",
    "ERROR_INTRODUCED_AT": "export/script_introduced",
    "ERROR_OFFERED_AT": "export/script_offered",
    "ERROR_PROPAGATED_THROUGH": "export/script_propagated",
    "Review": "export/script_reviews",
    "CONSIDERS": "export/script_considered",
    "IN_FORCE": "export/script_in_force",
}
"""What writes each kind of part; the other relationships are written with their nodes."""
_OTHER_ENDS = {
    ("TrailNode", "CITES", "Sentence"): "export/script_trail_cited",
    ("TrailNode", "LEADS_TO", "Verification"): "export/script_ends",
}
"""What writes relationships of a type between other labels."""

_ESCAPED = re.compile(r"[\\'\n\t]")
_SHORT = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


async def write_script(store: Store, stored: StoredProcess, write: Write) -> dict[str, int]:
    """Write the script; give how many nodes and relationships it makes, by label and type."""
    counts: dict[str, int] = {}
    write(_head(stored).encode())
    evidence: dict[Any, Any] = {}
    async for part in parts(store, stored):
        counts_of(counts, part)
        if isinstance(part, Nodes) and part.label == "Evidence":
            evidence = dict(part.rows)  # written with what found it, which comes next
            continue
        if name := _statement(part):
            statement = cypher.load(name).text
            for rows in _batches(_rows(part, evidence)):
                write(f":param rows => [{','.join(rows)}];\n{statement};\n".encode())
    if counts.get("Verification"):  # to and from those that the other graph has
        write(f"{cypher.load(_LINK_REUSED).text};\n".encode())
    write(f"{cypher.load(_READY).text};\n".encode())
    return counts


def _statement(part: Part) -> str | None:
    """The statement that writes a part, unless one of its nodes does."""
    if isinstance(part, Nodes):
        return _STATEMENTS.get(part.label)
    return _OTHER_ENDS.get((part.kind.source, part.type, part.kind.target)) or _STATEMENTS.get(
        part.type
    )


def literal(value: Any) -> str:
    """A value as it is written in Cypher, on one line."""
    if isinstance(value, str):
        return f"'{spelled(_ESCAPED.sub(_escape, value), _unseen)}'"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{_name(key)}:{literal(one)}' for key, one in value.items())}}}"
    return json.dumps(value)


def _escape(found: re.Match[str]) -> str:
    return _SHORT[found[0]]


def _unseen(signs: str) -> str:
    return _SHORT.get(signs) or code_units(signs)


def _name(key: str) -> str:
    return key if _PLAIN_NAME.fullmatch(key) else "`" + key.replace("`", "``") + "`"


def _head(stored: StoredProcess) -> str:
    properties = {
        key: value for key, value in stored.properties.items() if key not in _HOUSEKEEPING
    }
    properties["status"] = "loading"
    lines = ["// A process of VeriTrail Graph. Run it once, on a graph that does not have it."]
    lines += [f"{text};" for text in _schema()]
    lines += [
        f":param process_id => {literal(stored.process_id)};",
        f":param properties => {literal(properties)};",
        f"{cypher.load(_OPEN).text};",
    ]
    return "\n".join(lines) + "\n"


def _schema() -> Iterator[str]:
    """The constraints and indexes, without which a script of many nodes would take very long."""
    for statement in cypher.schema():
        yield statement.text


def _rows(part: Part, evidence: dict[Any, Any]) -> Iterator[str]:
    """The rows that the statement of a part takes, as literals."""
    if isinstance(part, Nodes):
        for _, properties in part.rows:
            yield literal(dict(properties))
        return
    for source, target, properties in part.rows:
        ends = [*(source if isinstance(source, tuple) else [source])]
        if part.type == "FOUND":
            yield literal([*ends, dict(evidence[target])])
            continue
        ends += target if isinstance(target, tuple) else [target]
        if part.type == "CITES":
            yield literal([*ends, *properties.values()])
        else:
            bare = part.type in {"CHECKED", "CONSIDERS", "HAS_FINAL_OUTPUT", "IN_FORCE", "PART_OF"}
            yield literal(ends if bare else [*ends, dict(properties)])


def _batches(rows: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for row in rows:
        if batch and (len(batch) >= _ROWS or size + len(row) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row)
    if batch:
        yield batch
