"""Verifications from the records that the graph gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.model import (
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Noun,
    Role,
    StepRecord,
    Usage,
    Verification,
    frontier_order,
)

N = TypeVar("N", bound=Noun)
_USAGE = tuple(Usage.model_fields)


def noun_from(kind: type[N], properties: Mapping[str, Any], **more: Any) -> N:
    """A noun from the properties of its node; what the node lacks has its default.

    Args:
        kind: The noun.
        properties: Its properties; others, such as captions, are passed over.
        **more: Fields that are nodes or relationships of their own.

    Raises:
        EngineError: They do not describe one: another program wrote or changed the node.
    """
    values = {key: value for key, value in properties.items() if value is not None} | more
    if "usage" in kind.model_fields and "usage" not in values:
        values["usage"] = {key: values[key] for key in _USAGE if key in values}
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise EngineError(
            f"A {kind.__name__} of the graph is damaged ({where}: {first['msg']}). Another program "
            "made or changed its node."
        ) from None


def node_from(node: Sequence[Any]) -> NodeRef:
    """A node from [node_id, stage, position, role]."""
    node_id, stage, position, role = node
    return NodeRef(node_id, stage, position, Role(role))


def evidence_from(properties: Mapping[str, Any], sentences: Iterable[Sequence[Any]]) -> Evidence:
    """Evidence from its properties and its cited sentences."""
    cited = [
        {
            "node_id": node_id,
            "sentence": index,
            "start": start,
            "end": end,
            "text": text,
            "role": role,
        }
        for _, role, node_id, index, start, end, text in sorted(sentences, key=lambda row: row[0])
    ]
    return noun_from(Evidence, properties, text=properties["summary"], sentences=cited)


def iteration_from(
    properties: Mapping[str, Any], checked: Iterable[Sequence[Any]], evidence: Iterable[Evidence]
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
    )


def verification_from(
    properties: Mapping[str, Any],
    errors: Mapping[tuple[str, bool], list[NodeRef]],
    iterations: Iterable[Iteration] = (),
    paths: Iterable[EvidencePath] = (),
    steps: Iterable[StepRecord] = (),
) -> Verification:
    """A verification from its properties and what hangs on it."""
    verification_id, node_id = properties["verification_id"], properties["node_id"]
    carried = sorted(
        errors.get((verification_id, False), []),
        key=lambda ref: (ref.node_id == node_id, frontier_order(ref)),
    )
    return noun_from(
        Verification,
        properties,
        error_nodes=tuple(errors.get((verification_id, True), [])),
        propagated_nodes=tuple(carried),
        iterations=tuple(iterations),
        paths=tuple(paths),
        steps=tuple(steps),
    )
