"""The parts of models that runs share while they are open at the same time."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.api.settings import ModelSettings
from veritrail_graph.verifier.engines import EndpointSettings, Engine
from veritrail_graph.verifier.models.batching import Rounds
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.port import Endpoint
from veritrail_graph.verifier.models.retrying import Spending

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import ConfiguredJudge


class Limiters:
    """The slots of every endpoint; models that are limited in the same way share them."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[Limiter, int]] = {}
        self._among = 1

    def of(self, address: str, settings: ModelSettings) -> Limiter:
        """The slots of an endpoint."""
        key = (address, settings.concurrency, settings.rpm, settings.tpm)
        if key not in self._made:
            limiter = Limiter(
                settings.concurrency,
                requests_per_minute=settings.rpm,
                tokens_per_minute=settings.tpm,
            )
            self._made[key] = limiter, settings.concurrency
            self._set(limiter, settings.concurrency)
        return self._made[key][0]

    def share_among(self, processes: int) -> None:
        """Share every endpoint's slots and rates among processes in equal parts."""
        if processes == self._among:
            return
        self._among = processes
        for limiter, concurrency in self._made.values():
            self._set(limiter, concurrency)

    def _set(self, limiter: Limiter, concurrency: int) -> None:
        limiter.set_to(math.floor(concurrency / self._among), 1 / self._among)


class Endpoints:
    """Endpoints that stay connected between runs, until all of them are closed together."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, EndpointSettings], Endpoint] = {}

    def of(self, engine: Engine, settings: EndpointSettings) -> Endpoint:
        """Return the endpoint of a model; it is made when it is first asked for.

        Args:
            engine: An engine that asks a model.
            settings: Where the model is, and how it is called.
        """
        if engine.endpoint is None:
            raise ValueError(f"engine {engine.name} asks no model")
        key = engine.name, settings
        if key not in self._made:
            self._made[key] = engine.endpoint(settings)
        return self._made[key]

    async def close(self) -> None:
        """Close the connections."""
        while self._made:
            await self._made.popitem()[1].close()


@dataclass(frozen=True, slots=True)
class Shared:
    """The resources that the models of a run share with those of other runs.

    Attributes:
        spending: What may be spent.
        limiters: The slots of the endpoints.
        party: On whose behalf the run asks: parties take turns.
        rounds: Makes the calls of the run in batches; None: they are made one by one.
        endpoints: Endpoints that outlive the run; None: each run connects by itself.
        judge: A judge that is ready: jobs that are judged in its way need none to be submitted.
    """

    spending: Spending
    limiters: Limiters = field(default_factory=Limiters)
    party: Hashable = None
    rounds: Rounds | None = None
    endpoints: Endpoints | None = None
    judge: ConfiguredJudge | None = None
