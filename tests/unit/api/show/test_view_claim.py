"""A claim in its text, where it went wrong, and rows of the list of claims."""

from __future__ import annotations

import pytest
from fakes.trails import NFS

from veritrail_graph.api.app.queries import browser_link
from veritrail_graph.api.page.views.process import (
    Wanted,
    claim_rows,
    counts,
    indicative_words,
    said_of,
    text_claims,
)
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.show.answer import TextClaim, claim_in_text
from veritrail_graph.api.show.words import SUPPORTED
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import (
    Process,
    Review,
    Reviewed,
    ReviewVerdict,
    Status,
    Verdict,
)
from veritrail_graph.graph.model.listed import JudgedClaim, PlacedClaim, Tally

WORDS = "Some words stand here. "
PROCESS = Process(
    process_id="p",
    name="P",
    question=None,
    source_format="f",
    content_hash="0",
    stages={1: 1, 2: 1},
    stage_names={1: "page"},
    terminals=("t",),
    nodes=2,
    edges=1,
)


def test_a_claim_is_shown_with_the_text_around_it() -> None:
    text = WORDS * 400 + "The pier is long. " + WORDS * 400
    start = len(WORDS) * 400
    found = claim_in_text(text, TextClaim("k", "?", SUPPORTED, start, start + 17), around=100)
    (lined,) = [one for one in found.answer.segments if one.layers]
    assert lined.text == "The pier is long."
    assert found.is_found
    assert found.starts_later
    assert found.ends_earlier
    assert sum(len(one.text) for one in found.answer.segments) < 300
    assert found.part == 1


def test_a_claim_whose_place_is_not_known_is_shown_with_the_beginning() -> None:
    found = claim_in_text(WORDS * 400, TextClaim("k", "The pier is long.", SUPPORTED), around=100)
    assert (found.is_found, found.starts_later, found.ends_earlier) == (False, False, True)
    assert not any(one.layers for one in found.answer.segments)
    assert claim_in_text("", TextClaim("k", "x", SUPPORTED)).answer.segments == ()


def review(verdict: ReviewVerdict, who: str = "Ada", of: str = "a") -> Review:
    return Review(
        review_id="r",
        process_id="p",
        claim_id="k",
        claim="So.",
        verdict=verdict,
        reviewer=who,
        created_at="2026-01-01T00:00:00Z",
        reason="Why.",
        overrides=of,
    )


def judged(verdict: Verdict | None, **other: object) -> JudgedClaim:
    facts = {"verification_id": "v", "indicative": False, "verifications": 1, **other}
    where = {"node_id": "t", "start": 30_000, "end": 30_017}
    return JudgedClaim.model_construct(
        claim_id="k", text="The pier is long.", verdict=verdict, **where, **facts
    )


def test_rows_tell_stage_review_and_part() -> None:
    reviewed = Reviewed(
        review(ReviewVerdict.FULLY_SUPPORTED), (review(ReviewVerdict.FULLY_SUPPORTED),), NFS, 1
    )
    one = judged(NFS, error_stages=(1, 2), reviewed=reviewed, position=6)
    (row,) = claim_rows([one], PROCESS, "t", WORDS * 4_000)
    assert (row.number, row.stages, row.part, row.is_elsewhere) == (
        7,
        ("page", "stage 2"),
        2,
        False,
    )
    assert row.said is not None
    assert row.said.mark is not None
    assert (row.said.words, row.said.mark.kind) == ("Overridden", "supported")
    (other,) = claim_rows([judged(None, status=Status.FAILED)], PROCESS, "x", None)
    assert (other.mark.kind, other.is_elsewhere, other.part, other.said) == (
        "failed",
        True,
        None,
        None,
    )
    assert said_of(None) is None
    assert not row.speaks_to_reader
    (spoken,) = claim_rows([judged(NFS, speaks_to_reader=True)], PROCESS, "t", None)
    assert spoken.speaks_to_reader


