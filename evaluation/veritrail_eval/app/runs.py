"""Runs of a matrix of data sets and methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_eval.app.estimate import checked_matrix, estimate_run
from veritrail_eval.app.resources import OpenResources, shared_within
from veritrail_eval.methods.memory import RunMemory
from veritrail_eval.runs import record
from veritrail_eval.runs.runner import (
    DEFAULT_CONCURRENCY,
    MatrixRun,
    RunObserver,
    load,
)
from veritrail_graph.graph.model import Status

if TYPE_CHECKING:
    from veritrail_eval.app.estimate import RunEstimate
    from veritrail_eval.runs.matrix import Configuration, Matrix
    from veritrail_eval.runs.outcomes import KeptOutcome
    from veritrail_eval.runs.runner import LoadedDataset, Loading
    from veritrail_eval.runs.summary import RunSummary
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.settings import Settings


@dataclass(frozen=True, slots=True)
class MatrixWork:
    """A matrix, whose methods can all be made, and the folder of its run.

    Make it with `read`. The check, an estimate and a run read each data set once.
    """

    settings: Settings
    matrix: Matrix
    folder: Path
    output: Path
    models: ModelOptions
    loading: Loading

    @classmethod
    async def read(
        cls, settings: Settings, path: Path, output: Path, models: ModelOptions
    ) -> MatrixWork:
        """Read a matrix and see that its methods can be made; no model is asked.

        Args:
            settings: The settings.
            path: The matrix; paths in it are relative to its folder.
            output: The folder of the run; it need not be there.
            models: What the models may cost.

        Raises:
            InputError: The matrix cannot be read, or has faults.
        """
        loading: Loading = cache(load)
        matrix = await checked_matrix(settings, path, models.price, loading)
        return cls(settings, matrix, path.parent, output, models, loading)

    async def estimate(self, on_progress: Callable[[str, int, int], None]) -> RunEstimate:
        """Say what a run would cost; see `estimate_run`.

        Raises:
            VeriTrailError: A data set, a parameter or a setting is wrong.
        """
        return await estimate_run(
            self.settings,
            self.matrix,
            self.output,
            price=self.models.price,
            folder=self.folder,
            loading=self.loading,
            on_progress=on_progress,
        )

    async def run(
        self,
        on_dataset: Callable[[str, str | None], None],
        on_progress: Callable[[str, int, int, int], None],
        warn: Callable[[str], None],
    ) -> RunSummary:
        """Judge everything that has no outcome yet.

        Args:
            on_dataset: Told the name of each data set that was read, and why there are fewer of
                its claims than asked for.
            on_progress: Told the configuration, the outcomes of it, how many there will be, and
                how many have no verdict.
            warn: Told once what a person should know.

        Raises:
            VeriTrailError: A data set, a parameter or the folder is wrong, a key, a model or an
                address is refused, or the budget is spent.
        """
        told: set[str] = set()
        memory, shared = RunMemory(), shared_within(self.models.budget, self.models.max_calls)
        what, done, of, failed = "", 0, 0, 0

        def warn_once(message: str) -> None:
            if message not in told:
                told.add(message)
                warn(message)

        def loaded(one: LoadedDataset) -> None:
            on_dataset(one.entry.name, one.short)

        def began(dataset: str, configuration: Configuration, claims: int) -> None:
            nonlocal what, done, of, failed
            what, done, of, failed = f"{dataset}: {configuration.title}", 0, claims, 0
            on_progress(what, done, of, failed)

        def judged(kept: KeptOutcome) -> None:
            nonlocal done, failed
            done += 1
            failed += kept.outcome.status not in (Status.SUCCEEDED, Status.UNDECIDED)
            on_progress(what, done, of, failed)

        return await MatrixRun(
            self.matrix,
            self.output,
            lambda: OpenResources(
                self.settings,
                shared,
                use_cache=self.models.use_cache,
                price=self.models.price,
                concurrency=self.models.concurrency,
                folder=self.folder,
                memory=memory,
                warn=warn_once,
            ),
            self.models.concurrency or DEFAULT_CONCURRENCY,
            RunObserver(began, judged, loaded),
            self.loading,
        ).run()


def holds_run(folder: Path) -> bool:
    """Return whether a run has begun in a folder."""
    return (folder / record.NAME).is_file()
