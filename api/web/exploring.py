"""Reads what a picture of a part of a process shows: begun with a claim or a node, step by step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from veritrail_graph.api.web.views.explored import Explored, Focus
from veritrail_graph.api.web.views.selection import AT_A_TIME, MOST_DRAWN, Opened, Selection
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.rules import shown
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.lineage import Direction
from veritrail_graph.graph.store.listed_nodes import ListedNode
from veritrail_graph.graph.store.node_search import NodeSearch
from veritrail_graph.graph.store.outlines import verifications_of
from veritrail_graph.graph.store.picture import Degrees, PictureReader

MOST_PINNED = 150
"""Nodes of an evidence trail that are drawn from the start."""

_WAYS = (Direction.UPSTREAM, Direction.DOWNSTREAM)


async def explore(store: Store, process_id: str, selection: Selection) -> Explored:
    """The nodes and edges of a picture.

    Args:
        store: The graph.
        process_id: The process.
        selection: What it begins with, and what was opened since.

    Raises:
        NotFound: There is no such process, claim, verification or node.
    """
    focus, verification = await _focus(store, process_id, selection)
    exploring = _Exploring(NodeSearch(store.database), PictureReader(store.database), process_id)
    await exploring.add(focus.pinned[:MOST_PINNED], 0)
    if focus.begin not in exploring.nodes:
        await store.processes.get(process_id)
        raise NotFound(f"Process {process_id!r} has no node {shown(focus.begin)}")
    opened = selection.opened
    if opened is None:
        opened = _start(exploring.nodes[focus.begin], focus)
    await exploring.open(opened)
    edges = await exploring.reader.edges(
        process_id,
        [Degrees(one.node_id, one.upstream, one.downstream) for one in exploring.nodes.values()],
    )
    return Explored(
        focus=focus,
        verification=verification,
        nodes=tuple(exploring.nodes.values()),
        arrivals=exploring.arrivals,
        edges=tuple(edges),
        opened=opened,
        is_full=len(exploring.nodes) >= MOST_DRAWN,
    )


async def _focus(
    store: Store, process_id: str, selection: Selection
) -> tuple[Focus, Verification | None]:
    """What is pinned, and the verification whose trail it is."""
    verification_id = selection.verification
    if verification_id is None and selection.claim is not None:
        claim = await store.claims.get(process_id, selection.claim)
        verification_id = claim.verification_id
        if verification_id is None and claim.verifications:  # how the last attempt ended is told
            last = await verifications_of(store.database, process_id, selection.claim, 1)
            verification_id = next((one.verification_id for one in last), None)
        if verification_id is None:
            return Focus(claim.claim.node_id, (claim.claim.node_id,), claim.claim), None
    if verification_id is None:
        node = selection.node or ""
        return Focus(node, (node,)), None
    verification = await _verification(store, process_id, verification_id, selection.claim)
    reader = PictureReader(store.database)
    paths, cited = await asyncio.gather(
        reader.paths(verification_id), reader.cited(verification_id)
    )
    end = verification.claim.node_id
    on_path = [name for path in paths for name in (*path.via, path.source, path.target)]
    errors = [ref.node_id for ref in verification.error.nodes]
    asked = [selection.node] if selection.node else []
    # Where the trail is long, what went wrong and what is nearest to the answer comes first.
    pinned = tuple(dict.fromkeys([end, *asked, *errors, *on_path]))
    links = frozenset(
        pair
        for path in paths
        for chain in [(path.source, *path.via, path.target)]
        for pair in pairwise(chain)
    )
    trail = frozenset((end, *on_path))
    return Focus(end, pinned, verification.claim, links, trail, cited), verification


async def _verification(
    store: Store, process_id: str, verification_id: str, claim_id: str | None
) -> Verification:
    found = await store.trails.headers([verification_id])
    for one in found:
        if one.process_id == process_id and claim_id in (None, one.claim.claim_id):
            return one
    about = f"claim {claim_id!r} of process" if claim_id else "process"
    raise NotFound(f"No verification {shown(verification_id)} of {about} {process_id!r} is stored")


def _start(begin: ListedNode, focus: Focus) -> tuple[Opened, ...]:
    """What is shown before anybody has opened anything: one hop, where there is no trail."""
    if len(focus.pinned) > 1:
        return ()
    ways = [(Direction.UPSTREAM, begin.upstream), (Direction.DOWNSTREAM, begin.downstream)]
    return tuple(Opened(begin.position, way) for way, count in ways if count)


@dataclass(slots=True)
class _Exploring:
    """Nodes as they come in."""

    search: NodeSearch
    reader: PictureReader
    process_id: str
    nodes: dict[str, ListedNode] = field(default_factory=dict)
    arrivals: dict[str, int] = field(default_factory=dict)
    at: dict[int, str] = field(default_factory=dict)

    async def add(self, names: Sequence[str], arrival: int) -> None:
        """Take nodes that came together."""
        self.arrivals |= dict.fromkeys(names, arrival)
        await self._read(names)

    async def open(self, opened: Sequence[Opened]) -> None:
        """Show what was opened, in its order.

        What is known already is asked for together; an opening of a node that is not there is
        passed over.
        """
        waiting = list(enumerate(opened, 1))
        while waiting and len(self.nodes) < MOST_DRAWN:
            now = []
            while waiting and waiting[0][1].position in self.at:
                now.append(waiting.pop(0))
            if not now:
                waiting.pop(0)
                continue
            await self._open_together(now)

    async def _open_together(self, opened: Sequence[tuple[int, Opened]]) -> None:
        limit = min(AT_A_TIME * len(opened), MOST_DRAWN)
        answers = await asyncio.gather(*(self._next(way, opened, limit) for way in _WAYS))
        found = dict(zip(_WAYS, answers, strict=True))
        came: list[str] = []
        for arrival, one in opened:
            others = found[one.way].get(self.at[one.position], [])
            fresh = [name for name in others if name not in self.arrivals][:AT_A_TIME]
            fresh = fresh[: MOST_DRAWN - len(self.nodes) - len(came)]
            self.arrivals |= dict.fromkeys(fresh, arrival)
            came += fresh
        await self._read(came)

    async def _next(
        self, way: Direction, opened: Iterable[tuple[int, Opened]], limit: int
    ) -> dict[str, list[str]]:
        of = dict.fromkeys(self.at[one.position] for _, one in opened if one.way is way)
        return await self.reader.next_nodes(self.process_id, way, list(of), self.nodes, limit)

    async def _read(self, names: Sequence[str]) -> None:
        if not names:
            return
        found = {one.node_id: one for one in await self.search.among(self.process_id, names)}
        for name in names:  # in the order they came in, which the picture keeps
            if name in found:
                self.nodes[name] = found[name]
                self.at[found[name].position] = name
            else:  # gone meanwhile
                self.arrivals.pop(name)
