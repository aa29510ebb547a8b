"""The text of an answer with its claims in place.

A text is cut into segments at every place where a claim begins or ends. A segment says which
claims cover it, each in a lane of its own, so that lines under overlapping claims do not touch.
A long text is shown in parts.

Source: VeriTrail 3.2 (what a verdict is about); docs/page.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from veritrail_graph.api.show.texts import PART, Place, part_bounds, part_count, part_of
from veritrail_graph.api.show.words import RANK, Mark
from veritrail_graph.graph.citations import CITATION

AROUND = 600
"""Code points of the answer that are shown before and behind a claim."""

_SLACK = 200

LANES = 4
"""Lines under one segment; further claims there share the last."""

MOST_STRETCHES = 1_000
"""Stretches that one part draws; those beyond stand in the list of claims only."""

MOST_BADGES = 12
"""Claims that end in one place and are named there."""

LOOKED_THROUGH = 40_000_000
"""Code points that are looked through for claims without offsets."""

_TRIES = 100  # places where the words stand within longer ones


@dataclass(frozen=True, slots=True)
class TextClaim:
    """A claim as the text shows it.

    Attributes:
        claim_id: The claim.
        text: What it says.
        mark: Its state.
        start: Where it begins in the text of its node, in code points; None: not known.
        end: Offset just behind it.
        also: Further places.
        number: Its number in the list of claims, counted from 1; None: it has none here.
        faded: Whether a filter leaves it out; it is still drawn, but faded.
    """

    claim_id: str
    text: str
    mark: Mark
    start: int | None = None
    end: int | None = None
    also: tuple[Place, ...] = ()
    number: int | None = None
    faded: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Its place by its offsets."""
        if self.start is None or self.end is None:
            return self.also
        return ((self.start, self.end), *self.also)


@dataclass(frozen=True, slots=True)
class Layer:
    """A line under a segment.

    Attributes:
        lane: How far below the text, counted from 0.
        kind: The kind of its mark.
        faded: Whether it is shown faded.
    """

    lane: int
    kind: str
    faded: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text in which nothing begins or ends.

    Attributes:
        text: The text.
        layers: The lines under it, the uppermost lane first.
        ending: The claims that end here, whose badges stand behind it; of one stretch, what
            needs attention first.
        more: How many further claims end here.
        first: Of those that end here, the claims that end nowhere before in this part.
        whole: Whether it is the whole of the one stretch that it belongs to.
    """

    text: str
    layers: tuple[Layer, ...] = ()
    ending: tuple[TextClaim, ...] = ()
    more: int = 0
    first: frozenset[str] = frozenset()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A part of the text of a node with its claims.

    Attributes:
        segments: The text, in pieces.
        part: Which part, counted from 1.
        parts: How many there are.
        length: Code points of the whole text.
        missing: Claims without offsets whose words do not stand in the text.
        not_looked_for: Claims without offsets that were not looked for, the text being so long.
        undrawn: Stretches of this part that are not drawn.
    """

    segments: tuple[Segment, ...]
    part: int = 1
    parts: int = 1
    length: int = 0
    missing: tuple[TextClaim, ...] = ()
    not_looked_for: tuple[TextClaim, ...] = ()
    undrawn: int = 0


@dataclass(slots=True)
class _Stretch:
    """Claims that stand in exactly the same place."""

    start: int
    end: int
    claims: list[TextClaim] = field(default_factory=list)
    lane: int = 0

    @property
    def faded(self) -> bool:
        return all(claim.faded for claim in self.claims)

    def sort(self) -> None:
        self.claims.sort(key=lambda claim: (claim.faded, RANK[claim.mark.kind], claim.number or 0))


