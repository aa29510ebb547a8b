"""Writing and reading verifications with their trails, on both engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import (
    FS,
    LEXICAL,
    NFS,
    a_place,
    a_round,
    a_step,
    a_trail,
    cited,
    found,
    marked,
    path,
    spent,
)

from veritrail_graph.cypher import load, names
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Appeal,
    AppealKind,
    Claim,
    Iteration,
    LocatedBy,
    NodeRef,
    Role,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import Store, trail_writing

pytestmark = pytest.mark.engine

A = NodeRef("a", 1, 0, Role.ROOT)
B = NodeRef("b'\"😀", 1, 1, Role.ROOT)
S = NodeRef("s", 2, 2, Role.INTERMEDIATE)
T = NodeRef("t", 3, 3, Role.TERMINAL)
PLACE = a_place(
    marked(1, cited("a", 1, 5, "Two."), "Two"), marked(2, cited("s", 0, 0, "Sum."), "Sum"), "t"
)


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    source = process(
        {"a": "One. Two.", B.node_id: "B.", "s": "Sum. Mary.", "t": "T."},
        [("a", "s"), (B.node_id, "s"), ("s", "t"), (B.node_id, "t")],
        {"k1": "First claim.", "k2": "Second claim."},
        process_id=process_id,
    )
    arun(ingest(store, source))
    return process_id


def a_verification(process_id: str, name: str = "v-1", **other: Any) -> Verification:
    """A verification with all that one can have, but for what is given."""
    b = B.node_id
    facts: dict[str, Any] = {
        "process_id": process_id,
        "claim": Claim(claim_id="k1", text="First claim.", node_id="t", sub_claims=("First.",)),
        "reasoning": "because",
        "score": 0.5,
        "termination": Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
        "paths": (path(b, "s", 1), path(b, "t", 1), path("s", "t", 1), path("a", "t", 2, "s")),
        "error_nodes": (T, S),  # an order of their own
        "propagated_nodes": (T,),
        "value_place": PLACE,
        "appeals": (
            Appeal(node_id="a", sentence=1, why=(AppealKind.ORDER, AppealKind.HIDDEN_TEXT)),
        ),
        "appeals_read": 3,
        "usage": spent(3, 1, (100, 50, 20), None, reasoning_tokens=6, unpriced_calls=1),
        "run_id": f"{process_id}-r",
        "settings": '{"engine": "openai", "q": 2}',
        "steps": (
            a_step(0, "sub_claim_decomposition", spent(1, 0, (10, 0, 5), 0.01), temperature=None),
            a_step(
                1,
                "evidence_selection",
                spent(1, 1, (40, 25, 5), None, reasoning_tokens=6, unpriced_calls=1),
            ),
            a_step(2, "evidence_selection", spent(0, 0, (0, 0, 0), 0.0)),
            a_step(2, "verdict", spent(1, 0, (50, 25, 10), 0.25), temperature=0.2),
        ),
        **LEXICAL,
        **other,
    }
    of_s = found("of s", cited("s", 0, 0, "Sum."), missing="Mary's age")
    of_a = found("of a", cited("a", 1, 5, "Two."), cited("a", 0, 0, "One.", "context"))
    rounds = facts.pop("iterations", None) or (
        a_round(1, FS, [B, S], [of_s, found("of b", cited(b, 0, 0, "B."))]),
        a_round(
            2,
            NFS,
            [A],
            [of_a],
            carried_roots=(B,),
            score=0.5,
            dropped_ids=2,
            reruns=1,
            judged=(found("less", cited("a", 1, 5, "Two."), missing="x"),),
            left_out=7,
            left_out_roots=(b, "a"),
        ),
    )
    return a_trail(f"{process_id}/{name}", *rounds, **facts)


def bare(process_id: str, text: str, *rounds: Any, **other: Any) -> Verification:
    claim = Claim(claim_id="k1", text=text, node_id="t")
    return a_trail(f"{process_id}/v-1", *rounds, process_id=process_id, claim=claim, **other)


def counts(store: Store, arun: Any, process_id: str) -> dict[str, int]:
    patterns = {
        "verifications": "(x:Verification {process_id: $p})",
        "iterations": "(:Verification {process_id: $p})-[:HAS_ITERATION]->(x)",
        "evidence": "(:Verification {process_id: $p})-[:HAS_ITERATION]->()-[:FOUND]->(x)",
        "sentences": "(x:Sentence {process_id: $p})",
        "steps": "(:Verification {process_id: $p})-[:TOOK]->(x:Step)",
        "paths": "(:TrailNode {process_id: $p})-[x:LEADS_TO]->()",
        "trail": "(x:TrailNode {process_id: $p})",
        "checked": "()-[x:CHECKED]->(:Span {process_id: $p})",
        "errors": "()-[x:ERROR_INTRODUCED_AT|ERROR_PROPAGATED_THROUGH]->(:Span {process_id: $p})",
    }
    return {
        name: arun(
            store.database.run_text(f"MATCH {pattern} RETURN count(x)", {"p": process_id}, 1)
        ).rows[0][0]
        for name, pattern in patterns.items()
    }


def steps_of(store: Store, arun: Any, process_id: str) -> int:
    """How many steps stand in the graph, whether a verification still leads to them or not."""
    text = "MATCH (s:Step) WHERE s.verification_id STARTS WITH $p RETURN count(s)"
    return int(arun(store.database.run_text(text, {"p": f"{process_id}/"}, 1)).rows[0][0])


def test_a_verification_comes_back_as_it_was_written(store: Store, arun: Any, stored: str) -> None:
    written = a_verification(stored)
    missed = a_round(1, None, [S])
    undecided = a_verification(
        stored,
        "v-2",
        iterations=(missed,),
        status=Status.UNDECIDED,
        termination=Termination.NO_AGREEMENT,
        paths=(),
        error_nodes=(),
        propagated_nodes=(),
        value_place=None,
    )
    assert written.located_by is LocatedBy.VERDICTS
    arun(store.trails.write(written, undecided))
    assert arun(store.trails.get(written.verification_id)) == written
    assert arun(store.trails.get(undecided.verification_id)) == undecided


def test_where_it_went_wrong_is_one_pattern_also_where_a_value_offers_the_place(
    store: Store, arun: Any, stored: str
) -> None:
    none = {"error_nodes": (), "propagated_nodes": (), "located_by": LocatedBy.VALUE}
    several = PLACE.replace(culprit=None, candidates=("s", "t"))
    located = a_verification(stored, "v-1", located_by=LocatedBy.VALUE, error_nodes=(S,))
    offered = a_verification(stored, "v-2", value_place=several, **none)
    arun(store.trails.write(located, offered))
    assert arun(store.trails.read([located.verification_id, offered.verification_id])) == [
        located,
        offered,
    ]
    pattern = """
        MATCH (v:Verification {process_id: $p})-[e:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT]->(s)
        RETURN type(e), s.node_id, e.stage, e.position, e.located_by, e.source, e.wrote
        ORDER BY type(e), e.position"""
    rows = arun(store.database.run_text(pattern, {"p": stored}, 10)).rows
    assert [tuple(row) for row in rows] == [
        ("ERROR_INTRODUCED_AT", "s", 2, 0, "value", "Two", "Sum"),
        ("ERROR_OFFERED_AT", "s", 2, 0, "value", "Two", "Sum"),
        ("ERROR_OFFERED_AT", "t", 3, 1, "value", "Two", "Sum"),
    ]
    arun(store.trails.write(offered.replace(value_place=None, located_by=None)))
    assert len(arun(store.database.run_text(pattern, {"p": stored}, 10)).rows) == 1


def test_writing_again_changes_nothing(store: Store, arun: Any, stored: str) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))
    before = counts(store, arun, stored)
    arun(store.trails.write(written))
    assert counts(store, arun, stored) == before
    assert before == {
        "verifications": 1,
        "iterations": 2,
        "evidence": 3,
        "sentences": 4,
        "paths": 4,
        "trail": 3,
        "checked": 3,
        "errors": 3,
        "steps": 4,
    }


def trail_of(store: Store, arun: Any, process_id: str) -> tuple[list[Any], list[Any]]:
    """The nodes of the trail of a verification with what they cite, and where they lead."""
    run = store.database.run_text
    nodes = (
        "MATCH (v:Verification {verification_id: $p + '/v-1'})<-[:LEADS_TO*]-(t:TrailNode) "
        "WITH DISTINCT t MATCH (t)-[:AT]->(s:Span) OPTIONAL MATCH (t)-[:CITES]->(n:Sentence) "
        "WITH t, s, n ORDER BY n.index RETURN properties(t), s.node_id, collect(n.text) "
        "ORDER BY s.node_id"
    )
    links = (
        "MATCH (t:TrailNode {process_id: $p})-[l:LEADS_TO]->(w) "
        "RETURN t.node_id, labels(w)[0], w.node_id, l.via ORDER BY t.node_id, w.node_id"
    )
    return arun(run(nodes, {"p": process_id}, 99)).rows, arun(
        run(links, {"p": process_id}, 99)
    ).rows


def test_a_trail_is_a_path_of_nodes_that_leads_to_its_verification(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.trails.write(a_verification(stored)))
    nodes, links = trail_of(store, arun, stored)
    own = {"process_id": stored, "claim_id": "k1", "verification_id": f"{stored}/v-1"}
    b = B.node_id
    assert nodes == [
        ({**own, "node_id": name, "stage": ref.stage, "role": ref.role.value,
          "position": ref.position, "iteration": number, "caption": caption}, name, texts)
        for name, ref, number, caption, texts in (
            ("a", A, 2, "Two.", ["Two."]), (b, B, 1, "B.", ["B."]), ("s", S, 1, "Sum.", ["Sum."])
        )
    ]  # fmt: skip
    assert links == [
        ("a", "Verification", "t", ["s"]),
        (b, "TrailNode", "s", []),
        (b, "Verification", "t", []),
        ("s", "Verification", "t", []),
    ]
    provenance = (
        "MATCH (c:Claim {process_id: $p, claim_id: 'k1'})-[:IN_FORCE]->(v:Verification) "
        "MATCH way = (v)<-[:LEADS_TO*]-(t:TrailNode)-[:AT]->(r:Span {role: 'root'}) "
        "RETURN [n IN nodes(way) WHERE n:TrailNode | n.node_id] AS names ORDER BY names"
    )
    found = arun(store.database.run_text(provenance, {"p": stored}, 99)).rows
    assert found == [(["a"],), ([b],), (["s", b],)]


def test_links_between_spans_of_an_earlier_version_become_a_trail(
    store: Store, arun: Any, stored: str
) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))
    after = trail_of(store, arun, stored)
    before = (
        "MATCH (s:Span {process_id: $p})<-[:AT]-(t:TrailNode)-[l:LEADS_TO]->(w) "
        "MATCH (x:Span {process_id: $p, node_id: w.node_id}) "
        "CREATE (s)-[:EVIDENCE_FOR {verification_id: t.verification_id, iteration: t.iteration, "
        "via: l.via}]->(x)",
        "MATCH (s:Span {process_id: $p, node_id: 'a'}), (x:Span {process_id: $p, node_id: 't'}) "
        "CREATE (s)-[:EVIDENCE_FOR {verification_id: 'removed', iteration: 1}]->(x)",
        "MATCH (t:TrailNode {process_id: $p}) DETACH DELETE t",
    )
    for text in before:
        arun(store.database.run_text(text, {"p": stored}, 1, write=True))
    assert arun(store.trails.get(written.verification_id)) == written.replace(paths=())
    for name in (name for name in names("migrations") if "/v0009_" in name):
        while load(name).parameters and arun(store.database.write(name, limit=2)) != [(0,)]:
            pass  # as often as one that is killed after each batch
    assert trail_of(store, arun, stored) == after
    assert arun(store.trails.get(written.verification_id)) == written
    old = "MATCH (:Span {process_id: $p})-[x:EVIDENCE_FOR]->() RETURN count(x)"
    assert arun(store.database.run_text(old, {"p": stored}, 1)).rows == [(0,)]


def test_writing_another_outcome_leaves_nothing_of_the_first(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.trails.write(a_verification(stored)))
    claim = a_verification(stored).verified_claim
    facts = {"process_id": stored, "claim": claim, "status": Status.FAILED, "verdict": None}
    failed = a_trail(f"{stored}/v-1", error="no answer", **facts)
    arun(store.trails.write(failed))
    assert arun(store.trails.get(failed.verification_id)) == failed
    left = counts(store, arun, stored)
    assert steps_of(store, arun, stored) == 0
    assert {name: n for name, n in left.items() if n} == {"verifications": 1, "sentences": 4}


def test_two_verifications_share_sentences_but_not_paths(
    store: Store, arun: Any, stored: str
) -> None:
    first, second = a_verification(stored, "v-1"), a_verification(stored, "v-2")
    arun(store.trails.write(first))
    arun(store.trails.write(second))
    assert counts(store, arun, stored)["sentences"] == 4
    assert counts(store, arun, stored)["paths"] == 8
    assert arun(store.trails.read([second.verification_id, first.verification_id])) == [
        second,
        first,
    ]


def test_many_trails_over_the_same_spans_can_be_written_at_once(
    store: Store, arun: Any, stored: str
) -> None:
    many = [a_verification(stored, f"v-{number}") for number in range(12)]

    async def write_all() -> None:
        await asyncio.gather(*(store.trails.write(one) for one in many))

    arun(write_all())
    assert arun(store.trails.read([one.verification_id for one in many])) == many


def test_an_unknown_verification_is_named(store: Store, arun: Any) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        arun(store.trails.get("nowhere"))


def test_verifications_are_listed_newest_first_by_the_page(
    store: Store, arun: Any, stored: str
) -> None:
    for number in range(5):
        created = f"2026-01-0{number + 1}T00:00:00.000000Z"
        one = a_verification(stored, f"v-{number}").replace(created_at=created)
        arun(store.trails.write(one))
    ids, cursor = arun(store.trails.page(stored, limit=3))
    assert [name[-3:] for name in ids] == ["v-4", "v-3", "v-2"]
    rest, end = arun(store.trails.page(stored, before=cursor, limit=3))
    assert [name[-3:] for name in rest] == ["v-1", "v-0"]
    assert end is None


def test_verdicts_are_counted_by_the_latest_verification_of_a_claim(
    store: Store, arun: Any, stored: str
) -> None:
    arun(store.trails.write(a_verification(stored, "v-1")))
    later = a_verification(stored, "v-2").replace(
        created_at="2026-02-01T00:00:00.000000Z",
        verdict=Verdict.FULLY_SUPPORTED,
        error_nodes=(),
        propagated_nodes=(),
    )
    arun(store.trails.write(later))
    summary = next(s for s in arun(store.processes.page()) if s.process_id == stored)
    assert summary.claims == 2
    assert summary.verdicts == {"FULLY_SUPPORTED": 1}


def test_headers_hold_error_stages_without_the_trail(store: Store, arun: Any, stored: str) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))
    (header,) = arun(store.trails.headers([written.verification_id]))
    assert header.error == written.error
    assert header.iterations == ()
    assert header.steps == ()
    assert (header.usage, header.settings) == (written.usage, written.settings)


def test_replacing_a_process_removes_its_verifications(
    store: Store, arun: Any, stored: str
) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))
    other = process({"a": "New.", "t": "T."}, [("a", "t")], process_id=stored)
    report = arun(ingest(store, other, replace=True))
    assert report.removed_verifications == 1
    with pytest.raises(NotFound):
        arun(store.trails.get(written.verification_id))
    assert not any(counts(store, arun, stored).values())
    assert steps_of(store, arun, stored) == 0


def test_a_sentence_with_other_bounds_is_another_sentence(
    store: Store, arun: Any, stored: str
) -> None:
    first = a_verification(stored, "v-1")
    longer = found("of s", cited("s", 0, 0, "Sum. Mary."))
    iterations = (first.iterations[0].replace(summaries=(longer,)),)
    second = a_verification(stored, "v-2").replace(
        iterations=iterations, paths=(), error_nodes=(), propagated_nodes=()
    )
    arun(store.trails.write(first))
    arun(store.trails.write(second))
    assert arun(store.trails.read([first.verification_id, second.verification_id])) == [
        first,
        second,
    ]


def test_a_trail_over_a_large_node_is_stored_in_small_batches(
    store: Store, arun: Any, process_id: str
) -> None:
    text = "Grass grows slowly. " * 100_000
    arun(
        ingest(
            store,
            process({"r": text, "t": "T."}, [("r", "t")], {"k1": "Grass."}, process_id=process_id),
        )
    )
    places = range(0, len(text), len(text) // 40)
    grass = [cited("r", n, at, "Grass grows slowly.") for n, at in enumerate(places)]
    root = NodeRef("r", 1, 0, Role.ROOT)
    written = bare(process_id, "Grass.", a_round(1, FS, [root], [found("grass", *grass)]))
    arun(store.trails.write(written))
    assert arun(store.trails.get(written.verification_id)) == written


def test_a_trail_of_other_content_is_refused(store: Store, arun: Any, stored: str) -> None:
    with pytest.raises(NotFound, match="replaced"):
        arun(store.trails.write(a_verification(stored).replace(content_hash="other")))
    same = arun(store.processes.get(stored)).content_hash
    arun(store.trails.write(a_verification(stored).replace(content_hash=same)))


def test_a_hidden_process_takes_and_shows_no_trail(store: Store, arun: Any, stored: str) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))
    arun(store.processes.mark(stored, "deleting"))
    with pytest.raises(NotFound):
        arun(store.trails.get(written.verification_id))
    with pytest.raises(NotFound, match="removed or replaced"):
        arun(store.trails.write(a_verification(stored, "v-2")))


def test_a_verification_is_deleted_only_behind_its_trail(
    store: Store, arun: Any, stored: str
) -> None:
    written = a_verification(stored)
    arun(store.trails.write(written))  # as if since trails were looked for
    deleting = ("process/delete_verifications", {"process_id": stored, "limit": 10})
    assert arun(store.database.write_all([deleting])) == [(0,)]
    assert arun(store.trails.get(written.verification_id)) == written


def test_trails_written_together_replace_those_that_were_there(
    store: Store, arun: Any, stored: str
) -> None:
    first = a_verification(stored, "v-1")
    arun(store.trails.write(first))
    other = first.replace(
        iterations=first.iterations[:1],
        paths=first.paths[:3],
        error_nodes=(T,),
        propagated_nodes=(),
        steps=first.steps[:2],
    )
    new = a_verification(stored, "v-2")
    arun(store.trails.write(other, new))
    assert arun(store.trails.read([first.verification_id, new.verification_id])) == [other, new]
    left = counts(store, arun, stored)
    assert (left["verifications"], left["iterations"], left["paths"]) == (2, 3, 7)
    assert (left["checked"], left["errors"], left["steps"]) == (5, 4, 6)


def test_of_trails_written_together_all_or_none_are_stored(
    store: Store, arun: Any, stored: str
) -> None:
    lost = a_verification(stored, "v-2").replace(claim_id="k9", claim="Gone.", node_id="t")
    with pytest.raises(NotFound, match="k9"):
        arun(store.trails.write(a_verification(stored), lost))
    assert counts(store, arun, stored)["verifications"] == 0


def test_small_trails_are_one_statement_and_one_that_says_which_counts(
    store: Store, arun: Any, stored: str
) -> None:
    first = a_verification(stored).replace(place=4)
    before = store.database.calls
    arun(store.trails.write(first, a_verification(stored, "v-2")))
    assert store.database.calls == before + 2
    assert arun(store.trails.get(first.verification_id)) == first


@pytest.mark.parametrize(
    "together",
    [True, pytest.param(False, marks=pytest.mark.soak)],
    ids=["one summary", "many summaries"],
)
def test_a_trail_of_many_nodes_is_stored_whole_and_again(
    store: Store, arun: Any, process_id: str, together: bool
) -> None:
    names = [f"n{number:05}" for number in range(800)]
    texts = {**dict.fromkeys(names, "It rained."), "t": "T."}
    edges = [(name, "t") for name in names]
    arun(ingest(store, process(texts, edges, {"k1": "Rain."}, process_id=process_id)))
    refs = [NodeRef(name, 1, n, Role.ROOT) for n, name in enumerate(names)]
    some = [cited(name, 0, 0, "It rained.") for name in names[:400]]
    many = [found(f"rain in {one.node_id}", one) for one in some]
    evidence = [found("rain", *some)] if together else many
    paths = tuple(path(name, "t", 1) for name in names[:400])
    written = bare(process_id, "Rain.", a_round(1, FS, refs, evidence), paths=paths)
    for _ in range(2):
        arun(store.trails.write(written))
        assert arun(store.trails.get(written.verification_id)) == written
        assert counts(store, arun, process_id)["checked"] == 800


def test_ids_that_look_like_parameters_are_ids(store: Store, arun: Any, process_id: str) -> None:
    odd = "$process_id"
    arun(
        ingest(
            store,
            process({odd: "One.", "t": "T."}, [(odd, "t")], {"k1": "One."}, process_id=process_id),
        )
    )
    root = NodeRef(odd, 1, 0, Role.ROOT)
    evidence = found("$rows", cited(odd, 0, 0, "One."), missing="$content_hash")
    one = a_round(1, FS, [root], [evidence], reasoning="$rows")
    paths = (path(odd, "t", 1, "$rows"),)
    written = bare(process_id, "One.", one, paths=paths, error_nodes=(root,))
    arun(store.trails.write(written))
    assert arun(store.trails.get(written.verification_id)) == written


def test_a_huge_trail_is_written_in_several_transactions_and_again(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine holds a transaction in memory; until the last one nothing counts."""
    monkeypatch.setattr(trail_writing, "HUGE_ROWS", 12)
    monkeypatch.setattr(trail_writing, "MAX_ROWS", 10)
    texts = {f"n{number:02}": f"Text {number}." for number in range(45)}
    edges = [(name, "t") for name in texts]
    source = process({**texts, "t": "T."}, edges, {"k1": "It rained."}, process_id=process_id)
    arun(ingest(store, source))
    claim = Claim(claim_id="k1", text="It rained.", node_id="t")
    refs = tuple(NodeRef(name, 1, number, Role.ROOT) for number, name in enumerate(texts))
    iteration = Iteration(number=1, verdict=Verdict.INCONCLUSIVE, reasoning="r", checked=refs)
    made = Verification.of_claim(
        claim,
        verification_id=f"{process_id}/v",
        process_id=process_id,
        q=1,
        engine="lexical",
        indicative=True,
        created_at="2026-01-01T00:00:00.000000Z",
        status=Status.SUCCEEDED,
        verdict=Verdict.INCONCLUSIVE,
        reused_from=f"{process_id}/v-0",
        iterations=(iteration,),
    )
    ended = {"status": Status.FAILED, "verdict": None, "reused_from": None}
    earlier = made.replace(verification_id=f"{process_id}/v-0", iterations=(), **ended)
    arun(store.trails.write(earlier))

    for _ in range(2):  # the second time it replaces the first
        before = store.database.calls
        arun(store.trails.write(made))
        assert store.database.calls > before + 3
        (kept,) = arun(store.trails.read([made.verification_id]))
        assert kept == made
        assert arun(store.claims.get(process_id, "k1")).verdict is Verdict.INCONCLUSIVE
        assert arun(store.queries.run("reused", {"process_id": process_id})).rows[0][5] is True

    # Cut short, it has no verdict and can be written again.
    arun(store.database.write("trail/uncheck", verification_id=made.verification_id, limit=99))
    trail = trail_writing.HugeTrail.of(made)
    arun(store.database.write_with(trail.begin))
    (left,) = arun(store.trails.headers([made.verification_id]))
    assert (left.status, left.verdict) == (Status.RUNNING, None)
    assert arun(store.claims.get(process_id, "k1")).verdict is None
    arun(store.trails.write(made))
    (kept,) = arun(store.trails.read([made.verification_id]))
    assert kept == made