def test_a_row_says_in_short_why_a_claim_could_not_be_checked() -> None:
    def reason(verdict: Verdict | None, **other: object) -> str | None:
        (row,) = claim_rows([judged(verdict, **other)], PROCESS, "t", None)
        return row.failure

    assert reason(None, status=Status.FAILED, error="No answer.") == "No answer."
    assert reason(None, status=Status.OVER_BUDGET, error="x" * 301) == f"{'x' * 300}…"
    assert reason(None, status=Status.FAILED) is None
    assert reason(NFS, status=Status.FAILED, error="A later one failed.") is None


def placed(verdict: Verdict | None, *stages: int, status: Status | None = None) -> PlacedClaim:
    return PlacedClaim("k", "So.", 0, 3, (), 0, verdict, False, stages, status, None)


@pytest.mark.parametrize(
    ("wanted", "faded"),
    [
        (Wanted(), [False, False, False]),
        (Wanted(verdict="not-supported"), [False, True, True]),
        (Wanted(verdict="failed"), [True, True, False]),
        (Wanted(error_stage=2), [False, True, True]),
        (Wanted(error_stage=1), [True, True, True]),
    ],
)
def test_what_filters_leave_out_stands_back_in_the_text(wanted: Wanted, faded: list[bool]) -> None:
    claims = [
        placed(NFS, 2),
        placed(Verdict.FULLY_SUPPORTED),
        placed(None, status=Status.FAILED),
    ]
    assert [one.faded for one in text_claims(claims, wanted)] == faded


def test_counts_keep_all_states_apart() -> None:
    tally = Tally({"FULLY_SUPPORTED": 3, "failed": 2, "unchecked": 1}, {}, 0, 2)
    assert {one.mark.kind: one.claims for one in counts(tally)} == {
        "not-supported": 0,
        "inconclusive": 0,
        "failed": 2,
        "unchecked": 1,
        "supported": 3,
    }
    assert (tally.total, tally.judged) == (6, 3)
    assert (
        indicative_words(tally)
        == "2 of 3 verdicts are indicative: they rest on a comparison of words."
    )
    assert "All verdicts" in str(indicative_words(Tally({"INCONCLUSIVE": 2}, {}, 0, 2)))
    assert indicative_words(Tally({"INCONCLUSIVE": 2}, {}, 0, 0)) is None


@pytest.mark.parametrize(
    ("uri", "begins"),
    [
        ("bolt://graph.example:7687", "http://graph.example:7474/browser/?dbms=bolt%3A%2F%2Fgraph"),
        ("neo4j+s://graph.example", "https://graph.example:7473/browser/?dbms=neo4j%2Bs"),
        ("neo4j+s://ab.databases.neo4j.io", "https://browser.neo4j.io/?dbms=neo4j%2Bs"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/?dbms="),
    ],
)
def test_neo4j_browser_is_opened_where_the_server_is(uri: str, begins: str) -> None:
    link = browser_link(uri, "data", "MATCH (n) RETURN n;")
    assert link is not None
    assert link.startswith(begins)
    assert link.endswith("&db=data&cmd=edit&arg=MATCH+%28n%29+RETURN+n%3B")


def test_no_user_and_no_password_get_into_the_link() -> None:
    link = browser_link("bolt://ada:secret@h:7687", None, "RETURN 1;")
    assert link is not None
    assert "secret" not in link
    assert "ada" not in link
    assert browser_link(None, None, "RETURN 1;") is None


def test_neo4j_browser_can_be_elsewhere() -> None:
    browser = Settings(neo4j_browser="https://b.example/browser/").neo4j_browser
    link = browser_link("bolt://inside:7687", None, "RETURN 1;", browser)
    assert str(link).startswith("https://b.example/browser/?dbms=bolt")
    assert Settings().neo4j_browser is None
    for wrong in ("javascript:alert(1)", "browser", "https://b.example/?x=1"):
        with pytest.raises(InputError, match="VERITRAIL_NEO4J_BROWSER"):
            Settings(neo4j_browser=wrong)
