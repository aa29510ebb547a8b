"""A report or a dossier as one HTML file: it opens anywhere, and asks for nothing.

Style, icons and the one script stand in the file; a policy in its head lets nothing else run, and
names both by their hashes. It is written claim by claim.

Source: VeriTrail 3.2; docs/reports.md.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from veritrail_graph.api.show.answer import Segment, TextClaim, answer_text
from veritrail_graph.api.show.costs import money_words, spent_together, step_words
from veritrail_graph.api.show.dialogue import OF_TURNS
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.rendering import environment, text_of
from veritrail_graph.api.show.report_html import html
from veritrail_graph.api.show.reports.conversation import ROOM as CONVERSATION
from veritrail_graph.api.show.reports.data import (
    Asked,
    ReportData,
    ReportedClaim,
    ReportSource,
    ReportTrail,
    asked_of,
)
from veritrail_graph.api.show.reports.json_report import whole_json
from veritrail_graph.api.show.reports.resting import MOST_SOURCES
from veritrail_graph.api.show.stages import StageBar, StageBars, stage_bars
from veritrail_graph.api.show.texts import file_name
from veritrail_graph.api.show.trail import shown
from veritrail_graph.api.show.words import MARKS, RANK, VERDICT_OF, State
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Verdict


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits on how much of a claim a file shows.

    Attributes:
        trails: Claims that are shown with their trails; others are named only.
        nodes: Nodes with evidence of a claim.
        sentences: Sentences of a node.
        characters: Characters of one text.
        routes: Routes of a claim.
    """

    trails: int
    nodes: int
    sentences: int
    characters: int
    routes: int

    @property
    def room(self) -> Room:
        """Return the same for the document of a trail."""
        many = ("node", "later node", "summary", "review", "step", "simpler statement")
        few = {"sentence": self.sentences, "carrying sentence": self.sentences, "source": 4}
        return Room({**dict.fromkeys(many, self.nodes), **few}, self.characters)


REPORT = FileLimits(trails=1_000, nodes=24, sentences=6, characters=1_200, routes=5)
"""What a report shows: enough to see why."""

DOSSIER = FileLimits(trails=500, nodes=2_000, sentences=6_000, characters=20_000, routes=100)
"""What a dossier shows: all, but for what no browser would show well."""

_DATA_CLAIMS = 20
_DATA_CHARACTERS = 1_000_000
_MOST_SETTINGS = 5
_MOST_STAGES = 40


@dataclass(slots=True)
class _Seen:
    """Facts that are collected from all trails, for the end of the file.

    Attributes:
        asked: What models were asked for.
        settings: What decided the outcomes, with how many claims it did so for.
        trails: The trails themselves, where the file holds their data too.
    """

    asked: set[Asked] = field(default_factory=set)
    settings: Counter[str] = field(default_factory=Counter)
    trails: list[ReportTrail] = field(default_factory=list)


async def html_pieces(origin: ReportSource, *, dossier: bool = False) -> AsyncIterator[str]:
    """The file, piece by piece.

    Args:
        origin: Where it is made from.
        dossier: Whether it is for somebody without access, and shows all there is.
    """
    material = origin.material
    limits = DOSSIER if dossier else REPORT
    claims = sorted(material.claims, key=lambda one: RANK[one.mark.kind])
    made = environment(is_file=True)
    marker = secrets.token_hex(16)
    known = _shared(material, limits, dossier=dossier)
    known |= frame("style.css", "report.css", "picture.css", script="report.js")
    known["marker"] = Markup(marker)  # noqa: S704 (made here, and hexadecimal)
    known["texts"] = await read_answers(origin, claims)
    name = "dossier.html" if dossier else "report.html"
    head, _, tail = made.get_template(name).render(known).partition(marker)
    yield head
    seen = _Seen()
    async for piece in _claims(origin, made, claims, known, seen):
        yield piece
    resting = await origin.resting()
    room = Room({"source sentence": MOST_SOURCES, "wording": MOST_SOURCES}, limits.characters)
    bodies = [Markup(html(one.document, room)) for one in resting.nodes]  # noqa: S704 (escaped)
    talk = await origin.conversation()
    spoken = Markup(html(talk.document, CONVERSATION)) if talk.document else None  # noqa: S704
    end = _end(material, limits, seen) | {
        "resting": resting,
        "resting_bodies": bodies,
        "conversation": spoken,
        "chart": talk.chart,
    }
    yield made.get_template("parts/report_end.html").render(known | end)
    yield tail


