"""The graph of a process: stages, or the surroundings of a claim or a node; and lists of nodes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from time import monotonic
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.pages.claim import names_in
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.page.views.claim_picture import picture_html
from veritrail_graph.api.page.views.graph import (
    AT_A_TIME,
    MOST_DRAWN,
    MOST_OPENED,
    PART_WORDS,
    Explored,
    Focus,
    NodeList,
    NodePart,
    Opened,
    Selection,
    listed_among,
    listed_rows,
    read_opened,
)
from veritrail_graph.api.page.views.picture import draw, overview_of
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import LONGEST_CURSOR, Listing, ProcessId
from veritrail_graph.api.show.dialogue import listed_mark
from veritrail_graph.api.show.node_names import with_names
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import mark_now
from veritrail_graph.graph.errors import NotFound, VeriTrailError, shown
from veritrail_graph.graph.model import Process, Role, Verdict, Verification
from veritrail_graph.graph.model.lineage import Degrees, Direction, StageEdges
from veritrail_graph.graph.model.listed import (
    ANY_NODE,
    ClaimFilter,
    ListedNode,
    NodeQuery,
    Tally,
)
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

MOST_PINNED = 150
"""Nodes of an evidence trail that are drawn from the start."""

_WAYS = (Direction.UPSTREAM, Direction.DOWNSTREAM)


async def explore(app: Application, process_id: str, selection: Selection) -> Explored:
    """The nodes and edges of a picture.

    Args:
        app: The application.
        process_id: The process.
        selection: What it begins with, and what was opened since.

    Raises:
        NotFound: There is no such process, claim, verification or node.
    """
    focus, verification = await _focus(app, process_id, selection)
    exploring = _Exploring(app, process_id)
    await exploring.add(focus.pinned[:MOST_PINNED], 0)
    if focus.begin not in exploring.nodes:
        await app.processes.get(process_id)
        raise NotFound(f"Process {process_id!r} has no node {shown(focus.begin)}")
    opened = selection.opened
    if opened is None:
        opened = _start(exploring.nodes[focus.begin], focus)
    await exploring.open(opened)
    nodes = exploring.nodes.values()
    degrees = [Degrees(one.node_id, one.upstream, one.downstream) for one in nodes]
    edges, inferred = await asyncio.gather(
        app.drawings.edges(process_id, degrees), app.drawings.inferred(process_id, degrees)
    )
    return Explored(
        focus=focus,
        verification=verification,
        nodes=tuple(exploring.nodes.values()),
        arrivals=exploring.arrivals,
        edges=tuple(edges),
        opened=opened,
        is_full=len(exploring.nodes) >= MOST_DRAWN,
        inferred=inferred,
    )


async def _focus(
    app: Application, process_id: str, selection: Selection
) -> tuple[Focus, Verification | None]:
    """Return what is pinned, and the verification whose trail it is."""
    verification_id = selection.verification
    if verification_id is None and selection.claim is not None:
        claim = await app.claims.get(process_id, selection.claim)
        verification_id = claim.verification_id
        if verification_id is None and claim.verifications:  # the end of the last attempt is shown
            last = await app.verifications.of_claim(process_id, selection.claim, 1)
            verification_id = next((one.verification_id for one in last), None)
        if verification_id is None:
            return Focus(claim.node_id, (claim.node_id,), claim, judged=claim), None
    if verification_id is None:
        node = selection.node or ""
        return Focus(node, (node,)), None
    verification = await _verification(app, process_id, verification_id, selection.claim)
    paths, cited = await app.drawings.trail(verification_id)
    end = verification.node_id
    on_path = [name for path in paths for name in (*path.via, path.source, path.target)]
    errors = [ref.node_id for ref in verification.error_nodes]
    if verification.value_place is not None:
        errors += [*verification.value_place.node_ids, verification.value_place.source.node_id]
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
    return Focus(end, pinned, verification.verified_claim, links, trail, cited), verification


async def _verification(
    app: Application, process_id: str, verification_id: str, claim_id: str | None
) -> Verification:
    found = await app.verifications.headers([verification_id])
    for one in found:
        if one.process_id == process_id and claim_id in (None, one.claim_id):
            return one
    about = f"claim {claim_id!r} of process" if claim_id else "process"
    raise NotFound(f"No verification {shown(verification_id)} of {about} {process_id!r} is stored")


def _start(begin: ListedNode, focus: Focus) -> tuple[Opened, ...]:
    """Return what is shown before anybody has opened anything: one hop, where there is no trail."""
    if len(focus.pinned) > 1:
        return ()
    ways = [(Direction.UPSTREAM, begin.upstream), (Direction.DOWNSTREAM, begin.downstream)]
    return tuple(Opened(begin.position, way) for way, count in ways if count)


@dataclass(slots=True)
class _Exploring:
    """Nodes in the order of arrival."""

    app: Application
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
        return await self.app.drawings.next_nodes(self.process_id, way, list(of), self.nodes, limit)

    async def _read(self, names: Sequence[str]) -> None:
        if not names:
            return
        found = {one.node_id: one for one in await self.app.drawings.among(self.process_id, names)}
        for name in names:  # in the order they came in, which the picture keeps
            if name in found:
                self.nodes[name] = found[name]
                self.at[found[name].position] = name
            else:  # removed meanwhile
                self.arrivals.pop(name)


PATIENCE = 0.15
"""Seconds that a page waits for a count before it is shown without."""

MOST_KEPT = 256
"""Processes whose counts are kept."""

FRESH = 60.0
"""Seconds for which a failure is repeated to callers; after that the next call tries again."""

_Key = tuple[str, str]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Counted:
    """The edge counts of a process, where they are known.

    Attributes:
        edges: The count; None: there is none yet.
        has_failed: Whether counting failed; it is tried again when somebody asks again.
    """

    edges: StageEdges | None
    has_failed: bool = False


class EdgeCounts:
    """Counts of the processes that were looked at.

    Args:
        patience: Seconds that a caller waits.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._kept: OrderedDict[_Key, StageEdges] = OrderedDict()
        self._under_way: dict[_Key, asyncio.Task[StageEdges]] = {}
        self._failed: OrderedDict[_Key, float] = OrderedDict()
        self._one = asyncio.Lock()

    async def of(self, app: Application, process: Process) -> Counted:
        """The count of a process, or what is known of it."""
        key = (process.process_id, process.content_hash)
        if key in self._kept:
            self._kept.move_to_end(key)
            return Counted(self._kept[key])
        failed_at = self._failed.pop(key, None)
        if failed_at is not None and monotonic() - failed_at < FRESH:
            return Counted(None, has_failed=True)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._count(app, process))
            # Whether anybody comes back or not: what was counted is kept, a fault is looked at.
            task.add_done_callback(partial(self._ended, key))
            self._under_way[key] = task
        done, _ = await asyncio.wait([task], timeout=self._patience)
        if not done:
            return Counted(None)
        self._ended(key, task)  # else its end could be noted later, and reported twice
        try:
            return Counted(task.result())
        except (VeriTrailError, RuntimeError):  # the latter where its connection was closed
            self._failed.pop(key, None)
            return Counted(None, has_failed=True)

    def _ended(self, key: _Key, task: asyncio.Task[StageEdges]) -> None:
        if self._under_way.get(key) is not task:
            return
        del self._under_way[key]
        if task.cancelled():
            return
        if task.exception() is None:
            _keep(self._kept, key, task.result())
        else:
            _keep(self._failed, key, monotonic())

    async def _count(self, app: Application, process: Process) -> StageEdges:
        async with self._one:
            return await app.drawings.stage_edges(process)


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    kept[key] = value
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)


