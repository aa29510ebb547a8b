"""A stored process as a process file: reading it again gives the same process with its trails.

Source: VeriTrail 2 (processes) and 3.2 (what a verification returns).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.model import EdgeFacts, Origin, Role
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.reviews import review_from
from veritrail_graph.graph.store.rows import Properties, claim_from
from veritrail_graph.graph.unseen import json_escaped

LISTS = {
    "node": "nodes",
    "edge": "edges",
    "claim": "claims",
    "extraction": "extractions",
    "verification": "verifications",
    "review": "reviews",
}
_TRAILS_AT_ONCE = 20

Write = Callable[[bytes], object]


def json_text(value: object) -> str:
    """A JSON value on one line."""
    return json_escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


async def write_lines(store: Store, stored: StoredProcess, write: Write) -> dict[str, int]:
    """Write JSON Lines; give how many there are of each kind."""
    counts = dict.fromkeys(LISTS.values(), 0)
    write(f"{json_text(header(stored))}\n".encode())
    async for kind, values in records(store, stored):
        counts[LISTS[kind]] += len(values)
        write("".join(f"{json_text({kind: value})}\n" for value in values).encode())
    return counts


async def write_document(store: Store, stored: StoredProcess, write: Write) -> dict[str, int]:
    """Write one JSON document, a record a line; give how many there are of each kind."""
    counts = dict.fromkeys(LISTS.values(), 0)
    write(json_text(header(stored))[:-1].encode())
    open_list: str | None = None
    async for kind, values in records(store, stored):
        name = LISTS[kind]
        for value in values:
            if name == open_list:
                write(b",\n")
            else:
                write(b"".join([b"" if open_list is None else b"\n]", f',\n"{name}":['.encode()]))
                write(b"\n")
                open_list = name
            counts[name] += 1
            write(json_text(value).encode())
    write(b"\n]" if open_list is not None else b"")
    if not counts["edges"]:  # the key must be there, also in a process of one node
        write(b',\n"edges":[]')
    write(b"}\n")
    return counts


def header(stored: StoredProcess) -> dict[str, Any]:
    """Return what a file says of the process as a whole."""
    facts = stored.properties
    made: dict[str, Any] = {
        "format": FORMAT,
        "process_id": stored.process_id,
        "name": facts["name"],
        "question": facts.get("question"),
        "stages": json.loads(facts["stage_names"]),
        "terminals": list(facts["terminals"]),
        "warnings": list(facts.get("warnings") or ()),
        "run_of_record": facts.get("run_of_record"),
        "project": facts.get("project"),
        "tags": list(facts.get("tags") or ()),
    }
    if facts["source_format"] != FORMAT:
        made["source_format"] = facts["source_format"]
    return {key: value for key, value in made.items() if value not in (None, [], {})}


async def records(
    store: Store, stored: StoredProcess, more: tuple[str, ...] = ()
) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Everything behind the header, as kind and objects, some at a time.

    Args:
        store: The graph.
        stored: The process.
        more: Properties of nodes that a process file does not hold, such as `role`.
    """
    # Before all that they are about: a review that is stored meanwhile is left out completely.
    reviews = [review_from(one) async for page in stored.reviews() for one in page]
    async for spans in stored.spans():
        yield "node", [_node(span) | {key: span[key] for key in more} for span in spans]
    ids = stored.ids
    async for edges in stored.edges():
        yield "edge", [_edge(ids[source], ids[target], facts) for source, target, facts in edges]
    async for claims in stored.claims():
        yield "claim", [_given(claim_from(claim).json_object()) for claim in claims]
    sentences = await store.claims.sentences(stored.process_id)
    if sentences:
        yield "extraction", [sentence.json_object() for sentence in sentences]
    names = await store.trails.all_ids(stored.process_id)
    names.reverse()  # oldest first: a file grows at its end
    for start in range(0, len(names), _TRAILS_AT_ONCE):
        some = names[start : start + _TRAILS_AT_ONCE]
        yield "verification", [one.json_object() for one in await store.trails.read(some)]
    if reviews:
        yield "review", [_given(review.json_object()) for review in reviews]


def _node(span: Properties) -> dict[str, Any]:
    metadata = json.loads(span["metadata"]) if span.get("metadata") else {}
    metadata |= {key: span[key] for key in ("model", "prompt") if span.get(key) is not None}
    has_inputs = span["role"] not in (Role.ROOT, Role.UNSOURCED)
    is_made = any(metadata.get(key) is not None for key in ("model", "prompt"))
    usual = Origin.GENERATED if has_inputs or is_made else Origin.SOURCE
    return _given(
        {
            "node_id": span["node_id"],
            "stage": span["stage"],
            "kind": span.get("kind"),
            "step": span.get("step"),
            "metadata": metadata or None,
            "origin": span["origin"] if span.get("origin") != usual else None,
            "question": span.get("question"),
            "text": span["text"],
        }
    )


def _edge(source: str, target: str, facts: EdgeFacts) -> dict[str, Any]:
    return _given({"source": source, "target": target, **facts.given})


def _given(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in value.items() if one not in (None, [])}
