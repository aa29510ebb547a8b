"""Places for what a picture shows: beside one another on a desk, below one another on a phone.

Every text is broken or cut to the room that it has, by widths that no font exceeds
(`text_width`), so nothing runs over its box and nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from veritrail_graph.api.show.drawing import (
    Drawing,
    Joint,
    PictureBox,
    PictureColumn,
    Tone,
)
from veritrail_graph.api.show.text_width import (
    TextLine,
    TextRoom,
    cut_line,
    cut_middle,
    fitted,
    line_width,
    runs_left,
    width_of,
)
from veritrail_graph.api.show.texts import shown
from veritrail_graph.graph.word_diff import Piece

CLAIM, TEXT, NEWS, HEADING, NAME, NOTE, PILL, LABEL = 17.0, 14.5, 14.0, 12.5, 11.5, 12.0, 14.0, 12.0
"""Sizes of letters."""
LEAD = 20.0
LINE = 1.35
"""The height of a line beside the boxes, in sizes of its letters."""
PAD, MARGIN = 14.0, 20.0
COLUMN, NARROW = 250.0, 360.0
"""The width of a column beside others, and of the whole where they are below one another."""
GAP, LABEL_GAP, LEAST_PILL, MOST_PILL = 44.0, 156.0, 60.0, 150.0
MOST_PILL_LINES = 3
"""Lines of words that were added or left out."""
BELOW = 16.0
RAIL, SIDE_RAIL, SPINE, INSET = 13.0, 5.0, 44.0, 24.0
DOT, STACK = 15.0, 6.0
_HEAD = TextRoom(COLUMN, 2, HEADING)


class TextPart(StrEnum):
    """The part of a text in a picture; its class in the sheet is `vp-PART`."""

    CLAIM = "claim"
    VERDICT = "verdict"
    NEWS = "news"
    HEADING = "heading"
    TEXT = "text"
    NAME = "name"
    NOTE = "note"
    SOURCE = "source"
    WROTE = "wrote"
    LABEL = "label"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A line of text.

    Attributes:
        x: Its left side; of a text from right to left its right side.
        y: Its base line.
        line: The text.
        size: The size of its letters.
        part: What it is.
        tone: The tone of it; None: that of plain text.
        room: The width that it may take.
        is_bold: Whether its letters are bold.
        runs_left: Whether it runs from right to left.
    """

    x: float
    y: float
    line: TextLine
    size: float
    part: TextPart
    room: float
    tone: Tone | None = None
    is_bold: bool = False
    runs_left: bool = False

    @property
    def width(self) -> float:
        """The room that it takes at most."""
        if self.is_bold:
            return sum(width_of(piece.text, self.size, bold=True) for piece in self.line)
        return line_width(self.line, self.size)

    @property
    def left(self) -> float:
        """Its left side."""
        return self.x - self.width if self.runs_left else self.x


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box with its texts."""

    box: PictureBox
    area: Area
    texts: tuple[PlacedText, ...]


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line, as a path of SVG."""

    path: str
    tone: Tone
    is_faint: bool = False
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Pill:
    """The difference, on a line that is broken."""

    area: Area
    texts: tuple[PlacedText, ...]


@dataclass(slots=True)
class PictureLayout:
    """A picture with places.

    Attributes:
        width: Its width.
        height: Its height.
        boxes: Its boxes.
        strokes: Its lines.
        pills: Its differences.
        texts: Texts beside the boxes.
        dots: Places of the iterations.
    """

    width: float
    height: float = 0.0
    boxes: list[PlacedBox] = field(default_factory=list)
    strokes: list[PictureLine] = field(default_factory=list)
    pills: list[Pill] = field(default_factory=list)
    texts: list[PlacedText] = field(default_factory=list)
    dots: list[tuple[float, float]] = field(default_factory=list)

    def say(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        part: TextPart,
        room: float,
        *,
        tone: Tone | None = None,
        is_bold: bool = False,
        lines: int = 1,
    ) -> float:
        """Write a text below a height, and return the height below it."""
        for text in _lines(x, y, words, TextRoom(room, lines, size), part, tone, is_bold=is_bold):
            self.texts.append(text)
            y += size * LINE
        return y

    def line(self, path: str, tone: Tone, *, is_faint: bool = False) -> None:
        """Draw a line, with dashes where nothing is said for or against it."""
        self.strokes.append(PictureLine(path, tone, is_faint, is_dashed=tone is Tone.OPEN))