async def _claims(
    origin: ReportSource,
    made: Environment,
    claims: Sequence[ReportedClaim],
    known: dict[str, Any],
    seen: _Seen,
) -> AsyncIterator[str]:
    """Every claim; those that need attention first, and with their trails."""
    limits: FileLimits = known["limits"]
    names = origin.material.process.stage_names
    template = made.get_template("parts/report_claim.html")
    is_dossier: bool = known["is_dossier"]
    shown = claims[: limits.trails]
    async for trail in origin.trails(shown, whole=is_dossier, counted=not is_dossier):
        if is_dossier and len(claims) <= _DATA_CLAIMS:
            seen.trails.append(trail)
        if trail.verification is not None:
            seen.asked |= asked_of([trail.verification])
            seen.settings[trail.verification.settings or ""] += 1
        yield template.render(known, checked=trail.checked, **_trail(trail, names, limits))
    for one in claims[limits.trails :]:
        yield template.render(known, checked=one, trail=None)


def _trail(trail: ReportTrail, names: Mapping[int, str], limits: FileLimits) -> dict[str, Any]:
    """Return what a claim with its trail shows."""
    view = trail.view(names)
    if view is None:
        return {"trail": trail, "body": None}
    body = html(shown(view, trail.beside(limits.routes)), limits.room)
    return {"trail": trail, "body": Markup(body)}  # noqa: S704 (the writer escapes all texts)


def _shared(material: ReportData, limits: FileLimits, *, dossier: bool) -> dict[str, Any]:
    """Return what every part of the file knows."""
    marks = {mark.kind: (mark, claims) for mark, claims in material.marks}
    counts = [marks[mark.kind] for mark in MARKS]
    unsupported = [one for one in material.claims if one.verdict is Verdict.NOT_FULLY_SUPPORTED]
    unplaced = sum(not one.error_stages for one in unsupported)
    bars = stage_bars(material.process, material.together, len(unsupported), unplaced)
    money = spent_together(material.verifications, material.usage)
    reviewed = [one.reviewed for one in material.claims if one.reviewed is not None]
    return {
        "material": material,
        "limits": limits,
        "is_dossier": dossier,
        "alone": dossier and len(material.claims) == 1,
        "counts": counts,
        "bar_of": lambda given: [(mark.kind, mark.word, count) for mark, count in given],
        "bars": bars,
        "bar_rows": _rows(bars),
        "nodes": len({one.claim.node_id for one in material.claims}),
        "spent_words": money.words or money_words(money.cost_usd or 0.0),
        "reviewed": len(reviewed),
        "disputed": sum(one.disputed for one in reviewed),
        "stage_names": material.process.stage_names,
        "indicative": material.indicative,
        "indicative_reason": material.indicative_reason,
        "still_open": open_words(material),
    }


def _rows(bars: StageBars) -> list[StageBar]:
    """The stages that are shown: all, or those at which most came in."""
    if len(bars.bars) <= _MOST_STAGES:
        return list(bars.bars)
    worst = sorted(bars.bars, key=lambda bar: -bar.counted)[:_MOST_STAGES]
    return sorted(worst, key=lambda bar: bar.stage)


def _end(material: ReportData, limits: FileLimits, seen: _Seen) -> dict[str, Any]:
    """Return what only the end of the file knows."""
    return {
        "named_only": max(len(material.claims) - limits.trails, 0),
        "asked": [(step_words(step), *rest) for step, *rest in sorted(seen.asked, key=str)],
        "settings": _settings(seen.settings),
        "data": _data(material, seen.trails),
        "data_name": f"{_file_name(material)}.json",
    }


def _settings(seen: Counter[str]) -> list[tuple[str, str]]:
    """Return what decided the outcomes, and of how many claims."""
    found = []
    for text, claims in seen.most_common():
        if text:
            words = f"Settings of {claims:,} claim{'' if claims == 1 else 's'}"
            found.append((words, json.dumps(json.loads(text), ensure_ascii=False, indent=2)))
    left = len(found) - _MOST_SETTINGS
    if left > 0:
        found[_MOST_SETTINGS:] = [(f"{left:,} more that are not shown", "")]
    return found


def _file_name(material: ReportData) -> str:
    """Return what a file with the same data is called."""
    parts = [material.process.process_id]
    if len(material.claims) == 1:
        parts.append(material.claims[0].claim.claim_id)
    return file_name("-".join(parts))


def _data(material: ReportData, trails: Sequence[ReportTrail]) -> Markup | None:
    """The dossier as JSON that can stand in a script element; None where it is too long."""
    if not trails:
        return None
    text = whole_json(material, trails, dossier=True)
    if len(text) > _DATA_CHARACTERS:
        return None
    text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(text)  # noqa: S704 (what HTML would read is escaped)


