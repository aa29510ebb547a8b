"""Tables that are downloaded."""

from __future__ import annotations

from fastapi import Response

from veritrail_graph.api.views.texts import file_name


def csv_file(name: str, text: str) -> Response:
    """A table as a file to keep; the mark at its beginning tells spreadsheets that it is UTF-8."""
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(name)}"',
        "Cache-Control": "private, no-store",
    }
    content = text.encode("utf-8-sig", "replace")
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)
