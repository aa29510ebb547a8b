"""What a report takes from a trail: what stands around sentences, and what counts of a claim."""

from __future__ import annotations

from fakes.trails import a_round, a_trail

from veritrail_graph.api.reports.data import Trail, Wanted, checked_claim, material_of
from veritrail_graph.api.reports.junit import Case, Outcome, Suite, junit_xml
from veritrail_graph.api.reports.showing import brief_view, cut, when, whole_view
from veritrail_graph.api.reports.surroundings import surroundings
from veritrail_graph.api.reports.view import DOSSIER, REPORT, Limits, Words
from veritrail_graph.api.views.texts import visible
from veritrail_graph.api.views.words import State
from veritrail_graph.graph.model import Claim, Process, Status, Verdict

TEXT = "One came first. Two came second. Three came third. Four came fourth. Five came last."


def place(words: str) -> tuple[int, int]:
    start = TEXT.index(words)
    return start, start + len(words)


def test_a_sentence_stands_between_its_neighbours():
    where = place("Three came third.")
    found = surroundings(TEXT, [where])[where]
    assert (found.before, found.after) == ("Two came second.", "Four came fourth.")


def test_the_first_and_the_last_sentence_have_one_neighbour():
    first, last = place("One came first."), place("Five came last.")
    found = surroundings(TEXT, [first, last])
    assert (found[first].before, found[first].after) == (None, "Two came second.")
    assert (found[last].before, found[last].after) == ("Four came fourth.", None)


def test_what_is_cited_itself_is_no_context_and_nothing_stands_twice():
    one, two, four = place("One came first."), place("Two came second."), place("Four came fourth.")
    found = surroundings(TEXT, [one, two, four])
    assert (found[one].before, found[one].after) == (None, None)
    assert (found[two].before, found[two].after) == (None, "Three came third.")
    assert (found[four].before, found[four].after) == (None, "Five came last.")


def test_long_neighbours_are_cut_and_say_so():
    text = f"{'a' * 1_000} b. It rained. {'c' * 1_000}"
    start = text.index("It rained.")
    found = surroundings(text, [(start, start + 10)])[start, start + 10]
    assert found.before is not None
    assert found.after is not None
    assert found.before.startswith("…")
    assert found.before.endswith("b.")
    assert found.after.endswith("c…")
    assert max(len(found.before), len(found.after)) <= 301


def test_a_verdict_counts_more_than_a_later_failure():
    claim = Claim("k", "It rained.", "t")
    older = a_trail("v1", claim=claim, created_at="2026-01-01T00:00:00.000000Z")
    newer = a_trail(
        "v2", claim=claim, status=Status.FAILED, verdict=None, failure="no answer",
        created_at="2026-01-02T00:00:00.000000Z",
    )  # fmt: skip
    found = checked_claim(claim, [older, newer])
    assert found.verification is older
    assert found.later is newer
    assert checked_claim(claim, [newer]).state is State.FAILED
    waiting = a_trail("v3", claim=claim, status=Status.QUEUED, verdict=None)
    assert checked_claim(claim, [waiting]).state is State.UNCHECKED


def test_an_edited_claim_says_that_its_verdict_is_about_other_words():
    was = a_trail("v1", claim=Claim("k", "It rained.", "t"))
    found = checked_claim(Claim("k", "It snowed.", "t"), [was])
    assert found.was_edited
    assert any("was edited" in one for one in brief_view(found, {}, REPORT).remarks)


def test_a_view_counts_what_it_leaves_out():
    trail = a_trail(
        "v",
        a_round(1, Verdict.FULLY_SUPPORTED, "s1 s2", (("s1", 0), ("s2", 1))),
        verdict=Verdict.FULLY_SUPPORTED,
    )
    checked = checked_claim(trail.claim, [trail])
    small = Limits(trails=1, nodes=1, sentences=1, characters=5, routes=1)
    view = whole_view(Trail(checked, trail), {}, small)
    whole = whole_view(Trail(checked, trail), {}, DOSSIER)
    for one in (view, whole):
        assert sum(len(level.nodes) + level.more for level in one.levels) == 2
    assert sum(len(level.nodes) for level in view.levels) == 1
    assert view.text.more == len(trail.claim.text) - 5


def test_words_for_people():
    assert cut("abc", 3) == Words("abc")
    assert cut("abcd", 3) == Words("abc", 1)
    assert when("2026-01-31T09:30:59.000000Z") == "2026-01-31 09:30 UTC"
    assert Wanted().words() == ""
    assert "claim k1; about node 't'" in Wanted(("k1",), ("t",)).words()


def test_what_hides_in_a_text_is_made_visible():
    assert visible("a\x07b\u202ec\ud800\n\té") == "a\\u{7}b\\u{202e}c\\u{d800}\n\té"


def test_junit_quotes_what_it_is_given():
    case = Case('a "b" <c>', "d&e", Outcome.FAILURE, "X", "line\none", "]]> <x>", {"k": "\x00"})
    text = "".join(junit_xml([Suite("s", [case])], "n", {"p": "q"}))
    assert "name='a \"b\" &lt;c&gt;'" in text
    assert "]]&gt; &lt;x&gt;" in text
    assert 'value="\\u{0}"' in text
    assert '<property name="p" value="q"/>' in text


def test_a_process_without_claims_has_a_material():
    process = Process("p", "P", None, "x", "0" * 64, {1: 1}, {}, ("t",), 1, 0)
    material = material_of(process, [], [], {})
    assert sum(material.counts.values()) == 0
    assert material.usage.cost_usd is None
