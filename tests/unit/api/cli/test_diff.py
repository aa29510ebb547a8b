"""Where two trails part, as values, as JSON and as a person reads it."""

from __future__ import annotations

import io
import json

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out
from fakes.trails import FS, NFS, NODES, a_round, a_trail
from rich.console import Console

from veritrail_graph.api.show.difference import NOT_SHOWN, difference_shown
from veritrail_graph.api.show.terminal import parts
from veritrail_graph.graph.comparing import (
    DifferingPart,
    compare,
    settings_in_words,
)
from veritrail_graph.graph.model import (
    Claim,
    Evidence,
    EvidenceRole,
    Status,
    Termination,
)
from veritrail_graph.graph.model.difference import ChangedValue, Difference

FIRST = a_round(1, FS, "s1 s2", (("s1", 0), ("s2", 1)))
SECOND = a_round(2, FS, "c1 c2", (("c1", 0),))


def told(a, b, width=200):
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, highlight=False, emoji=False)
    for part, _ in parts(difference_shown(compare(a, b)), width=width):
        console.print(part)
    return out.getvalue()


def values(changed):
    return {name: (both.a, both.b) for name, both in changed.items()}


def test_a_trail_does_not_differ_from_the_same_made_later():
    a = a_trail("v-1", FIRST, SECOND)
    difference = compare(a, a.replace(verification_id="v-2", created_at="2026-02-01T00:00:00Z"))
    assert difference.same
    assert difference.parting is None
    assert "Same path, same verdict" in told(a, difference.sides[1])


def test_the_first_round_that_differs_is_found_with_what_only_one_side_did():
    a = a_trail("v-1", FIRST, a_round(2, NFS, "c1 c2", (("c1", 0), ("c2", 3))))
    b = a_trail("v-2", FIRST, a_round(2, FS, "c1", (("c1", 0), ("c1", 5))))
    parting = compare(a, b).parting
    assert parting.iteration == 2
    assert parting.parts == [DifferingPart.NODES, DifferingPart.EVIDENCE, DifferingPart.VERDICT]
    assert (parting.a.checked_only, parting.b.checked_only) == (["c2"], [])
    assert [cited.text for cited in parting.a.selected_only] == ["c2-3"]
    assert [cited.text for cited in parting.b.selected_only] == ["c1-5"]
    assert (parting.a.verdict, parting.b.verdict) == (NFS, FS)
    assert parting.a.reasoning == "reasons of round 2"


@pytest.mark.parametrize(
    ("other", "part"),
    [
        (a_round(1, FS, "s1", (("s1", 0),)), DifferingPart.NODES),
        (a_round(1, FS, "s1 s2", (("s1", 1),)), DifferingPart.EVIDENCE),
        (a_round(1, NFS, "s1 s2", (("s1", 0),)), DifferingPart.VERDICT),
    ],
)
def test_one_thing_that_differs_is_enough(other, part):
    same = a_round(1, FS, "s1 s2", (("s1", 0),))
    parting = compare(a_trail("v-1", same, SECOND), a_trail("v-2", other, SECOND)).parting
    assert (parting.iteration, parting.parts) == (1, [part])


def test_other_words_for_the_same_evidence_are_no_difference():
    def worded(words, role):
        cited = tuple(c.replace(role=role) for c in FIRST.summaries[0].sentences)
        found = (Evidence(text=words, missing=words, sentences=cited),)
        return a_trail(words, FIRST.replace(reasoning=words, summaries=found))

    a, b = worded("short", EvidenceRole.EVIDENCE), worded("long", EvidenceRole.CONTEXT)
    assert compare(a, b).same


def test_a_walk_that_ended_earlier_parts_there():
    a = a_trail("v-1", FIRST, termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED)
    b = a_trail("v-2", FIRST, SECOND, termination=Termination.NO_CANDIDATES)
    difference = compare(a, b)
    assert (difference.parting.iteration, difference.parting.parts) == (2, [DifferingPart.LENGTH])
    assert difference.parting.a is None
    assert difference.parting.b.checked_only == ["c1", "c2"]
    assert [*difference.outcome] == ["termination"]
    assert "A  had ended before" in told(a, b)
    assert compare(b, a).parting.b is None


def test_settings_are_compared_key_by_key():
    a = a_trail("v-1", FIRST, settings='{"q": 3, "limits": {"roots": 40, "others": 40}, "x": 1}')
    b = a_trail("v-2", FIRST, settings='{"q": 3, "limits": {"roots": 40, "others": null}}', q=3)
    assert values(compare(a, b).settings) == {
        "limits.others": (40, None),
        "x": (1, None),
    }
    assert compare(a, b).same


def test_engine_model_and_q_are_compared_where_settings_are_not_known():
    a = a_trail("v-1", FIRST)
    b = a_trail("v-2", FIRST, engine="lexical", model=None, q=1)
    assert [*compare(a, b).settings] == ["engine", "model", "q"]


def test_other_sub_claims_of_the_same_claim_are_told():
    a = a_trail(
        "v-1", FIRST, claim=Claim(claim_id="k1", text="Pier.", node_id="t", sub_claims=("x",))
    )
    b = a_trail("v-2", FIRST, claim=Claim(claim_id="k1", text="Pier.", node_id="t"))
    assert values(compare(a, b).settings) == {"sub_claims": (["x"], [])}
    other = a_trail("v-3", FIRST, claim=Claim(claim_id="k2", text="Quay.", node_id="t"))
    assert compare(a, other).settings == {}


