"""A matrix, checked as a whole before anything is judged: keys, values, models and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.evaluation.estimate import AssumedResources
from veritrail_graph.evaluation.runs.matrix import parse_matrix, refuse_faults
from veritrail_graph.evaluation.runs.matrix_check import method_faults
from veritrail_graph.evaluation.runs.runner import Loading, load

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.evaluation.runs.matrix import Matrix


async def checked_matrix(
    settings: Settings, path: Path, price: str | None = None, loading: Loading = load
) -> Matrix:
    """Read a matrix, and see that every method of it can be made. No model is opened or asked.

    Args:
        settings: The settings.
        path: The matrix; paths in it are relative to its folder.
        price: The price of the models, where it is not known.
        loading: Reads a data set.

    Raises:
        InputError: It cannot be read, or has faults; `violations` lists all of them.
    """
    matrix, faults = parse_matrix(path)
    async with AssumedResources(settings, price=price, folder=path.parent) as resources:
        faults += await method_faults(matrix, resources, path, loading)
    refuse_faults(path, faults)
    return matrix
