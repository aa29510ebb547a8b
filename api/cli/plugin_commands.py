"""Commands that other packages add over the entry points of the group `veritrail_graph.commands`.

An entry point names a Typer application, or a function that Typer can call. Some names are known
to belong to a package of ours: without it, the command says how to install it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.plugins import load

GROUP = "veritrail_graph.commands"
SECTION = "Of other packages"

_EVAL = "veritrail-eval"
KNOWN = {
    "eval": "The papers' experiments",
    "judge.check": "Measure the judge on labelled pairs",
}
"""Commands of veritrail-eval, with what the help says of them where it is not installed."""


def add_known(app: typer.Typer, name: str, known: str, **options: Any) -> None:
    """Add a command of `KNOWN`, or in its place one that says why it cannot be called.

    Args:
        app: Where it is added.
        name: What it is called there.
        known: Its name in `KNOWN`.
        **options: How it is listed.
    """
    plugins, unusable = load([point for point in _points() if point.name == known], (), _command)
    if plugins:
        _add(app, name, plugins[0].value, **options)
        return
    typed = f"veritrail {known.replace('.', ' ')}"
    reason = f"`{typed}` comes with {_EVAL}: pip install {_EVAL}"
    if unusable:
        reason = f"`{typed}` cannot be called: {unusable[0].line}"
    app.command(
        name,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        help=f"{KNOWN[known]} (pip install {_EVAL}).",
        **options,
    )(_refusing(reason))


def add_plugins(app: typer.Typer, taken: tuple[str, ...]) -> None:
    """Add every other command of other packages that can be used.

    Args:
        app: Where they are added.
        taken: The names of our own commands.
    """
    points = [point for point in _points() if point.name not in KNOWN]
    for plugin in load(points, taken, _command)[0]:
        _add(app, plugin.point.name, plugin.value, rich_help_panel=SECTION)


def _add(app: typer.Typer, name: str, command: Any, **options: Any) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, **options)
    else:
        app.command(name, **options)(command)


@cache
def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _command(named: Any) -> Any:
    if not callable(named):
        raise TypeError(f"it names a {type(named).__name__}, and no command")
    alone = typer.Typer()
    _add(alone, "x", named)
    typer.main.get_command(alone)  # else what cannot be called would end the help of all others
    return named


def _refusing(reason: str) -> Callable[[], None]:
    def refuse() -> None:
        raise InputError(reason)

    return refuse
