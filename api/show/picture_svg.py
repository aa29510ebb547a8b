"""A picture as SVG: text alone, no script, nothing from elsewhere.

In a file colours stand at the elements, so that any program draws them, and a sheet sets others for
the dark; in a page `picture.css` sets all of them. Every text is untrusted and escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import repeat

from veritrail_graph.api.show.drawing import Drawing, Tone
from veritrail_graph.api.show.picture import picture_of
from veritrail_graph.api.show.picture_layout import (
    Area,
    PictureLayout,
    PictureLine,
    PlacedBox,
    PlacedText,
    TextPart,
    tall,
    wide,
)
from veritrail_graph.api.show.texts import one_line, shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.word_diff import Piece

_FONTS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
_INK, _MUTED = "#1c2430", "#566070"
_STRONG = {Tone.RIGHT: "#00694a", Tone.CULPRIT: "#a3271d", Tone.WRONG: "#a3271d",
           Tone.OPEN: "#717a88"}  # fmt: skip
_FILLS = {Tone.RIGHT: "#f1f9f5", Tone.CULPRIT: "#fde5de", Tone.WRONG: "#ffffff",
          Tone.OPEN: "#f6f6f3"}  # fmt: skip
_DOTS = {State.SUPPORTED: Tone.RIGHT, State.NOT_SUPPORTED: Tone.WRONG}

_TONED = (TextPart.NOTE, TextPart.LABEL, TextPart.VERDICT)
_DASHES = ' stroke-dasharray="5 4"'

Address = Callable[[str], str]
"""The address of a node."""


def svg(drawing: Drawing, *, with_claim: bool = True) -> str:
    """Write a picture as a file of its own.

    Args:
        drawing: The picture.
        with_claim: Whether the claim stands above it.
    """
    return _Writer(is_file=True).written(drawing, with_claim=with_claim)


def figure(drawing: Drawing, address: Address | None = None, *, with_claim: bool = True) -> str:
    """Write both forms of a picture and its words as a part of a page or report.

    The sheet `picture.css` shows the form that fits.

    Args:
        drawing: The picture.
        address: Where a box leads to; None: nowhere.
        with_claim: Whether the claim stands above it.
    """
    writer = _Writer(address)
    forms = "".join(
        writer.written(drawing, is_narrow=is_narrow, with_claim=with_claim)
        for is_narrow in (False, True)
    )
    items = []
    for said, node_id in drawing.in_words():
        words = f'<span class="t" dir="auto">{_safe(said)}</span>'
        href = writer.href(node_id)
        link = f' <a href="{href}">its text</a>' if href else ""
        items.append(f"<li>{words}{link}</li>")
    return (
        f'<figure class="vp-figure">{forms}<details class="vp-words small">'
        f"<summary>This picture in words</summary><ol>{''.join(items)}</ol></details></figure>"
    )


def trail_svg(found: Verification) -> str:
    """Draw a verification as a file of its own.

    Args:
        found: The verification.
    """
    return svg(picture_of(trail_view(found)))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes pictures.

    Attributes:
        address: Where a box leads to; None: nowhere.
        is_file: Whether a picture stands alone, with a sheet of its own.
    """

    address: Address | None = None
    is_file: bool = False

    def href(self, node_id: str | None) -> str:
        """Return the address of a node as an attribute has it; empty: there is none."""
        if self.address is None or node_id is None:
            return ""
        return escape(self.address(node_id), quote=True)

    def written(self, drawing: Drawing, *, is_narrow: bool = False, with_claim: bool = True) -> str:
        layout = (tall if is_narrow else wide)(drawing, with_claim=with_claim)
        width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
        kind = "vp-narrow" if is_narrow else "vp-wide"
        role = "img" if self.address is None else "group"
        title = _safe(f"{drawing.verdict}: {one_line(drawing.claim, 300)}")
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="vp {kind}" role="{role}" '
            f'aria-label="{title}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{_FONTS}">'
        ]
        if self.is_file:
            sentences = [said for said, _ in drawing.in_words()]
            if drawing.news:
                sentences.insert(0, drawing.news)
            words = _safe(" ".join(f"{said}." for said in sentences))
            parts.append(f"<title>{title}</title><desc>{words}</desc><style>{_sheet()}</style>")
            parts.append('<rect class="vp-paper" width="100%" height="100%" fill="#ffffff"/>')
        parts += self._drawn(layout, drawing)
        return "".join((*parts, "</svg>"))

    def _drawn(self, layout: PictureLayout, drawing: Drawing) -> Iterator[str]:
        yield from map(self._stroke, layout.strokes)
        yield from map(self._box, layout.boxes)
        pill_look = self._look("#ffffff", Tone.WRONG, 1.5)
        for pill in layout.pills:
            yield f'<rect class="vp-pill" {_area(pill.area)} rx="13"{pill_look}/>'
            yield from map(self._text, pill.texts)
        yield from map(self._text, layout.texts)
        for (x, y), state in zip(layout.dots, drawing.dots, strict=True):
            tone = _DOTS.get(state, Tone.OPEN)
            fill = f' fill="{_STRONG[tone]}"' if self.is_file else ""
            yield f'<circle class="vp-dot vp-{tone}" cx="{x:g}" cy="{y:.0f}" r="5"{fill}/>'

    def _look(self, fill: str, tone: Tone, width: float) -> str:
        """Return fill and stroke of a part of a file; the sheet of a page has them."""
        if not self.is_file:
            return ""
        return f' fill="{fill}" stroke="{_STRONG[tone]}" stroke-width="{width:g}"'

    def _stroke(self, stroke: PictureLine) -> str:
        dashes = _DASHES if stroke.is_dashed else ""
        kind = f"vp-line vp-{stroke.tone}" + (" vp-faint" if stroke.is_faint else "")
        look = self._look("none", stroke.tone, 1.5 if stroke.is_faint else 2.5)
        return f'<path class="{kind}" d="{stroke.path}"{dashes}{look}/>'

    def _box(self, placed: PlacedBox) -> str:
        box, area = placed.box, placed.area
        dashes = _DASHES if box.tone is Tone.OPEN else ""
        look = self._look(_FILLS[box.tone], box.tone, 3 if box.tone is Tone.CULPRIT else 2)
        frame = "".join(
            f'<rect class="vp-box vp-{box.tone}" {_area(area, shift)} rx="8"{dashes}{look}/>'
            for shift in ((6, 3, 0) if box.among else (0,))
        )
        inner = frame + "".join(map(self._text, placed.texts))
        if not (href := self.href(box.node_id)):
            return f"<g>{inner}</g>"
        label = _safe(f"Open the text of {one_line(box.name, 100)}")
        return f'<a class="vp-link" href="{href}" aria-label="{label}">{inner}</a>'

    def _text(self, text: PlacedText) -> str:
        kind = f"vp-{text.part}"
        if text.part in _TONED and text.tone is not None:
            kind += f" vp-{text.tone}"
        look = ""
        if self.is_file:
            weight = ' font-weight="700"' if text.is_bold else ""
            look = f' fill="{_fill(text)}"{weight}'
        kind += " vp-bold" if text.is_bold else ""
        way = ' direction="rtl"' if text.runs_left else ""
        return (
            f'<text class="{kind}" x="{text.x:.1f}" y="{text.y:.1f}" font-size="{text.size:g}"'
            f"{look}{way}>{''.join(map(self._piece, text.line, repeat(text.tone)))}</text>"
        )

    def _piece(self, piece: Piece, tone: Tone | None) -> str:
        words = escape(piece.text, quote=True)
        if not piece.is_changed or tone is None:
            return words
        look = ""
        if self.is_file:
            look = f' font-weight="700" text-decoration="underline" fill="{_STRONG[tone]}"'
        return f'<tspan class="vp-mark vp-{tone}"{look}>{words}</tspan>'


@lru_cache(maxsize=1)
def _sheet() -> str:
    """Return the sheet of a file: the part of `picture.css` that is not for pages."""
    from veritrail_graph.api.show.rendering import text_of  # it writes documents, which draw

    return text_of("picture.css").partition("/* page */")[0].strip()


def _area(area: Area, shift: int = 0) -> str:
    return (
        f'x="{area.x + shift:.0f}" y="{area.y + shift:.0f}" '
        f'width="{area.width:.0f}" height="{area.height:.0f}"'
    )


def _fill(text: PlacedText) -> str:
    """Return the colour of a text of a file."""
    if text.part in (TextPart.SOURCE, TextPart.WROTE):
        return _STRONG[Tone.RIGHT if text.part is TextPart.SOURCE else Tone.WRONG]
    if text.part in _TONED and text.tone is not None:
        return _STRONG[text.tone]
    return _INK if text.part in (TextPart.CLAIM, TextPart.NEWS, TextPart.TEXT) else _MUTED


def _safe(text: str) -> str:
    return escape(shown(text), quote=True)
