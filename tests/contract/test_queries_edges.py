"""The query library where it is easy to go wrong: ties, nothing verified, unsound graphs."""

from __future__ import annotations

import random
from collections import deque
from itertools import pairwise, product
from typing import Any

import pytest
from contract.query_cases import store_harbour
from contract.query_values import DAY, FS, NFS
from fakes.processes import process

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Iteration,
    Status,
    StepRecord,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.queries import example_of, find, library

pytestmark = pytest.mark.engine

OF_A_PROCESS = [s.short_name for s in library() if "process_id" in {p.name for p in s.parameters}]
OVERALL = ("check_orphans", "check_loose_ends")


def rows(store: Store, arun: Any, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in arun(store.queries.run(name, parameters)).rows]


def break_it(store: Store, arun: Any, text: str, **parameters: Any) -> None:
    """Write into the graph what no program of ours writes."""
    arun(store.database.run_text(text, parameters, 10, write=True))


def store_small(store: Store, arun: Any, process_id: str) -> None:
    texts = {"a": "One.", "b": "Two.", "t": "One and two."}
    edges = [("a", "t"), ("b", "t")]
    arun(ingest(store, process(texts, edges, {"k": "One."}, process_id=process_id)))


def test_a_process_that_nobody_verified(store: Store, arun: Any, process_id: str) -> None:
    store_small(store, arun, process_id)
    answers = {
        "claims": [("k", "One.", "t", None, None, None, None, None, None, None, 0, None)],
        "stage_summary": [(1, 2, 0, 0, 0.0), (2, 1, 0, 0, 0.0)],
        "root_coverage": [
            ("a", None, 0, 0, None, "One."),
            ("b", None, 0, 0, None, "Two."),
        ],
        "impact": [("downstream", "k", "One.", "t", 1, None, None, None)],
        "downstream_terminals": [("t", 1, 1, "One and two.")],
        "ancestors": [],
        "descendants": [("t", 1, 2, "terminal", None, None, "One and two.")],
        "source_nodes": [],
        "path_between": [
            (0, "a", 1, "root", None, None, None, "One."),
            (1, "t", 2, "terminal", None, None, None, "One and two."),
        ],
    }
    subject = {
        "process_id": process_id, "claim_id": "k", "node_id": "a", "from_node_id": "a",
        "to_node_id": "t", "value": "Three",
    }  # fmt: skip
    for name in OF_A_PROCESS:
        given = {p.name: subject[p.name] for p in find(name).parameters if p.name in subject}
        assert rows(store, arun, name, **given) == answers.get(name, []), name


def test_of_two_verifications_of_one_moment_the_higher_id_is_the_latest(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_harbour(store, process_id))
    supported = arun(store.trails.get(f"{process_id}/v2-old"))
    # The same moment as v2, which says otherwise, and an id behind it.
    judge = {"engine": "openai", "model": "m", "indicative": False}
    name = f"{process_id}/v2-tied"
    tied = supported.replace(verification_id=name, created_at=DAY.format(2), **judge)
    arun(store.trails.write(tied))
    of = {"process_id": process_id}
    verdicts = {row[0]: (row[3], row[8]) for row in rows(store, arun, "claims", **of)}
    assert verdicts["k2"] == (FS, tied.verification_id)
    assert [row[0] for row in rows(store, arun, "unsupported_claims", **of)] == ["k5"]
    assert [row[1] for row in rows(store, arun, "unsupported_by_stage", **of)] == ["k5"]
    assert [row[0] for row in rows(store, arun, "error_nodes", **of)] == ["t"]
    assert rows(store, arun, "error_path", **of, claim_id="k2") == []
    resting = rows(store, arun, "resting_claims", **of, node_id="m1")
    assert [row[0] for row in resting] == ["k2"]
    assert rows(store, arun, "resting_claims", **of, node_id="m1", verdict=NFS) == []
    conflict = rows(store, arun, "conflicting_verdicts", **of)
    assert [(*row[2:4], *row[5:7]) for row in conflict] == [
        (FS, True, 2, tied.verification_id),
        (NFS, False, 1, f"{process_id}/v2"),
    ]
    different = rows(store, arun, "verification_difference", **of, claim_id="k2")
    assert {row[:2] for row in different} == {(tied.verification_id, f"{process_id}/v2")}
    listed = [row[0].rpartition("/")[2] for row in rows(store, arun, "verifications", **of)]
    assert listed == ["v2-failed", "v2-tied", "v2", "v5", "v3", "v2-old", "v1"]


