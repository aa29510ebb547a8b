"""The operations on the application of a service, each in the name of who calls.

Scopes, budgets and the audit log are those of a call over REST.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import override

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.client.calls import Source
from veritrail_graph.api.client.local import AsyncLocal
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application, answers


class AsyncServed(AsyncLocal):
    """The operations within a service, to be awaited; the service closes its application.

    Args:
        app: The application of the service.
        calling: Returns who calls.
        advice: What errors advise, by code.
    """

    def __init__(
        self, app: Application, calling: Callable[[], Caller], advice: Mapping[str, str]
    ) -> None:
        self.settings, self.app = app.settings, app
        self._advice, self._calling = advice, calling

    @property
    @override
    def _caller(self) -> Caller:
        return self._calling()

    @property
    @override
    def _by(self) -> Caller | None:
        return self._caller

    @override
    async def aclose(self) -> None:
        pass

    @override
    async def _checked(self, *_: Any, **__: Any) -> NoReturn:
        raise InputError("A service checks in jobs: store it, then have its claims verified.")

    @override
    async def _ingest(self, source: Source, **given: Any) -> answers.Ingested:
        self._expect_storing(given)
        stored = await super()._ingest(source, **given)
        self.app.summaries.forget()
        return stored

    @override
    async def _ingest_all(self, source: Source, **given: Any) -> answers.IngestedMany:
        self._expect_storing(given)
        stored = await super()._ingest_all(source, **given)
        self.app.summaries.forget()
        return stored

    def _expect_storing(self, given: Mapping[str, Any]) -> None:
        self._caller.expect(Scope.INGEST)
        if any(given.get(name) for name in ("replace", "append", "keep", "force")):
            self._caller.expect(Scope.WRITE)
