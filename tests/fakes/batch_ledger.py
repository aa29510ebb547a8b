"""A ledger of batches in memory, and the models of a run that asks in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.verifier.models.batch_endpoint import BatchOptions, GatheredModel
from veritrail_graph.verifier.models.batch_port import BatchingEndpoint, BatchRecord, KnownLine
from veritrail_graph.verifier.models.batching import (
    BATCH_PATIENCE,
    Rounds,
)
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Retrying, Spending
from veritrail_graph.verifier.models.tokens import counter


@dataclass
class MemoryLedger:
    """Remembers as long as it lives; so it outlives the `Rounds` of a test."""

    batches: dict[str, BatchRecord] = field(default_factory=dict)
    lines: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    async def known(self, line_ids: Sequence[str]) -> Mapping[str, KnownLine]:
        found = {one: self.lines[one] for one in line_ids if one in self.lines}
        return {one: KnownLine(self.batches[name], text) for one, (name, text) in found.items()}

    async def plan(self, batch: BatchRecord, line_ids: Sequence[str]) -> None:
        assert not set(line_ids) & self.lines.keys(), "a line goes out twice"
        self.batches[batch.name] = batch
        self.lines.update((one, (batch.name, None)) for one in line_ids)

    async def note(self, batch: BatchRecord) -> None:
        self.batches[batch.name] = batch

    async def keep(self, batch: BatchRecord, answers: Mapping[str, str]) -> None:
        self.batches[batch.name] = batch
        for one, text in answers.items():
            if one in self.lines:
                self.lines[one] = batch.name, text

    async def drop(self, name: str) -> None:
        self.batches.pop(name, None)
        self.lines = {one: kept for one, kept in self.lines.items() if kept[0] != name}

    async def open(self) -> Sequence[BatchRecord]:
        return [one for one in self.batches.values() if not one.is_read]


@dataclass
class Batching:
    """What a run in batches is made of."""

    rounds: Rounds
    model: GatheredModel
    inner: LanguageModel
    spending: Spending
    seen: list[list[BatchRecord]]
    warnings: list[str]

    async def close(self) -> None:
        await self.rounds.close()
        await self.inner.close()


def batching(
    endpoint: BatchingEndpoint,
    ledger: MemoryLedger | None = None,
    *,
    budget: float | None = None,
    price: Price | None = None,
    cache: AnswerCache | None = None,
    **options: Any,
) -> Batching:
    """A model that is asked in batches, as a run has one."""
    spending = Spending(budget)
    seen: list[list[BatchRecord]] = []
    warnings: list[str] = []
    how = BatchOptions(**{"poll": 0.01, **options})
    rounds = Rounds(
        ledger or MemoryLedger(),
        spending,
        how,
        lambda found: seen.append(list(found)),
    )
    rounds.warn = warnings.append
    priced = price.with_batch(None) if price else None
    live = None
    if how.finishes_live:
        live = Retrying(
            endpoint, patience=how.patience, limiter=Limiter(8), spending=Spending(), price=None
        )
    made = rounds.endpoint(endpoint, "scripted", priced, counter("scripted"), live)
    inner = LanguageModel(
        made,
        "scripted",
        patience=BATCH_PATIENCE,
        limiter=Limiter(1_000_000),
        cache=cache,
        spending=spending,
        price=priced,
        warm=Warm.OFF,
    )
    return Batching(rounds, rounds.gathered(inner), inner, spending, seen, warnings)