router = APIRouter(route_class=OneVersion, include_in_schema=False)

LONGEST_SEARCH = 200
LONGEST_ID = 200
LONGEST_OPENED = 2_000
ROWS = 50
"""Nodes of one page of a list."""

STARTS = 5
"""Claims and final outputs that a picture can be begun with from the stages."""


def selection_of(
    claim: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID)] = None,
    verification: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID)] = None,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    open: Annotated[str | None, Query(max_length=LONGEST_OPENED)] = None,  # noqa: A002
    at: Annotated[int | None, Query(ge=0)] = None,
    q: Annotated[str | None, Query(max_length=LONGEST_SEARCH)] = None,
    stage: Annotated[str | None, Query(pattern=r"^[0-9]{0,10}$")] = None,
    role: Annotated[str | None, Query(pattern=r"^(root|intermediate|terminal|unsourced|)$")] = None,
    kind: Annotated[str | None, Query(max_length=MAX_NODE_ID)] = None,
    cited: bool = False,
    all: bool = False,  # noqa: A002
    cursor: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
) -> Selection:
    """Return what an address of the page selects; an empty field of a form is none."""
    opened, left_out = read_opened(open)
    wanted_stage = min(int(stage), MAX_STAGE) if stage else None
    wanted_role = Role(role) if role else None
    wanted = NodeQuery(q or None, wanted_stage, wanted_role, kind or None, True if cited else None)
    return Selection(claim, verification, node, opened, at, wanted, all, cursor or None, left_out)


@router.get("/processes/{process_id}/graph", dependencies=[needs(Scope.READ)])
async def show_graph(
    request: Request,
    app: App,
    process_id: ProcessId,
    selection: Annotated[Selection, Depends(selection_of)],
) -> HTMLResponse:
    """Stages, or a part of the process around a claim or a node."""
    if selection.is_focused:
        return await _focused(request, app, process_id, selection)
    process, counts, listed = await asyncio.gather(
        app.processes.get(process_id),
        app.claims.tally(process_id),
        _everywhere(app, process_id, selection),
    )
    counted, starts, errors = await asyncio.gather(
        edge_counts(request).of(app, process),
        _starts(app, process, counts),
        _errors(app, process_id, listed),
    )
    return render(
        request,
        "graph.html",
        **_shared(process, selection, listed),
        errors=errors,
        overview=overview_of(process, counts.together, counted.edges, counts.judged),
        counts=counts,
        counted=counted,
        starts=starts,
        picture=None,
    )


