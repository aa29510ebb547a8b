"""A report as GitHub-flavoured Markdown: a summary, a table, and every trail.

Texts of nodes and claims are untrusted: every character that Markdown or HTML would read
is escaped. Trails are read a few at a time.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from veritrail_graph.api.show.costs import share_words, step_words, usage_words
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.markdown import as_code, escaped, text
from veritrail_graph.api.show.rendering import number
from veritrail_graph.api.show.reports.conversation import ROOM as CONVERSATION
from veritrail_graph.api.show.reports.data import (
    Asked,
    ReportData,
    ReportSource,
    ReportTrail,
    asked_of,
)
from veritrail_graph.api.show.reports.resting import MOST_SOURCES, Resting
from veritrail_graph.api.show.trail import shown
from veritrail_graph.api.show.words import WAITING, review_mark
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import ReviewKind

_IN_MEMORY = 16_000_000
_PIECE = 1_000_000
REPORTED = 5
"""Routes of evidence that are listed of one claim."""


async def markdown_pieces(origin: ReportSource) -> AsyncIterator[str]:
    """The report, piece by piece.

    What was asked of models is written before the trails and is known only behind them: they wait
    in a temporary file, where they are long.
    """
    asked: set[Asked] = set()
    names = origin.material.process.stage_names
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as waiting:
        async for trail in origin.trails(origin.material.claims, counted=True):
            if trail.verification is not None:
                asked |= asked_of([trail.verification])
            waiting.write(_trail(trail, names))
        piece = _head(origin.material, asked)
        waiting.seek(0)
        while more := waiting.read(_PIECE):
            yield piece
            piece = more
        resting = await origin.resting()
        if resting.nodes:
            yield piece.rstrip("\n") + "\n\n"
            piece = _resting(resting)
        talk = await origin.conversation()
        if talk.document is not None:
            yield piece.rstrip("\n") + "\n\n"
            piece = text(talk.document, CONVERSATION, level=1)
        yield piece.rstrip("\n") + "\n"


def _resting(resting: Resting) -> str:
    """Return what each sentence of attributed nodes rests on."""
    room = Room({"source sentence": MOST_SOURCES, "wording": MOST_SOURCES})
    more = f"{counted(resting.more, 'more attributed node')}: not shown.\n" if resting.more else ""
    nodes = (text(one.document, room) for one in resting.nodes)
    return f"# What each sentence rests on\n\n{''.join(nodes)}{more}"


def _head(material: ReportData, asked: Collection[Asked]) -> str:
    """Return what is written before the trails."""
    reviewed = [one.reviewed for one in material.claims if one.reviewed is not None]
    kinds = Counter(one.kind for one in reviewed)
    by_model = any(one.model for one in material.verifications)
    return (
        templates()
        .get_template("report.md")
        .render(
            material=material,
            process=material.process,
            counts=material.marks,
            indicative=material.indicative,
            indicative_reason=material.indicative_reason,
            usage=usage_words(material.usage) if by_model else "",
            reviewed=reviewed,
            nodes=len(material.node_ids),
            kinds=[(kind.value, kinds[kind]) for kind in ReviewKind] if reviewed else [],
            asked=sorted(asked, key=lambda row: (*row[:4], str(row[4:]))),
        )
    )


def _trail(trail: ReportTrail, names: Mapping[int, str]) -> str:
    """A trail; nothing of a claim that was not verified yet."""
    view = trail.view(names)
    if view is None or view.verification.status in WAITING:
        return ""
    return text(shown(view, trail.beside(REPORTED)))


@lru_cache(maxsize=1)
def templates(package: str = "veritrail_graph.api.page") -> Environment:
    """The environment of Markdown templates of a package; `md` escapes untrusted text."""
    made = Environment(  # noqa: S701 (no HTML: `md` escapes what Markdown reads)
        loader=PackageLoader(package),
        auto_reload=False,  # the files of a package do not change under a process
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(md=escaped, md_code=as_code, counted=counted, number=number)
    made.filters.update(step=step_words, usage=usage_words, review_mark=review_mark)
    made.filters.update(share_of_nodes=share_words)
    return made
