"""Claims on both engines: what extraction leaves, editing, removing, and further places."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import MemoryInput, process
from fakes.trails import FS, LEXICAL, a_round, a_trail, cited, found, path

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Claim,
    Status,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.graph.model.listed import Removed
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claims import ClaimStore

pytestmark = pytest.mark.engine

ANSWER = "A is there. Both are. A is there."
AWKWARD = ["$rows", "$text", 'it\'s "quoted"', "x'}) DETACH DELETE n //", "😀 é ß"]


@pytest.fixture
def claims(store: Store) -> ClaimStore:
    return store.claims


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    """The content hash of a small stored process without claims."""
    return str(arun(ingest(store, small(process_id))).survey.hash)


def small(name: str, answer: str = ANSWER) -> MemoryInput:
    texts = {"a": "A one. A two.", "b": "B.", "t": answer}
    return process(texts, [("a", "t"), ("b", "t")], process_id=name)


def claim(text: str, start: int = 0, *also: tuple[int, int]) -> Claim:
    return Claim(
        claim_id=derived_claim_id("t", text),
        text=text,
        node_id="t",
        start=start,
        end=start + 11,
        also=also,
    )


def sentence(
    place: int, outcome: str, *named: Claim, text: str = "A is there."
) -> ExtractedSentence:
    reason = None if named else f"because of {text}"
    ids = tuple(one.claim_id for one in named)
    start = place * 12
    return ExtractedSentence(
        node_id="t",
        position=place,
        start=start,
        end=start + len(text),
        text=text,
        outcome=SentenceOutcome(outcome),
        reason=reason,
        claim_ids=ids,
    )


def queued(process_id: str, of: Claim, name: str) -> Verification:
    """A verification that a run has yet to make."""
    facts = {"process_id": process_id, "claim": of, "created_at": now(), "run_id": "r", **LEXICAL}
    return a_trail(name, status=Status.QUEUED, verdict=None, **facts)


def verification(process_id: str, of: Claim, name: str, index: int = 0) -> Verification:
    """A verification with evidence in one sentence of node a."""
    evidence = found("It says so.", cited("a", index, index * 7, f"A {index}."))
    facts = {"process_id": process_id, "claim": of, "created_at": now(), **LEXICAL}
    return a_trail(name, a_round(1, FS, [], [evidence]), paths=(path("a", "t", 1),), **facts)


def count(store: Store, arun: Any, pattern: str, process_id: str) -> int:
    text = f"MATCH {pattern} RETURN count(*) AS n"
    return int(arun(store.database.run_text(text, {"p": process_id}, 1)).rows[0][0])


def test_further_places_of_a_claim_are_kept(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    given = [claim("A is there.", 0, (22, 33)), claim("Both are.", 12)]
    arun(claims.add(process_id, given))
    assert arun(store.claims.all(process_id)) == given
    assert arun(store.claims.by_id(process_id, given[:1])) == given[:1]


def test_an_ingest_keeps_further_places(store: Store, arun: Any, process_id: str) -> None:
    source = small(process_id)
    source.claims = [ClaimRecord("A is there.", "claims[0]", "k", "t", 0, 11, also=((22, 33),))]
    arun(ingest(store, source))
    assert arun(store.claims.all(process_id))[0].also == ((22, 33),)


def test_what_was_extracted_is_read_back(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first = claim("A is there.", 0, (22, 33))
    sentences = [
        sentence(0, "claims", first),
        *(sentence(place, "failed", text=text) for place, text in enumerate(AWKWARD, start=1)),
        sentence(6, "no_verifiable_claims"),
        sentence(7, "cannot_be_disambiguated"),
        sentence(8, "no_claims"),
        sentence(9, "claims", first),
    ]
    assert arun(claims.keep_extraction(process_id, stored, "t", sentences, [first])) == (
        1,
        frozenset(),
    )
    assert arun(claims.all(process_id)) == [first]
    assert arun(claims.sentences(process_id)) == sentences
    assert arun(claims.sentences(process_id, "t")) == sentences
    assert arun(claims.sentences(process_id, "a")) == []
    linked = "(:Extraction {process_id: $p})-[:EXTRACTION_OF]->(:Span {node_id: 't'})"
    assert count(store, arun, linked, process_id) == len(sentences)


def test_extracting_again_replaces_the_sentences_and_adds_no_claim(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first, second = claim("A is there."), claim("Both are.", 12)
    keep = claims.keep_extraction
    arun(
        keep(
            process_id, stored, "t", [sentence(0, "claims", first), sentence(1, "failed")], [first]
        )
    )
    again = [sentence(0, "claims", first, second)]
    assert arun(keep(process_id, stored, "t", again, [first, second]))[0] == 1
    assert arun(keep(process_id, stored, "t", again, [first, second]))[0] == 0
    assert arun(claims.sentences(process_id)) == again
    assert [one.claim_id for one in arun(claims.all(process_id))] == [
        first.claim_id,
        second.claim_id,
    ]


def test_extracting_again_leaves_an_edited_claim_as_it_is(
    arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first = claim("A is there.")
    keep = claims.keep_extraction
    arun(keep(process_id, stored, "t", [sentence(0, "claims", first)], [first]))
    arun(claims.edit(process_id, first.claim_id, "A is in Oban."))
    assert arun(keep(process_id, stored, "t", [sentence(0, "claims", first)], [first]))[0] == 0
    assert [one.text for one in arun(claims.all(process_id))] == ["A is in Oban."]


def test_a_full_stop_tells_no_two_claims_apart(
    arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    with_stop, without = claim("A is there."), claim("B is there")
    arun(claims.add(process_id, [with_stop, without, claim("C."), claim("C")]))
    texts = ["A is there", "B is there.", "C.", "C", "A is there.."]
    assert arun(claims.same_text(process_id, texts)) == {
        ("t", "A is there"): with_stop.claim_id,
        ("t", "B is there."): without.claim_id,
        ("t", "C."): derived_claim_id("t", "C."),
        ("t", "C"): derived_claim_id("t", "C"),
        ("t", "A is there.."): with_stop.claim_id,
    }


def test_extraction_adds_the_places_that_a_stored_claim_lacks(
    monkeypatch: pytest.MonkeyPatch, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    monkeypatch.setattr("veritrail_graph.graph.store.rows.MOST_ROWS", 1)
    without = claim("A.").replace(start=None, end=None)
    first = claim("B.", 22).replace(sub_claims=("One.", "Two."), label=Verdict.INCONCLUSIVE)
    partly = claim("C.", 3, (30, 41))
    odd = without.replace(claim_id="odd", node_id="a")
    arun(claims.add(process_id, [without, first, partly, odd]))
    arun(claims.edit(process_id, without.claim_id, "A, edited."))
    found = [
        claim("A.", 0, *((place * 12, place * 12 + 11) for place in range(1, 9))),
        claim("B.", 0, (22, 33), (44, 55)),
        claim("C.", 3, (30, 41)),
        odd.replace(node_id="t", start=0, end=5),  # another node's: none of its places
        claim("D."),
    ]
    with_all = [
        found[0].replace(text="A, edited."),
        first.replace(also=((0, 11), (44, 55))),
        partly,
        odd,
        found[-1],
    ]
    for added in (1, 0):
        assert arun(claims.keep_extraction(process_id, stored, "t", [], found))[0] == added
        assert arun(claims.all(process_id)) == with_all


def test_sentences_and_claims_are_stored_in_batches(
    monkeypatch: pytest.MonkeyPatch,
    arun: Any,
    process_id: str,
    claims: ClaimStore,
    stored: str,
) -> None:
    monkeypatch.setattr("veritrail_graph.graph.store.rows.MOST_ROWS", 3)
    monkeypatch.setattr("veritrail_graph.graph.store.claims.DELETE_BATCH", 2)
    monkeypatch.setattr("veritrail_graph.graph.store.claims_added.MOST_HELD", 1_000)
    many = [claim(f"A is {number}.", number) for number in range(20)]
    sentences = [sentence(place, "claims", one) for place, one in enumerate(many)]
    for added in (20, 0):
        keeping = claims.keep_extraction(process_id, stored, "t", sentences, many)
        assert arun(keeping)[0] == added
        assert arun(claims.sentences(process_id)) == sentences
        assert arun(claims.all(process_id)) == many


def test_what_was_extracted_from_other_content_is_not_stored(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    arun(ingest(store, small(process_id, "Something else."), replace=True))
    first = claim("A is there.")
    with pytest.raises(NotFound, match="replaced meanwhile"):
        arun(
            claims.keep_extraction(process_id, stored, "t", [sentence(0, "claims", first)], [first])
        )
    assert arun(claims.sentences(process_id)) == arun(claims.all(process_id)) == []


@pytest.mark.parametrize("how", ["delete", "replace"])
def test_what_was_extracted_goes_with_its_process(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str, how: str
) -> None:
    first = claim("A is there.")
    arun(claims.keep_extraction(process_id, stored, "t", [sentence(0, "claims", first)], [first]))
    if how == "delete":
        arun(store.processes.delete(process_id))
    else:
        arun(ingest(store, small(process_id, "Something else."), replace=True))
    assert count(store, arun, "(x:Extraction {process_id: $p})", process_id) == 0


def test_a_claim_gets_another_text_and_keeps_the_rest(
    arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first = claim("A is there.", 0, (22, 33))
    arun(claims.add(process_id, [first]))
    edited = arun(claims.edit(process_id, first.claim_id, "$claim_id is “there”."))
    assert edited.text == "$claim_id is “there”."
    assert (edited.claim_id, edited.start, edited.also) == (first.claim_id, 0, ((22, 33),))
    assert arun(claims.all(process_id)) == [edited]


def test_a_verified_claim_is_edited_only_when_that_is_wished(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first = claim("A is there.")
    arun(claims.add(process_id, [first]))
    arun(store.trails.write(verification(process_id, first, f"v-{process_id}")))
    with pytest.raises(InputError, match=r"1 verification\(s\)"):
        arun(claims.edit(process_id, first.claim_id, "B is there."))
    assert arun(claims.all(process_id)) == [first]
    arun(claims.edit(process_id, first.claim_id, "B is there.", force=True))
    assert arun(claims.all(process_id))[0].text == "B is there."
    assert arun(store.trails.get(f"v-{process_id}")).claim == "A is there."


@pytest.mark.parametrize(
    ("claim_id", "text", "fault"),
    [("$claim_id", "B.", NotFound), ("none", "B.", NotFound), ("k", "  ", InputError)],
)
def test_what_cannot_be_edited_is_refused(
    arun: Any,
    process_id: str,
    claims: ClaimStore,
    stored: str,
    claim_id: str,
    text: str,
    fault: type[Exception],
) -> None:
    arun(claims.add(process_id, [Claim(claim_id="k", text="A is there.", node_id="t")]))
    with pytest.raises(fault):
        arun(claims.edit(process_id, claim_id, text))
    assert [one.text for one in arun(claims.all(process_id))] == ["A is there."]


def test_claims_are_removed_and_not_named_any_more(
    arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first, second = claim("A is there."), claim("Both are.", 12)
    both = sentence(0, "claims", first, second)
    arun(claims.keep_extraction(process_id, stored, "t", [both], [first, second]))
    ids = [first.claim_id, first.claim_id]
    assert arun(claims.remove(process_id, ids)) == Removed(claims=1, verifications=0)
    assert arun(claims.all(process_id)) == [second]
    (left,) = arun(claims.sentences(process_id))
    assert left.claim_ids == (second.claim_id,)


def test_an_unknown_claim_among_those_to_remove_keeps_all(
    arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first = claim("A is there.")
    arun(claims.add(process_id, [first]))
    with pytest.raises(NotFound, match="'none'"):
        arun(claims.remove(process_id, [first.claim_id, "none"], force=True))
    assert arun(claims.all(process_id)) == [first]


def test_verifications_go_with_their_claim_when_that_is_wished(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first, second = claim("A is there."), claim("Both are.", 12)
    arun(claims.add(process_id, [first, second]))
    names = [f"v{number}-{process_id}" for number in range(3)]
    for name, of, index in zip(names, (first, first, second), (0, 1, 0), strict=True):
        arun(store.trails.write(verification(process_id, of, name, index)))
    with pytest.raises(InputError, match=r"2 verification\(s\).*nothing was removed"):
        arun(claims.remove(process_id, [first.claim_id]))
    assert len(arun(store.trails.all_ids(process_id))) == 3

    removed = arun(claims.remove(process_id, [first.claim_id], force=True))
    assert removed == Removed(claims=1, verifications=2)
    assert arun(claims.all(process_id)) == [second]
    assert arun(store.trails.all_ids(process_id)) == [names[2]]
    # The sentence that the other verification cites stays; its path and its trail too.
    assert count(store, arun, "(x:Sentence {process_id: $p})", process_id) == 1
    path = "(:TrailNode {process_id: $p})-[:LEADS_TO]->(:Verification)"
    assert count(store, arun, path, process_id) == 1
    (kept,) = arun(store.trails.read([names[2]]))
    assert len(kept.iterations[0].summaries) == len(kept.paths) == 1
    for name in names[:2]:
        assert arun(store.trails.read([name])) == []
        iterations = f"(x:Iteration {{verification_id: '{name}'}})"
        assert count(store, arun, iterations, process_id) == 0


def test_what_is_only_queued_is_no_verification_of_a_claim(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str
) -> None:
    first, second = claim("A is there."), claim("Both are.", 12)
    arun(claims.add(process_id, [first, second]))
    names = [f"q{number}-{process_id}" for number in range(2)]
    waiting = [queued(process_id, of, n) for of, n in zip((first, second), names, strict=True)]
    arun(store.trails.write(*waiting))
    edited = arun(claims.edit(process_id, first.claim_id, "A is in Oban."))
    assert edited.text == "A is in Oban."
    assert arun(claims.remove(process_id, [first.claim_id])) == Removed(1, 0)
    assert arun(claims.all(process_id)) == [second]
    assert arun(store.trails.all_ids(process_id)) == [names[1]]

    done = f"v-{process_id}"
    arun(store.trails.write(verification(process_id, second, done)))
    with pytest.raises(InputError, match=r"have 1 verification\(s\)"):
        arun(claims.remove(process_id, [second.claim_id]))
    with pytest.raises(InputError, match=r"has 1 verification\(s\)"):
        arun(claims.edit(process_id, second.claim_id, "Else."))
    assert sorted(arun(store.trails.all_ids(process_id))) == [names[1], done]
    assert arun(claims.remove(process_id, [second.claim_id], force=True)) == Removed(1, 1)
    assert arun(store.trails.all_ids(process_id)) == []


@pytest.mark.parametrize("status", [Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED])
def test_a_verification_that_ended_without_a_verdict_counts(
    store: Store, arun: Any, process_id: str, claims: ClaimStore, stored: str, status: Status
) -> None:
    first = claim("A is there.")
    arun(claims.add(process_id, [first]))
    ended = queued(process_id, first, f"v-{process_id}").replace(status=status, error="Why.")
    arun(store.trails.write(ended))
    with pytest.raises(InputError, match=r"1 verification\(s\)"):
        arun(claims.remove(process_id, [first.claim_id]))
