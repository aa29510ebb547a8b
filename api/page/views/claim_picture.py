"""The picture of a claim as a part of a page: its boxes lead to the pages of their nodes."""

from __future__ import annotations

from markupsafe import Markup

from veritrail_graph.api.page.links import url
from veritrail_graph.api.show.drawing import Drawing
from veritrail_graph.api.show.picture_svg import figure


def picture_html(drawing: Drawing, process_id: str, *, with_claim: bool = False) -> Markup:
    """Write a picture for a page of a process.

    Args:
        drawing: The picture.
        process_id: The process.
        with_claim: Whether the claim stands above it.
    """
    written = figure(
        drawing, lambda name: url("processes", process_id, "nodes", name), with_claim=with_claim
    )
    return Markup(written)  # noqa: S704 (the writer escapes all texts)
