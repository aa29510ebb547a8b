"""The needs of a route: `dependencies=[needs(Scope.WRITE)]`, and `caller: Calling`.

The key itself was looked at before, by the guard; here is only asked what it allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Caller, NotAllowed, Scope
from veritrail_graph.api.service.http import request_id

BEARER = HTTPBearer(
    scheme_name="key",
    auto_error=False,
    description=(
        "A key of `veritrail keys create`, sent as `Authorization: Bearer KEY`. None is asked for "
        "on this machine as long as no key was ever made. The names behind it are the scopes that "
        "a call needs; `admin` means all."
    ),
)


async def calling(request: Request) -> Caller:
    """Return who sent a request, as the guard found out."""
    caller: Caller = request.state.caller
    return replace(caller, request_id=request_id.current.get())


async def application(request: Request) -> Application:
    """Return the application that answers a request."""
    app: Application = request.app.state.app
    return app


App = Annotated[Application, Depends(application)]
"""The parameter type of a route that calls the application."""


Calling = Annotated[Caller, Depends(calling)]
"""The parameter type of a route that wants to know who calls."""


def needs(*scopes: Scope) -> Any:
    """A dependency of a route: the caller must have all of these scopes.

    A route that changes something and answers with what others stored needs `read` as well.

    Raises:
        NotAllowed: When the route is called with a key that does not allow it.
    """
    return Security(Needed(scopes), scopes=[scope.value for scope in scopes])


async def _keyed(caller: Calling) -> None:
    """Refuse somebody who came by a link.

    Raises:
        NotAllowed: The caller has a link, and no key.
    """
    if caller.only_process is not None:
        raise NotAllowed(
            "This page is for people who work here with a key of their own. The link that you have "
            "shows the process, to read and to download."
        )


WITHOUT_LINKS = Depends(_keyed)
"""A dependency of a page that links do not show: it offers what their readers may not do."""


class Needed:
    """Asks for scopes; the bearer scheme is named so that OpenAPI tells of it.

    Attributes:
        scopes: The scopes, all of which are needed.
    """

    def __init__(self, scopes: tuple[Scope, ...]) -> None:
        self.scopes = scopes

    async def __call__(self, caller: Calling, _shown: Annotated[Any, Security(BEARER)]) -> Caller:
        """Return who calls, who is allowed to."""
        for scope in self.scopes:
            caller.expect(scope)
        return caller
