"""Reading trails back: verifications from the rows of the graph that they are stored in.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from veritrail_graph.graph.model import (
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Role,
    StepRecord,
    Verification,
    frontier_order,
)
from veritrail_graph.graph.store.citing import parts_from, sides_from
from veritrail_graph.graph.store.database import Row, Transaction
from veritrail_graph.graph.store.rows import appeals_from, node_from, noun_from, value_place_from

T = TypeVar("T")


class Trails(NamedTuple):
    """Verifications with their trails, the rows of their rounds, and which are explained."""

    verifications: list[Verification]
    rounds: list[Row]
    explained: set[str]


def read_trails(
    tx: Transaction,
    ids: list[str],
    rounds: str = "trail/read_iterations",
    *,
    ends: bool = False,
) -> Trails:
    """Verifications with their trails, and the rows of their rounds.

    Args:
        tx: The transaction.
        ids: Their ids.
        rounds: The statement that reads the rounds.
        ends: Whether it is looked for what ends the trails.
    """
    verifications = tx.run("trail/read_verifications", verification_ids=ids, ends=ends)
    iterations = tx.run(rounds, verification_ids=ids)
    evidence = _grouped(
        tx.run("trail/read_evidence", verification_ids=ids),
        lambda row: (row[0], row[1]),
        lambda row: _evidence(*row[2:]),
    )
    paths = _grouped(
        tx.run("trail/read_paths", verification_ids=ids), lambda row: row[0], path_from
    )
    steps = _grouped(
        tx.run("trail/read_steps", verification_ids=ids),
        lambda row: row[0]["verification_id"],
        lambda row: noun_from(StepRecord, row[0]),
    )
    iterations_of = _grouped(
        iterations,
        lambda row: row[0]["verification_id"],
        lambda row: _iteration(
            row[0], row[1], evidence.get((row[0]["verification_id"], row[0]["number"]), ())
        ),
    )
    made, explained = [], set()
    for properties, errors, is_explained in verifications:
        key = properties["verification_id"]
        if is_explained:
            explained.add(key)
        made.append(
            verification_from(
                properties,
                errors,
                iterations=tuple(iterations_of.get(key, ())),
                paths=tuple(paths.get(key, ())),
                steps=tuple(steps.get(key, ())),
            )
        )
    return Trails(made, iterations, explained)


def _grouped(
    rows: Sequence[Row], key: Callable[[Row], Any], make: Callable[[Row], T]
) -> dict[Any, list[T]]:
    groups: dict[Any, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(make(row))
    return groups


def verification_from(
    properties: Mapping[str, Any], errors: Sequence[Sequence[Any]], **parts: Any
) -> Verification:
    """A verification from its properties, its error localization and its parts."""
    nodes: dict[bool, list[NodeRef]] = {True: [], False: []}
    places: dict[str, int] = {}
    for introduced, place, *node in errors:
        if node[0] is not None:
            ref = node_from(node)
            nodes[introduced].append(ref)
            places[ref.node_id] = place or 0
    node_id = properties["node_id"]
    properties = {
        **properties,
        "value_place": value_place_from(properties),
        "appeals": appeals_from(properties),
        "parts": parts_from(properties),
    }
    return noun_from(
        Verification,
        properties,
        error_nodes=tuple(
            sorted(nodes[True], key=lambda ref: (places[ref.node_id], frontier_order(ref)))
        ),
        propagated_nodes=tuple(  # the verified node is the last
            sorted(nodes[False], key=lambda ref: (ref.node_id == node_id, frontier_order(ref)))
        ),
        **parts,
    )


def _evidence(properties: Mapping[str, Any], sentences: Sequence[Sequence[Any]]) -> Evidence:
    """Evidence from its properties and its cited sentences, each with its place before it."""
    keys = ("role", "node_id", "sentence", "start", "end", "text", "says", "part")
    cited = [
        {**dict(zip(keys, row, strict=True)), "sides": sides_from(sides)}
        for _, *row, sides in sorted(sentences, key=lambda sentence: sentence[0])
    ]
    return noun_from(Evidence, properties, text=properties["summary"], sentences=cited)


def _iteration(
    properties: Mapping[str, Any], checked: Sequence[Sequence[Any]], evidence: Sequence[Evidence]
) -> Iteration:
    """An iteration from its properties, the nodes that it checked and what it found."""
    places = properties.get("carried_places") or []
    carried = tuple(
        NodeRef(node_id, stage, position, Role.ROOT)
        for node_id, stage, position in zip(
            properties.get("carried_roots") or [], places[0::2], places[1::2], strict=True
        )
    )
    refs = (node_from(node) for node in checked if node[0] is not None)
    return noun_from(
        Iteration,
        properties,
        checked=tuple(sorted(refs, key=frontier_order)),
        carried_roots=carried,
        summaries=tuple(evidence),
        judged=json.loads(properties.get("judged") or "[]"),
        parts=parts_from(properties),
    )


def path_from(row: Row) -> EvidencePath:
    """Return a link of the evidence trail from its row."""
    _, source, target, iteration, via = row
    return EvidencePath(source=source, target=target, iteration=iteration, via=tuple(via or ()))
