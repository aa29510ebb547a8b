"""Shell completion: of commands and options, of ids of processes and claims, of query names.

Nothing is started for it: where the embedded engine does not run, no ids are offered.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application

VARIABLE = "_VERITRAIL_COMPLETE"
"""Set by the shell's script when it asks for completions."""

_SECONDS = 3.0
_OFFERED = 50


class Shell(StrEnum):
    """Shells with a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


_USE = {
    Shell.BASH: 'eval "$(veritrail completion bash)"   # in ~/.bashrc',
    Shell.ZSH: 'eval "$(veritrail completion zsh)"   # in ~/.zshrc, behind compinit',
    Shell.FISH: "veritrail completion fish | source   # in ~/.config/fish/config.fish",
    Shell.POWERSHELL: "veritrail completion powershell | Out-String | Invoke-Expression",
}


def completion(
    shell: Annotated[
        Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")
    ] = None,
) -> None:
    """Print the script that completes commands, ids and query names.

    Without SHELL it says how to use it. For bash: eval "$(veritrail completion bash)"
    """
    if shell is None:
        for name, use in _USE.items():
            typer.echo(f"{name.value:<12}{use}")
        return
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(
        get_completion_script(prog_name="veritrail", complete_var=VARIABLE, shell=shell.value)
    )


def prepare() -> None:
    """Let the command line answer the shell, where the shell asks."""
    if is_asked():
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()


def is_asked() -> bool:
    """Return whether the shell asks for completions."""
    return VARIABLE in os.environ


def processes(incomplete: str) -> list[str]:
    """Ids of processes that begin with what was typed."""
    return _asked(lambda app: app.names.processes(incomplete, _OFFERED))


def claims(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of claims of the process that was typed before."""
    process = ctx.params.get("process") or ctx.params.get("what")
    if not process:
        return []
    return _asked(lambda app: app.names.claims(process, incomplete, _OFFERED))


def queries(incomplete: str) -> list[str]:
    """Names of queries that begin with what was typed."""
    from veritrail_graph import cypher

    names = (name.rpartition("/")[2] for name in cypher.names("queries"))
    return [name for name in names if name.startswith(incomplete.replace("-", "_"))]


def query_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of processes, then of claims, where a query takes them by their place."""
    values = ctx.params.get("values") or []
    if not values:
        return processes(incomplete)
    process = values[0]
    return _asked(lambda app: app.names.claims(process, incomplete, _OFFERED))


def _asked(work: Callable[[Application], Awaitable[list[str]]]) -> list[str]:
    """Return what the graph says, if it can be asked at once; else nothing."""

    async def asked() -> list[str]:
        from veritrail_graph.api.app import Application
        from veritrail_graph.api.app.engine import can_be_asked
        from veritrail_graph.api.settings import Settings

        settings = Settings()
        if not await can_be_asked(settings):
            return []
        async with asyncio.timeout(_SECONDS), Application(settings) as app:
            return await work(app)

    with suppress(Exception):  # a shell shows no faults; it completes nothing
        return asyncio.run(asked())
    return []