def wide(drawing: Drawing, *, with_claim: bool = True) -> PictureLayout:
    """Lay a picture out with its columns beside one another.

    Args:
        drawing: The picture.
        with_claim: Whether the claim stands above it.
    """
    gaps = list(map(_gap, drawing.joints, drawing.columns))
    width = 2 * MARGIN + COLUMN * len(drawing.columns) + sum(gaps)
    made = PictureLayout(max(width, 720.0))
    y = _head(made, drawing, with_claim=with_claim)
    heads = [fitted((Piece(shown(column.heading), True),), _HEAD) for column in drawing.columns]
    tallest = max(map(len, heads))
    top = y + HEADING * LINE * tallest + 6
    x = MARGIN
    rows: list[list[PlacedBox]] = []
    height = max(
        [_height(column.boxes[0], COLUMN, 5) for column in drawing.columns]
        + [_room_beside(joint) for joint in drawing.joints]
    )
    for column, gap, head in zip(drawing.columns, [*gaps, 0.0], heads, strict=True):
        over = y + HEADING * LINE * (tallest - len(head))
        made.say(x, over, column.heading, HEADING, TextPart.HEADING, COLUMN, is_bold=True, lines=2)
        at, placed = top, []
        for number, box in enumerate(column.boxes):
            lines, high = (4, _height(box, COLUMN, 4)) if number else (5, height)
            placed.append(_placed(box, Area(x, at, COLUMN, high), lines))
            at += high + BELOW
        rows.append(placed)
        x += COLUMN + gap
    for joint, (before, after) in zip(drawing.joints, pairwise(rows), strict=True):
        _join(made, joint, before, after[0])
    for start in rows[0]:
        if start.box.to is not None:
            _around(made, start, rows[start.box.to][0])
    made.boxes = [placed_box for row in rows for placed_box in row]
    _foot(made, drawing, max(placed_box.area.bottom for placed_box in made.boxes) + BELOW)
    return made


def tall(drawing: Drawing, *, with_claim: bool = True) -> PictureLayout:
    """Lay a picture out with its columns below one another.

    Args:
        drawing: The picture.
        with_claim: Whether the claim stands above it.
    """
    made = PictureLayout(NARROW)
    y = _head(made, drawing, with_claim=with_claim)
    width = NARROW - INSET - MARGIN + 8
    rows: list[list[PlacedBox]] = []
    for joint, column in zip((None, *drawing.joints), drawing.columns, strict=True):
        if joint is not None:
            y = _join_below(made, joint, rows[-1])
        side = SPINE + 12 if rows else INSET
        made.say(
            side, y, column.heading, HEADING, TextPart.HEADING, NARROW - side - 8, is_bold=True
        )
        bottom = y
        y += HEADING + 8
        if joint is not None:
            made.line(f"M{SPINE:g} {bottom:g} V{y:g}", joint.after)
        placed = []
        for box in column.boxes:
            area = Area(INSET, y, width, _height(box, width, 4))
            placed.append(_placed(box, area, 4))
            y = area.bottom + 10
        y -= 10
        rows.append(placed)
    for start in rows[0]:
        if start.box.to is not None:
            end = rows[start.box.to][0].area
            path = f"M{INSET:g} {start.area.middle:g} H{SIDE_RAIL:g} V{end.middle:g} H{INSET:g}"
            made.strokes.append(PictureLine(path, start.box.tone, is_faint=True))
    made.boxes = [placed_box for row in rows for placed_box in row]
    _foot(made, drawing, y + BELOW)
    return made


