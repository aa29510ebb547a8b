"""The picture of a claim: from its source text on the left to the answer on the right.

It takes what the trail and its pair of sentences say, and finds no culprit and no difference of its
own. `picture_layout` gives it places, `picture_svg` writes it.

Source: VeriTrail 3.2 (provenance, error localization); docs/adr/0067-one-picture.md.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from veritrail_graph.api.show.contrast import Contrast, Quote, contrast_of
from veritrail_graph.api.show.decisive import decisive_words
from veritrail_graph.api.show.drawing import Drawing, Joint, PictureBox, PictureColumn, Tone
from veritrail_graph.api.show.located import BY_SIDES, how_located
from veritrail_graph.api.show.parts import failed_words
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.trail_view import TrailView
from veritrail_graph.api.show.words import State, selects_by_words
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.evidence_nodes import EvidenceNode
from veritrail_graph.graph.evidence_pair import closest_sentence
from veritrail_graph.graph.model import LocatedBy, Verdict
from veritrail_graph.graph.word_diff import GAP, Piece, marked_pieces

MOST_SOURCES = 3
"""Boxes of the first column."""
MOST_DOTS = 24
"""Iterations that are dots; more are words alone."""
MOST_NAMED = 3
LONGEST_NAME = 60


def picture_of(view: TrailView, pair: Contrast | None = None) -> Drawing:
    """Draw the trail of a claim.

    Args:
        view: The trail.
        pair: Its pair of sentences; None: it is read off the trail.
    """
    return _Drawer(view, _narrowed_pair(view, pair or contrast_of(view))).drawn()


@dataclass(slots=True)
class _Drawer:
    """A trail, and what is looked up in it."""

    view: TrailView
    pair: Contrast | None
    nodes: Mapping[str, EvidenceNode] = field(default_factory=dict)
    after: dict[str, list[str]] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    via: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        every = (node for step in self.view.iterations for node in step.nodes)
        self.nodes = {node.node_id: node for node in every}
        for path in self.view.verification.paths:
            self.after.setdefault(path.source, []).append(path.target)
            self.before.setdefault(path.target, []).append(path.source)
            self.via[path.source, path.target] = path.via

    def drawn(self) -> Drawing:
        kind = self.view.mark.kind
        if kind is State.SUPPORTED:
            return self._plain(Tone.RIGHT, self._supported_words())
        if kind is not State.NOT_SUPPORTED or self.view.unsaid:
            return self._plain(Tone.OPEN, self.view.unsaid or self._open_words())
        if self._culprits():
            return self._located()
        return self._unplaced()

    # What is wrong, and where it came in

    def _has_source(self) -> bool:
        return self.pair is not None and self.pair.source is not None

    def _culprits(self) -> tuple[str, ...]:
        place = self.view.verification.value_place
        if place is not None:
            return place.node_ids
        return tuple(node.node_id for node in self.view.introduced)

    def _located(self) -> Drawing:
        """Draw an error that has a place."""
        culprits = self._culprits()
        source, wrote = _short(*self._difference())
        columns, joints = self._to_culprit(culprits, source)
        columns.append(
            PictureColumn(self._culprit_heading(culprits), (self._culprit(culprits, wrote),))
        )
        joints[-1] = replace(
            joints[-1], after=Tone.CULPRIT, is_broken=True, source=source, wrote=wrote,
            is_said=self._has_source(),
        )  # fmt: skip
        answer = self.view.verification.node_id
        if answer not in culprits:
            passed = self._passed(culprits)
            joints.append(Joint(Tone.WRONG, Tone.WRONG, steps=len(passed), names=_some(passed)))
            columns.append(self._answer(Tone.WRONG, wrote))
        columns = self._with_namesakes(columns, culprits, wrote)
        return self._made(columns, joints, self._wrong_words(culprits, source, wrote))

    def _to_culprit(
        self, culprits: Sequence[str], source: str
    ) -> tuple[list[PictureColumn], list[Joint]]:
        """Return the columns before the culprit, and a line behind each of them."""
        quote = self.pair.source if self.pair is not None else None
        way: list[str] = []
        if quote is not None:
            way = self._way(quote.node_id, culprits) or [quote.node_id]
            if not self._is_source(quote.node_id):
                way = [*self._way_to_source(quote.node_id)[:-1], *way]
            way = [name for name in way if name not in culprits]
        if quote is None or not way:  # all that stands before one culprit may be culprits, too
            none = PictureBox((Piece(self._none_words()),), Tone.OPEN)
            return [PictureColumn("Nothing found", (none,))], [Joint(Tone.OPEN, Tone.CULPRIT)]
        shown = way if len(way) < 3 else [way[0], way[-1]]
        columns, joints = [], []
        for name in shown:
            box = self._said_before(name, quote, source)
            columns.append(PictureColumn(self._heading(name), (box,)))
            joints.append(Joint(Tone.RIGHT, Tone.RIGHT))
        if len(way) > 2:
            passed = tuple(way[1:-1])
            joints[0] = replace(joints[0], steps=len(passed), names=_some(passed))
        return columns, joints

    def _said_before(self, name: str, quote: Quote, source: str) -> PictureBox:
        if name == quote.node_id:
            return PictureBox(_narrowed(quote.pieces, source), Tone.RIGHT, name, name)
        return PictureBox(
            marked_words(self._text(name, quote.text), source), Tone.RIGHT, name, name
        )

    def _culprit(self, culprits: Sequence[str], value: str) -> PictureBox:
        wrote = self.pair.wrote if self.pair is not None else None
        claim = self.view.verification.claim
        pieces = _narrowed(wrote.pieces, value) if wrote is not None else (Piece(claim),)
        if len(culprits) == 1:
            return PictureBox(pieces, Tone.CULPRIT, culprits[0], culprits[0], "went wrong here")
        # The node whose sentence stands in the box comes first.
        said = wrote.node_id if wrote is not None and wrote.node_id in culprits else culprits[0]
        among = (said, *(name for name in culprits if name != said))
        first, second = (one_line(name, LONGEST_NAME) for name in among[:2])
        others = f"{len(among) - 1:,} more" if len(among) > 2 else second
        note = f"in one of these {len(among):,}"
        return PictureBox(pieces, Tone.CULPRIT, f"{first} or {others}", said, note, among=among)

    def _culprit_heading(self, culprits: Sequence[str]) -> str:
        heading = self._heading(culprits[0])
        return heading if len(culprits) == 1 else f"One of {len(culprits):,}: {heading}"

    def _with_namesakes(
        self, columns: list[PictureColumn], culprits: Sequence[str], wrote: str
    ) -> list[PictureColumn]:
        """Add sources of the culprit that have the value, too, of something else."""
        place = self.view.verification.value_place
        if place is None or len(columns) < 2:
            return columns
        tones = [column.boxes[0].tone for column in columns]
        at = tones.index(Tone.CULPRIT)
        shown = {box.node_id for column in columns for box in column.boxes}
        first, *others = columns
        boxes = list(first.boxes)
        for name in self.nodes:
            if len(boxes) == MOST_SOURCES - 1:
                break
            if name in shown or not self._is_source(name) or not self._way(name, culprits):
                continue
            pieces = marked_words(self._text(name, wrote), wrote)
            if any(piece.is_changed for piece in pieces):
                boxes.append(
                    PictureBox(pieces, Tone.OPEN, name, name, "not what the claim says", to=at)
                )
        return [PictureColumn(first.heading, tuple(boxes)), *others]

    def _difference(self) -> tuple[str, str]:
        """Return what differs: the words of the source, and those in their place."""
        return _difference(self.view, self.pair)

    def _wrong_words(self, culprits: Sequence[str], source: str, wrote: str) -> str:
        found = self.view.verification
        names = self.view.stage_names
        stage = self._stage(culprits[0])
        called = names.get(stage) if stage is not None else None
        last = max(names, default=0)
        at = None if stage is None else f"stage {stage}" + (f" of {last}" if last else "")
        where = ", ".join(part for part in (called, at) if part)
        if len(culprits) > 1:
            words = f"went wrong in one of {counted(len(culprits), 'node')}"
        elif culprits[0] == found.node_id:
            words, where = "went wrong in the last step, the answer itself", ""
        else:
            words = f"went wrong in {one_line(culprits[0], LONGEST_NAME)}"
        words += f" ({where})" if where else ""
        by_sides = BY_SIDES if found.located_by is LocatedBy.SIDES else None
        if how := by_sides or how_located(found):
            words += f", {how}"
        if source and wrote:
            return f"{words}: {source} became {wrote}"
        if self.pair is not None and self.pair.source is None:
            return f"{words}: nothing that it was made from says this"
        if source or wrote:
            return f"{words}: {'added' if wrote else 'left out'} “{wrote or source}”"
        return words

    def _unplaced(self) -> Drawing:
        """Draw an error whose place the verdicts do not tell."""
        difference = self._difference()
        sources, answer = self._sources(Tone.RIGHT), self._answer(Tone.WRONG, difference[1])
        before, after = _short(*difference)
        passed = self._between(sources.boxes)
        if self.pair is None or self.pair.source is None:
            source_tone, words = Tone.OPEN, "no source says this"
        else:
            source_tone, words = Tone.RIGHT, "no source says all of this; where it came in is open"
        joint = Joint(
            source_tone, Tone.WRONG, is_broken=True, source=before, wrote=after,
            steps=len(passed), names=_some(passed), is_unknown=True, is_said=self._has_source(),
        )  # fmt: skip
        return self._made([sources, answer], [joint], words)

    # What has no culprit

    def _plain(self, tone: Tone, news: str) -> Drawing:
        """Draw sources and answer, and the step between them where it is the only one."""
        sources, answer = self._sources(tone), self._answer(tone)
        if not sources.boxes[0].node_id:
            return self._made([sources, answer], [Joint(Tone.OPEN, tone)], news)
        passed = self._between(sources.boxes[:1])
        if len(passed) == 1 and passed[0] in self.nodes:
            claim = self.view.verification.claim
            name = passed[0]
            step = PictureBox((Piece(self._text(name, claim)),), tone, name, name)
            middle = PictureColumn(self._heading(name), (step,))
            return self._made([sources, middle, answer], [Joint(tone, tone)] * 2, news)
        is_carried = all(name in self.nodes for name in passed)
        joint = Joint(
            tone, tone, steps=len(passed), names=_some(passed), is_carried=is_carried
        )  # fmt: skip
        return self._made([sources, answer], [joint], news)

    def _sources(self, tone: Tone) -> PictureColumn:
        """Return the sources with evidence, that of the pair first; or what was read."""
        claim = self.view.verification.claim
        quote = self.pair.source if self.pair is not None else None
        names = [name for name in self.nodes if self._is_source(name)]
        if self.pair is not None and self.pair.is_asked:
            names = []  # those of a question that the answer does not say are sources of nothing
        if quote is not None:
            names = list(dict.fromkeys((quote.node_id, *names)))
        if not names:
            none = PictureBox((Piece(self._none_words()),), Tone.OPEN)
            return PictureColumn("Source text", (none,))
        left = len(names) - MOST_SOURCES
        boxes = []
        for name in names[: MOST_SOURCES if left <= 0 else MOST_SOURCES - 1]:
            is_pair = quote is not None and name == quote.node_id
            pieces = quote.pieces if quote is not None and is_pair else ()
            boxes.append(PictureBox(pieces or (Piece(self._text(name, claim)),), tone, name, name))
        if left > 0:
            more = len(names) - len(boxes)
            boxes.append(PictureBox((Piece(f"and {counted(more, 'more source')}"),), tone))
        return PictureColumn(self._heading(names[0]), tuple(boxes))

    def _answer(self, tone: Tone, wrote: str = "") -> PictureColumn:
        found = self.view.verification
        heading, note = self._heading(found.node_id), ""
        if self.view.unsaid:  # it is no text of the process
            note = "the answer does not say it"
            if not found.is_unsaid:
                note = "it is open whether the answer says it"
            return PictureColumn("You asked", (PictureBox((Piece(found.claim),), tone, note=note),))
        if tone is Tone.OPEN:
            note = self.view.mark.word
        elif tone is Tone.RIGHT:
            note = "supported"
        pieces = marked_words(found.claim, wrote)
        return PictureColumn(
            heading, (PictureBox(pieces, tone, found.node_id, found.node_id, note),)
        )

    def _none_words(self) -> str:
        """Return what was read and says nothing of it."""
        view = self.view
        if not view.iterations:
            return "Nothing was read"
        read, name = view.sources_read or 0, "source text"
        if any(self._is_source(node) for node in self.nodes):
            return "Nothing that it was made from says this"
        if not read and self.nodes:
            return "Nothing was found that says this"
        if not read:
            read, name = sum(step.read for step in view.iterations), "text"
        if not read:
            return view.not_found
        words = " in these words" if selects_by_words(view.verification.engine) else ""
        says = "it does not say this" if read == 1 else "none says this"
        return f"{counted(read, name)} read, {says}{words}"

    def _open_words(self) -> str:
        """Return why nothing is said for or against the claim."""
        if self.view.mark.kind is State.INCONCLUSIVE:
            return "what was found allows no decision"
        words = self.view.without_verdict or self.view.mark.hint
        return words[:1].lower() + words[1:].rstrip(".")

    def _supported_words(self) -> str:
        total = sum(self._is_source(name) for name in self.nodes)
        return f"rests on {counted(total, 'source text')}" if total else ""

    # What is looked up

    def _made(
        self, columns: Sequence[PictureColumn], joints: Sequence[Joint], news: str
    ) -> Drawing:
        view = self.view
        marks = [step.mark for step in view.iterations]
        runs = [(word, len(list(run))) for word, run in groupby(marks, key=lambda mark: mark.word)]
        words = ""
        if len(marks) > 1:
            total = counted(len(marks), "iteration")
            words = f"{total}, each closer to the sources; the last one counts: " + ", then ".join(
                f"{count} {word}" if count > 1 else word for word, count in runs[:4]
            )
            words += ", …" if len(runs) > 4 else ""
        dots: tuple[State, ...] = ()
        if 1 < len(marks) <= MOST_DOTS and not view.unsaid:
            dots = tuple(mark.kind for mark in marks)
        if failed := failed_words(view.verification):
            news = f"{news}; {failed}"
        return Drawing(
            view.verification.claim,
            view.mark.word + (" (indicative)" if self._is_indicative() else ""),
            news,
            tuple(columns),
            tuple(joints),
            dots,
            words,
        )

    def _is_indicative(self) -> bool:
        return self.view.verification.indicative and self.view.mark.is_verdict

    def _stage(self, name: str) -> int | None:
        node = self.nodes.get(name)
        if node is not None and node.ref.stage is not None:
            return node.ref.stage
        for each in (*self.view.introduced, *self.view.inherited):
            if each.node_id == name and each.stage is not None:
                return each.stage
        place = self.view.verification.value_place
        for said in () if place is None else (place.source, place.wrote):
            if said.node_id == name:
                return said.stage
        return None

    def _heading(self, name: str) -> str:
        stage = self._stage(name)
        if name == self.view.verification.node_id:
            return "Answer" if stage is None else f"Answer (stage {stage})"
        called = self.view.stage_names.get(stage) if stage is not None else None
        if self._is_source(name):
            if not called:
                return "Source text"
            words = called if "source" in called.casefold() else f"source: {called}"
            return words[:1].upper() + words[1:]
        if stage is None:
            return "Step"
        words = f"{called} (stage {stage})" if called else f"Stage {stage}"
        return words[:1].upper() + words[1:]

    def _is_source(self, name: str) -> bool:
        """Return whether a node is source text, as far as that is known."""
        node = self.nodes.get(name)
        quote = self.pair.source if self.pair is not None else None
        if node is not None and node.ref.role is not None:
            return node.ref.is_root
        if quote is not None and quote.node_id == name:
            return quote.is_root
        # Of a trail that was read from JSON no role is known: it begins where nothing leads to,
        # but for what went wrong, which is no source text.
        return node is not None and name not in self.before and name not in self._culprits()

    def _text(self, name: str, like: str) -> str:
        node = self.nodes.get(name)
        cited = closest_sentence(node, like) if node is not None else None
        return cited.text if cited is not None else ""

    def _way(self, start: str, ends: Iterable[str]) -> list[str]:
        """Return the shortest way of evidence from a node to one of others, both included."""
        return _shortest(start, frozenset(ends), self.after)

    def _way_to_source(self, start: str) -> list[str]:
        """Return the way from a source to a node, both included."""
        sources = frozenset(name for name in self.nodes if self._is_source(name))
        return _shortest(start, sources, self.before)[::-1] or [start]

    def _passed(self, culprits: Sequence[str]) -> tuple[str, ...]:
        """Return the nodes between the culprit and the answer."""
        place, answer = self.view.verification.value_place, self.view.verification.node_id
        way = self._way(culprits[0], [answer])
        if way:
            return self._with_via(way)[1:-1]
        later = place.carried_on if place is not None else ()
        names = later or tuple(node.node_id for node in self.view.inherited)
        return tuple(name for name in names if name != answer)

    def _between(self, sources: Sequence[PictureBox]) -> tuple[str, ...]:
        """Return the nodes on the ways from sources to the answer."""
        found: dict[str, None] = {}
        for start in (box.node_id for box in sources if box.node_id):
            way = self._with_via(self._way(start, [self.view.verification.node_id]))
            found |= dict.fromkeys(way[1:-1])
        return tuple(found)

    def _with_via(self, way: Sequence[str]) -> tuple[str, ...]:
        """Return a way with the nodes without evidence on it."""
        found = list(way[:1])
        for name, following in pairwise(way):
            found += [*self.via.get((name, following), ()), following]
        return tuple(found)


def _shortest(start: str, ends: frozenset[str], links: Mapping[str, Sequence[str]]) -> list[str]:
    came_from: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        if name in ends:
            way: list[str] = []
            here: str | None = name
            while here is not None:
                way.append(here)
                here = came_from[here]
            return way[::-1]
        for following in links.get(name, ()):
            if following not in came_from:
                came_from[following] = name
                waiting.append(following)
    return []


def _some(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of steps that a picture has room for."""
    shown = tuple(one_line(name, LONGEST_NAME) for name in names[:MOST_NAMED])
    more = len(names) - len(shown)
    return (*shown, f"{more:,} more") if more else shown


