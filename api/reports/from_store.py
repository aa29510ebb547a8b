"""A report from what is stored: headers of all verifications first, trails a few at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from veritrail_graph.api.app import Application
from veritrail_graph.api.reports.data import (
    CheckedClaim,
    ClaimSelection,
    Made,
    NodeFacts,
    ReportData,
    Trail,
    material_of,
    trail_of,
)
from veritrail_graph.api.views.context import Around, Place, cited_in, context_of, named_nodes
from veritrail_graph.graph.errors import ProcessConflict
from veritrail_graph.graph.model import NodeRef, Review, Verification
from veritrail_graph.graph.model.listed import StoredNode

TRAILS = 100
"""Trails that are held at a time."""

_TEXTS = 4_000_000  # UTF-16 units of texts that are held at a time
_NODES = 5_000


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A stored process.

    Attributes:
        app: The application.
        material: The process and its claims.
        reviews: All reviews of a claim, newest first, by claim_id.
    """

    app: Application
    material: ReportData
    reviews: dict[str, list[Review]]

    @classmethod
    async def read(
        cls,
        app: Application,
        process_id: str,
        wanted: ClaimSelection = ClaimSelection(),  # noqa: B008 (frozen)
        made: Made | None = None,
    ) -> StoredSource:
        """Read everything but the trails.

        Args:
            app: The application.
            process_id: The process.
            wanted: Which of its claims the report is about.
            made: When and by what it is made; None: now.

        Raises:
            NotFound: There is no such process or claim.
        """
        process = await app.processes.get(process_id)
        asked = list(dict.fromkeys(wanted.claim_ids)) or None
        claims, numbers = await app.claims.numbered(process_id, asked)
        some = list(numbers) if asked else None  # one of ten thousand: the others need not be read
        headers = await app.verifications.headers_of(process_id, some)
        reviews: dict[str, list[Review]] = {}
        for one in await app.reviews.in_full(process_id, some):
            reviews.setdefault(one.claim_id, []).append(one)
        reviewed = await app.reviews.of_claims(process_id, list(reviews))
        total = process.claims if asked else None
        material = material_of(process, claims, headers, reviewed, wanted, made, total, numbers)
        return cls(app, material, reviews)

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes; see `ReportSource.texts`."""
        return await self.app.nodes.texts(self.material.process.process_id, node_ids, most=None)

    async def trails(
        self, claims: Sequence[CheckedClaim], *, whole: bool = False, counted: bool = False
    ) -> AsyncIterator[Trail]:
        """The trails of these claims in their order; see `ReportSource.trails`."""
        for start in range(0, len(claims), TRAILS):
            some = claims[start : start + TRAILS]
            names = [one.verification.verification_id for one in some if one.verification]
            counts: dict[str, Mapping[int, int]] = {}
            if counted:
                outlines = await self.app.verifications.outlines(names)
                read = [one.verification for one in outlines]
                counts = {one.verification.verification_id: one.checked for one in outlines}
            else:
                read = await self.app.verifications.read(names)
            found = {one.verification_id: one for one in read}
            if len(found) < len(names):
                raise self._changed()
            nodes, context = await self._nodes(read) if whole else (None, None)
            for one in some:
                name = one.verification.verification_id if one.verification else ""
                reviews = self.reviews.get(one.claim.claim_id, ())
                made = trail_of(one, found.get(name), reviews, nodes, context)
                yield replace(made, read=counts.get(name, {}))

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
            some = names[start : start + _NODES]
            stored += (await self.app.nodes.get(process_id, some, with_content=False)).nodes
        cited = cited_in(found)
        quoted = {one.node_id for one in cited}
        context: dict[Place, Around] = {}
        for group in _groups([one for one in stored if one.node_id in quoted]):
            context |= context_of(cited, await self.app.nodes.texts(process_id, group, most=None))
        return {one.node_id: _facts(one) for one in stored}, context


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