def _head(made: PictureLayout, drawing: Drawing, *, with_claim: bool) -> float:
    """Write the claim, the verdict and the news; return the height below them."""
    y, room = MARGIN, made.width - 2 * MARGIN
    is_narrow = made.width <= NARROW
    if with_claim:
        size = TEXT if is_narrow else CLAIM
        y = made.say(MARGIN, y, drawing.claim, size, TextPart.CLAIM, room, is_bold=True,
                     lines=5 if is_narrow else 2)  # fmt: skip
        y += 4
    tone = drawing.columns[-1].boxes[0].tone
    news = shown(drawing.news[:1].upper() + drawing.news[1:])
    if not with_claim:
        if not news:
            return y
        lines = 4 if is_narrow else 2
        return made.say(MARGIN, y, news, NEWS, TextPart.VERDICT, room, tone=tone, is_bold=True,
                        lines=lines) + 14  # fmt: skip
    words = width_of(drawing.verdict, NEWS, bold=True) + 14
    made.say(MARGIN, y, drawing.verdict, NEWS, TextPart.VERDICT, room, tone=tone, is_bold=True)
    if not news:
        return y + NEWS * LINE + 16
    if is_narrow or words + width_of(news, NEWS) > room:
        y += NEWS * LINE
        return made.say(MARGIN, y, news, NEWS, TextPart.NEWS, room, lines=4) + 14
    return made.say(MARGIN + words, y, news, NEWS, TextPart.NEWS, room - words) + 16