async def _focused(
    request: Request, app: Application, process_id: str, selection: Selection
) -> HTMLResponse:
    process, explored = await asyncio.gather(
        app.processes.get(process_id), explore(app, process_id, selection)
    )
    picture = await asyncio.to_thread(draw, explored, process, selection)
    selection = replace(selection, opened=explored.opened)
    if selection.everywhere:
        listed = await _everywhere(app, process_id, selection)
    else:
        listed = await _in_picture(app, process_id, selection, explored)
    begin = picture.box_of(explored.focus.begin)
    return render(
        request,
        "graph.html",
        **_shared(process, selection, listed),
        errors=await _errors(app, process_id, listed),
        overview=None,
        picture=picture,
        explored=explored,
        mark=_mark(explored),
        drawn=await _drawn(app, explored, process),
        looked_at=picture.box_at(selection.at) or picture.culprit or begin,
    )


async def _drawn(app: Application, explored: Explored, process: Process) -> Markup | None:
    """Return the picture of the claim that the graph is about; None: it has no trail."""
    found = explored.verification
    if found is None:
        return None
    drawing = picture_of(trail_view(found, process.stage_names))
    return picture_html(with_names(drawing, await names_in(app, found)), process.process_id)


def edge_counts(request: Request) -> EdgeCounts:
    """The counts that this service keeps."""
    state = request.app.state
    if not hasattr(state, "edge_counts"):
        state.edge_counts = EdgeCounts()
    kept: EdgeCounts = state.edge_counts
    return kept


def _shared(process: Process, selection: Selection, listed: NodeList | None) -> dict[str, Any]:
    return {
        "process": process,
        "selection": selection,
        "listed": listed,
        "limits": {"drawn": MOST_DRAWN, "opened": MOST_OPENED, "step": AT_A_TIME},
        "parts": {part.value: (part, *PART_WORDS[part]) for part in NodePart},
    }


def _mark(explored: Explored) -> Any:
    found = explored.verification
    if found is None:
        judged = explored.focus.judged
        return None if judged is None else listed_mark(judged)
    return mark_now(found)


@dataclass(frozen=True, slots=True)
class _Starts:
    """The starting points of a picture: claims that went wrong, and final outputs."""

    claims: tuple[Any, ...]
    unsupported: int
    terminals: tuple[str, ...]
    more_terminals: int


async def _starts(app: Application, process: Process, counts: Tally) -> _Starts:
    unsupported = counts.states.get(Verdict.NOT_FULLY_SUPPORTED.value, 0)
    wanted = ClaimFilter(verdict=Verdict.NOT_FULLY_SUPPORTED.value if unsupported else None)
    claims, _ = await app.claims.page(process.process_id, wanted, limit=STARTS)
    terminals = process.terminals
    return _Starts(tuple(claims), unsupported, terminals[:STARTS], max(0, len(terminals) - STARTS))


async def _everywhere(app: Application, process_id: str, selection: Selection) -> NodeList | None:
    """Nodes of the whole process; looked for only where somebody asks, as it takes a while."""
    if not selection.everywhere:
        return None
    listing = _listing(process_id, selection)
    after = listing.place(selection.cursor, (-1, -1))
    nodes, more = await app.drawings.search(process_id, selection.wanted, after, ROWS)
    following = listing.cursor(*nodes[-1].place) if more else None
    return listed_rows(nodes, selection, following)


async def _in_picture(
    app: Application, process_id: str, selection: Selection, explored: Explored
) -> NodeList:
    """Those nodes of the picture that are looked for."""
    nodes = explored.nodes
    if selection.wanted != ANY_NODE:
        names = [node.node_id for node in nodes]
        nodes = tuple(await app.drawings.among(process_id, names, selection.wanted))
    listing = _listing(process_id, selection)
    after = listing.place(selection.cursor, (-1, -1))
    return listed_among(
        nodes, explored, selection, after, ROWS, lambda place: listing.cursor(*place)
    )


async def _errors(app: Application, process_id: str, listed: NodeList | None) -> dict[str, int]:
    """Claims that went wrong at the nodes of a list."""
    names = [row.node.node_id for row in listed.rows] if listed else []
    return await app.drawings.errors(process_id, names) if names else {}


def _listing(process_id: str, selection: Selection) -> Listing:
    filters = [pair for pair in selection.query if pair[0] not in ("open", "at")]
    return Listing("page-nodes", (process_id, filters))