def answer_text(
    text: str, claims: Iterable[TextClaim], part: int = 1, size: int = PART
) -> AnswerText:
    """A part of a text with the claims that stand in it.

    Args:
        text: The whole text.
        claims: Claims about it; those of other parts may be among them.
        part: Which part; one beyond the last is the last.
        size: Code points of a part.
    """
    every = list(claims)
    parts = part_count(len(text), size)
    part = min(max(part, 1), parts)
    start, end = part_bounds(text, part, size)
    found = find_places(text, [claim for claim in every if not claim.places])
    stretches = _stretches(every, found.places, start, end)
    drawn = stretches[:MOST_STRETCHES]
    _give_lanes(drawn)
    return AnswerText(
        segments=tuple(_segments(text, start, end, drawn)),
        part=part,
        parts=parts,
        length=len(text),
        missing=found.missing,
        not_looked_for=found.not_looked_for,
        undrawn=len(stretches) - len(drawn),
    )


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The places of claims without offsets.

    Attributes:
        places: By claim_id: the first place that states the claim.
        missing: Claims that stand nowhere.
        not_looked_for: Claims that were not looked for.
    """

    places: Mapping[str, Place]
    missing: tuple[TextClaim, ...]
    not_looked_for: tuple[TextClaim, ...]


def find_places(text: str, claims: Sequence[TextClaim], most: int = LOOKED_THROUGH) -> FoundPlaces:
    """Return where claims stand.

    Word for word, else but for citations, quotation marks and white space.

    Args:
        text: The whole text.
        claims: Claims without offsets.
        most: Code points that are looked through for all of them together.
    """
    places: dict[str, Place] = {}
    missing: list[TextClaim] = []
    left: list[TextClaim] = []
    spent = 0
    plain: PlainText | None = None
    for claim in claims:
        if spent > most:
            left.append(claim)
            continue
        place = word_for_word(text, claim.text.strip())
        if place is None:
            spent += len(text)
            plain = plain or PlainText.of(text)
            place = plain.place_of(claim.text)
        if place is None:
            spent += len(text)
            missing.append(claim)
        else:
            spent += place[1]
            places[claim.claim_id] = place
    return FoundPlaces(places, tuple(missing), tuple(left))


def word_for_word(text: str, words: str) -> Place | None:
    """The first place where these words stand, and not as a part of longer ones."""
    if not words:
        return None
    start = text.find(words)
    for _ in range(_TRIES):
        if start < 0:
            break
        end = start + len(words)
        begins = start == 0 or not (text[start - 1].isalnum() and words[0].isalnum())
        ends = end == len(text) or not (text[end].isalnum() and words[-1].isalnum())
        if begins and ends:
            return start, end
        start = text.find(words, start + 1)
    return None


_QUOTES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
)
_TO_CHANGE = re.compile(rf"(?P<left_out>\s*(?:{CITATION.pattern}))|\s{{2,}}|[^\S ]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text without citations, with straight quotation marks and single spaces.

    Attributes:
        text: The plain text.
        cuts: Offsets in the plain text where something was left out, ascending.
        shifts: How much higher offsets in the original are from each cut on.
    """

    text: str
    cuts: tuple[int, ...]
    shifts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> PlainText:
        """Make a text plain."""
        pieces: list[str] = []
        cuts, shifts = [0], [0]
        length = done = 0
        for found in _TO_CHANGE.finditer(text):
            space = "" if found["left_out"] else " "
            pieces += (text[done : found.start()], space)
            length += found.start() - done + len(space)
            done = found.end()
            cuts.append(length)
            shifts.append(done - length)
        pieces.append(text[done:])
        return cls("".join(pieces).translate(_QUOTES), tuple(cuts), tuple(shifts))

    def place_of(self, words: str) -> Place | None:
        """Return where words stand in the original text, as far as they are the same when plain."""
        found = word_for_word(self.text, PlainText.of(words).text.strip())
        if found is None:
            return None
        start, last = found[0], found[1] - 1
        return start + self._shift(start), last + self._shift(last) + 1

    def _shift(self, offset: int) -> int:
        return self.shifts[bisect_right(self.cuts, offset) - 1]


def _stretches(
    claims: Iterable[TextClaim], found: Mapping[str, Place], start: int, end: int
) -> list[_Stretch]:
    """Stretches that touch a part of the text, in its order; the longer of two comes first."""
    stretches: dict[Place, _Stretch] = {}
    for claim in claims:
        places = claim.places or tuple(
            place for place in (found.get(claim.claim_id),) if place is not None
        )
        for first, last in dict.fromkeys(places):
            if first < end and last > start and first < last:
                stretch = stretches.setdefault((first, last), _Stretch(first, last))
                stretch.claims.append(claim)
    for stretch in stretches.values():
        stretch.sort()
    return sorted(stretches.values(), key=lambda one: (one.start, -one.end))


