"""Simulating a grid of settings, on as many processor cores as one lets it.

The claims are the same in every configuration and whatever the number of worker processes.

Source: ours.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

from veritrail_eval.simulation.claims import Planter
from veritrail_eval.simulation.configuration import (
    MOST_WALKS,
    ClaimSettings,
    Configuration,
    Grid,
    JudgeSettings,
)
from veritrail_eval.simulation.figures import Row, Totals, row
from veritrail_eval.simulation.judge import SimulatedNodes
from veritrail_eval.simulation.process_shape import ProcessShape
from veritrail_eval.simulation.walking import Walker, WalkResult
from veritrail_graph.graph.errors import InputError

PORTION, NODES_OF_PORTION = 250, 10_000_000
"""Claims that a worker walks at a time, and the nodes that they may have to read."""
ALONE = 2_000
"""Walks up to which a second process would take longer to start than it saves."""
LARGE = 20_000
"""Nodes from which on a single walk may take long."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Simulation:
    """Options of a simulation: the process, the claims, the grid and the judge.

    Attributes:
        shape: The process.
        claims: The claims.
        grid: What is varied.
        judge: What is the same in all configurations.
        workers: Worker processes; None: one a core, where it is worth it.
    """

    shape: ProcessShape
    claims: ClaimSettings
    grid: Grid
    judge: JudgeSettings
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class Simulated:
    """The rows, one a configuration.

    Attributes:
        simulation: What was simulated.
        rows: In the order of the grid.
    """

    simulation: Simulation
    rows: tuple[Row, ...]


def simulate(simulation: Simulation, on_progress: Progress = lambda _done, _all: None) -> Simulated:
    """Walk all claims with every configuration.

    Args:
        simulation: What to simulate.
        on_progress: Called with how many walks are done, and how many there are.

    Raises:
        InputError: The process, the claims or the settings are impossible.
    """
    configurations = simulation.grid.configurations()
    walks = len(configurations) * simulation.claims.count
    if walks > MOST_WALKS:
        raise InputError(
            f"{simulation.claims.count:,} claims with {len(configurations):,} combinations are "
            f"{walks:,} walks; at most {MOST_WALKS:,} are simulated at a time."
        )
    judges = _ConfiguredJudges(simulation)
    totals = [Totals() for _ in configurations]
    done = 0
    on_progress(done, walks)
    for number, results in _all_results(simulation, judges, configurations):
        totals[number].add(results)
        done += len(results)
        on_progress(done, walks)
    rows = [
        row(configuration, total, simulation.shape.nodes, simulation.judge.price)
        for configuration, total in zip(configurations, totals, strict=True)
    ]
    return Simulated(simulation, tuple(rows))


class _ConfiguredJudges:
    """A process with its claims, in one worker."""

    def __init__(self, simulation: Simulation) -> None:
        claims = simulation.claims
        self._shape, self._judge = simulation.shape, simulation.judge
        there = {int(stage) for stage in set(self._shape.stages)}
        for stage, _ in simulation.grid.flips_at:
            if stage not in there:
                known = ", ".join(map(str, sorted(there)[:20]))
                raise InputError(f"flip_at={stage}: no node has that stage. Stages: {known}.")
            if stage == int(self._shape.stages[self._shape.node]):
                raise InputError(
                    f"flip_at={stage}: that is the stage of the verified node, and verdicts are "
                    "over the stages below it, so it would change nothing."
                )
        self._nodes = SimulatedNodes(self._shape, self._judge.sentence_tokens)
        self._planter = Planter(
            simulation.shape,
            claims.seed,
            facts=claims.facts,
            unsupported=claims.unsupported,
            error_stages=claims.error_stages,
        )

    def results(self, configuration: Configuration, claims: range) -> list[WalkResult]:
        planted = [self._planter.claim(number) for number in claims]
        walker = Walker(self._shape, self._judge, configuration, self._nodes)
        return asyncio.run(walker.results(planted))


def _all_results(
    simulation: Simulation, judges: _ConfiguredJudges, configurations: Sequence[Configuration]
) -> Iterator[tuple[int, list[WalkResult]]]:
    """(number of the configuration, results of some claims), in any order."""
    size = max(1, min(PORTION, NODES_OF_PORTION // simulation.shape.nodes))
    portions = [
        (number, range(start, min(start + size, simulation.claims.count)))
        for start in range(0, simulation.claims.count, size)
        for number in range(len(configurations))
    ]
    workers = min(_workers(simulation, len(configurations)), len(portions))
    if workers == 1:
        for number, claims in portions:
            yield number, judges.results(configurations[number], claims)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy locks of other threads
    with ProcessPoolExecutor(workers, context, _begin, (simulation,)) as pool:
        waiting: dict[Future[list[WalkResult]], int] = {}
        left = iter(portions)
        try:
            while True:
                for number, claims in left:
                    waiting[pool.submit(_work, configurations[number], claims)] = number
                    if len(waiting) >= 2 * workers:
                        break
                if not waiting:
                    return
                for ended in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(ended), ended.result()
        finally:
            for future in waiting:
                future.cancel()


def _workers(simulation: Simulation, configurations: int) -> int:
    if simulation.workers is not None:
        if not 1 <= simulation.workers <= 256:
            raise InputError(f"workers={simulation.workers}: must be from 1 to 256.")
        return simulation.workers
    is_small = simulation.claims.count * configurations <= ALONE
    if is_small and simulation.shape.nodes < LARGE:
        return 1
    return min(8, os.cpu_count() or 1)


_judges: _ConfiguredJudges | None = None
"""The process and the claims of a worker."""


def _begin(simulation: Simulation) -> None:
    global _judges
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    _judges = _ConfiguredJudges(simulation)
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)  # a walk makes a hundred thousand nodes and no cycles


def _work(configuration: Configuration, claims: range) -> list[WalkResult]:
    if _judges is None:
        raise RuntimeError("the worker was not begun")
    return _judges.results(configuration, claims)