def test_a_process_that_is_not_ready_is_never_shown(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_harbour(store, process_id))
    subject = {
        "claim_id": "k2", "node_id": "m1", "from_node_id": "c1", "to_node_id": "t",
    }  # fmt: skip
    for status, name in product(["loading", "replacing", "deleting"], OF_A_PROCESS):
        arun(store.processes.mark(process_id, status, owner="somebody"))
        statement = find(name)
        given = example_of(statement) | subject | {"process_id": process_id}
        declared = {p.name for p in statement.parameters}
        given = {key: value for key, value in given.items() if key in declared}
        with pytest.raises(NotFound):
            arun(store.queries.run(name, given))
        # Nor is it where the statement is run alone, as in Neo4j Browser.
        values = {**statement.defaults, **given}
        rows_found = arun(store.database.run_text(statement.text, values, 10)).rows
        assert rows_found == [], (name, status)
    assert process_id not in [row[0] for row in rows(store, arun, "processes")]


def random_graph(seed: int) -> tuple[list[str], list[tuple[str, str]]]:
    """A dense graph: every node is made from some of those before it, of any distance."""
    draw = random.Random(seed)
    names = [f"n{number:02}" for number in range(24)]
    edges = {(names[0], names[1])}
    for place in range(1, len(names)):
        for source in draw.sample(names[:place], min(place, draw.randint(1, 6))):
            edges.add((source, names[place]))
    return names, sorted(edges)


