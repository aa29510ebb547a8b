"""Choose the sentences to attribute: of whole nodes, or those that carried claims; and to what.

Source: VeriTrail 3.2 (error localization); Error-tolerant attribution 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError, NotFound, Violation, shown
from veritrail_graph.graph.model import Verdict, frontier_order, in_order
from veritrail_graph.graph.model.attribution import Against, LeftOut

if TYPE_CHECKING:
    from veritrail_graph.api.requests.attribute import AttributeParameters
    from veritrail_graph.graph.model import Claim, NodeRef, Process, Sentence, Verification
    from veritrail_graph.graph.model.process import SourcesRead
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.attributions import SentencePlace
    from veritrail_graph.verifier.ports import SourceNodes

TRAILS = 100
"""Trails that are held at a time."""
READ_AT_ONCE = 16
"""Nodes that are read side by side."""


@dataclass(frozen=True, slots=True)
class SelectedSentences:
    """The sentences that are to be attributed.

    Attributes:
        only: By node_id, in the order of a frontier: the numbers of the sentences, in order.
        left_out: Nodes that were asked for and have nothing to attribute, with the reason.
        places: Where the sentences stand that carried claims.
        claims: Claims with an error node; whole nodes have none.
    """

    only: Mapping[str, Sequence[int]]
    left_out: tuple[LeftOut, ...] = ()
    places: tuple[SentencePlace, ...] = ()
    claims: frozenset[str] = frozenset()

    @property
    def total(self) -> int:
        """Return how many sentences they are."""
        return sum(map(len, self.only.values()))


async def selected_sentences(
    store: Store, process: Process, asked: AttributeParameters, splitter: SentenceSplitter
) -> SelectedSentences:
    """The sentences that are asked for: those of nodes, or those that carried claims.

    Raises:
        NotFound: A node or a claim is not stored.
        InputError: A node that was named, or every terminal, has nothing to attribute; a claim
            that was named, or every claim, has no error node; or no sentence carried one.
    """
    if asked.is_of_claims:
        return await _of_claims(store, process, asked.claim_ids or (), splitter)
    chosen, left_out = await chosen_nodes(store, process, asked.node_ids or (), splitter)
    only = {one.ref.node_id: range(one.sentences) for one in chosen}
    return SelectedSentences(only, tuple(left_out))


async def _of_claims(
    store: Store, process: Process, claims: Sequence[str], splitter: SentenceSplitter
) -> SelectedSentences:
    """The sentences of error nodes that carried claims, by their verifications in force."""
    name, named = process.process_id, list(dict.fromkeys(claims))
    stored = await store.claims.by_id(name, named) if named else await store.claims.all(name)
    known = {one.claim_id for one in stored}
    for claim_id in named:
        if claim_id not in known:
            raise NotFound(f"Process {name!r} has no claim {claim_id!r}.", code="claim_unknown")
    judged = await store.claims.judged(name, [one.claim_id for one in stored])
    wrong = [
        one.verification_id
        for one in judged.values()
        if one.verdict is Verdict.NOT_FULLY_SUPPORTED and one.verification_id is not None
    ]
    found = await carried_sentences(store, splitter, wrong)
    missing = [claim_id for claim_id in named if claim_id not in found.claims]
    if missing or not found.claims:
        raise InputError(
            f"Process {name!r}: no error node is known, and so no sentence that carried the claim.",
            [
                Violation(
                    "no_error_node",
                    f"claim {claim_id}",
                    "has no verification in force that is Not Fully Supported and says at which "
                    "node unsupported content came in",
                )
                for claim_id in missing
            ],
            code="no_error_node",
        )
    if not found.only:
        raise InputError(
            f"Process {name!r}: no sentence of an error node is known to have carried these "
            "claims.",
            code="nothing_carried",
        )
    return found


async def carried_sentences(
    store: Store, splitter: SentenceSplitter, verification_ids: Sequence[str]
) -> SelectedSentences:
    """The sentences of error nodes that carried the claims of stored verifications.

    Args:
        store: The graph.
        splitter: Splits texts into sentences.
        verification_ids: Verifications of one process; those without an error node, and unknown
            ones, are passed over.
    """
    refs: dict[str, NodeRef] = {}
    places: dict[SentencePlace, None] = {}
    claims: set[str] = set()
    for start in range(0, len(verification_ids), TRAILS):
        outlines = await store.trails.outlines(verification_ids[start : start + TRAILS])
        for one in (outline.verification for outline in outlines):
            if not one.error_nodes:
                continue
            claims.add(one.claim_id)
            refs |= {ref.node_id: ref for ref in one.error_nodes}
            places |= dict.fromkeys(await carrying_places(store, splitter, one))
    without = [ref.node_id for ref in refs.values() if ref.is_unsourced]
    numbers: dict[str, set[int]] = {}
    for node_id, number, *_ in places:
        if node_id not in without:
            numbers.setdefault(node_id, set()).add(number)
    ordered = sorted(numbers, key=lambda node_id: frontier_order(refs[node_id]))
    return SelectedSentences(
        {node_id: sorted(numbers[node_id]) for node_id in ordered},
        tuple(LeftOut.without_sources(node_id) for node_id in without),
        tuple(place for place in places if place[0] not in without),
        frozenset(claims),
    )


async def carrying_places(
    store: Store,
    splitter: SentenceSplitter,
    one: Verification,
    own: Collection[str] | None = None,
) -> list[SentencePlace]:
    """Return where the sentences of the error nodes stand that carried a claim.

    Args:
        store: The graph.
        splitter: Splits texts into sentences.
        one: The verification with its evidence.
        own: Verified nodes whose sentences are looked for, which takes reading their texts; None:
            all.

    Raises:
        NotFound: The process is not stored (any more).
    """
    from veritrail_graph.verifier.localization import carrying

    sentences: Sequence[Sentence] = ()
    claim = None
    if one.node_id in {ref.node_id for ref in one.error_nodes} and (
        own is None or one.node_id in own
    ):
        claim, sentences = await _stated(store, splitter, one)
    return carrying(one, claim, sentences)


async def _stated(
    store: Store, splitter: SentenceSplitter, one: Verification
) -> tuple[Claim, Sequence[Sentence]]:
    """The claim of a verification with its place, and the sentences of its node."""
    stored = await store.claims.by_id(one.process_id, [one.claim_id])
    # A claim that was edited says something else than what was verified at its place.
    is_same = bool(stored) and stored[0].text == one.claim
    _, text = await store.reading.node(one.process_id, one.node_id)
    sentences = await asyncio.to_thread(splitter.split, one.node_id, text)
    return (stored[0] if is_same else one.verified_claim), sentences


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node to attribute.

    Attributes:
        ref: The node.
        sentences: How many sentences it has.
    """

    ref: NodeRef
    sentences: int


