"""A document of what `doctor` looked at.

Source: docs/adr/0053-source-text-in-traces.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from veritrail_graph.api.show.document import Document, Line, Style, Table, name, ours, quoting
from veritrail_graph.graph.counted import counted

if TYPE_CHECKING:
    from veritrail_graph.api.app.doctor import DoctorFinding
    from veritrail_graph.api.app.doctor_inputs import InputExamined

_STYLES = {"warning": Style.WARNING, "fault": Style.WRONG}
_MANY = {"input": 2, "read": 1}
"""Findings about these are of many kinds, which differ in so many parts between colons."""
_NAMED = re.compile(r"'[^']*'|\([^()]*\)")
_WORDS = re.compile(r"[^\W\d_]{4,}")
_Row = tuple[Line, ...]


def setup_shown(found: Sequence[DoctorFinding]) -> Document:
    """Show what was looked at, each with its state and what to do."""
    return _table([_row(one, (quoting(one.told),)) for one in found])


def inputs_shown(found: Sequence[InputExamined]) -> Document:
    """Show what processes hold and lack; of many, each gap once with how many have it."""
    if len(found) == 1:
        return setup_shown(found[0].findings)
    held: Counter[str] = Counter()
    for one in found:
        held.update(one.holds.get("texts", {}))
    words = ", ".join(counted(count, f"{origin} text") for origin, count in held.items() if count)
    total = counted(len(found), "process", "processes")
    told = f"{total}: {words}" if words else total
    rows: list[_Row] = [((ours("fine"),), (ours("input"),), (ours(told),))]
    gaps: dict[tuple[str, str, str], list[tuple[str, DoctorFinding]]] = {}
    for one in found:
        for finding in one.findings:
            if finding.state.value != "fine":
                key = (finding.about, finding.state.value, _kind(finding, one.source))
                gaps.setdefault(key, []).append((one.source, finding))
    for _, cases in sorted(gaps.items(), key=lambda gap: gap[0][1] != "fault"):
        where, first = cases[0]
        count = len({source for source, _ in cases})  # a process may have several of a kind
        words = f"{count:,} of {len(found):,}, the first in "
        rows.append(_row(first, (ours(words), name(where), ours(": "), quoting(first.told))))
    return _table(rows)


def _kind(one: DoctorFinding, source: str) -> str:
    """Return what tells findings about one thing apart: their words, without numbers and names."""
    if one.about not in _MANY:
        return ""
    said = _NAMED.sub("", one.told.removeprefix(source)).split(":")
    first = ":".join(said[: _MANY[one.about]])
    return " ".join(word.rstrip("s") for word in _WORDS.findall(first))


def _row(one: DoctorFinding, words: Line) -> _Row:
    state = one.state.value
    return ((ours(state, _STYLES.get(state, Style.PLAIN)),), (ours(one.about),), words)


def _table(rows: Sequence[_Row]) -> Document:
    return Document((Table(("", "what", "found"), tuple(rows)),))
