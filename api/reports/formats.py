"""The formats of reports by their names: one call for the command line and for downloads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from veritrail_graph.api.reports.trails import Origin

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "junit": "application/xml",
}
"""What each format is, on the web."""

SUFFIXES = {"html": "html", "markdown": "md", "csv": "csv", "json": "json", "junit": "xml"}
"""How the name of a file of each format ends."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which form of report is asked for.

    Attributes:
        format: Its format, a key of `MEDIA_TYPES`.
        dossier: html, json: all there is of each claim, for somebody without access.
        strict: junit: what is inconclusive or was not checked counts against the process.
    """

    format: str
    dossier: bool = False
    strict: bool = False


async def pieces(origin: Origin, asked: Asked) -> AsyncIterator[str]:
    """A report, piece by piece.

    Args:
        origin: Where it is made from.
        asked: In which form.
    """
    if asked.format == "junit":
        from veritrail_graph.api.reports.junit import junit_xml, suites_of

        for piece in junit_xml(suites_of(origin.material, strict=asked.strict)):
            yield piece
        return
    async for piece in _with_trails(origin, asked):
        yield piece


def _with_trails(origin: Origin, asked: Asked) -> AsyncIterator[str]:
    if asked.format == "html":
        from veritrail_graph.api.reports.html import html_pieces

        return html_pieces(origin, dossier=asked.dossier)
    if asked.format == "json":
        from veritrail_graph.api.reports.document import json_pieces

        return json_pieces(origin, dossier=asked.dossier)
    if asked.format == "csv":
        from veritrail_graph.api.reports.table import csv_pieces

        return csv_pieces(origin)
    from veritrail_graph.api.reports.markdown import markdown_pieces

    return markdown_pieces(origin)
