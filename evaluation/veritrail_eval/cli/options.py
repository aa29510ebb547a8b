"""The options that the commands on tables share, and the way they print figures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, UNREACHABLE, Exit
from veritrail_graph.api.cli.terminal import say
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import InputError

_MOST_NOTES = 10
INTERRUPTION = "Interrupted. Answers are cached; the same command goes on where it ended."

TableFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A table: CSV, TSV, JSON Lines or a JSON array.")
]
WithIntervals = Annotated[
    bool, typer.Option("--intervals", help="Add 95 % intervals by resampling claims (ours).")
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed gives the same intervals.")]
DrawSeed = Annotated[int, typer.Option(metavar="N", help="The same seed draws the same ones.")]
Resamples = Annotated[
    int,
    typer.Option(min=1, max=1_000_000, metavar="N", help="How often the claims are drawn anew."),
]


def shown_figure(value: float | None, interval: list[float] | None = None) -> str:
    """A figure as people read it, with its interval behind it where there is one."""
    if value is None:
        return "-"
    ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
    return f"{value:.3f}{ends}"


def tell_notes(document: dict[str, Any], notes: Sequence[str]) -> None:
    """Say what was left out or does not fit together; the document gets all of it as `notes`."""
    if notes:
        document["notes"] = list(notes)
    for note in notes[:_MOST_NOTES]:
        say(note, "yellow")
    if len(notes) > _MOST_NOTES:
        say(f"And {len(notes) - _MOST_NOTES:,} more notes; --json has all of them.", "yellow")


def say_reasons(document: Mapping[str, Any], of: str = "") -> None:
    """Say why figures are missing."""
    for name, reason in document.get("reasons", {}).items():
        say(f"{of}{name}: {reason}", "dim")


def end_unless_whole(refusal: Exception | None, reasons: Sequence[str | None], what: str) -> None:
    """End a command with the status of the contract.

    Args:
        refusal: Why no call could succeed, where one was refused.
        reasons: Why each piece of work has no result; empty: all have one.
        what: What their number is followed by.

    Raises:
        Exit: A piece has no result.
    """
    if refusal is not None:
        say(f"Error: the run was stopped: {one_line(str(refusal))}", "bold red")
        raise Exit(UNREACHABLE)
    if reasons:
        say(f"{len(reasons):,} {what}: {one_line(clean(reasons[0] or ''))}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)


@contextmanager
def naming(option: str, *codes: str) -> Iterator[None]:
    """Name the option whose value the application refuses with one of the codes."""
    try:
        yield
    except InputError as error:
        if error.code not in codes:
            raise
        raise InputError(f"{option} {error}") from None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each field of the dataclasses that are its parameters.

    Several commands take a group of options so, and declare and read each of them once.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        kind = hints[one.name]
        if not is_dataclass(kind):
            parameters.append(one.replace(annotation=kind))
            continue
        groups[one.name] = kind
        types = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                each.name, one.kind, default=each.default, annotation=types[each.name]
            )
            for each in fields(kind)
        ]

    @wraps(command)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        command(**given)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flat
