"""Claims for Label Studio and INCEpTION: offsets, hidden verdicts, ids that fit together."""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.exporters.annotation import (
    CONFIG,
    TYPE,
    ClaimToAnnotate,
    inception,
    label_studio,
)
from veritrail_graph.graph.model import Claim, Review, ReviewVerdict, Verdict

TEXT = "😀 The pier is long. It is old."


def review(**other: Any) -> Review:
    facts: dict[str, Any] = {
        "review_id": "review-1",
        "process_id": "p",
        "claim_id": "k1",
        "claim": "The pier is long.",
        "verdict": ReviewVerdict.INCONCLUSIVE,
        "reason": "Which pier?",
        "reviewer": "Ada",
        "created_at": "2026-01-01T00:00:00Z",
        **other,
    }
    return Review(**facts)


def claim(verdict: str | None = "FULLY_SUPPORTED", *reviews: Review) -> ClaimToAnnotate:
    made = Claim(
        claim_id="k1",
        text="The pier is long.",
        node_id="t",
        start=2,
        end=19,
        also=((20, 30),),
        label=Verdict.FULLY_SUPPORTED,
    )
    return ClaimToAnnotate(made, verdict, "m", [("s1", "It has 90 metres.")], reviews)


def test_annotations_have_the_places_of_a_claim_in_utf_16() -> None:
    found = inception(TEXT, [claim("FULLY_SUPPORTED", review())])
    structures = found["%FEATURE_STRUCTURES"]
    assert [one["%ID"] for one in structures] == [1, 2, 3, 4]
    first, second = (one for one in structures if one["%TYPE"] == TYPE)
    units = TEXT.encode("utf-16-le")
    words = units[2 * first["begin"] : 2 * first["end"]].decode("utf-16-le")
    assert words == "The pier is long."
    assert (second["begin"], second["end"]) == (21, 31)
    assert first["reviews"] == "Ada: INCONCLUSIVE"
    assert found["%VIEWS"]["_InitialView"]["%MEMBERS"] == [2, 3, 4]
    assert set(first) - {"%ID", "%TYPE", "@sofa", "begin", "end"} <= set(found["%TYPES"][TYPE])


def test_a_task_has_the_verdict_as_prediction_and_reviews_as_annotations() -> None:
    (task,) = label_studio("p", [claim("FULLY_SUPPORTED", review())])
    assert task["data"]["evidence"] == "[s1] It has 90 metres."
    prediction = task["predictions"][0]
    assert prediction["model_version"] == "m"
    assert prediction["result"][0]["value"] == {"choices": ["FULLY_SUPPORTED"]}
    results = task["annotations"][0]["result"]
    assert [one["from_name"] for one in results] == ["verdict", "reason"]
    for one in results:
        assert f'name="{one["from_name"]}" toName="{one["to_name"]}"' in CONFIG


def test_what_is_hidden_is_not_in_the_file() -> None:
    hidden = claim(None)
    assert label_studio("p", [hidden])[0]["predictions"] == []
    assert "verdict" not in inception(TEXT, [hidden])["%FEATURE_STRUCTURES"][2]
