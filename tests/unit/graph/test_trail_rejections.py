"""Verifications that a process file carries, and everything that can be wrong with them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from fakes.process_files import as_json, as_lines, document, only_violation, read, violations

SENTENCE = {
    "node_id": "s",
    "sentence": 0,
    "start": 0,
    "end": 19,
    "text": "High water at nine,",
    "role": "evidence",
}
VERIFICATION: dict[str, Any] = {
    "verification_id": "v-1",
    "process_id": "tides",
    "claim_id": "k1",
    "claim": "The tide went out.",
    "node_id": "t",
    "q": 3,
    "engine": "lexical",
    "indicative": True,
    "created_at": "2026-01-31T09:30:00.000000Z",
    "status": "succeeded",
    "verdict": "NOT_FULLY_SUPPORTED",
    "termination": "no_candidates",
    "error_stages": [2],
    "error_nodes": ["s"],
    "iterations": [
        {
            "number": 1,
            "verdict": "FULLY_SUPPORTED",
            "reasoning": "It says so.",
            "checked": ["s"],
            "evidence": [SENTENCE],
            "summaries": [{"text": "Nine.", "node_ids": ["s"], "sentences": [SENTENCE]}],
        },
        {
            "number": 2,
            "verdict": "NOT_FULLY_SUPPORTED",
            "reasoning": "It does not.",
            "checked": ["c1", "c2"],
            "carried_roots": [],
        },
    ],
    "paths": [{"source": "s", "target": "t", "iteration": 1}],
}
EXTRACTION = {
    "node_id": "t",
    "position": 0,
    "start": 0,
    "end": 30,
    "text": "The tide went out before noon.",
    "outcome": "claims",
    "claim_ids": ["k1"],
}


def changed(place: str, value: Any) -> dict[str, Any]:
    """The verification with another value at a place such as `iterations.0.checked`."""
    made: Any = deepcopy(VERIFICATION)
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = made
    for part in way:
        inner = inner[part]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return made  # type: ignore[no-any-return]


def carrying(*verifications: dict[str, Any], **other: Any) -> dict[str, Any]:
    return document(verifications=list(verifications), **other)


def found_in_both(*paths: dict[str, Any]) -> dict[str, Any]:
    """The verification with evidence in `c1` too, and these links."""
    made = changed("paths", list(paths))
    cited = {**SENTENCE, "node_id": "c1"}
    summary = {"text": "Nine.", "node_ids": ["c1"], "sentences": [cited]}
    made["iterations"][1] |= {"evidence": [cited], "summaries": [summary]}
    return made


@pytest.mark.parametrize(
    ("paths", "kind", "said"),
    [
        (
            [{"source": "s", "target": "t", "iteration": 1}],
            "inconsistent_trail",
            "no link leads from 'c1', which has evidence",
        ),
        (
            [{"source": "c1", "target": "s", "iteration": 2}],
            "inconsistent_trail",
            "'s' leads on to no node, and not to the verification",
        ),
        (
            [
                {"source": "c1", "target": "t", "iteration": 2, "via": ["s"]},
                {"source": "s", "target": "t", "iteration": 1},
            ],
            "wrong_trail",
            "the link from 'c1' to 't' passes by 's', which has evidence itself: link to it",
        ),
    ],
)
def test_a_trail_that_leaves_evidence_out_is_refused(
    paths: list[dict[str, Any]], kind: str, said: str
) -> None:
    found = violations(carrying(found_in_both(*paths)))
    assert (kind, f"paths: {said}") in [(one.kind, one.message) for one in found]


def test_a_verification_that_fits_is_accepted() -> None:
    made = carrying(VERIFICATION, extractions=[EXTRACTION])
    assert read(made).hash == read(document()).hash
    lines = b"".join(
        [
            as_lines(document()),
            as_json({"extraction": EXTRACTION}) + b"\n",
            as_json({"verification": VERIFICATION}) + b"\n",
        ]
    )
    assert read(lines, "p.jsonl").hash == read(document()).hash


@pytest.mark.parametrize(
    ("place", "value", "kind", "said"),
    [
        ("claim_id", "k9", "unknown_claim", "'k9'"),
        ("node_id", "nowhere", "unknown_node", "node_id: no node has the node_id 'nowhere'"),
        ("node_id", "c1", "claim_on_root", "'c1' is a root"),
        ("iterations.0.checked", ["s", "x'y"], "unknown_node", "iterations[0].checked: no node"),
        ("error_nodes", ["x"], "unknown_node", "error_nodes"),
        ("paths.0.target", "x", "unknown_node", "paths"),
        ("paths.0.iteration", 3, "wrong_trail", "there is no iteration 3"),
        (
            "paths",
            [{"source": "s", "target": "t", "iteration": number} for number in (1, 2)],
            "wrong_trail",
            "the evidence in 's' is of more than one iteration",
        ),
        (
            "paths",
            [{"source": "s", "target": "t", "iteration": 1}] * 2,
            "wrong_trail",
            "the link from 's' to 't' is there twice",
        ),
        (
            "paths",
            [{"source": "s", "target": "s", "iteration": 1}],
            "wrong_trail",
            "they lead in a circle, 's' → 's'",
        ),
        (
            "paths",
            [{"source": "c1", "target": "t", "iteration": 2}],
            "wrong_trail",
            "paths: iteration 2 has no evidence in 'c1'",
        ),
        (
            "paths",
            [{"source": "s", "target": "t", "iteration": 1, "via": ["c2"]}],
            "inconsistent_trail",
            "paths: the process has no edge from 's' to 'c2'; via names the nodes between",
        ),
        ("iterations.1.carried_roots", ["s"], "no_root", "'s' is no root"),
        ("iterations.1.number", 3, "wrong_trail", "numbered 1, 2, 3"),
        ("status", "failed", "wrong_trail", "status is failed, and it has the verdict"),
        ("status", "done", "unknown_word", "queued, running, succeeded"),
        ("verdict", None, "wrong_trail", "has no verdict"),
        ("verdict", "TRUE", "unknown_word", "verdict must be one of FULLY_SUPPORTED"),
        ("termination", "tired", "unknown_word", "no_candidates"),
        ("created_at", "yesterday", "wrong_value", "a time such as"),
        ("verification_id", "$limit", "wrong_id", "letters, digits"),
        ("verification_id", None, "missing_key", "verification_id"),
        ("q", 0, "out_of_range", "q"),
        ("q", "3", "wrong_type", "an integer"),
        ("surprise", 1, "unknown_key", "'surprise'"),
        ("error_stages", [3], "inconsistent_trail", "error_stages does not match"),
        ("iterations.0.evidence", [], "inconsistent_trail", "iterations does not match"),
        ("process_id", "other", "wrong_process", "'other', and this process is 'tides'"),
        ("iterations.0.summaries.0.sentences", [], "wrong_trail", "has no sentences"),
        ("content_hash", "xyz", "wrong_value", "SHA-256"),
        ("reasoning", "\ud800", "lone_surrogate", "reasoning"),
    ],
)
def test_a_verification_that_breaks_a_rule_is_refused(
    place: str, value: Any, kind: str, said: str
) -> None:
    told = violations(carrying(changed(place, value)))
    assert kind in {one.kind for one in told}, told
    found = next(one for one in told if one.kind == kind)
    assert said in found.message
    assert found.where.startswith("verifications[0]")


WROTE = {key: value for key, value in SENTENCE.items() if key != "role"}
WROTE |= {"stage": 2, "marked": [[14, 18]]}
PLACE: dict[str, Any] = {
    "culprit": "s",
    "candidates": [],
    "source": {**WROTE, "node_id": "c1", "stage": 1, "end": 10, "text": "High water", "marked": []},
    "wrote": WROTE,
    "difference": {"source": "ten", "wrote": "nine"},
    "carried_on": ["t"],
}


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"value_place": {**PLACE, "carried_on": ["x"]}}, "unknown_node", "value_place"),
        ({"value_place": {**PLACE, "culprit": None}}, "wrong_value", "one culprit, or else"),
        (
            {"value_place": {**PLACE, "wrote": {**WROTE, "marked": [[4, 99]]}}},
            "wrong_value",
            "outside of the sentence",
        ),
        (
            {"value_place": {**PLACE, "wrote": {**WROTE, "text": "High water at nine!"}}},
            "wrong_sentence",
            "from 0 to 19",
        ),
        (
            {"value_place": {**PLACE, "wrote": {**WROTE, "stage": 7}}},
            "inconsistent_trail",
            "value_place does not match",
        ),
        ({"located_by": "value"}, "inconsistent_trail", "no such place is given"),
        ({"located_by": "luck"}, "unknown_word", "verdicts, value"),
    ],
)
def test_a_place_by_a_value_that_breaks_a_rule_is_refused(
    changes: dict[str, Any], kind: str, said: str
) -> None:
    told = only_violation(carrying({**deepcopy(VERIFICATION), **changes}))
    assert (told.kind, told.where) == (kind, "verifications[0] 'v-1'"), told
    assert said in told.message


@pytest.mark.parametrize(
    ("start", "end", "text", "kind"),
    [
        (0, 19, "High water at nine!", "wrong_sentence"),
        (30, 49, "High water at nine,", "offset_out_of_range"),
        (19, 0, "High water at nine,", "reversed_offsets"),
    ],
)
def test_a_sentence_that_is_not_in_the_node_is_refused(
    start: int, end: int, text: str, kind: str
) -> None:
    sentence = {**SENTENCE, "start": start, "end": end, "text": text}
    made = changed("iterations.0.evidence", [sentence])
    made["iterations"][0]["summaries"][0]["sentences"] = [sentence]
    told = only_violation(carrying(made))
    assert (told.kind, told.where) == (kind, "verifications[0] 'v-1'")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"node_id": "c1", "end": 4, "text": "High"}, "claim_on_root"),
        ({"node_id": "x"}, "unknown_node"),
        ({"claim_ids": ["k9"]}, "unknown_claim"),
        ({"text": "Something else entirely, and"}, "wrong_sentence"),
        ({"outcome": "lost"}, "unknown_word"),
        ({"position": -1}, "out_of_range"),
    ],
)
def test_an_extracted_sentence_that_breaks_a_rule_is_refused(
    changes: dict[str, Any], kind: str
) -> None:
    made = document(extractions=[{**EXTRACTION, **changes}])
    told = only_violation(made)
    assert told.kind == kind
    assert told.where.startswith("extractions[0]")


def test_what_stands_twice_is_refused() -> None:
    made = carrying(VERIFICATION, VERIFICATION, extractions=[EXTRACTION, EXTRACTION])
    assert [(one.kind, one.where) for one in violations(made)] == [
        ("duplicate_extraction", "extractions[1] 't'"),
        ("duplicate_verification_id", "verifications[1] 'v-1'"),
    ]


def test_faults_of_process_and_trails_are_told_together() -> None:
    made = carrying(changed("verdict", "TRUE"))
    made["nodes"][0]["text"] = 7
    assert [one.kind for one in violations(made)] == ["wrong_type", "unknown_word"]
    lines = as_lines(document()) + as_json({"verification": changed("status", "done")})
    lines += b'\n{"edge": {"source": "t"}}\n{"trail": {}}\n'
    kinds = [one.kind for one in violations(lines, "p.jsonl")]
    assert kinds == ["missing_key", "wrong_line", "unknown_word"]


def test_a_value_may_decide_what_the_last_iteration_left_open() -> None:
    trail = changed("iterations.1.verdict", None)
    assert "the last iteration has no verdict" in str(only_violation(carrying(trail)))
    nine = {"node_id": "c1", "sentence": 0, "start": 0, "end": 25, "stage": 1}
    wrote = {key: SENTENCE[key] for key in ("node_id", "sentence", "start", "end", "text")}
    trail |= {
        "located_by": "value",
        "value_place": {
            "culprit": "s",
            "source": {**nine, "text": "High water stood at nine.", "marked": [[20, 24]]},
            "wrote": {**wrote, "stage": 2, "marked": [[14, 18]]},
            "difference": {"source": "eight", "wrote": "nine"},
        },
    }
    assert read(carrying(trail)).hash == read(document()).hash