def frame(*styles: str, script: str = "", packages: Sequence[str] = ()) -> dict[str, Any]:
    """Style, icons and script of a file, and the policy that names them. All are our own.

    Args:
        styles: Names of files of style.
        script: Name of the one script; empty: none.
        packages: More packages that have such files.
    """
    style = "".join(text_of(name, *packages) for name in styles)
    script = text_of(script, *packages) if script else ""
    icons = text_of("icons.svg").replace("<svg ", '<svg class="r-icons" aria-hidden="true" ', 1)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; "
        f"script-src {_quoted_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return {
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "icons": Markup(icons),  # noqa: S704
        "policy": policy,
    }


def _quoted_hash(script: str) -> str:
    return f"'{_hash(script)}'" if script else "'none'"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


MOST_TEXTS = 5
"""Verified nodes whose texts stand in a file: those with most claims."""

MOST_PARTS = 5
"""Parts of such a text (`api.show.texts.PART`)."""


@dataclass(frozen=True, slots=True)
class FiledAnswer:
    """A verified text.

    Attributes:
        node_id: Its node.
        question: The question that it answers, if it has one of its own.
        segments: The text, in pieces.
        shown: Characters that are shown.
        length: Characters that there are.
        missing: Claims that have no place in it.
        undrawn: Places of claims that are not underlined.
    """

    node_id: str
    question: str | None
    segments: tuple[Segment, ...]
    shown: int
    length: int
    missing: int
    undrawn: int


async def read_answers(origin: ReportSource, claims: Sequence[ReportedClaim]) -> list[FiledAnswer]:
    """The texts that most claims are about.

    Args:
        origin: Where the report is made from.
        claims: Its claims.
    """
    by_node = Counter(one.claim.node_id for one in claims)
    names = [name for name, _ in by_node.most_common(MOST_TEXTS)]
    texts = await origin.texts(names)
    asked = origin.material.questions
    return [_answer(name, texts[name], asked.get(name), claims) for name in names if name in texts]


def _answer(
    node_id: str, text: str, question: str | None, claims: Sequence[ReportedClaim]
) -> FiledAnswer:
    placed = [
        TextClaim(
            one.claim.claim_id,
            one.claim.text,
            one.mark,
            one.claim.start,
            one.claim.end,
            one.claim.also,
            one.number,
        )
        for one in claims
        if one.claim.node_id == node_id
    ]
    first = answer_text(text, placed)
    further = range(2, min(first.parts, MOST_PARTS) + 1)
    parts = [first, *(answer_text(text, placed, part) for part in further)]
    segments = tuple(segment for part in parts for segment in part.segments)
    return FiledAnswer(
        node_id=node_id,
        question=question,
        segments=segments,
        shown=sum(len(segment.text) for segment in segments),
        length=len(text),
        missing=len(first.missing) + len(first.not_looked_for),
        undrawn=sum(part.undrawn for part in parts),
    )


def open_words(material: ReportData) -> str:
    """Return what verdicts leave open about where unsupported content came in; empty: nothing.

    Where no claim is known to be not fully supported, it says what is known instead of a place.
    """
    states = material.counts
    is_of_turns = any(mark is OF_TURNS for mark, _ in material.marks)
    without = {
        "is inconclusive": states[State.INCONCLUSIVE],
        "is marked “Cannot tell”": states[State.UNDECIDED],
        "could not be checked": states[State.FAILED],
        "was checked by turn only" if is_of_turns else "was not checked": states[State.UNCHECKED],
    }
    left = [_how_many(claims, words) for words, claims in without.items() if claims]
    judged = sum(states[one] for one in VERDICT_OF)
    rest = f" {_joined(left)}: nothing can be said of {_them(sum(without.values()))}."
    if states[State.NOT_SUPPORTED]:
        return rest.strip() if left else ""
    if not judged:
        return f"No claim of this report has a verdict.{rest}"
    if not left:
        return "Nowhere: every claim of this report is fully supported."
    return f"No claim of this report is known to be not fully supported.{rest}"


def _how_many(claims: int, words: str) -> str:
    plural = words.replace("is ", "are ", 1).replace("was ", "were ", 1)
    return f"{counted(claims, 'claim')} {words if claims == 1 else plural}"


def _joined(parts: list[str]) -> str:
    return (
        f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0] if parts else ""
    )


def _them(claims: int) -> str:
    return "it" if claims == 1 else "them"
