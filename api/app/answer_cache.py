"""The cache of answers that language models gave: how much it holds; empty it."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.models.cache import AnswerCache, Cleared

T = TypeVar("T")


class AnswerCaches:
    """The cache of answers of a home folder.

    Args:
        settings: The settings that name the home folder.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def path(self) -> Path:
        """The file of the cache."""
        from veritrail_graph.api.configured.models import cache_path

        return cache_path(self._settings)

    async def stats(self) -> dict[str, Any]:
        """Return how many answers are kept, of which steps and models.

        Raises:
            InputError: The file cannot be read, or is no cache.
        """
        found = await self._with(lambda cache: cache.stats())
        rows: list[dict[str, Any]] = []
        if found is not None:
            rows = [
                {"step": step, "model": model, "answers": count}
                for (step, model), count in sorted(found.by_step.items())
            ]
        return {
            "path": str(self.path),
            "answers": found.answers if found else 0,
            "bytes": found.bytes if found else 0,
            "by_step_and_model": rows,
        }

    async def clear(self) -> Cleared:
        """Remove all answers; a file that is no cache is removed, too."""
        from veritrail_graph.verifier.models.cache import Cleared

        return await self._with(lambda cache: cache.clear()) or Cleared()

    async def _with(self, work: Callable[[AnswerCache], Awaitable[T]]) -> T | None:
        """Work with the cache; None where there is none yet."""
        from veritrail_graph.verifier.models.cache import AnswerCache

        path = self.path
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
