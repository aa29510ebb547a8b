"""`veritrail cache`: the answers of language models that were kept, so that none is paid twice."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.cache import AnswerCache, Cleared

T = TypeVar("T")

app = typer.Typer(
    help="The cache of answers: how much it holds; empty it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("stats")
def stats(as_json: AsJson = False) -> None:
    """Say how many answers are kept, of which steps and models."""
    found = run(_stats(Settings.load()), as_json=as_json)
    if as_json:
        print_json(found)
        return
    rows = [
        (row["step"], row["model"], f"{row['answers']:,}") for row in found["by_step_and_model"]
    ]
    table(("step", "model", "answers"), rows, right=["answers"])
    say(f"{found['answers']:,} answer(s), {found['bytes']:,} bytes in {found['path']}")


@app.command("clear")
def clear(as_json: AsJson = False) -> None:
    """Remove all kept answers; stored trails stay."""
    from veritrail_graph.api.models import cache_path

    settings = Settings.load()
    found = run(_clear(settings), as_json=as_json)
    if as_json:
        malformed = {"malformed": found.malformed} if found.malformed else {}
        print_json({"removed": found.answers, **malformed})
    elif found.malformed:
        path = cache_path(settings)
        say(f"{path} was no cache of answers ({found.malformed}): it was removed.")
    else:
        say(f"{found.answers:,} answer(s) removed.")


async def _stats(settings: Settings) -> dict[str, Any]:
    from veritrail_graph.api.models import cache_path

    found = await _with(settings, lambda cache: cache.stats())
    rows: list[dict[str, Any]] = []
    if found is not None:
        rows = [
            {"step": step, "model": model, "answers": count}
            for (step, model), count in sorted(found.by_step.items())
        ]
    return {
        "path": str(cache_path(settings)),
        "answers": found.answers if found else 0,
        "bytes": found.bytes if found else 0,
        "by_step_and_model": rows,
    }


async def _clear(settings: Settings) -> Cleared:
    from veritrail_graph.verifier.models.cache import Cleared

    return await _with(settings, lambda cache: cache.clear()) or Cleared()


async def _with(settings: Settings, work: Callable[[AnswerCache], Awaitable[T]]) -> T | None:
    """Work with the cache; None where there is none yet."""
    from veritrail_graph.api.models import cache_path
    from veritrail_graph.verifier.models.cache import AnswerCache

    path = cache_path(settings)
    try:
        if not path.exists():
            _expect_folder(path.parent)
            return None
    except OSError as error:
        raise InputError(f"no answers can be kept in {path}: {error}") from None
    warnings: list[str] = []
    cache = AnswerCache(path, warnings.append)
    try:
        found = await work(cache)
    finally:
        await cache.close()
    if warnings:
        raise InputError(warnings[0])
    return found


def _expect_folder(folder: Path) -> None:
    """See whether a folder could be made: it is, and what was not there is taken away again."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    finally:
        for one in missing:
            with contextlib.suppress(OSError):  # not made, or in use by now
                one.rmdir()
