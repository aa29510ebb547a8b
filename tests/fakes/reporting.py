"""A Markdown report of verifications that are at hand, without a store to read trails from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.show.reports.conversation import Conversation
from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim, ReportTrail, trail_of
from veritrail_graph.api.show.reports.markdown import markdown_pieces
from veritrail_graph.api.show.reports.material import material_of
from veritrail_graph.api.show.reports.resting import Resting
from veritrail_graph.graph.model import Claim, Process, Reviewed, Verification


@dataclass
class AtHand:
    """Where a report is made from: what is at hand."""

    material: ReportData

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        return {}

    async def trails(
        self, claims: Sequence[ReportedClaim], *, whole: bool = False, counted: bool = False
    ) -> AsyncIterator[ReportTrail]:
        for one in claims:
            yield trail_of(one, one.verification, ())

    async def resting(self) -> Resting:
        return Resting()

    async def conversation(self) -> Conversation:
        return Conversation()


def markdown_of(
    process: Process,
    claims: Sequence[Claim],
    verifications: Sequence[Verification],
    reviews: Mapping[str, Reviewed] | None = None,
) -> str:
    """What `veritrail report` would write of them."""
    origin = AtHand(material_of(process, claims, verifications, reviews or {}))

    async def whole() -> str:
        return "".join([piece async for piece in markdown_pieces(origin)])

    return asyncio.run(whole())
