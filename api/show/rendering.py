"""Templates of pages and reports: one environment, its filters, and the files that pages load.

A text from outside is written as `{{ text|shown }}` in an element with `dir="auto"` and the class
`t`; it is never marked as safe.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from veritrail_graph.api.show.costs import UNKNOWN, cost_words, share_words, step_words
from veritrail_graph.api.show.dialogue import run_words
from veritrail_graph.api.show.document import Line, headed
from veritrail_graph.api.show.report_html import line
from veritrail_graph.api.show.texts import clip, clip_start, cut_inside, shown
from veritrail_graph.api.show.words import (
    either,
    in_parts,
    in_short,
    introduced_words,
    mark_now,
    mark_of,
    review_mark,
    share,
    stage_words,
)

PREFIX = "/static/"

_OURS = "veritrail_graph.api.page"

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that pages load.

    Attributes:
        content: Its bytes.
        media_type: What they are.
        version: A hash of them.
    """

    content: bytes
    media_type: str
    version: str


@lru_cache(maxsize=4)
def assets(*packages: str) -> dict[str, Asset]:
    """Every file by its name, those of more packages too; they are read once."""
    found = {}
    for package in (*packages, _OURS):
        for file in resources.files(package).joinpath("static").iterdir():
            kind = TYPES.get(file.name.rpartition(".")[2])
            if kind is not None:
                content = file.read_bytes()
                found[file.name] = Asset(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return found


def static(name: str, *packages: str) -> str:
    """The address of a file; another content has another one, so it may be cached without end."""
    return f"{PREFIX}{name}?v={assets(*packages)[name].version}"


def text_of(name: str, *packages: str) -> str:
    """A file as text, for a page that holds it itself."""
    return assets(*packages)[name].content.decode("utf-8")


@lru_cache(maxsize=4)
def environment(*packages: str, is_file: bool = False) -> Environment:
    """The environment of all templates.

    Args:
        packages: More packages with templates and static files; ours come first.
        is_file: Whether what is rendered is handed on as one file, which holds the icons itself.
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (_OURS, *packages)]),
        auto_reload=False,  # the files of a package do not change under a process
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(shown=shown, number=number, money=money, ago=ago, when=when)
    made.filters.update(in_short=in_short, in_parts=in_parts, run_words=run_words)
    made.filters.update(headed=headed, line=_line)
    made.filters.update(share=share, size=size, clip=clip, clip_start=clip_start)
    made.filters.update(cut=cut_inside)
    made.filters.update(mark=mark_now, verdict_mark=mark_of, review_mark=review_mark)
    made.filters.update(either=either, introduced_words=introduced_words)
    made.filters.update(step=step_words, cost=cost_words, share_of_nodes=share_words)
    icons = Icons("" if is_file else static("icons.svg"))
    made.globals.update(sorted_figure=sorted_figure)
    made.globals.update(
        static=lambda name: static(name, *packages), icon=icons.icon, stage_words=stage_words
    )
    return made


def _line(words: Line) -> Markup:
    """A line of a document."""
    return Markup(line(words))  # noqa: S704 (the writer escapes all texts)


@dataclass(frozen=True, slots=True)
class Icons:
    """The icons of `icons.svg`.

    Attributes:
        sprite: Where they are; nothing, where the page holds them itself.
    """

    sprite: str

    def icon(self, name: str, label: str | None = None) -> Markup:
        """An icon; without a label it says nothing to a screen reader."""
        return _icon(self.sprite, name, label)


_SILENT = Markup('aria-hidden="true"')


@lru_cache(maxsize=512)
def _icon(sprite: str, name: str, label: str | None) -> Markup:
    said = Markup('role="img" aria-label="{}"').format(label) if label else _SILENT
    return Markup('<svg class="icon" {}><use href="{}#{}"></use></svg>').format(said, sprite, name)


def sorted_figure(cost: Any, name: str, place: int) -> Any:
    """A figure of an estimate: the least (0), the middle (1) or the most (2) of its three cases."""
    found = [each.get(name) for each in (cost.low, cost.likely, cost.high)]
    return None if None in found else sorted(found)[place]


def number(value: float | None) -> str:
    """A number for people."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def money(value: float | None) -> str:
    """US dollars; a price that is not known is never 0."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "$0"
    if value < 0.0001:
        return "under $0.0001"
    return f"${value:.4f}" if value < 0.1 else f"${value:,.2f}"


def size(value: int) -> str:
    """Bytes for people."""
    for below, name in ((10**3, "bytes"), (10**6, "kB"), (10**9, "MB")):
        if value < below:
            return f"{value * 1_000 / below if name != 'bytes' else value:.4g} {name}"
    return f"{value / 10**9:.4g} GB"


def moment(value: str | float | datetime) -> datetime:
    """A moment, as the graph and the service write it down."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        parsed = datetime.fromisoformat(value)
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return datetime.fromtimestamp(value, UTC)


def when(value: str | float | datetime | None) -> str:
    """A moment for people, in UTC."""
    return (
        "never" if value is None else moment(value).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    )


_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (86400 * 60, 86400, "days"))


def ago(value: str | float | datetime | None) -> Markup:
    """Return how long ago something was, with the moment itself as its title."""
    if value is None:
        return Markup("never")
    then = moment(value)
    seconds = max(0.0, (datetime.now(UTC) - then).total_seconds())
    words = f"on {then:%Y-%m-%d}"
    for below, size, name in _STEPS:
        if seconds < below:
            count = int(seconds // size)
            words = f"{count} {'day' if (count, name) == (1, 'days') else name} ago"
            break
    if seconds < 5:
        words = "just now"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        then.isoformat(), when(then), words
    )
