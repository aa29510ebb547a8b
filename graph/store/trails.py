"""Trails: writing a verification with all that explains it, and reading it back whole.

A verification is written in one transaction; writing it again replaces what was there.

Source: VeriTrail 3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from graph.errors import NotFound
from graph.model import (
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
    Termination,
    Usage,
    Verdict,
    Verification,
)
from graph.store.database import Database, Transaction

_ROWS = 5_000
_READ_AT_ONCE = 100


class TrailStore:
    """Verifications of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Claims of one run touch the same spans; written at once they would only conflict and
        # wait for their retries.
        self._writing = asyncio.Lock()

    async def write(self, verification: Verification) -> None:
        """Write a verification with its trail, in one transaction.

        Its claim must be stored. Calling it again with the same id replaces what was written.

        Raises:
            NotFound: The claim is not stored (any more).
        """
        async with self._writing:
            await self._database.write_with(lambda tx: _write(tx, verification))

    async def read(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications with their trails, in the order asked for; unknown ids are left out."""
        found: list[Verification] = []
        for start in range(0, len(verification_ids), _READ_AT_ONCE):
            found += await self._read_some(list(verification_ids[start : start + _READ_AT_ONCE]))
        return found

    async def headers(self, verification_ids: Sequence[str]) -> list[Verification]:
        """Verifications without their trails, but with where an error was introduced."""
        found: list[Verification] = []
        for start in range(0, len(verification_ids), _READ_AT_ONCE * 10):
            ids = list(verification_ids[start : start + _READ_AT_ONCE * 10])
            rows = await self._database.read("trail/read_verifications", verification_ids=ids)
            errors = await self._errors(ids)
            found += [_verification(properties, {}, {}, errors) for (properties,) in rows]
        return found

    async def get(self, verification_id: str) -> Verification:
        """One verification with its trail.

        Raises:
            NotFound: There is none.
        """
        found = await self.read([verification_id])
        if not found:
            raise NotFound(
                f"No verification {verification_id!r} is stored. "
                "`veritrail list PROCESS` shows those that are."
            )
        return found[0]

    async def page(
        self, process_id: str, before: str = "", limit: int = 1_000
    ) -> tuple[list[str], str | None]:
        """Ids of a process's verifications, newest first, and the cursor of the next page."""
        rows = await self._database.read(
            "trail/page", process_id=process_id, before=before, limit=limit
        )
        cursor = rows[-1][1] if len(rows) == limit else None
        return [verification_id for verification_id, _ in rows], cursor

    async def all_ids(self, process_id: str) -> list[str]:
        """Ids of all verifications of a process, newest first."""
        ids, cursor = await self.page(process_id)
        while cursor is not None:
            more, cursor = await self.page(process_id, before=cursor)
            ids += more
        return ids

    async def _read_some(self, ids: list[str]) -> list[Verification]:
        read = self._database.read
        verifications = await read("trail/read_verifications", verification_ids=ids)
        iterations = await read("trail/read_iterations", verification_ids=ids)
        evidence = await read("trail/read_evidence", verification_ids=ids)
        paths = await read("trail/read_paths", verification_ids=ids)
        errors_of = await self._errors(ids)
        evidence_of: dict[tuple[str, int], list[Evidence]] = {}
        for verification_id, number, properties, sentences in evidence:
            found = _evidence(properties, sentences)
            evidence_of.setdefault((verification_id, number), []).append(found)
        iterations_of: dict[str, list[Iteration]] = {}
        for properties, checked in iterations:
            verification_id = properties["verification_id"]
            found_now = evidence_of.get((verification_id, properties["number"]), [])
            iteration = _iteration(properties, checked, found_now)
            iterations_of.setdefault(verification_id, []).append(iteration)
        paths_of: dict[str, list[EvidencePath]] = {}
        for verification_id, source, target, number, via in paths:
            path = EvidencePath(source, target, number, tuple(via))
            paths_of.setdefault(verification_id, []).append(path)
        return [
            _verification(properties, iterations_of, paths_of, errors_of)
            for (properties,) in verifications
        ]

    async def _errors(self, ids: list[str]) -> dict[tuple[str, bool], list[NodeRef]]:
        """Error localization by verification_id and by whether it was introduced there."""
        rows = await self._database.read("trail/read_errors", verification_ids=ids)
        errors: dict[tuple[str, bool], list[NodeRef]] = {}
        for verification_id, introduced, node in rows:
            errors.setdefault((verification_id, introduced), []).append(_ref(node))
        return errors


def _write(tx: Transaction, verification: Verification) -> None:
    ids = {"verification_id": verification.verification_id}
    process = {"process_id": verification.process_id}
    written = tx.run(
        "trail/verification",
        claim_id=verification.claim.claim_id,
        properties=_properties(verification),
        **process,
        **ids,
    )
    if not written:
        raise NotFound(
            f"Claim {verification.claim.claim_id!r} of process {verification.process_id!r} is not "
            "stored any more; its verification was not written."
        )
    if written[0][0]:
        for name in ("trail/clear_paths", "trail/clear_errors", "trail/clear_iterations"):
            tx.run(name, **ids)
    iterations = verification.iterations
    _run_rows(tx, "trail/iterations", map(_iteration_row, _with(verification)), **ids)
    for rows in _checked_rows(iterations):
        tx.run("trail/checked", rows=rows, **process, **ids)
    _run_rows(tx, "trail/evidence", _evidence_rows(verification), **ids)
    _run_rows(tx, "trail/sentences", _sentence_rows(verification), **process)
    _run_rows(tx, "trail/paths", map(_path_row, verification.paths), **process, **ids)
    for name, nodes in (
        ("trail/introduced", verification.error.nodes),
        ("trail/propagated", verification.error.propagated),
    ):
        if nodes:
            tx.run(name, node_ids=[node.node_id for node in nodes], **process, **ids)


def _run_rows(
    tx: Transaction, name: str, rows: Iterable[Mapping[str, Any]], **parameters: Any
) -> None:
    ready = list(rows)
    for start in range(0, len(ready), _ROWS):
        tx.run(name, rows=ready[start : start + _ROWS], **parameters)


def _properties(verification: Verification) -> dict[str, Any]:
    claim = verification.claim
    return {
        "verification_id": verification.verification_id,
        "process_id": verification.process_id,
        "claim_id": claim.claim_id,
        "claim": claim.text,
        "sub_claims": list(claim.sub_claims),
        "node_id": claim.node_id,
        "method": "veritrail",
        "q": verification.q,
        "engine": verification.engine,
        "model": verification.model,
        "indicative": verification.indicative,
        "created_at": verification.created_at,
        "status": verification.status.value,
        "verdict": verification.verdict.value if verification.verdict else None,
        "reasoning": verification.reasoning,
        "score": verification.score,
        "termination": verification.termination.value if verification.termination else None,
        "error_stages": list(verification.error.stages),
        "failure": verification.failure,
        **asdict(verification.usage),
    }


def _with(verification: Verification) -> list[tuple[str, Iteration]]:
    return [(verification.verification_id, iteration) for iteration in verification.iterations]


def _iteration_row(item: tuple[str, Iteration]) -> dict[str, Any]:
    verification_id, iteration = item
    return {
        "verification_id": verification_id,
        "number": iteration.number,
        "verdict": iteration.verdict.value,
        "reasoning": iteration.reasoning,
        "checked_count": len(iteration.checked),
        "evidence_count": sum(len(found.sentences) for found in iteration.evidence),
        "carried_roots": [root.node_id for root in iteration.carried_roots],
        # Enough to read a carried root back without another look at the process.
        "carried_places": [
            value for root in iteration.carried_roots for value in (root.stage, root.position)
        ],
    }


def _checked_rows(iterations: Iterable[Iteration]) -> Iterable[list[list[Any]]]:
    """[number, node_ids] of the iterations, in batches of a bounded number of nodes."""
    rows: list[list[Any]] = []
    size = 0
    for iteration in iterations:
        names = [ref.node_id for ref in iteration.checked]
        for start in range(0, len(names), _ROWS):
            part = names[start : start + _ROWS]
            if size + len(part) > _ROWS and rows:
                yield rows
                rows, size = [], 0
            rows.append([iteration.number, part])
            size += len(part)
    if rows:
        yield rows


def _evidence_id(verification: Verification, number: int, position: int) -> str:
    return f"{verification.verification_id}/{number}/{position}"


def _evidence_rows(verification: Verification) -> Iterable[dict[str, Any]]:
    for iteration in verification.iterations:
        for position, found in enumerate(iteration.evidence):
            yield {
                "number": iteration.number,
                "evidence_id": _evidence_id(verification, iteration.number, position),
                "position": position,
                "summary": found.summary,
                "missing": found.missing,
            }


def _sentence_rows(verification: Verification) -> Iterable[dict[str, Any]]:
    for iteration in verification.iterations:
        for position, found in enumerate(iteration.evidence):
            for place, cited in enumerate(found.sentences):
                yield {
                    **asdict(cited.sentence),
                    "evidence_id": _evidence_id(verification, iteration.number, position),
                    "role": cited.role.value,
                    "position": place,
                }


def _path_row(path: EvidencePath) -> dict[str, Any]:
    return {**asdict(path), "via": list(path.via)}


def _ref(node: Sequence[Any]) -> NodeRef:
    node_id, stage, position, role = node
    return NodeRef(node_id, stage, position, Role(role))


def _evidence(properties: Mapping[str, Any], sentences: Iterable[Sequence[Any]]) -> Evidence:
    cited = tuple(
        CitedSentence(Sentence(node_id, index, start, end, text), EvidenceRole(role))
        for _, role, node_id, index, start, end, text in sorted(sentences, key=lambda row: row[0])
    )
    return Evidence(properties["summary"], properties.get("missing"), cited)


def _iteration(
    properties: Mapping[str, Any], checked: Iterable[Sequence[Any]], evidence: Iterable[Evidence]
) -> Iteration:
    places = properties.get("carried_places") or []
    carried = tuple(
        NodeRef(node_id, stage, position, Role.ROOT)
        for node_id, stage, position in zip(
            properties.get("carried_roots") or [], places[0::2], places[1::2], strict=True
        )
    )
    refs = sorted((_ref(node) for node in checked if node[0] is not None), key=lambda r: r.order)
    return Iteration(
        number=properties["number"],
        verdict=Verdict(properties["verdict"]),
        reasoning=properties["reasoning"],
        checked=tuple(refs),
        carried_roots=carried,
        evidence=tuple(evidence),
    )


def _verification(
    properties: Mapping[str, Any],
    iterations: Mapping[str, list[Iteration]],
    paths: Mapping[str, list[EvidencePath]],
    errors: Mapping[tuple[str, bool], list[NodeRef]],
) -> Verification:
    get: Callable[[str], Any] = properties.get
    verification_id = properties["verification_id"]
    node_id = properties["node_id"]
    carried = sorted(
        errors.get((verification_id, False), []),
        key=lambda ref: (ref.node_id == node_id, ref.order),
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
        iterations=tuple(iterations.get(verification_id, [])),
        paths=tuple(paths.get(verification_id, [])),
        error=ErrorLocation(tuple(errors.get((verification_id, True), [])), tuple(carried)),
        usage=Usage(
            calls=get("calls") or 0,
            cached_calls=get("cached_calls") or 0,
            input_tokens=get("input_tokens") or 0,
            cached_input_tokens=get("cached_input_tokens") or 0,
            output_tokens=get("output_tokens") or 0,
            cost_usd=get("cost_usd"),
        ),
        failure=get("failure"),
    )
