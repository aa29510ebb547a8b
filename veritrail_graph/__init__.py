"""VeriTrail Graph: where did that come from, and where did it go wrong?

The public names of the package. Each is imported when it is first used, so that importing the
package, as the command line does, costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veritrail_graph.api.client import AsyncClient, AsyncLocal, Client, Local
    from veritrail_graph.graph.model import (
        Claim,
        Edge,
        Iteration,
        Process,
        Review,
        Span,
        Usage,
        Verdict,
        Verification,
    )
    from veritrail_record import record as record
    from veritrail_record import recorded_step as recorded_step

__all__ = [
    "AsyncClient",
    "AsyncLocal",
    "Claim",
    "Client",
    "Edge",
    "Iteration",
    "Local",
    "Process",
    "Review",
    "Span",
    "Usage",
    "Verdict",
    "Verification",
    "__version__",
    "acheck",
    "check",
    "verify",
]

_PLACES = {
    "AsyncClient": "api.client",
    "AsyncLocal": "api.client",
    "Client": "api.client",
    "Local": "api.client",
}
"""Where the names are that are no nouns."""

_SAID: list[bool] = []
_RECORDER = ("record", "recorded_step")
"""Names of veritrail-record, where that is installed."""


def verify(
    process_id: str | PathLike[str] | Mapping[str, Any],
    claims: str | Sequence[str | Mapping[str, Any]] | None = None,
    **options: Any,
) -> Any:
    """Verify claims of a process in this program, and wait for the verdicts.

    Args:
        process_id: The stored process; a document, or the path of a process file, is stored.
        claims: Claims as text; None: the stored ones.
        options: What else `Local.verify` takes, such as `engine`, `model` or `budget_usd`.

    Returns:
        The verifications with their trails, in the order of the claims.
    """
    from veritrail_graph.api.client import Local

    with Local() as here:
        if not isinstance(process_id, str):
            process_id = here.ingest(process_id).process_id
        return here.verify(process_id, claims, **options).wait().verifications()


def check(what: Any = None, sources: Any = None, **options: Any) -> Any:
    """Check an answer over its sources, or any other input, with the embedded engine.

    Args:
        what: With `sources` the answer. Else the path of a file or folder, the id of a stored
            process, a process as a document, rows of a log, or several of these.
        sources: What the answer was made from: texts, texts by name, or a `pathlib.Path`.
        options: What else `Local.check` takes, such as `model`, `budget` or `question`.

    Returns:
        The result: `wrong`, `undecided`, `claims`, `processes`, `failed`, `cost_usd`, `judge`.
    """
    from veritrail_graph.api.client import Local

    _say_where()
    with Local() as here:
        return here.check(what, sources, **options)


async def acheck(what: Any = None, sources: Any = None, **options: Any) -> Any:
    """Check as `check` does, to be awaited."""
    from veritrail_graph.api.client import AsyncLocal

    _say_where()
    async with AsyncLocal() as here:
        return await here.check(what, sources, **options)


def _say_where() -> None:
    """Say once that no server is asked."""
    import sys

    if not _SAID:
        _SAID.append(True)
        sys.stderr.write(
            "No server is asked: this program checks by itself. Client(url).check(…) asks one.\n"
        )


def __dir__() -> list[str]:
    """The public names, for completion."""
    from importlib.util import find_spec

    return sorted([*__all__, *(_RECORDER if find_spec("veritrail_record") else ())])


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("veritrail-graph")
    if name in _RECORDER:
        from veritrail_graph.integrations import recorder

        return getattr(recorder("veritrail_record"), name)
    if name not in __all__:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from veritrail_graph.api.first_guesses import no_such

        raise no_such("module", f"module {__name__!r}", name)
    place = _PLACES.get(name, "graph.model")
    return getattr(import_module(f"{__name__}.{place}"), name)