async def chosen_nodes(
    store: Store, process: Process, named: Sequence[str], splitter: SentenceSplitter
) -> tuple[list[ChosenNode], list[LeftOut]]:
    """The nodes to attribute, and the terminals that are left out.

    Raises:
        InputError: A named node, or every terminal, has nothing to attribute or no sources.
        NotFound: A node is not stored.
    """
    name = process.process_id
    found: list[ChosenNode] = []
    left_out: list[tuple[str, LeftOut]] = []
    node_ids = list(dict.fromkeys(named or process.terminals))
    read = await read_nodes(store, name, node_ids)
    for node_id, (ref, text) in zip(node_ids, read, strict=True):
        if ref.is_root:
            reason = "is a root: it is source text, and there is nothing to attribute it to"
            left_out.append(("root_node", LeftOut(node_id=node_id, reason=reason)))
        elif ref.is_unsourced:
            left_out.append(("unsourced_node", LeftOut.without_sources(node_id)))
        elif not (sentences := splitter.split(node_id, text)):
            reason = "has no text to attribute"
            left_out.append(("empty_node", LeftOut(node_id=node_id, reason=reason)))
        else:
            found.append(ChosenNode(ref, len(sentences)))
    if left_out and (named or not found):
        raise InputError(
            f"Process {name!r}: {len(left_out)} node(s) cannot be attributed; name others.",
            [Violation(kind, f"node {shown(one.node_id)}", one.reason) for kind, one in left_out],
            code="nothing_to_attribute",
        )
    return found, [one for _, one in left_out]


async def read_nodes(
    store: Store, process_id: str, node_ids: Iterable[str]
) -> list[tuple[NodeRef, str]]:
    """Nodes with their texts, in this order, some read side by side.

    Raises:
        NotFound: A node is not stored.
    """
    slots = asyncio.Semaphore(READ_AT_ONCE)

    async def one(node_id: str) -> tuple[NodeRef, str]:
        async with slots:
            return await store.reading.node(process_id, node_id)

    return await asyncio.gather(*map(one, node_ids))


async def sources_of(
    source_nodes: Callable[[list[str]], Awaitable[SourceNodes | SourcesRead]],
    node_id: str,
    against: Against,
) -> list[NodeRef]:
    """The nodes that one is attributed to, in the order of a frontier.

    Args:
        source_nodes: Reads the source nodes of some nodes.
        node_id: The node.
        against: Its own source nodes, or the roots below it.
    """
    found = (await source_nodes([node_id])).nodes
    if against is Against.INPUTS:
        return list(found)
    seen: dict[str, NodeRef] = {}
    while found:
        seen.update((ref.node_id, ref) for ref in found)
        inner = [ref.node_id for ref in found if not (ref.is_root or ref.is_unsourced)]
        if not inner:
            break
        sources = (await source_nodes(inner)).nodes
        found = tuple(ref for ref in sources if ref.node_id not in seen)
    return list(in_order([ref for ref in seen.values() if ref.is_root]))


def unjudged_words(number: int) -> str:
    """Return what a person should know where a run removed judged labels."""
    return (
        f"{number:,} judged label(s) of earlier runs were removed, with the wordings that the same "
        "engine proposed: these sentences rest on other source sentences now. Attributing them "
        "again, with judging and correcting, asks about them anew."
    )
