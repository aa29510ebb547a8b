"""A report from what is stored: headers of all verifications first, trails a few at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.api.reports.data import (
    CheckedClaim,
    Made,
    Material,
    NodeFacts,
    Trail,
    Wanted,
    material_of,
    trail_of,
)
from veritrail_graph.api.views.context import Around, Place, cited_in, context_of, named_nodes
from veritrail_graph.graph.errors import ProcessConflict
from veritrail_graph.graph.model import Claim, NodeRef, Review, Reviewed, Verification
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claim_rows import id_batches
from veritrail_graph.graph.store.nodes import StoredNode
from veritrail_graph.graph.store.paging import Properties, claim_pages
from veritrail_graph.graph.store.process_rows import claim_from

TRAILS = 100
"""Trails that are held at a time."""

_TEXTS = 4_000_000  # UTF-16 units of texts that are held at a time
_NODES = 5_000


@dataclass(frozen=True, slots=True)
class StoredOrigin:
    """A process of the store.

    Attributes:
        store: The graph.
        material: The process and its claims.
        reviews: All reviews of a claim, newest first, by claim_id.
    """

    store: Store
    material: Material
    reviews: dict[str, tuple[Review, ...]]

    @classmethod
    async def read(
        cls,
        store: Store,
        process_id: str,
        wanted: Wanted = Wanted(),  # noqa: B008 (frozen)
        made: Made | None = None,
    ) -> StoredOrigin:
        """Read everything but the trails.

        Args:
            store: The graph.
            process_id: The process.
            wanted: Which of its claims the report is about.
            made: When and by what it is made; None: now.

        Raises:
            NotFound: There is no such process or claim.
        """
        process = await store.processes.get(process_id)
        if wanted.claim_ids:  # one of ten thousand: the others need not be read
            return await cls._of_claims(store, process_id, wanted, made)
        claims, numbers = _numbered(
            [one async for page in claim_pages(store.database, process_id) for one in page]
        )
        headers = await store.trails.headers(await store.trails.all_ids(process_id))
        reviews: dict[str, list[Review]] = {}
        for one in await store.reviews.all(process_id):
            reviews.setdefault(one.review.claim_id, []).append(one.review)
        said = await store.reviews.of_claims(process_id, list(reviews)) if reviews else {}
        material = material_of(process, claims, headers, said, wanted, made, numbers=numbers)
        return cls(store, material, {name: tuple(each) for name, each in reviews.items()})

    @classmethod
    async def _of_claims(
        cls, store: Store, process_id: str, wanted: Wanted, made: Made | None
    ) -> StoredOrigin:
        process = await store.processes.get(process_id)
        found: list[Properties] = []
        for batch in id_batches(list(dict.fromkeys(wanted.claim_ids))):
            found += [
                properties
                for (properties,) in await store.database.read(
                    "trail/claims_by_id", process_id=process_id, claim_ids=batch
                )
            ]
        known, numbers = _numbered(found)
        rows = await store.database.read(
            "trail/of_claims", process_id=process_id, claim_ids=[one.claim_id for one in known]
        )
        headers = await store.trails.headers([name for _, name in rows])
        reviews = {
            one.claim_id: tuple(
                found.review for found in await store.reviews.all(process_id, one.claim_id)
            )
            for one in known
        }
        said: dict[str, Reviewed] = await store.reviews.of_claims(
            process_id, [name for name, each in reviews.items() if each]
        )
        material = material_of(process, known, headers, said, wanted, made, process.claims, numbers)
        return cls(store, material, reviews)

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes; see `Origin.texts`."""
        return await self.store.reading.texts(self.material.process.process_id, node_ids)

    async def trails(
        self, claims: Sequence[CheckedClaim], *, whole: bool = False
    ) -> AsyncIterator[Trail]:
        """The trails of these claims in their order; see `Origin.trails`."""
        for start in range(0, len(claims), TRAILS):
            some = claims[start : start + TRAILS]
            names = [one.verification.verification_id for one in some if one.verification]
            read = await self.store.trails.read(names)
            found = {one.verification_id: one for one in read}
            if len(found) < len(names):
                raise self._changed()
            nodes, context = await self._nodes(read) if whole else (None, None)
            for one in some:
                name = one.verification.verification_id if one.verification else ""
                reviews = self.reviews.get(one.claim.claim_id, ())
                yield trail_of(one, found.get(name), reviews, nodes, context)

    def _changed(self) -> ProcessConflict:
        return ProcessConflict(
            f"Process {self.material.process.process_id!r} was removed, replaced or changed while "
            "its report was made. Ask for the report again."
        )

    async def _nodes(
        self, found: Sequence[Verification]
    ) -> tuple[dict[str, NodeFacts], dict[Place, Around]]:
        """The nodes that trails name, and what stands around the sentences that they cite."""
        process_id = self.material.process.process_id
        names = list(dict.fromkeys(name for one in found for name in named_nodes(one)))
        stored: list[StoredNode] = []
        for start in range(0, len(names), _NODES):
            stored += await self.store.nodes.get(process_id, names[start : start + _NODES])
        cited = cited_in(found)
        quoted = {one.sentence.node_id for one in cited}
        context: dict[Place, Around] = {}
        for group in _groups([one for one in stored if one.node_id in quoted]):
            context |= context_of(cited, await self.store.reading.texts(process_id, group))
        return {one.node_id: _facts(one) for one in stored}, context


def _numbered(stored: Sequence[Properties]) -> tuple[list[Claim], dict[str, int]]:
    """Claims as they are stored, and the number of each on the page of their process."""
    return (
        [claim_from(one) for one in stored],
        {one["claim_id"]: one["position"] + 1 for one in stored},
    )


def _facts(one: StoredNode) -> NodeFacts:
    ref = NodeRef(one.node_id, one.stage, one.position, one.role)
    return NodeFacts(ref, one.kind, one.step, one.model)


def _groups(nodes: Sequence[StoredNode]) -> Iterator[list[str]]:
    """Nodes whose texts can be held together."""
    group: list[str] = []
    size = 0
    for one in nodes:
        if group and size + one.length > _TEXTS:
            yield group
            group, size = [], 0
        group.append(one.node_id)
        size += one.length
    if group:
        yield group
