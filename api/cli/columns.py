"""The option --columns: what the columns of a table are."""

from __future__ import annotations

from typing import Annotated

import typer

from veritrail_graph.api.requests.importing import COLUMNS_WORDS

Columns = Annotated[str | None, typer.Option(metavar="MAP", help=COLUMNS_WORDS)]
