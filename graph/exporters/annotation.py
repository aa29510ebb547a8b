"""Claims with their verdicts and reviews for annotation tools: Label Studio and INCEpTION.

Both are JSON. Offsets for INCEpTION count UTF-16 units, as its texts do.

Source: ours; Label Studio's task format and UIMA CAS JSON 0.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Claim, Review, ReviewVerdict

LABELS = tuple(one.value for one in ReviewVerdict)
CONFIG = (
    '<View><Text name="claim" value="$claim"/><Text name="evidence" value="$evidence"/>'
    '<Choices name="verdict" toName="claim" choice="single" required="true">'
    + "".join(f'<Choice value="{name}"/>' for name in LABELS)
    + '</Choices><TextArea name="reason" toName="claim"/></View>'
)
"""The labelling interface that the tasks are made for."""

TYPE = "veritrail.Claim"
_FEATURES = ("claim_id", "claim", "label", "verdict", "reviews")


@dataclass(frozen=True, slots=True)
class ClaimToAnnotate:
    """A claim with what is known of it.

    Attributes:
        claim: The claim.
        verdict: The model's verdict; None: none, or it is to stay hidden.
        judge: Who gave it.
        evidence: Sentences that were selected, each with its node.
        reviews: The latest review of each reviewer.
    """

    claim: Claim
    verdict: str | None
    judge: str | None
    evidence: Sequence[tuple[str, str]]
    reviews: Sequence[Review]


def label_studio(process_id: str, claims: Iterable[ClaimToAnnotate]) -> list[dict[str, Any]]:
    """A task a claim: the verdict as a prediction, reviews as annotations."""
    return [_task(process_id, one) for one in claims]


def _task(process_id: str, one: ClaimToAnnotate) -> dict[str, Any]:
    task: dict[str, Any] = {
        "data": {
            "process_id": process_id,
            "claim_id": one.claim.claim_id,
            "node_id": one.claim.node_id,
            "claim": one.claim.text,
            "evidence": "\n".join(f"[{node}] {text}" for node, text in one.evidence),
        },
        "annotations": [
            {
                "completed_by": {"first_name": review.reviewer},
                "created_at": review.created_at,
                "result": [
                    _choice(review.verdict.value),
                    *([_reason(review.reason)] if review.reason else []),
                ],
            }
            for review in one.reviews
        ],
        "predictions": [],
    }
    if one.verdict is not None:
        made_by = one.judge or "unknown"
        task["predictions"] = [{"model_version": made_by, "result": [_choice(one.verdict)]}]
    return task


def _choice(value: str) -> dict[str, Any]:
    return {
        "from_name": "verdict",
        "to_name": "claim",
        "type": "choices",
        "value": {"choices": [value]},
    }


def _reason(text: str) -> dict[str, Any]:
    return {
        "from_name": "reason",
        "to_name": "claim",
        "type": "textarea",
        "value": {"text": [text]},
    }


def inception(text: str, claims: Iterable[ClaimToAnnotate]) -> dict[str, Any]:
    """A text with its claims as annotations, as UIMA CAS JSON, which INCEpTION imports.

    A claim without a place in the text is left out; one with several has an annotation for each.
    """
    units = _Units(text)
    found: list[dict[str, Any]] = [
        {
            "%ID": 1,
            "%TYPE": "uima.cas.Sofa",
            "sofaNum": 1,
            "sofaID": "_InitialView",
            "mimeType": "text",
            "sofaString": text,
        },
        {
            "%ID": 2,
            "%TYPE": "uima.tcas.DocumentAnnotation",
            "@sofa": 1,
            "begin": 0,
            "end": units.at(len(text)),
            "language": "x-unspecified",
        },
    ]
    for one in claims:
        claim = one.claim
        places = list(claim.also)
        if claim.start is not None and claim.end is not None:
            places.insert(0, (claim.start, claim.end))
        for start, end in places:
            found.append(
                {
                    "%ID": len(found) + 1,
                    "%TYPE": TYPE,
                    "@sofa": 1,
                    "begin": units.at(start),
                    "end": units.at(end),
                    **_features(one),
                }
            )
    ids = [one["%ID"] for one in found[1:]]
    return {
        "%TYPES": {TYPE: _type()},
        "%FEATURE_STRUCTURES": found,
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%INDEX": 2, "%MEMBERS": ids}},
    }


def _features(one: ClaimToAnnotate) -> dict[str, str]:
    said = "; ".join(f"{review.reviewer}: {review.verdict.value}" for review in one.reviews)
    values = {
        "claim_id": one.claim.claim_id,
        "claim": one.claim.text,
        "label": one.claim.label.value if one.claim.label else None,
        "verdict": one.verdict,
        "reviews": said or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _type() -> Mapping[str, Any]:
    features = {name: {"%NAME": name, "%RANGE": "uima.cas.String"} for name in _FEATURES}
    return {"%NAME": TYPE, "%SUPER_TYPE": "uima.tcas.Annotation", **features}


class _Units:
    """Places of a text in UTF-16 units."""

    def __init__(self, text: str) -> None:
        self._wide = [place for place, one in enumerate(text) if ord(one) > 0xFFFF]

    def at(self, place: int) -> int:
        from bisect import bisect_left

        return place + bisect_left(self._wide, place)
