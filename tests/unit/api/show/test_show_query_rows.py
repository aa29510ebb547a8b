"""The document of rows: every writer makes all fields of the noun of it, in each form."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out

from veritrail_graph.api.show.document import Document
from veritrail_graph.api.show.query_rows import (
    NOT_SHOWN,
    rows_shown,
    tree_shown,
)
from veritrail_graph.graph.model.queried import QueryRows

ROWS = QueryRows(
    columns=["claim_id", "share"], rows=[["claim-1", 0.25]], truncated=True, indicative=True
)
WORDS = {
    "QueryRows.truncated": "there are more rows",
    "QueryRows.indicative": "verdicts are indicative only",
}


@pytest.mark.parametrize("form", [rows_shown, tree_shown])
@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_rows_stands_in_what_a_writer_makes(
    writer: str, form: Callable[[QueryRows], Document]
) -> None:
    assert set(NOT_SHOWN) <= fields_of([ROWS])
    assert left_out(writer, [ROWS], [form(ROWS)], WORDS, NOT_SHOWN) == {}
