"""Answers as a notebook shows them: small HTML that needs nothing else.

Every text is untrusted and escaped; styles stand inline, there is no script. Words carry what
colours say; colours are solid behind white letters, so that they read on light and dark pages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from veritrail_graph.api.show import notebook, plain
from veritrail_graph.api.show.notebook import (
    COLOURS,
    ROWS_SHOWN,
    box,
    colour_chip,
    grid,
    rest,
    row,
    text,
)
from veritrail_graph.api.show.processes import process_shown
from veritrail_graph.api.show.texts import figure
from veritrail_graph.api.show.trail import shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.verifications import verifications_shown
from veritrail_graph.api.show.words import (
    VERDICT_WORDS,
)
from veritrail_graph.graph.model import Verdict, Verification
from veritrail_graph.graph.model.printing import Printed
from veritrail_graph.graph.model.processes import ProcessOverview

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested
    from veritrail_graph.api.app.findings import Provenance
    from veritrail_graph.api.show.document import Document
    from veritrail_graph.graph.model.listed import ClaimFound


class Readable(Printed):
    """An answer that is read as a document: text where it is printed, HTML in a notebook."""

    def document(self) -> Document:
        """Return what a person reads."""
        raise NotImplementedError

    @override
    def __str__(self) -> str:
        return plain.text(self.document()).rstrip()

    def _repr_html_(self) -> str:
        return notebook.html(self.document())


def ingested_shown(found: Ingested) -> Document:
    """Return a process as it was stored, with how an ingest ended."""
    names = ProcessOverview.model_fields.keys() & type(found).model_fields.keys()
    return process_shown(ProcessOverview(**{one: getattr(found, one) for one in names}))


def claims(found: Sequence[ClaimFound]) -> str:
    """Claims with their verdicts in force."""
    rows = [
        row(
            [
                _code(one.claim_id),
                chip(said) if (said := one.verdict or one.status) else "",
                text(one.text),
            ]
        )
        for one in found[:ROWS_SHOWN]
    ]
    return box(grid(("claim", "verdict", "text"), "".join(rows)) + rest(len(found)))


def trail_shown(found: Verification) -> Document:
    """Return a verification with its trail."""
    return shown(trail_view(found, carried=getattr(found, "carried", ())))


def provenance(found: Provenance) -> str:
    """Paths from source text to the verified node."""
    paths = "".join(
        "<li>" + " → ".join(f"{_code(one.node_id)} (stage {one.stage})" for one in path) + "</li>"
        for path in found.paths[:ROWS_SHOWN]
    )
    of = f"{len(found.paths):,} of {found.path_count:,} paths"
    whole = f"<div>{of}; {found.complete_path_count:,} begin in source text.</div>"
    drawn = f"<ol>{paths}</ol>{whole}" if paths else "<ol><li>no path</li></ol>"
    return box(drawn + rest(len(found.paths)))


def table(found: Sequence[Any]) -> str:
    """A list of answers: a table of their plain values."""
    from veritrail_graph.graph.model.listed import ClaimFound

    if found and all(isinstance(one, ClaimFound) for one in found):
        return claims(found)
    if found and all(isinstance(one, Verification) for one in found):
        return notebook.html(verifications_shown(found))
    records = [one.model_dump(mode="json", exclude_unset=True) for one in found[:ROWS_SHOWN]]
    pairs = (pair for one in records for pair in one.items())
    columns = list(
        dict.fromkeys(name for name, value in pairs if not isinstance(value, list | dict))
    )
    body = "".join(row([_value(one.get(name)) for name in columns]) for one in records)
    return box((grid(columns, body) if body else "Nothing.") + rest(len(found)))


def chip(name: str) -> str:
    """A verdict or a status: its words on its colour."""
    if name in set(Verdict):
        verdict = Verdict(name)
        return colour_chip(COLOURS[verdict], VERDICT_WORDS[verdict])
    return colour_chip(COLOURS[None], name.replace("_", " "))


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return chip(value) if value in set(Verdict) else text(value)
    if isinstance(value, float):
        return figure(value)
    return text(json.dumps(value, ensure_ascii=False))


def _code(value: str) -> str:
    return f"<code>{text(value)}</code>"
