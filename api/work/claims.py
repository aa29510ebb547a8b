"""Choose the claims that a run verifies: given on the spot, from a file, or stored."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import InputError, NotFound, Violation, shown
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Claim, ClaimOrigin, NodeRef, Status
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.verifier.driver import Task

if TYPE_CHECKING:
    from veritrail_graph.api.work.extraction import ExtractionReport
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.store import Store


async def choose_claims(
    store: Store,
    process: Process,
    texts: Sequence[str],
    records: Sequence[ClaimRecord],
    claim_ids: Sequence[str],
    node: str | None,
    *,
    unfinished: bool = False,
    retry_failed: bool = False,
    in_flight: Collection[str] = (),
    may_be_none: bool = False,
    extracted: ExtractionReport | None = None,
) -> list[Task]:
    """The claims of a run, stored if they are new, each with the node that it is about.

    Args:
        store: The graph.
        process: The process.
        texts: Claims given as text.
        records: Claims read from a file.
        claim_ids: Stored claims.
        node: The node that new claims are about; default: the only terminal.
        unfinished: Leave out the claims whose latest verification succeeded.
        retry_failed: Only the claims whose latest verification ended without a verdict.
        in_flight: Claims of jobs that have not ended, which have no verdict yet either.
        may_be_none: Nothing given means no claims, not those that are stored.
        extracted: Claims that were extracted and stored just now.

    Raises:
        InputError: A claim breaks a rule, there is none, or its node is a root.
        NotFound: The process, a node or a claim_id is not stored.
    """
    process_id = process.process_id
    default = process.terminals[0] if len(process.terminals) == 1 else None
    if node is not None:
        default = node
    given = [ClaimRecord(text, f"claim {shown(text)}") for text in texts]
    nodes: dict[str, tuple[NodeRef, str]] = {}
    found = [] if extracted is None else list(extracted.claims)
    if extracted is not None:
        nodes[extracted.node_id] = extracted.ref, extracted.text
    new = await _new_claims(store, process, [*given, *records], default, nodes)
    chosen = {claim.claim_id: claim for claim in new}
    for claim in [*await _stored_claims(store, process_id, claim_ids), *found]:
        if node not in {None, claim.node_id}:
            raise InputError(
                f"Claim {claim.claim_id!r} is about node {shown(claim.node_id)}, not about "
                f"{shown(node or '')}.",
                code="claim_of_other_node",
                claim_id=claim.claim_id,
                node_id=claim.node_id,
            )
        chosen.setdefault(claim.claim_id, claim)
    if not (texts or records or claim_ids or found or may_be_none):
        stored = await store.claims.all(process_id)
        chosen = {claim.claim_id: claim for claim in stored if node in {None, claim.node_id}}
    if not chosen and not may_be_none:
        if node is not None:
            await _node(store, process_id, node, nodes)
        if is_dialogue(process.terminals) and node is None:
            raise InputError(
                f"Process {process_id!r} is a dialogue and has no stored claims: its turns are "
                "taken apart into claims when they are verified.",
                code="no_claims_of_dialogue",
                process_id=process_id,
            )
        about = f" about node {shown(node)}" if node else ""
        raise InputError(
            f"Process {process_id!r} has no stored claims{about}.",
            code="no_claims",
            process_id=process_id,
        )
    for claim in chosen.values():
        await _node(store, process_id, claim.node_id, nodes)
    await store.claims.add(process_id, new)
    asked = [claim for claim in new if claim.origin is not None]
    for claim in await store.claims.by_id(process_id, asked):  # one may be a claim of the answer
        chosen[claim.claim_id] = claim
    latest = await _latest(store, process_id) if unfinished or retry_failed else {}
    return [
        Task(claim, nodes[claim.node_id][0])
        for claim in chosen.values()
        if not (unfinished and latest.get(claim.claim_id, Status.QUEUED).is_result)
        and not (retry_failed and not _is_without_verdict(latest, claim.claim_id, in_flight))
    ]


def _is_without_verdict(
    latest: Mapping[str, Status], claim_id: str, in_flight: Collection[str]
) -> bool:
    return claim_id in in_flight or not latest.get(claim_id, Status.SUCCEEDED).is_result


async def store_claims(
    store: Store, process_id: str, records: Sequence[ClaimRecord], node: str | None
) -> tuple[list[Claim], int]:
    """Store claims that are given, without verifying them; give them, and how many are new.

    Args:
        store: The graph.
        process_id: The process.
        records: The claims.
        node: The node that those are about that do not say; default: the only terminal.

    Raises:
        InputError: A claim breaks a rule, or its node is a root; nothing was stored.
        NotFound: The process or a node is not stored.
        ProcessConflict: Another text is stored under some of the claim_ids; nothing was stored.
    """
    process = await store.processes.get(process_id)
    only = process.terminals[0] if len(process.terminals) == 1 else None
    nodes: dict[str, tuple[NodeRef, str]] = {}
    claims = await _new_claims(store, process, records, node or only, nodes)
    return claims, await store.claims.add(process_id, claims)


async def _latest(store: Store, process_id: str) -> dict[str, Status]:
    """Status of the latest verification of each claim that has one."""
    headers = await store.trails.headers(await store.trails.all_ids(process_id))
    return {found.claim_id: found.status for found in reversed(headers)}


async def _new_claims(
    store: Store,
    process: Process,
    records: Sequence[ClaimRecord],
    default: str | None,
    nodes: dict[str, tuple[NodeRef, str]],
) -> list[Claim]:
    if not records:
        return []
    # Here, as it brings everything of an ingest.
    from veritrail_graph.graph.ingest.claims import claim_faults, claim_from

    process_id = process.process_id
    claims: dict[str, Claim] = {}
    violations: list[Violation] = []
    # What the answer claims already is that claim, and no question.
    bare = [one for one in records if _is_bare(one)]
    same = await store.claims.same_text(process_id, [one.text for one in bare]) if bare else {}
    stored = {one.claim_id: one for one in await store.claims.by_id(process_id, [*same.values()])}
    for record in records:
        node_id = record.node_id or default
        known_id = same.get((node_id or "", record.text))
        if known_id is not None and _is_bare(record):
            claims.setdefault(known_id, stored[known_id])
            continue
        if node_id is None:
            names = ", ".join(shown(name) for name in process.terminals[:5])
            message = f"the process has several terminals ({names}), and no node is named"
            violations.append(Violation("claim_without_node", record.where, message))
            continue
        ref, text = await _node(store, process_id, node_id, nodes)
        faults = claim_faults(record, len(text))
        violations += faults
        if faults:
            continue
        claim = claim_from(record, node_id, derived_claim_id(node_id, record.text))
        if claim.origin is ClaimOrigin.ASKED:
            said = await asyncio.to_thread(_is_said, ref, text, claim.text)
            claim = claim.replace(said=said)
        known = claims.setdefault(claim.claim_id, claim)
        if (known.text, known.node_id) != (claim.text, claim.node_id):
            message = f"the claim_id {claim.claim_id!r} is used before with another text"
            violations.append(Violation("duplicate_claim_id", record.where, message))
    if violations:
        needs_node = any(one.kind == "claim_without_node" for one in violations)
        code = "node_needed" if needs_node else None
        raise InputError("Claims break rules; nothing was stored.", violations, code=code)
    return list(claims.values())


def _is_said(ref: NodeRef, text: str, claim: str) -> bool | None:
    # Here, as it brings the whole engine.
    from veritrail_graph.verifier.asked import is_said

    return is_said(ref, text, claim)


def _is_bare(record: ClaimRecord) -> bool:
    """Return whether a claim is given by its text alone, and that can be stored."""
    try:
        record.text.encode()
    except UnicodeEncodeError:  # half a character: its check says so
        return False
    return record.claim_id is None and record.start is None and not record.sub_claims


async def _stored_claims(store: Store, process_id: str, claim_ids: Sequence[str]) -> list[Claim]:
    wanted = list(dict.fromkeys(claim_ids))
    stored = {claim.claim_id: claim for claim in await store.claims.by_id(process_id, wanted)}
    unknown = [claim_id for claim_id in wanted if claim_id not in stored]
    if unknown:
        names = ", ".join(shown(claim_id) for claim_id in unknown[:5])
        raise NotFound(f"Process {process_id!r} has no claim {names}.", code="claim_unknown")
    return [stored[claim_id] for claim_id in wanted]


async def _node(
    store: Store, process_id: str, node_id: str, nodes: dict[str, tuple[NodeRef, str]]
) -> tuple[NodeRef, str]:
    if node_id not in nodes:
        ref, text = await store.reading.node(process_id, node_id)
        if ref.is_root:
            raise InputError(
                f"Node {shown(node_id)} is a root of process {process_id!r}: it is source text, "
                "and there is nothing to check it against."
            )
        nodes[node_id] = (ref, text)
    return nodes[node_id]
