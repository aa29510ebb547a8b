"""Simulating what settings find and cost, over the shape of a generated or a real process."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.simulation.configuration import (
        ClaimSettings,
        Grid,
        JudgeSettings,
    )
    from veritrail_eval.simulation.process_shape import ProcessShape
    from veritrail_eval.simulation.run import Simulated
    from veritrail_graph.api.app import Application


def shape_names() -> tuple[str, ...]:
    """The shapes that can be generated."""
    from veritrail_eval.simulation.shapes import SHAPES

    return tuple(SHAPES)


def generated_shape(name: str, sizes: Mapping[str, Any]) -> ProcessShape:
    """The shape of a process that is generated; see `ShapeOptions` for its sizes.

    Raises:
        InputError: There is no such shape, or none of that size.
    """
    from veritrail_eval.simulation.shapes import ShapeOptions, generate

    return generate(ShapeOptions(name, **sizes))


def shape_in_file(name: str, node: str | None, process_id: str | None) -> ProcessShape:
    """The shape of a process in a file; see `shape_of_file`.

    Raises:
        InputError: The file cannot be used, or holds no such process or node.
    """
    from veritrail_eval.datasets.loading import OwnLoader
    from veritrail_eval.simulation.likeness import shape_of_file

    if OwnLoader().detect(Path(name)) is None:
        raise InputError(
            f"{name}: this is a data set (veritrail.dataset/1), and no process; name a file of "
            "the process itself, or ingest it and name its process_id.",
            code="data_set_no_process",
        )
    return shape_of_file(Path(name), node, process_id)


async def stored_shape(app: Application, process_id: str, node: str | None) -> ProcessShape:
    """The shape of a stored process.

    Raises:
        NotFound: There is none.
        InputError: It has no such node.
    """
    from veritrail_eval.simulation.likeness import shape_of

    process, adjacency = await app.processes.adjacency(process_id)
    return shape_of(process_id, adjacency, process.terminals, node)


@dataclass(frozen=True, slots=True)
class SimulatedGrid:
    """The result of a simulation.

    Attributes:
        simulated: The rows, one a configuration.
        meaning: Sentences that compare them.
        varied: The settings that differ between them.
    """

    simulated: Simulated
    meaning: list[str]
    varied: list[str]

    def as_json(self) -> dict[str, Any]:
        """The process, what is the same in all rows, the rows and their meaning."""
        of = self.simulated.simulation
        counts = of.shape.stage_counts()
        return {
            "process": {
                "name": of.shape.name,
                "nodes": of.shape.nodes,
                "edges": of.shape.edges,
                "stages": len(counts),
                "stage_nodes": {str(stage): count for stage, count in counts[:20]},
            },
            "claims": of.claims.count,
            "unsupported": of.claims.unsupported,
            "facts": of.claims.facts,
            "seed": of.claims.seed,
            "same_mistakes": of.grid.same_mistakes,
            "flips_at": {str(stage): flip for stage, flip in of.grid.flips_at},
            "left_out": of.grid.left_out,
            "rows": [row.json_object() for row in self.simulated.rows],
            "meaning": self.meaning,
        }


def simulate(
    shape: ProcessShape,
    claims: ClaimSettings,
    grid: Grid,
    judge: JudgeSettings,
    workers: int | None = None,
    output: Path | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> SimulatedGrid:
    """Walk planted claims with every configuration of a grid.

    Args:
        shape: The process.
        claims: The claims.
        grid: What is varied.
        judge: What is the same in all configurations.
        workers: Processes; None: one a core, where it is worth it.
        output: The table (CSV) that the rows are written into.
        on_progress: Told how many walks are done, of how many.

    Raises:
        InputError: The grid is too large, or the table cannot be written.
    """
    from veritrail_eval.simulation.meaning import meaning, varied_settings
    from veritrail_eval.simulation.run import Simulation
    from veritrail_eval.simulation.run import simulate as run

    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise InputError(f"{output}: it cannot be written; name a file in a folder that is there.")
    found = run(Simulation(shape, claims, grid, judge, workers), on_progress)
    if output is not None:
        output.write_text(_csv(found), encoding="utf-8", newline="")
    return SimulatedGrid(found, meaning(found.rows), varied_settings(found.rows))


def _csv(simulated: Simulated) -> str:
    rows = [row.json_object() for row in simulated.rows]
    for row in rows:
        low, high = row.pop("accuracy_interval")
        row |= {"accuracy_low": low, "accuracy_high": high}
        row["reasons"] = "; ".join(f"{name}: {why}" for name, why in row.pop("reasons").items())
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