def _give_lanes(stretches: Sequence[_Stretch]) -> None:
    """Give every stretch the first lane that is free where it begins."""
    free = [0] * LANES
    for stretch in stretches:
        lane = next((n for n, end in enumerate(free) if end <= stretch.start), LANES - 1)
        stretch.lane = lane
        free[lane] = max(free[lane], stretch.end)


def _segments(text: str, start: int, end: int, stretches: Sequence[_Stretch]) -> Iterable[Segment]:
    """The text between two offsets, cut at every place where a stretch begins or ends."""
    edges = {start, end}
    for stretch in stretches:
        edges |= {max(stretch.start, start), min(stretch.end, end)}
    cuts = sorted(edges)
    waiting = list(reversed(stretches))
    covering: list[_Stretch] = []
    known: set[str] = set()
    for first, last in pairwise(cuts):
        covering = [one for one in covering if one.end > first]
        while waiting and waiting[-1].start <= first:
            covering.append(waiting.pop())
        segment = _segment(text[first:last], first, last, covering)
        new = frozenset(claim.claim_id for claim in segment.ending) - known
        known |= new
        yield replace(segment, first=new) if new else segment


def _segment(text: str, first: int, last: int, covering: Sequence[_Stretch]) -> Segment:
    if not covering:
        return Segment(text)
    by_lane: dict[int, _Stretch] = {}
    for stretch in covering:
        by_lane.setdefault(stretch.lane, stretch)
    layers = tuple(
        Layer(lane, by_lane[lane].claims[0].mark.kind, by_lane[lane].faded)
        for lane in sorted(by_lane)
    )
    ending = [claim for stretch in covering if stretch.end == last for claim in stretch.claims]
    whole = len(covering) == 1 and (covering[0].start, covering[0].end) == (first, last)
    badges = tuple(ending[:MOST_BADGES])
    return Segment(text, layers, badges, len(ending) - len(badges), whole=whole)


@dataclass(frozen=True, slots=True)
class ClaimInText:
    """A claim at its place in its text.

    Attributes:
        answer: The text around it, or its beginning where the place is not known.
        starts_later: Whether the text begins before what is shown.
        ends_earlier: Whether the text goes on behind it.
        is_found: Whether the claim's place is known.
        part: The part of the text that holds it.
    """

    answer: AnswerText
    starts_later: bool
    ends_earlier: bool
    is_found: bool
    part: int


def claim_in_text(text: str, claim: TextClaim, around: int = AROUND) -> ClaimInText:
    """A claim with the text around it.

    Args:
        text: The whole text of its node.
        claim: The claim.
        around: Code points that are shown before and behind it.
    """
    place = _place(text, claim)
    if place is None:
        end = _edge(text, 2 * around, forwards=True)
        shown = answer_text(text[:end], [], size=max(end, 1))
        return ClaimInText(shown, False, end < len(text), False, 1)
    start = _edge(text, place[0] - around, forwards=False)
    end = _edge(text, min(place[1], place[0] + 4 * around) + around, forwards=True)
    here = TextClaim(claim.claim_id, claim.text, claim.mark, place[0] - start, place[1] - start)
    shown = answer_text(text[start:end], [here], size=max(end - start, 1))
    return ClaimInText(shown, start > 0, end < len(text), True, part_of(place[0], text))


def _place(text: str, claim: TextClaim) -> Place | None:
    for place in claim.places:
        if 0 <= place[0] < place[1] <= len(text):
            return place
    return find_places(text, [claim]).places.get(claim.claim_id)


def _edge(text: str, near: int, *, forwards: bool) -> int:
    """Return where to cut a text near a place: between words."""
    if near <= 0:
        return 0
    if near >= len(text):
        return len(text)
    if forwards:
        place = text.find(" ", near, near + _SLACK)
        return place if place >= 0 else near
    place = text.rfind(" ", max(near - _SLACK, 0), near)
    return place + 1 if place >= 0 else near
