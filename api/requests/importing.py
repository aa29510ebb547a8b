"""The options of an importer, as every door takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.registry import ImportOptions

Columns = str | Mapping[str, str]
"""The columns of a table: `contexts=knowledge,answer=right_answer`, or names by their meaning."""

COLUMNS_WORDS = (
    "Tables: what columns hold (question, contexts, answer, reference), such as "
    "contexts=knowledge,answer=right_answer; kept for tables with the same columns."
)


def import_options(
    *, infer: str | None = None, columns: Columns | None = None, **others: Any
) -> ImportOptions:
    """Return the options of an importer.

    Args:
        infer: `overlap`, or None.
        columns: The columns of a table.
        others: Fields of `ImportOptions`, as they are.

    Raises:
        InputError: A value is none that it can have.
    """
    from veritrail_graph.graph.importers.column_map import ColumnMap
    from veritrail_graph.graph.importers.registry import ImportOptions

    if infer not in (None, "overlap"):
        raise InputError(f"infer {infer!r}: the only further way is `overlap`")
    return ImportOptions(
        infer_overlap=infer is not None,
        columns=None if columns is None else ColumnMap.of(columns),
        **others,
    )
