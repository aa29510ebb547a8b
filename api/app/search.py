"""Search over the texts of all processes: nodes and claims that hold all words of a query.

Words are looked up in an index on this machine, which is brought up to date in the background; the
texts that are shown come from the graph.

Source: ours (docs/adr/0043-search.md).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field

from veritrail_graph.api.app.answers import Page
from veritrail_graph.api.app.excerpts import excerpt_of
from veritrail_graph.api.app.part import Part
from veritrail_graph.api.app.text_index import Hit, TextIndex, match_of
from veritrail_graph.graph.errors import EngineError, InputError, NotFound
from veritrail_graph.graph.model.listed import NodeFilter
from veritrail_graph.graph.model.noun import Answer

if TYPE_CHECKING:
    from veritrail_graph.api.app.application import Application
    from veritrail_graph.graph.store import Store

_log = logging.getLogger("veritrail.search")

FRESH_SECONDS = 10.0
"""How long the index is taken for up to date after it was looked at."""
PATIENCE_SECONDS = 1.0
"""How long a search of a service waits for an index that is behind."""
LOCAL_PATIENCE_SECONDS = 600.0
"""The same in a program of its own: nothing else brings the index up to date."""
LONGEST_QUERY = 400
MOST_RESULTS = 1_000
"""Results that can be paged through."""
_TOGETHER = 500

Kind = Literal["node", "claim"]


def _settle(task: asyncio.Task[None]) -> None:
    """A failure is reported to the searches that wait; without any, it is in the log."""
    if not task.cancelled():
        task.exception()


async def _stamps(store: Store) -> dict[str, str]:
    """By process_id, a value that changes whenever the texts of the process change."""
    found: dict[str, str] = {}
    while True:
        after = next(reversed(found), "")
        rows = await store.database.read("process/stamps", after=after, limit=_TOGETHER)
        found |= {name: f"{content} {claims} {size}" for name, content, claims, size in rows}
        if len(rows) < _TOGETHER:
            return found


class SearchResult(Answer):
    """A node or a claim that holds the words."""

    kind: Kind
    process_id: str
    process_name: str
    node_id: str = Field(description="The node, or the node that the claim is about.")
    claim_id: str | None = Field(description="Null: it is a node.")
    excerpt: str = Field(description="The text around the first word that was found.")
    verdict: str | None = Field(None, description="Of a claim: its verdict in force.")
    status: str | None = Field(
        None,
        description="Of a claim: that of its verification in force, else of the latest; "
        "`undecided` and `failed` have no verdict.",
    )
    indicative: bool = Field(False, description="Whether the verdict was given by no model.")


class SearchResults(Page):
    """A page of what was found, the best first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "query": "dredger",
                    "results": [
                        {
                            "kind": "claim",
                            "process_id": "harbour-summary",
                            "process_name": "Harbour",
                            "node_id": "final",
                            "claim_id": "k04",
                            "excerpt": "The dredger removed 84,200 cubic metres.",
                            "verdict": "NOT_FULLY_SUPPORTED",
                            "status": "succeeded",
                            "indicative": False,
                        }
                    ],
                    "waiting": 0,
                    "nextCursor": None,
                }
            ]
        }
    )

    query: str
    results: list[SearchResult]
    waiting: int = Field(description="Processes that are not in the index yet.")


