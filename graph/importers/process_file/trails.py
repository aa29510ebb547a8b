"""Verifications, extracted sentences and reviews of a process file.

The nouns check what can be said of one record alone; what needs the whole process is checked
in `graph.ingest.restoring`.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from graphlib import CycleError, TopologicalSorter

from pydantic import ValidationError

from veritrail_graph.graph.errors import Violation
from veritrail_graph.graph.importers.process_file.schema import named, violations_of
from veritrail_graph.graph.importers.records import (
    ExtractionRecord,
    ReviewRecord,
    VerificationRecord,
)
from veritrail_graph.graph.model import LocatedBy, Review, Status, Verification
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.reviewing import text_faults

_THIS_PROCESS = {"process_id": "this"}
"""Stands for the process of the file, where a record does not name it."""
_FIRST_YEAR = 2000
_CLOCKS_DIFFER = timedelta(minutes=5)


def read_verification(value: object, place: str) -> VerificationRecord | list[Violation]:
    """A verification, or everything that is wrong with it."""
    where = named(place, value, "verification_id")
    try:
        found = Verification.model_validate(_placed(value), extra="forbid")
    except ValidationError as error:
        return list(violations_of(error, where, Verification))
    if fault := _trail_fault(found):
        return [Violation("wrong_trail", where, fault)]
    given = value if isinstance(value, dict) else {}
    return VerificationRecord(found, where, found.place, given)


def read_extraction(value: object, place: str) -> ExtractionRecord | list[Violation]:
    """An extracted sentence, or everything that is wrong with it."""
    where = named(place, value, "node_id")
    try:
        return ExtractionRecord(ExtractedSentence.model_validate(value, extra="forbid"), where)
    except ValidationError as error:
        return list(violations_of(error, where, ExtractedSentence))


def read_review(value: object, place: str) -> ReviewRecord | list[Violation]:
    """A review, or everything that is wrong with it."""
    where = named(place, value, "review_id")
    try:
        found = Review.model_validate(_without_kind(_placed(value)), extra="forbid")
    except ValidationError as error:
        return list(violations_of(error, where, Review))
    faults = [
        Violation(one.kind, where, f"{one.where} {one.message}")
        for one in text_faults(found.reason, found.reviewer)
    ]
    if words := _time_fault(found.created_at):
        faults.append(Violation("wrong_time", where, f"created_at {words}"))
    if faults:
        return faults
    return ReviewRecord(found, where, value if isinstance(value, dict) else {})


def _placed(value: object) -> object:
    """A record with a process_id, which it need not name."""
    if isinstance(value, dict) and value.get("process_id") is None:
        return {**value, **_THIS_PROCESS}
    return value


def _without_kind(value: object) -> object:
    """A review without a kind that is null; it follows from both verdicts."""
    if isinstance(value, dict) and value.get("kind") is None:
        return {key: one for key, one in value.items() if key != "kind"}
    return value


def _trail_fault(one: Verification) -> str | None:
    """Return what does not fit together in a verification."""
    if (one.verdict is not None) != (one.status is Status.SUCCEEDED):
        said = "has no verdict" if one.verdict is None else f"has the verdict {one.verdict}"
        return f"status is {one.status}, and it {said}"
    if [each.number for each in one.iterations] != [*range(1, len(one.iterations) + 1)]:
        return "iterations must be numbered 1, 2, 3 …"
    last = one.iterations[-1].verdict if one.iterations else one.verdict
    # Behind the walk a value may decide what words left open: docs/adr/0050.
    is_by_value = one.located_by is LocatedBy.VALUE and one.indicative
    if one.verdict is not None and last is None and not is_by_value:
        return f"the last iteration has no verdict, and the verification has {one.verdict}"
    if fault := _paths_fault(one):
        return f"paths: {fault}"
    for each in one.iterations:
        for number, summary in enumerate(each.summaries):
            if not summary.sentences:
                return f"iterations[{each.number - 1}].summaries[{number}] has no sentences"
    return None


def _paths_fault(one: Verification) -> str | None:
    """Return what does not fit together in the evidence trail of a verification."""
    found_in: dict[str, int] = {}
    made_from: dict[str, list[str]] = {}
    seen = set()
    with_evidence = {name for each in one.iterations for name in each.node_ids_with_evidence}
    for link in one.paths:
        if link.iteration > len(one.iterations):
            return f"there is no iteration {link.iteration}"
        if passed := next(filter(with_evidence.__contains__, link.via), None):
            way = f"the link from {link.source!r} to {link.target!r} passes by {passed!r}"
            return f"{way}, which has evidence itself: link to it"
        if found_in.setdefault(link.source, link.iteration) != link.iteration:
            return f"the evidence in {link.source!r} is of more than one iteration"
        if link.source not in one.iterations[link.iteration - 1].node_ids_with_evidence:
            return f"iteration {link.iteration} has no evidence in {link.source!r}"
        if (link.source, link.target, link.via) in seen:
            return f"the link from {link.source!r} to {link.target!r} is there twice"
        seen.add((link.source, link.target, link.via))
        made_from.setdefault(link.target, []).append(link.source)
    try:
        TopologicalSorter(made_from).prepare()
    except CycleError as error:
        return f"they lead in a circle, {' → '.join(map(repr, error.args[1]))}"
    return None


def _time_fault(created_at: str) -> str | None:
    """Return the fault of a time: it may not be in the future, since the latest review counts."""
    try:
        at = datetime.fromisoformat(created_at)
    except ValueError:
        return "names a day or an hour that does not exist"
    if at > datetime.now(UTC) + _CLOCKS_DIFFER:
        return "lies in the future; set it to when the review was written, or check the clock"
    if at.year < _FIRST_YEAR:
        return f"lies before {_FIRST_YEAR}; set it to when the review was written"
    return None