def _difference(view: TrailView, pair: Contrast | None) -> tuple[str, str]:
    place = view.verification.value_place
    if place is not None:
        return place.difference.source, place.difference.wrote
    if pair is None or pair.source is None:
        return "", ""
    return decisive_words(pair.source.text, pair.wrote.text, view.verification.claim)


def _narrowed_pair(view: TrailView, pair: Contrast | None) -> Contrast | None:
    """Return the pair with the words marked that matter most, where no value tells them."""
    found = view.verification
    if pair is None or pair.source is None or found.value_place is not None:
        return pair
    if found.verdict is not Verdict.NOT_FULLY_SUPPORTED or pair.is_asked:
        return pair
    source, wrote = _difference(view, pair)
    return replace(
        pair,
        source=replace(pair.source, pieces=marked_words(pair.source.text, source)),
        wrote=replace(pair.wrote, pieces=marked_words(pair.wrote.text, wrote)),
    )


def marked_words(text: str, value: str) -> tuple[Piece, ...]:
    """Return a text with the places of a value marked."""
    parts = [re.escape(part.strip()) for part in value.split(GAP.strip()) if part.strip()]
    if not parts:
        return (Piece(text),)
    places = re.finditer(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", text, re.IGNORECASE)
    return marked_pieces(text, (place.span() for place in places))


def _narrowed(pieces: tuple[Piece, ...], value: str) -> tuple[Piece, ...]:
    """Return a text of whose marked words only those are marked that differ, without a unit."""
    if sum(piece.is_changed for piece in pieces) != 1:
        return pieces
    found: list[Piece] = []
    for piece in pieces:
        narrower = marked_words(piece.text, value) if piece.is_changed else (piece,)
        found += narrower if any(part.is_changed for part in narrower) else (piece,)
    return tuple(found)


def _short(source: str, wrote: str) -> tuple[str, str]:
    """Return two values without the words at their ends that both have, such as a unit."""
    before, after = source.split(), wrote.split()
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    while len(before) > 1 and len(after) > 1 and before[0] == after[0]:
        before, after = before[1:], after[1:]
    return " ".join(before), " ".join(after)