def test_outcomes_are_compared():
    a = a_trail("v-1", FIRST, score=1.0)
    b = a_trail("v-2", FIRST, verdict=NFS, score=0.5, error_nodes=(NODES["s1"],))
    assert values(compare(a, b).outcome) == {
        "verdict": ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"),
        "score": (1.0, 0.5),
        "error_stages": ([], [2]),
        "error_nodes": ([], ["s1"]),
    }


def test_a_failed_verification_is_compared_by_its_reason():
    failed = a_trail("v-2", status=Status.FAILED, verdict=None, error="the model refused")
    printed = told(a_trail("v-1", FIRST), failed)
    assert "the model refused" in printed
    assert "B  had ended before" in printed


def test_different_claims_are_compared_and_said_to_be_different():
    a = a_trail("v-1", FIRST)
    b = a_trail("v-2", FIRST, claim=Claim(claim_id="k2", text="The pier is old.", node_id="t"))
    difference = compare(a, b)
    assert not difference.same_claim
    assert not difference.same
    assert [*difference.claim] == ["claim_id", "claim"]
    assert "verifications of different claims" in told(a, b)
    assert "different claims" not in told(a, a)


def test_the_json_names_everything_that_differs():
    a = a_trail("v-1", FIRST, a_round(2, NFS, "c1 c2", (("c2", 3),)), settings='{"samples": 1}')
    b = a_trail("v-2", FIRST, SECOND, settings='{"samples": 3}')
    document = json.loads(compare(a, b).model_dump_json())
    assert (document["a"], document["b"]) == ("v-1", "v-2")
    assert (document["same"], document["same_claim"]) == (False, True)
    assert document["settings"] == {"samples": {"a": 1, "b": 3}}
    assert document["outcome"]["verdict"] == {"a": "NOT_FULLY_SUPPORTED", "b": "FULLY_SUPPORTED"}
    parting = document["parting"]
    assert (parting["iteration"], parting["parts"]) == (2, ["evidence", "verdict"])
    assert parting["a"]["checked_only"] == []
    (only,) = parting["a"]["selected_only"]
    assert (only["node_id"], only["sentence"], only["text"]) == ("c2", 3, "c2-3")


def test_a_round_without_an_interim_verdict_is_answered_as_null():
    a = a_trail("v-1", a_round(1, None, "s1", (("s1", 0),)))
    difference = compare(a, a_trail("v-2", FIRST))
    assert difference.json_object()["parting"]["a"]["verdict"] is None
    assert Difference.model_validate_json(difference.model_dump_json()).parting.a.verdict is None


def test_untrusted_text_cannot_drive_a_terminal():
    evil = Claim(claim_id="k1", text="Pier \x1b[31m[bold]long[/bold]", node_id="t")
    printed = told(a_trail("v-1", FIRST, claim=evil), a_trail("v-2", SECOND, claim=evil))
    assert "\x1b" not in printed
    assert "[bold]long[/bold]" in printed


def test_a_narrow_terminal_loses_nothing_of_a_setting():
    a = a_trail("v-1", FIRST, settings=json.dumps({"prompt": "x" * 90}))
    printed = told(a, a_trail("v-2", FIRST, settings='{"prompt": "y"}'), width=50)
    assert printed.count("x") == 90
    assert "…" not in printed


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["q"], ["q"]),
        (["steps.verdict.model", "steps.evidence_selection.model"], ["the model"]),
        (["steps.verdict.prompt", "steps.verdict.prompt_hash"], ["the prompts"]),
        (["steps.verdict.escalate_to.model", "limits.max_reruns"],
         ["the second judge", "the numbers of sentences"]),
        (["steps.evidence_selection_shared.claims", "steps.evidence_selection_shared.endpoint"],
         ["how many claims share a prompt"]),
        (["engine", "steps.verdict.model"], ["the engine"]),
    ],
)  # fmt: skip
def test_settings_that_differ_are_named_in_words(names, words):
    assert settings_in_words({name: ChangedValue(a=1, b=2) for name in names}) == words


def test_an_engine_that_only_shares_prompts_is_no_other_engine():
    changed = {
        "engine": ChangedValue(a="openai", b="openai+shared"),
        "q": ChangedValue(a=1, b=2),
    }
    assert settings_in_words(changed) == ["q", "how many claims share a prompt"]


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_difference_stands_in_what_a_writer_makes(writer):
    a = a_trail("v-1", FIRST, a_round(2, NFS, "c1 c2", (("c2", 3),)), settings='{"samples": 17}')
    other = Claim(claim_id="k2", text="The pier is old.", node_id="t")
    b = a_trail("v-2", FIRST, a_round(2, FS, "s1", (("s1", 4),)), settings='{"samples": 19}',
                claim=other)  # fmt: skip
    found = compare(a, b)
    wanted = ("Difference.", "Parting.", "RoundSide.", "ChangedValue.")
    sides = {one for one in fields_of([found]) if not one.startswith(wanted)}
    words = {
        "Difference.same_claim": "verifications of different claims",
        "Difference.outcome": "Fully Supported",
        "Difference.parting": "the trails part in iteration 2",
        "ChangedValue.a": "17",
        "ChangedValue.b": "19",
        "Parting.parts": "other nodes were checked",
        "RoundSide.verdict": "Not Fully Supported",
        "RoundSide.selected_only": "c2-3",
    }
    not_shown = {*NOT_SHOWN, *sides, "Parting.a", "Parting.b"}
    assert left_out(writer, [found], [difference_shown(found)], words, not_shown) == {}
