"""Nodes looked for, cut into pieces and asked what rests on them, on both engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.processes import process
from fakes.trails import FS, NFS, a_round, a_trail, cited, found, path

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    NodeRef,
    Role,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import NodeQuery
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.nodes import NodeStore

pytestmark = pytest.mark.engine

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
AWKWARD = "a/../b?x=1 😀 ' \" $node_id"
TEXTS = {
    "c1": "The pier opened in 1901. It has two lamps.",
    AWKWARD: "Nothing of this was cited.",
    "c2": "The HARBOUR is deep." + " And wide." * 40,
    "s1": "A pier of 1901.",
    "t": "The pier opened in 1901.",
}
EDGES = [("c1", "s1"), (AWKWARD, "s1"), ("c2", "s1"), ("s1", "t"), ("c1", "t")]
CLAIMS = {"k1": "The pier opened in 1901.", "k2": "The pier has three lamps."}
C1 = NodeRef("c1", 1, 0, Role.ROOT)
S1 = NodeRef("s1", 2, 3, Role.INTERMEDIATE)
T = NodeRef("t", 3, 4, Role.TERMINAL)


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    arun(ingest(store, process(TEXTS, EDGES, CLAIMS, process_id=process_id)))
    return process_id


@pytest.fixture
def search(store: Store) -> NodeStore:
    return store.nodes


def quoted(node: str, index: int, role: str = "evidence") -> CitedSentence:
    start, end = ((0, 24), (25, 42))[index]
    return cited(node, index, start, TEXTS[node][start:end], role)


def a_verification(process_id: str, name: str, claim: str, verdict: Verdict) -> Verification:
    """It cites both sentences of c1, the second as context, and that of s1."""
    return a_trail(
        f"{process_id}/{name}",
        a_round(1, verdict, [S1], [found("The pier.", quoted("s1", 0))]),
        a_round(2, verdict, [C1], [found("1901.", quoted("c1", 0), quoted("c1", 1, "context"))]),
        process_id=process_id,
        claim=Claim(claim_id=claim, text=CLAIMS[claim], node_id="t"),
        created_at=f"2026-01-01T00:00:0{name[-1]}.000000Z",
        paths=(path("c1", "s1", 2), path("s1", "t", 1)),
        error_nodes=(S1,) if verdict is NFS else (),
        propagated_nodes=(T,) if verdict is NFS else (),
    )


def names(found: tuple[list[Any], bool] | list[Any]) -> list[str]:
    nodes = found[0] if isinstance(found, tuple) else found
    return [node.node_id for node in nodes]


def test_a_node_is_listed_with_how_it_begins_and_how_many_neighbours_it_has(
    arun: Any, stored: str, search: NodeStore
) -> None:
    nodes, more = arun(search.search(stored, NodeQuery()))
    assert (names(nodes), more) == (["c1", AWKWARD, "c2", "s1", "t"], False)
    assert [(n.upstream, n.downstream) for n in nodes] == [(0, 2), (0, 1), (0, 1), (3, 1), (2, 0)]
    assert [n.excerpt for n in nodes if not n.is_cut] == [
        TEXTS[name] for name in ("c1", AWKWARD, "s1", "t")
    ]
    (long,) = [node for node in nodes if node.is_cut]
    assert (long.excerpt, long.length) == (TEXTS["c2"][:160], len(TEXTS["c2"]))
    assert [(n.stage, n.position, n.role) for n in nodes if n.node_id == "s1"] == [
        (2, 3, Role.INTERMEDIATE)
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NodeQuery(text="harbour"), ["c2"]),
        (NodeQuery(text="PIER"), ["c1", "s1", "t"]),
        (NodeQuery(text="$node_id"), [AWKWARD]),
        (NodeQuery(text="😀"), [AWKWARD]),
        (NodeQuery(text="pier", stage=1), ["c1"]),
        (NodeQuery(role=Role.TERMINAL), ["t"]),
        (NodeQuery(kind="none has it"), []),
        (NodeQuery(cited=True), []),
        (NodeQuery(text=".*"), []),
    ],
)
def test_nodes_are_found_in_the_process_and_among_some(
    arun: Any, stored: str, search: NodeStore, wanted: NodeQuery, found: list[str]
) -> None:
    assert names(arun(search.search(stored, wanted))) == found
    assert names(arun(search.among(stored, ["t", *TEXTS], wanted))) == found
    assert names(arun(search.among(stored, ["s1"], wanted))) == [n for n in found if n == "s1"]


def test_a_search_goes_on_where_a_page_ended(arun: Any, stored: str, search: NodeStore) -> None:
    first, more = arun(search.search(stored, NodeQuery(), limit=3))
    rest, end = arun(search.search(stored, NodeQuery(), first[-1].place, 3))
    assert (names(first), more) == (["c1", AWKWARD, "c2"], True)
    assert (names(rest), end) == (["s1", "t"], False)


def test_neighbours_come_by_the_page_on_either_side(
    arun: Any, stored: str, search: NodeStore
) -> None:
    page, more = arun(search.neighbours(stored, "s1", UP, limit=2))
    assert (names(page), more) == (["c1", AWKWARD], True)
    rest, end = arun(search.neighbours(stored, "s1", UP, page[-1].place, 2))
    assert (names(rest), end) == (["c2"], False)
    assert names(arun(search.neighbours(stored, "c1", DOWN))) == ["s1", "t"]
    assert arun(search.neighbours(stored, "t", DOWN)) == ([], False)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_pieces_of_a_text_are_the_text(
    store: Store, arun: Any, process_id: str, size: int
) -> None:
    text = "a😀b😀😀c\n\u2028d?é😀"
    arun(ingest(store, process({"r": text, "t": ""}, [("r", "t")], process_id=process_id)))
    search = NodeStore(store.database, piece=size)
    read = [arun(search.text(process_id, "r"))]
    while read[-1].number < read[-1].pieces:
        read.append(arun(search.text(process_id, "r", read[-1].number + 1)))
    assert "".join(one.piece for one in read) == text
    assert (read[0].length, len(read)) == (len(text), -(-len(text) // size))
    assert all(len(one.piece) == size for one in read[:-1])
    assert arun(search.text(process_id, "r", 999)) == read[-1]
    empty = arun(search.text(process_id, "t"))
    assert (empty.piece, empty.pieces) == ("", 1)


def test_prompt_and_metadata_come_with_the_text(store: Store, arun: Any, process_id: str) -> None:
    source = process({"r": "Text."}, [], process_id=process_id)
    source.nodes[0] = replace(source.nodes[0], metadata={"prompt": "Say it.", "page": 3})
    arun(ingest(store, source))
    found = arun(NodeStore(store.database).text(process_id, "r"))
    assert (found.prompt, found.metadata) == ("Say it.", '{"page":3}')


def test_what_is_not_there_is_an_error(arun: Any, stored: str, search: NodeStore) -> None:
    for call in (search.one(stored, "no such"), search.text(stored, "no such")):
        with pytest.raises(NotFound, match="no such"):
            arun(call)
    with pytest.raises(NotFound, match="nowhere"):
        arun(search.one("nowhere", "t"))


def test_sentences_are_told_with_the_claims_that_they_were_cited_for(
    store: Store, arun: Any, stored: str, search: NodeStore
) -> None:
    arun(store.trails.write(a_verification(stored, "v1", "k1", NFS)))
    arun(store.trails.write(a_verification(stored, "v2", "k1", FS)))
    arun(store.trails.write(a_verification(stored, "v3", "k2", NFS)))
    found, more = arun(search.cited_here(stored, "c1"))
    assert [(one.index, one.claim_id, one.verdict, one.is_evidence) for one in found] == [
        (0, "k1", FS, True),
        (0, "k2", NFS, True),
        (1, "k1", FS, False),
        (1, "k2", NFS, False),
    ]
    assert [one.text for one in found[::2]] == ["The pier opened in 1901.", "It has two lamps."]
    assert (more, arun(search.cited_here(stored, "c1", 3))[1]) == (False, True)
    assert arun(search.cited_here(stored, "c2")) == ([], False)
    assert names(arun(search.search(stored, NodeQuery(cited=True)))) == ["c1", "s1"]
    assert arun(search.one(stored, "c1")).cited == 2


def test_errors_are_told_where_they_came_in_by_the_latest_verification(
    store: Store, arun: Any, stored: str, search: NodeStore
) -> None:
    arun(store.trails.write(a_verification(stored, "v1", "k1", NFS)))
    arun(store.trails.write(a_verification(stored, "v3", "k2", NFS)))
    found, more = arun(search.errors_here(stored, "s1"))
    assert ([(one.claim_id, one.indicative) for one in found], more) == (
        [("k1", False), ("k2", False)],
        False,
    )
    arun(store.trails.write(a_verification(stored, "v2", "k1", FS)))
    found, _ = arun(search.errors_here(stored, "s1"))
    assert [one.verification_id for one in found] == [f"{stored}/v3"]
    assert arun(search.errors_here(stored, "t")) == ([], False)