class Search(Part):
    """Search over all processes."""

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self._patience = LOCAL_PATIENCE_SECONDS if app.is_local else PATIENCE_SECONDS
        self._looked_at = float("-inf")
        self._waiting = 1  # not known yet: more than none
        self._syncing: asyncio.Task[None] | None = None

    @cached_property
    def _index(self) -> TextIndex:
        return TextIndex(self._app.settings.home)

    async def find(
        self,
        query: str,
        *,
        kind: Kind | None = None,
        process_id: str | None = None,
        after: int = 0,
        limit: int = 20,
        patience: float | None = None,
    ) -> tuple[SearchResults, int | None]:
        """Return what holds all words, the best first.

        Args:
            query: Words; those in quotation marks must be side by side, the last may go on.
            kind: Only nodes, or only claims.
            process_id: Only of this process.
            after: How many are left out at the beginning.
            limit: The most hits that are given.
            patience: Seconds to wait for an index that is behind; None: long in a program of its
                own, short in a service, which brings the index up to date meanwhile.

        Returns:
            The results, and how many to leave out for the next page; None: there are no more.

        Raises:
            InputError: The query is too long, or holds no word.
            NotFound: There is no such process.
        """
        if len(query) > LONGEST_QUERY:
            words = f"The query has more than {LONGEST_QUERY:,} characters."
            raise InputError(words, code="query_too_long")
        if match_of(query) is None:
            raise InputError("The query holds no word.", code="query_empty")
        if process_id is not None:
            await self._app.processes.get(process_id)
        await self._follow(self._patience if patience is None else patience)
        hits = await asyncio.to_thread(
            self._index.find,
            query,
            kind=kind,
            process_id=process_id,
            after=after,
            limit=limit + 1,
        )
        results = await self._shown(query, hits[:limit])
        end = after + limit
        behind = end if len(hits) > limit and end < MOST_RESULTS else None
        return SearchResults(query=query, results=results, waiting=self._waiting), behind

    async def _shown(self, query: str, hits: Sequence[Hit]) -> list[SearchResult]:
        """Return what was found, with texts of the graph; what was removed since is left out."""
        by_process: dict[str, list[Hit]] = {}
        for hit in hits:
            by_process.setdefault(hit.process_id, []).append(hit)
        each = await asyncio.gather(
            *(self._of_process(query, name, some) for name, some in by_process.items())
        )
        found = {key: one for part in each for key, one in part.items()}
        keys = [(hit.process_id, hit.kind, hit.name) for hit in hits]
        return [found[key] for key in keys if key in found]

    async def _of_process(
        self, query: str, process_id: str, hits: Sequence[Hit]
    ) -> dict[tuple[str, str, str], SearchResult]:
        try:
            process = await self._app.processes.get(process_id)
        except NotFound:
            return {}
        about: dict[str, Any] = {"process_id": process_id, "process_name": process.name}
        nodes = [hit.name for hit in hits if hit.kind == "node"]
        claims = [hit.name for hit in hits if hit.kind == "claim"]
        texts = await self._app.nodes.texts(process_id, nodes) if nodes else {}
        judged = await self._app.claims.some(process_id, claims) if claims else {}
        found: dict[tuple[str, str, str], SearchResult] = {}
        # In a thread: the text of a node may have millions of characters.
        excerpts = await asyncio.to_thread(
            lambda: {name: excerpt_of(text, query) for name, text in texts.items()}
        )
        for name, excerpt in excerpts.items():
            found[process_id, "node", name] = SearchResult(
                kind="node", node_id=name, claim_id=None, excerpt=excerpt, **about
            )
        for name, one in judged.items():
            found[process_id, "claim", name] = SearchResult(
                kind="claim",
                node_id=one.node_id,
                claim_id=name,
                excerpt=excerpt_of(one.text, query),
                verdict=one.verdict.value if one.verdict else None,
                status=one.status,
                indicative=one.verdict is not None and bool(one.indicative),
                **about,
            )
        return found

    async def _follow(self, patience: float) -> None:
        """Bring the index up to date in the background, and wait a moment for it."""
        if self._syncing is None and time.monotonic() - self._looked_at > FRESH_SECONDS:
            self._syncing = asyncio.create_task(self._sync())
            self._syncing.add_done_callback(_settle)
        if self._syncing is not None:
            done, _ = await asyncio.wait([self._syncing], timeout=patience)
            for task in done:
                task.result()

    async def update(self, progress: Callable[[int, int], None] = lambda _done, _all: None) -> None:
        """Bring the index up to date, to the end.

        Args:
            progress: Called with how many processes are done, and how many there are to do.
        """
        await self._sync(progress)

    async def spoil(self, process_id: str) -> None:
        """Read a process again at the next search: the text of a claim was changed.

        Its stamp need not tell, which knows how many claims there are and how long they are.
        """
        self._looked_at = float("-inf")
        try:
            await asyncio.to_thread(self._index.spoil, process_id)
        except EngineError as error:  # the change itself is stored
            _log.warning("the index of texts is behind: %s", error)

    async def forget(self, process_id: str) -> None:
        """Take the words of a process that is removed out of the index, where there is one."""
        self._looked_at = float("-inf")
        try:
            await asyncio.to_thread(self._index.erase, process_id)
        except EngineError as error:  # the file can be deleted, and the process must be
            _log.warning("words of a removed process stay in the index of texts: %s", error)

    async def stop(self) -> None:
        """End what goes on in the background."""
        if self._syncing is not None:
            self._syncing.cancel()
            await asyncio.wait([self._syncing])

    async def _sync(self, progress: Callable[[int, int], None] = lambda _done, _all: None) -> None:
        try:
            await self._bring_up(progress)
            self._looked_at = time.monotonic()
        except EngineError as error:
            _log.warning("the index of texts is behind: %s", error)
            raise
        finally:
            self._syncing = None

    async def _bring_up(self, progress: Callable[[int, int], None]) -> None:
        index, store = self._index, await self._store()
        await asyncio.to_thread(index.clear_if_spoiled)
        wanted = await _stamps(store)
        known = await asyncio.to_thread(index.stamps)
        left = [name for name, stamp in wanted.items() if known.get(name) != stamp]
        gone = [name for name in known if name not in wanted]
        self._waiting = len(left)
        if not left and not gone:
            return
        if not await asyncio.to_thread(index.take):
            return  # another program adds
        try:
            for name in gone:
                await asyncio.to_thread(index.forget, name)
            for place, name in enumerate(left):
                progress(place, len(left))
                await self._add(name, wanted[name])
                self._waiting = len(left) - place - 1
            progress(len(left), len(left))
        finally:
            index.release()

    async def _add(self, process_id: str, stamp: str) -> None:
        """Put all texts of a process into the index; one that is removed meanwhile is left out."""
        index = self._index
        number = await asyncio.to_thread(index.begin, process_id)
        try:
            after, more = (-1, -1), True
            while more:
                page = await self._app.nodes.page(
                    process_id, NodeFilter(), after, _TOGETHER, fields=["text"]
                )
                rows = [(node.node_id, node.text) for node in page.nodes if node.text is not None]
                await asyncio.to_thread(index.add, number, "node", rows)
                more = page.more and bool(page.nodes)
                after = page.nodes[-1].place if page.nodes else after
            claims = await self._app.claims.all(process_id)
            for start in range(0, len(claims), _TOGETHER):
                some = [(one.claim_id, one.text) for one in claims[start : start + _TOGETHER]]
                await asyncio.to_thread(index.add, number, "claim", some)
        except NotFound:
            await asyncio.to_thread(index.forget, process_id)
            return
        await asyncio.to_thread(index.finish, number, stamp)
