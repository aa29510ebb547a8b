"""The judged labels and corrections of sentences that are attributed again.

A judged label belongs to an attribution: it stays where the same engine and model find the same
source sentences again, and goes where they find others. Of another model it goes, too: what is
stored names one model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import Faithfulness
from veritrail_graph.graph.store.database import Row


@dataclass(frozen=True, slots=True)
class WrittenAttributions:
    """The result of storing an attribution.

    Attributes:
        sentences: How many sentences were stored.
        unjudged: How many judged labels were removed, and no new ones were stored for them.
    """

    sentences: int
    unjudged: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """The fate of judged labels and wordings that were stored before.

    Attributes:
        outdated: Rows of the sentences whose wordings by the same engine go, each with the modes
            of these wordings; None: all.
        unjudged: How many judged labels go.
    """

    outdated: Sequence[tuple[dict[str, Any], list[str] | None]]
    unjudged: int


def keep_judged(
    rows: Sequence[dict[str, Any]],
    found: Iterable[Row],
    *,
    engine: str,
    against: str,
    model: str | None,
    indicative: bool,
    corrects: bool,
) -> Kept:
    """Put what was judged and corrected before into the rows that keep it.

    Args:
        rows: Rows of sentences that are written next; their labels change.
        found: What is stored of them: rows of `attribution/judged`.
        engine: The engine that attributed them.
        against: What they were attributed to.
        model: Its model, where it has one.
        indicative: Whether no model was asked.
        corrects: Whether the run proposed wordings.
    """
    by_place = {(one["node_id"], one["index"], one["start"], one["end"]): one for one in rows}
    outdated: list[tuple[dict[str, Any], list[str] | None]] = []
    unjudged = 0
    for place, known, attributed in found:
        row = by_place.get(tuple(place))
        if row is None:
            continue
        now = [[*one[:4], one[6]] for one in row["attributed"]]
        is_same = _sources(now) == _sources(attributed)
        failed = row["failed"]
        if known["engine"] == engine and known["model"] != model:
            is_same = False
        if not is_same or (corrects and not failed):
            outdated.append((row, None))
        elif corrects and row["revisions"]:  # those of modes that failed are kept
            outdated.append((row, [one["mode"] for one in row["revisions"]]))
        if indicative and known["indicative"] is False:
            continue  # what a model said stays in force
        labels = row["labels"]
        if is_same and known["engine"] == engine and known["against"] == against:
            is_new = corrects and not (failed and labels["correction"] is None)
            _keep(labels, known, corrects=is_new)
        unjudged += known["judged_label"] is not None and labels["judged_label"] is None
    return Kept(outdated, unjudged)


def _keep(labels: dict[str, Any], known: dict[str, Any], *, corrects: bool) -> None:
    if labels["judged_label"] is None:
        labels["judged_label"] = known["judged_label"]
        labels["judged_reason"] = known["judged_reason"]
    if not corrects and labels["judged_label"] != Faithfulness.FAITHFUL.value:
        labels["correction"] = known["correction"]
        labels["corrected_label"] = known["corrected_label"]


def _sources(rows: Iterable[Sequence[Any]]) -> set[tuple[Any, ...]]:
    return {(*one[:4], frozenset(one[4])) for one in rows}
