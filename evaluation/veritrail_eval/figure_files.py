"""The three tables that figures are made from: verdicts, labels of annotators, error stages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from veritrail_eval.figures.agreement import Annotation, AnnotatorAgreement
from veritrail_eval.figures.alpha import Level
from veritrail_eval.figures.localization import LocatedClaim
from veritrail_eval.figures.scores import ScoredClaim
from veritrail_eval.tables import Row, Table, read_table, word_of
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Verdict

JUDGED = ("claim_id", "label", "verdict")
JUDGED_TOO = ("method", "score", "cost_usd")
ANNOTATED = ("claim_id", "annotator", "label")
ANNOTATED_TOO = ("uncertain", "label_origin")
LOCATED = ("variant", "claim_id", "label", "verdict", "error_stages")

Of = TypeVar("Of")

VERDICT_ORDER = (Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE, Verdict.FULLY_SUPPORTED)


@dataclass(frozen=True, slots=True)
class Read(Generic[Of]):
    """The content of a file, and what a person should know of it.

    Attributes:
        found: The rows, as values.
        notes: Sentences on what was not used or does not fit together.
    """

    found: Of
    notes: Sequence[str]


def read_judged(path: Path) -> Read[list[ScoredClaim]]:
    """Labels and verdicts of claims, of one method or several.

    Raises:
        InputError: It cannot be read, or rows have faults.
    """
    table = read_table(path, JUDGED)
    claims = [
        ScoredClaim(
            claim_id=row.required("claim_id"),
            label=row.choice("label", Verdict),
            verdict=row.choice("verdict", Verdict),
            method=row.text("method") or None,
            score=row.number("score", 0, 1),
            cost_usd=row.number("cost_usd", 0),
        )
        for row in table.rows
    ]
    rows = list(zip(table.rows, claims, strict=True))
    if any(claim.method for claim in claims):
        for row, claim in rows:
            if claim.method is None:
                row.fault("empty", "method", "is empty, but other rows name a method")
    table.refuse_repeats(
        [(row, (one.method, one.claim_id)) for row, one in rows], "claim and method"
    )
    _refuse_other_labels(rows)
    table.check()
    return Read(claims, [*_unused(table, JUDGED + JUDGED_TOO), *_notes_on_methods(claims)])


def read_annotations(
    path: Path, level: Level, order: Sequence[str] = ()
) -> Read[AnnotatorAgreement]:
    """Labels of annotators. Any words may be labels; an empty label is none.

    The columns `uncertain` and `label_origin`, where they are there, say of which claims an
    annotator is uncertain, and which ones were adjudicated.

    Args:
        path: The file.
        level: Whether the order of labels counts.
        order: The labels from lowest to highest. Default: verdicts and numbers have an order.

    Raises:
        InputError: It cannot be read, rows have faults, or labels have no order that is known.
    """
    table = read_table(path, ANNOTATED)
    given = [
        (
            row,
            Annotation(
                row.required("claim_id"),
                row.required("annotator"),
                row.text("label"),
                row.yes("uncertain"),
            ),
        )
        for row in table.rows
    ]
    keys = [(row, (one.annotator, one.claim_id)) for row, one in given]
    table.refuse_repeats(keys, "claim and annotator")
    labelled = [(row, one) for row, one in given if one.label]
    _refuse_other_spellings(labelled)
    if order:
        for row, one in labelled:
            if one.label not in order:
                row.fault("unknown_value", "label", f"{shown(one.label)} is not named in --order")
    table.check()
    notes = _unused(table, ANNOTATED + ANNOTATED_TOO)
    if empty := len(given) - len(labelled):
        notes.append(f"{empty} row(s) have no label and are left out.")
    adjudicated = (
        frozenset(
            row.text("claim_id") for row in table.rows if is_adjudicated(row.text("label_origin"))
        )
        if "label_origin" in table.columns
        else None
    )
    found = agreement_of(
        path,
        [one for _, one in labelled],
        level,
        order,
        knows_uncertainty="uncertain" in table.columns,
        adjudicated=adjudicated,
    )
    return Read(found, [*notes, *notes_on(found)])


def agreement_of(
    path: Path,
    annotations: Sequence[Annotation],
    level: Level,
    order: Sequence[str] = (),
    *,
    knows_uncertainty: bool = False,
    adjudicated: frozenset[str] | None = None,
) -> AnnotatorAgreement:
    """The agreement of annotators, whose labels get an order where one is needed.

    Raises:
        InputError: The labels have no order that is known.
    """
    labels = list(dict.fromkeys(one.label for one in annotations))
    ordered = list(order) or (_ordered(path, labels) if level == "ordinal" else sorted(labels))
    return AnnotatorAgreement(annotations, ordered, level, knows_uncertainty, adjudicated)


def notes_on(found: AnnotatorAgreement) -> list[str]:
    """Return what a person should know of an agreement: claims that take no part."""
    single = found.single
    return [f"{single} claim(s) have one label only and take no part."] if single else []


def is_adjudicated(origin: str | None) -> bool:
    """Return whether a `label_origin` says that a person decided."""
    return (origin or "").partition(":")[0] == "adjudicated"


def read_located(path: Path) -> Read[list[LocatedClaim]]:
    """Error stages of claims, of several variants of the method.

    Raises:
        InputError: It cannot be read, or rows have faults.
    """
    table = read_table(path, LOCATED)
    claims = [
        LocatedClaim(
            variant=row.required("variant"),
            claim_id=row.required("claim_id"),
            label=row.choice("label", Verdict),
            verdict=row.choice("verdict", Verdict),
            error_stages=row.whole_numbers("error_stages"),
        )
        for row in table.rows
    ]
    rows = list(zip(table.rows, claims, strict=True))
    keys = [(row, (one.variant, one.claim_id)) for row, one in rows]
    table.refuse_repeats(keys, "claim and variant")
    _refuse_other_labels(rows)
    table.check()
    return Read(claims, _unused(table, LOCATED))


def _refuse_other_labels(rows: Sequence[tuple[Row, ScoredClaim | LocatedClaim]]) -> None:
    """Note where a claim has another label than in a row before."""
    first: dict[str, tuple[Row, Verdict]] = {}
    for row, one in rows:
        if one.label is None or not one.claim_id:
            continue
        before, label = first.setdefault(one.claim_id, (row, one.label))
        if label is not one.label:
            message = f"{one.label}, but {before.where} says {label} of the same claim"
            row.fault("conflict", "label", message)


def _refuse_other_spellings(labelled: Sequence[tuple[Row, Annotation]]) -> None:
    """Note labels that differ in nothing but case, spaces, hyphens and underscores."""
    first: dict[str, tuple[Row, str]] = {}
    for row, one in labelled:
        key = "".join(one.label.casefold().replace("-", " ").replace("_", " ").split())
        before, label = first.setdefault(key or one.label, (row, one.label))
        if label != one.label and not _is_number(label):
            message = f"{shown(one.label)}, but {before.where} writes {shown(label)}; use one"
            row.fault("unknown_value", "label", message)


def _ordered(path: Path, labels: Sequence[str]) -> list[str]:
    verdicts = {label: word_of(label, Verdict) for label in labels}
    if all(verdicts.values()):
        return [label for one in VERDICT_ORDER for label in labels if verdicts[label] is one]
    if all(map(_is_number, labels)):
        return sorted(labels, key=float)
    named = ", ".join(shown(label) for label in labels[:6])
    raise InputError(
        f"{path}: the labels {named} have no order. Name it, lowest first, with --order "
        "(labels joined by commas), or use --level nominal."
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _unused(table: Table, known: Sequence[str]) -> list[str]:
    names = ", ".join(shown(name) for name in table.unused(known))
    return [f"Columns that are not used: {names}."] if names else []


def _notes_on_methods(claims: Sequence[ScoredClaim]) -> list[str]:
    """Return what makes the figures of several methods hard to compare."""
    asked: dict[str | None, set[str]] = {}
    scoreless: Counter[str | None] = Counter()
    for one in claims:
        asked.setdefault(one.method, set()).add(one.claim_id)
        scoreless[one.method] += one.score is None and one.is_labelled and one.verdict is not None
    every = set().union(*asked.values())
    notes = [
        f"Method {shown(method or '')} has no row for {len(every - own)} claim(s) that others have."
        for method, own in asked.items()
        if len(own) < len(every)
    ]
    scored = {one.method for one in claims if one.score is not None}
    return notes + [
        f"{_of(method)}{count} claim(s) have no score and are left out of its AUROC."
        for method, count in scoreless.items()
        if count and method in scored
    ]


def _of(method: str | None) -> str:
    return f"Method {shown(method)}: " if method is not None else ""
