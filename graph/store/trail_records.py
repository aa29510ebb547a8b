"""Verifications from the records that the graph gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    ErrorLocation,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Iteration,
    NodeRef,
    Role,
    Sentence,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verdict,
    Verification,
    frontier_order,
)


def node_from(node: Sequence[Any]) -> NodeRef:
    """A node from [node_id, stage, position, role]."""
    node_id, stage, position, role = node
    return NodeRef(node_id, stage, position, Role(role))


def evidence_from(properties: Mapping[str, Any], sentences: Iterable[Sequence[Any]]) -> Evidence:
    """Evidence from its properties and its cited sentences."""
    cited = tuple(
        CitedSentence(Sentence(node_id, index, start, end, text), EvidenceRole(role))
        for _, role, node_id, index, start, end, text in sorted(sentences, key=lambda row: row[0])
    )
    return Evidence(properties["summary"], properties.get("missing"), cited)


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
    return Iteration(
        number=properties["number"],
        verdict=Verdict(properties["verdict"]),
        reasoning=properties["reasoning"],
        checked=tuple(sorted(refs, key=frontier_order)),
        carried_roots=carried,
        evidence=tuple(evidence),
        dropped_ids=properties.get("dropped_ids") or 0,
        reruns=properties.get("reruns") or 0,
        left_out=properties.get("left_out") or 0,
    )


def usage_from(properties: Mapping[str, Any]) -> Usage:
    """What something cost, from the properties of a verification or a step."""
    get: Callable[[str], Any] = properties.get
    return Usage(
        calls=get("calls") or 0,
        cached_calls=get("cached_calls") or 0,
        input_tokens=get("input_tokens") or 0,
        cached_input_tokens=get("cached_input_tokens") or 0,
        output_tokens=get("output_tokens") or 0,
        cost_usd=get("cost_usd"),
        reasoning_tokens=get("reasoning_tokens") or 0,
        unpriced_calls=get("unpriced_calls") or 0,
    )


def step_from(properties: Mapping[str, Any]) -> StepRecord:
    """A step from its properties."""
    return StepRecord(
        iteration=properties["iteration"],
        step=properties["step"],
        prompt=properties["prompt"],
        prompt_hash=properties["prompt_hash"],
        model=properties["model"],
        temperature=properties.get("temperature"),
        usage=usage_from(properties),
    )


def verification_from(
    properties: Mapping[str, Any],
    errors: Mapping[tuple[str, bool], list[NodeRef]],
    iterations: Iterable[Iteration] = (),
    paths: Iterable[EvidencePath] = (),
    steps: Iterable[StepRecord] = (),
) -> Verification:
    """A verification from its properties and what hangs on it."""
    get: Callable[[str], Any] = properties.get
    verification_id = properties["verification_id"]
    node_id = properties["node_id"]
    carried = sorted(
        errors.get((verification_id, False), []),
        key=lambda ref: (ref.node_id == node_id, frontier_order(ref)),
    )
    return Verification(
        verification_id=verification_id,
        process_id=properties["process_id"],
        claim=Claim(
            claim_id=properties["claim_id"],
            text=properties["claim"],
            node_id=node_id,
            sub_claims=tuple(get("sub_claims") or ()),
        ),
        q=properties["q"],
        engine=properties["engine"],
        model=get("model"),
        indicative=properties["indicative"],
        created_at=properties["created_at"],
        status=Status(properties["status"]),
        verdict=Verdict(get("verdict")) if get("verdict") else None,
        reasoning=get("reasoning"),
        score=get("score"),
        termination=Termination(get("termination")) if get("termination") else None,
        iterations=tuple(iterations),
        paths=tuple(paths),
        error=ErrorLocation(tuple(errors.get((verification_id, True), [])), tuple(carried)),
        usage=usage_from(properties),
        failure=get("failure"),
        content_hash=get("content_hash"),
        run_id=get("run_id"),
        settings=get("settings"),
        run_options=get("run_options"),
        steps=tuple(steps),
    )
