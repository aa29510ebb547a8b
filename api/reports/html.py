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
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from veritrail_graph.api.reports.answers import read_answers
from veritrail_graph.api.reports.document import whole_json
from veritrail_graph.api.reports.material import CheckedClaim, Material
from veritrail_graph.api.reports.showing import brief_view, mark_of_claim, when, whole_view
from veritrail_graph.api.reports.trails import Origin, Trail
from veritrail_graph.api.reports.view import DOSSIER, REPORT, Limits
from veritrail_graph.api.reports.wording import indicative_words, open_words
from veritrail_graph.api.reports.writing import file_name
from veritrail_graph.api.web.assets import text_of
from veritrail_graph.api.web.rendering import environment
from veritrail_graph.api.web.views.marks import MARKS, RANK
from veritrail_graph.api.web.views.money import spent_together
from veritrail_graph.api.web.views.stages import StageBar, StageBars, StageCount, stage_bars
from veritrail_graph.graph.exporters.costs import money_words, step_words
from veritrail_graph.graph.exporters.markdown import Asked, asked_of
from veritrail_graph.graph.model import Verdict

_DATA_CLAIMS = 20
_DATA_CHARACTERS = 1_000_000
_MOST_SETTINGS = 5
_MOST_STAGES = 40


@dataclass(slots=True)
class _Seen:
    """What the trails say together, for the end of the file.

    Attributes:
        asked: What models were asked for.
        settings: What decided the outcomes, with how many claims it did so for.
        trails: The trails themselves, where the file holds their data too.
    """

    asked: set[Asked] = field(default_factory=set)
    settings: Counter[str] = field(default_factory=Counter)
    trails: list[Trail] = field(default_factory=list)


async def html_pieces(origin: Origin, *, dossier: bool = False) -> AsyncIterator[str]:
    """The file, piece by piece.

    Args:
        origin: Where it is made from.
        dossier: Whether it is for somebody without access, and shows all there is.
    """
    material = origin.material
    limits = DOSSIER if dossier else REPORT
    claims = sorted(material.claims, key=lambda one: RANK[mark_of_claim(one).kind])
    made = environment(is_file=True)
    marker = secrets.token_hex(16)
    known = _shared(material, limits, dossier=dossier)
    known |= _frame() | {"marker": Markup(marker)}  # noqa: S704 (made here, and hexadecimal)
    known["texts"] = await read_answers(origin, claims)
    name = "dossier.html" if dossier else "report.html"
    head, _, tail = made.get_template(name).render(known).partition(marker)
    yield head
    seen = _Seen()
    async for piece in _claims(origin, made, claims, known, seen):
        yield piece
    end = _end(material, limits, seen)
    yield made.get_template("parts/report_end.html").render(known | end)
    yield tail


async def _claims(
    origin: Origin,
    made: Environment,
    claims: Sequence[CheckedClaim],
    known: dict[str, Any],
    seen: _Seen,
) -> AsyncIterator[str]:
    """Every claim; those that need attention first, and with their trails."""
    limits: Limits = known["limits"]
    names = origin.material.process.stage_names
    template = made.get_template("parts/report_claim.html")
    async for trail in origin.trails(claims[: limits.trails], whole=known["is_dossier"]):
        if known["is_dossier"] and len(claims) <= _DATA_CLAIMS:
            seen.trails.append(trail)
        if trail.verification is not None:
            seen.asked |= asked_of([trail.verification])
            seen.settings[trail.verification.settings or ""] += 1
        yield template.render(known, one=whole_view(trail, names, limits))
    for one in claims[limits.trails :]:
        yield template.render(known, one=brief_view(one, names, limits))


def _shared(material: Material, limits: Limits, *, dossier: bool) -> dict[str, Any]:
    """What every part of the file knows."""
    counts = [(mark, _count(material, mark.kind)) for mark in MARKS]
    unsupported = [one for one in material.claims if one.verdict is Verdict.NOT_FULLY_SUPPORTED]
    figures = [StageCount(one.stage, one.introduced) for one in material.stages]
    unplaced = sum(not one.error_stages for one in unsupported)
    bars = stage_bars(material.process, figures, len(unsupported), unplaced)
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
        "judges": _judges(material),
        "reviewed": len(reviewed),
        "disputed": sum(one.disputed for one in reviewed),
        "when": when,
        "indicative": indicative_words(material),
        "still_open": open_words(material),
    }


def _rows(bars: StageBars) -> list[StageBar]:
    """The stages that are shown: all, or those at which most came in."""
    if len(bars.bars) <= _MOST_STAGES:
        return list(bars.bars)
    worst = sorted(bars.bars, key=lambda bar: -bar.introduced)[:_MOST_STAGES]
    return sorted(worst, key=lambda bar: bar.stage)


def _count(material: Material, kind: str) -> int:
    return next(count for state, count in material.counts.items() if state.value == kind)


def _judges(material: Material) -> list[str]:
    """Who gave the verdicts, the most frequent first."""
    found = Counter(
        one.model or f"{one.engine} (no model)"
        for one in material.verifications
        if one.verdict is not None
    )
    return [name for name, _ in found.most_common(5)]


def _end(material: Material, limits: Limits, seen: _Seen) -> dict[str, Any]:
    """What only the end of the file knows."""
    return {
        "named_only": max(len(material.claims) - limits.trails, 0),
        "asked": [(step_words(step), *rest) for step, *rest in sorted(seen.asked, key=str)],
        "settings": _settings(seen.settings),
        "data": _data(material, seen.trails),
        "data_name": f"{_file_name(material)}.json",
    }


def _settings(seen: Counter[str]) -> list[tuple[str, str]]:
    """What decided the outcomes, and of how many claims."""
    found = []
    for text, claims in seen.most_common():
        if text:
            words = f"Settings of {claims:,} claim{'' if claims == 1 else 's'}"
            found.append((words, json.dumps(json.loads(text), ensure_ascii=False, indent=2)))
    left = len(found) - _MOST_SETTINGS
    if left > 0:
        found[_MOST_SETTINGS:] = [(f"{left:,} more that are not shown", "")]
    return found


def _file_name(material: Material) -> str:
    """What a file with the same data is called."""
    parts = [material.process.process_id]
    if len(material.claims) == 1:
        parts.append(material.claims[0].claim.claim_id)
    return file_name("-".join(parts))


def _data(material: Material, trails: Sequence[Trail]) -> Markup | None:
    """The dossier as JSON that can stand in a script element; None where it is too long."""
    if not trails:
        return None
    text = whole_json(material, trails, dossier=True)
    if len(text) > _DATA_CHARACTERS:
        return None
    text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(text)  # noqa: S704 (what HTML would read is escaped)


def _frame() -> dict[str, Any]:
    """Style, icons and script of a file, and the policy that names them. All are our own."""
    style = text_of("style.css") + text_of("report.css")
    script = text_of("report.js")
    icons = text_of("icons.svg").replace("<svg ", '<svg class="r-icons" aria-hidden="true" ', 1)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return {
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "icons": Markup(icons),  # noqa: S704
        "policy": policy,
    }


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