def reached(edges: list[tuple[str, str]], start: str) -> dict[str, int]:
    """Nodes downstream of a node, with the fewest steps."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for source, target in edges:
            if source == node and target not in found:
                found[target] = found[node] + 1
                waiting.append(target)
    return found


def test_ancestors_descendants_and_paths_are_those_of_the_graph(
    store: Store, arun: Any, process_id: str
) -> None:
    names, edges = random_graph(1)
    arun(ingest(store, process({n: n for n in names}, edges, process_id=process_id)))
    back = [(target, source) for source, target in edges]
    for node in names[::5]:
        for name, links in (("descendants", edges), ("ancestors", back)):
            near = reached(links, node)
            del near[node]
            for depth, limit in ((1, 100), (3, 100), (50, 100), (50, 1), (50, 5)):
                found = rows(
                    store, arun, name, process_id=process_id, node_id=node, depth=depth,
                    limit=limit,
                )  # fmt: skip
                order = [(row[1], row[2], names.index(row[0])) for row in found]
                assert order == sorted(order)
                expected = sorted(hops for hops in near.values() if hops <= depth)[:limit]
                assert [row[1] for row in found] == expected
                assert {row[0]: row[1] for row in found}.items() <= near.items()
        for target, hops in reached(edges, node).items():
            path = rows(
                store, arun, "path_between", process_id=process_id, from_node_id=node,
                to_node_id=target,
            )  # fmt: skip
            walk = [row[1] for row in path]
            assert (walk[0], walk[-1], len(walk)) == (node, target, hops + 1)
            assert set(pairwise(walk)) <= set(edges)


UNSOUND = [
    (
        "check_counts",
        "MATCH (p:Process {process_id: $process_id}) SET p.nodes = 9",
        [("nodes", 9, 3)],
    ),
    (
        "check_counts",
        "MATCH (s:Span {process_id: $process_id, node_id: 'a'})-[r:INPUT_TO]->() DELETE r",
        [("edges", 2, 1)],
    ),
    (
        "check_counts",
        "MATCH (s:Span {process_id: $process_id, node_id: 'a'}) SET s.stage = 7",
        [("nodes of stage 1", 2, 1), ("nodes of stage 7", 0, 1)],
    ),
    (
        "check_roles",
        "MATCH (s:Span {process_id: $process_id, node_id: 't'}) SET s.role = 'root'",
        [("t", 2, "root", "terminal")],
    ),
    (
        "check_roles",
        "MATCH (s:Span {process_id: $process_id, node_id: 'a'}) REMOVE s.role",
        [("a", 1, None, "root")],
    ),
    (
        "check_edges",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) "
        "MATCH (t:Span {process_id: $process_id, node_id: 't'}) CREATE (t)-[:INPUT_TO]->(a)",
        [("t", "a", "leads to an earlier stage")],
    ),
    (
        "check_edges",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) CREATE (a)-[:INPUT_TO]->(a)",
        [("a", "a", "leads to itself")],
    ),
    (
        "check_cycles",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) "
        "MATCH (b:Span {process_id: $process_id, node_id: 'b'}) "
        "CREATE (a)-[:INPUT_TO]->(b) CREATE (b)-[:INPUT_TO]->(a)",
        [("b", "a", 1, 2)],
    ),
    (
        "check_repeated_edges",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) "
        "MATCH (t:Span {process_id: $process_id, node_id: 't'}) CREATE (a)-[:INPUT_TO]->(t)",
        [("a", "t", 2)],
    ),
    (
        "check_edges",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) CREATE (a)-[:INPUT_TO]->"
        "(:Span {process_id: $process_id + '-other', node_id: 'x', stage: 3, position: 0})",
        [("a", "x", "leads into another process")],
    ),
    (
        "check_claims",
        "MATCH (c:Claim {process_id: $process_id})-[r:EXTRACTED_FROM]->() DELETE r",
        [("k", "t", "is not extracted from any span")],
    ),
    (
        "check_claims",
        "MATCH (c:Claim {process_id: $process_id}) SET c.node_id = 'a'",
        [("k", "a", "is extracted from another node")],
    ),
    (
        "check_claims",
        "MATCH (c:Claim {process_id: $process_id}) SET c.start = 0, c.end = 13",
        [("k", "t", "ends behind the end of the text")],
    ),
    (
        "check_links",
        "MATCH (a:Span {process_id: $process_id, node_id: 'a'}) "
        "MERGE (t:TrailNode {verification_id: 'v-gone', node_id: 'a'}) MERGE (t)-[:AT]->(a)",
        [("a", None, "v-gone", "its verification is not stored")],
    ),
]


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in UNSOUND))
def test_a_check_of_a_process_finds_what_is_wrong(
    store: Store, arun: Any, process_id: str, name: str
) -> None:
    for text, expected in (case for checked, *case in UNSOUND if checked == name):
        store_small(store, arun, process_id)
        assert rows(store, arun, name, process_id=process_id) == []
        break_it(store, arun, text, process_id=process_id)
        found = rows(store, arun, name, process_id=process_id)
        break_it(store, arun, REMOVE_SPANS, process_id=f"{process_id}-other")
        break_it(store, arun, REMOVE_GONE)
        assert found == expected, text
        arun(store.processes.delete(process_id))


REMOVE_GONE = "MATCH (t:TrailNode {verification_id: 'v-gone'}) DETACH DELETE t"
REMOVE_SPANS = "MATCH (s:Span) WHERE s.process_id = $process_id DETACH DELETE s"
TRAIL_OF = "MATCH (v:Verification {verification_id: $process_id + '/v1'})"
BROKEN_TRAILS = [
    (
        f"{TRAIL_OF} SET v.verdict = null",
        "has a verdict and did not succeed, or the other way round",
        "succeeded",
    ),
    (f"{TRAIL_OF}-[r:VERIFIES]->() DELETE r", "does not verify its claim", "k1"),
    (
        f"{TRAIL_OF}-[:HAS_ITERATION]->(i:Iteration {{number: 1}}) DETACH DELETE i",
        "lacks an iteration before",
        "iteration 3",
    ),
    (
        f"{TRAIL_OF}-[:HAS_ITERATION]->(i:Iteration {{number: 3}})-[r:CHECKED]->() DELETE r",
        "did not check as many nodes as it says",
        "iteration 3",
    ),
    (
        f"{TRAIL_OF}-[:HAS_ITERATION]->(i:Iteration {{number: 2}})-[:FOUND]->()-[r:CITES]->() "
        "DELETE r",
        "does not cite as many sentences as it says",
        "iteration 2",
    ),
    (
        f"{TRAIL_OF} MATCH (s:Span {{process_id: $process_id, node_id: 's1'}}) "
        "CREATE (v)-[:ERROR_INTRODUCED_AT {stage: 2}]->(s)",
        "has an error and is supported",
        FS,
    ),
]


def test_a_check_of_trails_finds_what_is_wrong(store: Store, arun: Any, process_id: str) -> None:
    arun(store_harbour(store, process_id))
    whole = arun(store.trails.get(f"{process_id}/v1"))
    for text, problem, detail in BROKEN_TRAILS:
        assert rows(store, arun, "check_trails", process_id=process_id) == []
        break_it(store, arun, text, process_id=process_id)
        found = rows(store, arun, "check_trails", process_id=process_id)
        assert found == [(f"{process_id}/v1", problem, detail)]
        break_it(store, arun, REMOVE_VERIFICATION, process_id=process_id)
        arun(store.trails.write(whole))


FALSE_LINKS = [
    ("s2", "t", 3, None, "no sentence of its source is evidence of that round"),
    ("c1", "t", 3, None, "no edges of the process lead this way"),
    ("c1", "t", 3, ["s1"], "no edges of the process lead this way"),
    ("c1", "t", 3, ["s1", "m1"], None),
]


def test_a_link_that_nothing_bears_out_is_found(store: Store, arun: Any, process_id: str) -> None:
    arun(store_harbour(store, process_id))
    for source, target, number, via, problem in FALSE_LINKS:
        assert rows(store, arun, "check_links", process_id=process_id) == []
        break_it(
            store, arun,
            "MATCH (s:Span {process_id: $process_id, node_id: $source}) "
            "MERGE (u:TrailNode {verification_id: $process_id + '/v1', node_id: $source}) "
            "ON CREATE SET u.is_false = true, u.iteration = $number, u.process_id = $process_id, "
            "u.stage = s.stage, u.role = s.role "
            "MERGE (u)-[:AT]->(s) "
            "WITH u MATCH (w {verification_id: u.verification_id, node_id: $target}) "
            "WHERE w:TrailNode OR w:Verification "
            "CREATE (u)-[link:LEADS_TO {is_false: true}]->(w) SET link.via = $via",
            process_id=process_id, source=source, target=target, number=number, via=via,
        )  # fmt: skip
        expected = [(source, target, f"{process_id}/v1", problem)] if problem else []
        assert rows(store, arun, "check_links", process_id=process_id) == expected
        for gone in (
            "MATCH (:TrailNode {process_id: $p})-[link:LEADS_TO {is_false: true}]->() DELETE link",
            "MATCH (u:TrailNode {process_id: $p, is_false: true}) DETACH DELETE u",
        ):
            break_it(store, arun, gone, p=process_id)


REMOVE_VERIFICATION = (
    "MATCH (v:Verification {process_id: $process_id}) WHERE v.verification_id ENDS WITH '/v1' "
    "DETACH DELETE v WITH DISTINCT 1 AS one MATCH (i:Iteration) "
    "WHERE i.verification_id = $process_id + '/v1' DETACH DELETE i WITH DISTINCT 1 AS one "
    "MATCH (e:Evidence) WHERE e.evidence_id STARTS WITH $process_id + '/v1/' DETACH DELETE e "
    "WITH DISTINCT 1 AS one MATCH (t:TrailNode) WHERE t.verification_id = $process_id + '/v1' "
    "DETACH DELETE t"
)
LOOSE = [
    ("CREATE (x:Claim {process_id: $id, claim_id: $id, position: 0, text: ''})", "Claim",
     {"is not extracted from any span"}),
    ("CREATE (x:Extraction {process_id: $id, node_id: $id, position: 0})", "Extraction",
     {"is in no span"}),
    ("CREATE (x:Verification {verification_id: $id, process_id: $id, status: 'failed'})",
     "Verification", {"verifies no claim"}),
    ("CREATE (x:Review {review_id: $id, process_id: $id, claim_id: $id})", "Review",
     {"reviews no claim"}),
    ("CREATE (x:Iteration {verification_id: $id, number: 1})", "Iteration",
     {"belongs to no verification"}),
    ("CREATE (x:Step {verification_id: $id, position: 0})", "Step", {"belongs to no verification"}),
    ("CREATE (x:TrailNode {verification_id: $id, node_id: $id})", "TrailNode",
     {"is at no span", "leads nowhere"}),
    ("CREATE (x:Evidence {evidence_id: $id})", "Evidence",
     {"was found in no iteration", "cites no sentence"}),
    ("CREATE (x:Sentence {process_id: $id, node_id: $id, index: 0, start: 0, end: 1})", "Sentence",
     {"is cited by no evidence", "is in no span"}),
]  # fmt: skip
KEYS = {
    "Claim": "claim_id", "Extraction": "node_id", "Verification": "verification_id",
    "Iteration": "verification_id", "Step": "verification_id", "Evidence": "evidence_id",
    "Sentence": "node_id", "Review": "review_id", "TrailNode": "verification_id",
}  # fmt: skip


@pytest.mark.parametrize(("text", "label", "problems"), LOOSE)
def test_what_hangs_on_nothing_is_found(
    store: Store, arun: Any, process_id: str, text: str, label: str, problems: set[str]
) -> None:
    break_it(store, arun, text, id=process_id)
    # Other programs of the graph write and delete meanwhile.
    found = [row for row in rows(store, arun, "check_loose_ends") if row[1] == process_id]
    orphans = rows(store, arun, "check_orphans")
    remove = f"MATCH (x:{label}) WHERE x.{KEYS[label]} = $id DETACH DELETE x"
    break_it(store, arun, remove, id=process_id)
    assert set(found) == {(label, process_id, problem) for problem in problems}
    named = label in {"Claim", "Extraction", "Verification", "Sentence", "Review"}
    assert orphans == ([(label, process_id, 1, process_id)] if named else [])


def test_a_span_without_process_is_found(store: Store, arun: Any, process_id: str) -> None:
    make = "CREATE (:Span {process_id: $process_id, node_id: 'x', stage: 1, position: 0})"
    break_it(store, arun, make, process_id=process_id)
    found = rows(store, arun, "check_orphans")
    break_it(store, arun, REMOVE_SPANS, process_id=process_id)
    assert found == [("Span", process_id, 1, "x")]
    assert rows(store, arun, "check_orphans") == []


def test_rounds_that_read_the_same_nodes_count_each_for_itself(
    store: Store, arun: Any, process_id: str
) -> None:
    store_small(store, arun, process_id)
    content_hash = arun(store.processes.get(process_id)).content_hash
    (claim,) = arun(store.claims.all(process_id))
    (a, _), (t, _) = (arun(store.reading.node(process_id, name)) for name in ("a", "t"))
    given = [(content_hash, (a,)), (content_hash, (a,)), (content_hash, (a, t)), (None, (a,))]
    for number, (content, checked) in enumerate(given):
        step = StepRecord(
            iteration=1,
            step="verdict",
            prompt="verdict.v1",
            prompt_hash="0f" * 32,
            model="none",
            usage=Usage(calls=1, input_tokens=10, cost_usd=0.5),
        )
        one = Verification.of_claim(
            claim,
            verification_id=f"v-{process_id}-{number}",
            process_id=process_id,
            content_hash=content,
            q=1,
            engine="fixed",
            model="none",
            indicative=False,
            created_at=DAY.format(number + 1),
            status=Status.SUCCEEDED,
            verdict=Verdict.FULLY_SUPPORTED,
            iterations=(
                Iteration(
                    number=1,
                    verdict=Verdict.FULLY_SUPPORTED,
                    reasoning="So it is.",
                    checked=checked,
                ),
            ),
            steps=(step,),
        )
        arun(store.trails.write(one))
    found = rows(store, arun, "cost_by_stage", process_id=process_id)
    assert [(list(row[0]), *row[1:3], row[4], row[7]) for row in found] == [
        ([1], 3, 3, 30, 1.5),
        ([1, 2], 1, 1, 10, 0.5),
    ]


def test_a_value_is_followed_however_its_thousands_are_written(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {
        "comma": "The town has 130,000 people. It has a port.",
        "blank": "The town has 130\u202f000 people.",
        "plain": "Maybe 130000 people.",
        "longer": "They paid 1,130,000 euros, or 130,000.5 each; in May.",
        "other": "The town has 140,000 people.",
        "t": "The town has 130.000 people.",
    }
    edges = [(name, "t") for name in texts if name != "t"]
    arun(ingest(store, process(texts, edges, process_id=process_id)))

    for value in ("130,000", "130 000", "130000"):
        found = rows(store, arun, "first_seen", process_id=process_id, value=value)
        assert [(row[0], row[1]) for row in found] == [
            ("first", "comma"),
            ("first", "blank"),
            ("first", "plain"),
            ("carried on", "t"),
        ]
        assert found[-1][6:] == (
            ["comma", "blank", "plain"],
            [{"node_id": "other", "sentence": "The town has 140,000 people."}],
        )
    assert [
        row[1] for row in rows(store, arun, "first_seen", process_id=process_id, value="may")
    ] == ["longer"]


def test_a_value_is_found_across_ends_of_sentences_and_lines(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {
        "a": "Prices rose. Dr. Ada Moor and J. R. Vane said U.S. exports fell.",
        "b": "The line\nbreak is here, and Αθήνας.",
        "t": "It was 130000. Dr. Ada Moor paid, in İzmir.",
    }
    arun(ingest(store, process(texts, [("a", "t"), ("b", "t")], process_id=process_id)))

    def seen(value: str) -> list[tuple[str, str]]:
        found = rows(store, arun, "first_seen", process_id=process_id, value=value)
        return [(row[1], row[5]) for row in found]

    assert seen("Dr. Ada Moor") == [
        ("a", "Dr. Ada Moor and J"), ("t", seen("dr. ada moor")[1][1]),
    ]  # fmt: skip
    assert seen("J. R. Vane") == [("a", "Ada Moor and J. R. Vane said U.S")]
    assert seen("U.S.") == [("a", "Vane said U.S. exports fell.")]
    assert seen("line break") == seen("line\nbreak") == [
        ("b", "The line break is here, and Αθήνας."),
    ]  # fmt: skip
    assert seen("Αθήνα") == seen("Vane s") == []


def test_a_value_with_signs_of_a_pattern_is_taken_as_it_stands(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(
        ingest(
            store,
            process(
                {"a": "Is .* (x+)+ a pattern?", "t": "No."}, [("a", "t")], process_id=process_id
            ),
        )
    )
    found = [
        rows(store, arun, "first_seen", process_id=process_id, value=v)
        for v in (".*", "(x+)+", "x.")
    ]
    assert [[row[1] for row in one] for one in found] == [["a"], ["a"], []]


def test_a_value_is_followed_however_its_fraction_and_signs_are_written(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {
        "close": "It rose by 50%, to 12.50 and 1,234.56 euros; it was \u22125 degrees.",
        "apart": "It rose by 50\u00a0%, to 12,50 and 1.234,56 euros; it was -5 degrees.",
        "other": "It rose by 150 %, to 12.501 and 81,234.56; from 10-5 to x-5; 1,234.567.",
        "t": "It rose by 50 %, to 12.50 and 1234.56 euros; it was \u20135 degrees.",
    }
    edges = [(name, "t") for name in texts if name != "t"]
    arun(ingest(store, process(texts, edges, process_id=process_id)))
    for value in (
        "50%", "50 %", "by 50%", "12,50", "12.50", "-5", "\u22125", "-5 degrees", "1,234.56",
        "1234,56", "1 234,56", "by  50 %", "It\n rose by 50%",
    ):  # fmt: skip
        found = rows(store, arun, "first_seen", process_id=process_id, value=value)
        assert [row[1] for row in found] == ["close", "apart", "t"], value


def test_a_number_is_no_part_of_a_longer_one_and_its_sign_and_per_cent_are_its_own(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {
        "grouped": "1 250 000 euros, 12 500 seats, 5\u202f000 or 7\u2019500; \u22123.5 % a year.",
        "t": "1,250 euros for 12 seats in 2019 500 km off; 3.5 per cent, at A-7.",
        "signed": "(-3.5) or -3.5 per cent, 4 percentage points; 250 at 1 kg.",
    }
    edges = [("grouped", "t"), ("signed", "t")]
    arun(ingest(store, process(texts, edges, process_id=process_id)))

    def seen(value: str) -> list[str]:
        found = rows(store, arun, "first_seen", process_id=process_id, value=value)
        return sorted(row[1] for row in found)

    assert seen("1,250") == seen("12") == seen("500") == seen("2019") == seen("7") == ["t"]
    assert (seen("5"), seen("000")) == ([], [])
    assert seen("250") == ["signed"]
    assert seen("12,500") == seen("5,000") == seen("1 250 000") == ["grouped"]
    assert seen("3.5") == seen("3.5%") == ["t"]
    assert seen("-3.5%") == seen("-3.5 per cent") == seen("\u22123.5 percent") == [
        "grouped", "signed",
    ]  # fmt: skip
    assert seen("4%") == []