def _foot(made: PictureLayout, drawing: Drawing, y: float) -> None:
    """Write the iterations."""
    room = made.width - 2 * MARGIN
    if drawing.dots:
        row = int(room // DOT) or 1
        is_beside = len(drawing.dots) * DOT + 220 < room
        for place in range(len(drawing.dots)):
            made.dots.append((MARGIN + 5 + DOT * (place % row), y + 7 + DOT * (place // row)))
        if is_beside:
            side = len(drawing.dots) * DOT + 10
            y = made.say(MARGIN + side, y, drawing.dots_words, LABEL, TextPart.QUIET, room - side,
                         lines=3)  # fmt: skip
        else:
            y += DOT * -(-len(drawing.dots) // row) + 4
            y = made.say(MARGIN, y, drawing.dots_words, LABEL, TextPart.QUIET, room, lines=4)
    elif drawing.dots_words:
        y = made.say(MARGIN, y, drawing.dots_words, LABEL, TextPart.QUIET, room, lines=4)
    made.height = y + 10


def _lines(
    x: float,
    y: float,
    words: str,
    room: TextRoom,
    part: TextPart,
    tone: Tone | None,
    *,
    is_bold: bool,
) -> Iterator[PlacedText]:
    """The lines of a text below a height."""
    words = shown(words)
    is_left = runs_left(words)
    pieces = (Piece(words, is_changed=is_bold),)
    for number, line in enumerate(fitted(pieces, room)):
        text = (Piece("".join(piece.text for piece in line)),)
        base = y + room.size + number * room.size * LINE
        side = x + room.width if is_left else x
        yield PlacedText(side, base, text, room.size, part, room.width, tone, is_bold, is_left)


def _height(box: PictureBox, width: float, lines: int) -> float:
    count = len(_sentence(box, width, lines))
    return PAD + count * LEAD + 6 + (18 if box.name else 0) + (18 if box.note else 0) + 8


def _sentence(box: PictureBox, width: float, lines: int) -> tuple[TextLine, ...]:
    pieces = tuple(Piece(shown(piece.text), piece.is_changed) for piece in box.pieces)
    return fitted(pieces, TextRoom(width - 2 * PAD, lines, TEXT))


def _placed(box: PictureBox, area: Area, lines: int) -> PlacedBox:
    texts: list[PlacedText] = []
    room = area.width - 2 * PAD
    is_left = runs_left(box.text)
    y = area.y + PAD + TEXT - 2
    side = area.right - PAD if is_left else area.x + PAD
    for line in _sentence(box, area.width, lines):
        texts.append(
            PlacedText(side, y, line, TEXT, TextPart.TEXT, room, box.tone, runs_left=is_left)
        )
        y += LEAD
    below = area.bottom - 10
    if box.note:
        words = cut_line(shown(box.note), room, NOTE, bold=True)
        note = (Piece(words),)
        texts.append(PlacedText(area.x + PAD, below, note, NOTE, TextPart.NOTE, room, box.tone,
                                is_bold=True))  # fmt: skip
        below -= 18
    if box.name:
        words = cut_middle(shown(box.name), room, NAME)
        is_left = runs_left(words)
        side = area.right - PAD if is_left else area.x + PAD
        texts.append(
            PlacedText(side, below, (Piece(words),), NAME, TextPart.NAME, room, runs_left=is_left)
        )
    return PlacedBox(box, area, tuple(texts))


def _pill_lines(joint: Joint) -> tuple[tuple[tuple[str, TextPart], ...], ...]:
    """The lines of a pill, each of parts."""
    source, wrote = shown(joint.source), shown(joint.wrote)
    if not (source and wrote):
        if not joint.change:
            return (((joint.fault, TextPart.WROTE),),)
        part = TextPart.SOURCE if source else TextPart.WROTE
        pieces = (Piece(source or wrote, is_changed=True),)
        lines = fitted(pieces, TextRoom(MOST_PILL, MOST_PILL_LINES, PILL))
        said = ("".join(piece.text for piece in line).strip() for line in lines)
        return ((joint.change, TextPart.QUIET),), *(((words, part),) for words in said)
    if _pill_width(f"{source} → {wrote}") <= MOST_PILL:
        return (((source, TextPart.SOURCE), (" → ", TextPart.QUIET), (wrote, TextPart.WROTE)),)
    room = MOST_PILL - _pill_width("→ ")
    return (
        ((cut_line(source, room, PILL, bold=True), TextPart.SOURCE),),
        (("→ ", TextPart.QUIET), (cut_line(wrote, room, PILL, bold=True), TextPart.WROTE)),
    )


def _pill_width(text: str) -> float:
    return width_of(text, PILL, bold=True)


def _pill_size(joint: Joint) -> tuple[float, float]:
    lines = _pill_lines(joint)
    width = max(sum(_pill_width(text) for text, _ in line) for line in lines)
    return max(width + 20, LEAST_PILL), 20.0 * len(lines) + 8


def _pill(joint: Joint, x: float, y: float) -> Pill:
    width, height = _pill_size(joint)
    texts = []
    for number, line in enumerate(_pill_lines(joint)):
        used = sum(_pill_width(text) for text, _ in line)
        at, base = x + (width - used) / 2, y + 19 + 20.0 * number
        for text, part in line:
            # Blanks at the ends of a text are dropped where it is drawn: they are room beside it.
            start = at + _pill_width(text[: len(text) - len(text.lstrip())])
            said = text.strip()
            room = _pill_width(said)
            texts.append(PlacedText(start, base, (Piece(said),), PILL, part, room, is_bold=True))
            at += _pill_width(text)
    return Pill(Area(x, y, width, height), tuple(texts))


def _gap(joint: Joint, column: PictureColumn) -> float:
    """The width between two columns."""
    gap = LABEL_GAP if joint.label else GAP
    if joint.is_broken:
        gap = max(gap, _pill_size(joint)[0] + 16)
    return gap + (18 if _leading(column) > 1 else STACK if column.boxes[0].among else 0)


def _leading(column: PictureColumn) -> int:
    return sum(box.to is None for box in column.boxes)


def _room_beside(joint: Joint) -> float:
    """The height that pill and label of a joint need."""
    above = _pill_size(joint)[1] + 16 if joint.is_broken else 0.0
    below = 20 + 16.0 * (1 + len(joint.names)) + 8 if joint.label else 0.0
    return 2 * max(above, below)


def _join(made: PictureLayout, joint: Joint, before: list[PlacedBox], after: PlacedBox) -> None:
    """Draw the line from a column to the next one, and what stands on it."""
    leading = [placed for placed in before if placed.box.to is None]
    start, end, y = leading[0].area.right, after.area.x, leading[0].area.middle
    start += STACK if leading[0].box.among else 0
    trunk = start + 12
    for placed in leading[1:]:
        made.line(f"M{start:g} {placed.area.middle:g} H{trunk:g} V{y:g}", joint.before)
    left = trunk + 6 if len(leading) > 1 else start
    middle = (left + end) / 2
    if joint.is_broken:
        made.line(f"M{start:g} {y:g} H{middle - 9:g}", joint.before)
        made.line(f"M{middle + 9:g} {y:g} H{end:g}", joint.after)
        for side in (middle - 6, middle + 2):
            made.line(f"M{side:g} {y - 8:g} l6 16", Tone.CULPRIT)
        width, height = _pill_size(joint)
        made.pills.append(_pill(joint, middle - width / 2, y - 14 - height))
    else:
        made.line(f"M{start:g} {y:g} H{end:g}", joint.after, is_faint=bool(joint.label))
    if joint.label:
        room = end - left - 12
        at = made.say(left + 6, y + 8, joint.label, LABEL, TextPart.LABEL, room, tone=joint.after,
                      is_bold=True, lines=2)  # fmt: skip
        for name in joint.names:
            words = cut_middle(shown(name), room, NAME)
            at = made.say(left + 6, at, words, NAME, TextPart.QUIET, room)


def _around(made: PictureLayout, start: PlacedBox, end: PlacedBox) -> None:
    """Draw the line from a box below the others to one further on."""
    y, x = start.area.middle, end.area.x + end.area.width / 2
    corner = f"H{x - 12:g} Q{x:g} {y:g} {x:g} {y - 12:g}"
    path = f"M{start.area.right:g} {y:g} {corner} V{end.area.bottom:g}"
    made.strokes.append(PictureLine(path, start.box.tone, is_faint=True))


def _join_below(made: PictureLayout, joint: Joint, before: list[PlacedBox]) -> float:
    """Draw the line from boxes to the next one below; return the height below it."""
    leading = [placed for placed in before if placed.box.to is None]
    bottom = before[-1].area.bottom
    start = bottom
    if leading != before[-1:]:
        start = bottom + 10
        for placed in leading:
            if placed is not before[-1]:
                path = f"M{INSET:g} {placed.area.middle:g} H{RAIL:g} V{start:g} H{SPINE:g}"
                made.line(path, joint.before)
        if leading[-1] is before[-1]:
            made.line(f"M{SPINE:g} {bottom:g} V{start:g}", joint.before)
    side = SPINE + 14
    at = start + 8 + (STACK if before[-1].box.among else 0)
    if joint.is_broken:
        pill = _pill(joint, side + 6, at)
        made.pills.append(pill)
        middle = pill.area.middle
        made.line(f"M{SPINE:g} {start:g} V{middle - 7:g}", joint.before)
        for height in (middle - 6, middle + 1):
            made.line(f"M{SPINE - 8:g} {height:g} l16 6", Tone.CULPRIT)
        start = middle + 7
        at = pill.area.bottom + 4
    if joint.label:
        room = NARROW - side - 8
        words = f"{joint.label}: {', '.join(joint.names)}" if joint.names else joint.label
        at = made.say(side, at - 2, words, LABEL, TextPart.LABEL, room, tone=joint.after, lines=2)
    at += 6
    is_faint = bool(joint.label) and not joint.is_broken
    made.line(f"M{SPINE:g} {start:g} V{at:g}", joint.after, is_faint=is_faint)
    return at
