"""Claims where there are none: what the final outputs state, a sentence each.

A language model takes an answer apart into claims (Claimify). Where none is asked, each sentence
that states something is a claim. Every door makes its claims here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.unseen import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.graph.store import Store

_SHOWN = 300
"""Characters of an output that are shown where it states nothing."""


async def lacks_claims(store: Store, process: Process, node: str | None) -> bool:
    """Say whether no claim of a process, or of one of its nodes, is stored; turns have none at all.

    Args:
        store: The graph.
        process: The process.
        node: The node; None: any of its nodes.
    """
    if node is None:
        return not process.claims and not is_dialogue(process.terminals)
    if not process.claims:
        return True
    claims = await store.claims.all(process.process_id)
    return all(claim.node_id != node for claim in claims)


async def stated_claims(
    store: Store, process: Process, splitter: SentenceSplitter, node: str | None = None
) -> list[ClaimRecord]:
    """Return what the final outputs of a process state, a sentence each; nothing is stored.

    Args:
        store: The graph.
        process: The process.
        splitter: Cuts texts into sentences.
        node: The node whose sentences are taken; None: every final output.

    Raises:
        InputError: They state nothing; the message shows them.
    """
    texts = await _outputs(store, process, [node] if node is not None else process.terminals)
    found: list[ClaimRecord] = []
    for node_id, text in texts:
        found += await asyncio.to_thread(stated_records, node_id, text, splitter)
    if not found:
        what = "Its final output states" if len(texts) == 1 else "Its final outputs state"
        answer = " / ".join(f"“{shown_text(text)}”" for _, text in texts[:3] if text.strip())
        raise InputError(
            f"Process {process.process_id!r} has no claims. {what} nothing that could be checked"
            f"{f': {answer}' if answer else ''}.",
            code="nothing_stated",
            process_id=process.process_id,
        )
    return found


async def stated_where_none(
    store: Store, request: VerifyRequest, process: Process, splitter: SentenceSplitter
) -> list[ClaimRecord]:
    """Return claims for a request that names none, about a process that has none; else nothing.

    Args:
        store: The graph.
        request: What was asked for.
        process: The process.
        splitter: Cuts texts into sentences.

    Raises:
        InputError: The final outputs state nothing.
    """
    if request.names_claims:
        return []
    if not await lacks_claims(store, process, request.node_id):
        return []
    return await stated_claims(store, process, splitter, request.node_id)


def stated_records(node_id: str, text: str, splitter: SentenceSplitter) -> list[ClaimRecord]:
    """Return the sentences of a text that state something as claims, each once with its places."""
    from veritrail_graph.graph.sentences.stating import statements

    found: dict[str, ClaimRecord] = {}
    for one in statements(text, splitter):
        known = found.get(one.text)
        also = () if known is None else (*known.also, (one.start, one.end))
        start, end = (one.start, one.end) if known is None else (known.start, known.end)
        claim_id = derived_claim_id(node_id, one.text)
        where = f"sentence {shown(one.text)}"
        found[one.text] = ClaimRecord(one.text, where, claim_id, node_id, start, end, also=also)
    return list(found.values())


def shown_text(text: str) -> str:
    """Return a text on one line, cut at a length that a message can hold."""
    words = spelled(" ".join(text.split()), lambda _: "\ufffd")
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN].rsplit(' ', 1)[0]} …"


async def _outputs(
    store: Store, process: Process, node_ids: Sequence[str]
) -> list[tuple[str, str]]:
    """Ids and texts of those of some nodes that the process wrote."""
    known = {one.node_id: one for one in await store.nodes.get(process.process_id, list(node_ids))}
    found: list[tuple[str, str]] = []
    for node_id in node_ids:
        ref, text = await store.reading.node(process.process_id, node_id)
        stored = known.get(node_id)
        if ref.is_root and len(node_ids) == 1:
            raise InputError(
                f"Node {shown(node_id)} is a root of process {process.process_id!r}: it is source "
                "text, and there is nothing to check it against."
            )
        said = stored is not None and stored.origin == Origin.GIVEN.value
        if not ref.is_root and not said:
            found.append((node_id, text))
    return found
