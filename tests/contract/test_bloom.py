"""What Bloom's search phrases, suggestions and scene actions bring back, on both engines."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from contract.query_cases import CLAIMS, HOSTILE, store_harbour, store_ladder, store_reviews
from fakes.processes import process
from fakes.trails import NFS, a_round, a_trail, cited, found, path
from neo4j.graph import Node, Path, Relationship

from veritrail_graph import cypher
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Role,
)
from veritrail_graph.graph.schema.bloom import ACTIONS, PHRASES, perspective
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

INJECTION = "x'\"}) DETACH DELETE n // `; RETURN $process_id\n*/"
PERSPECTIVE = perspective()
TEMPLATES = {template["text"]: template for template in PERSPECTIVE["templates"]}
TEXTS = {phrase.statement.removeprefix("bloom/"): phrase.text for phrase in PHRASES}
WITH_SUBJECT = [text for text, template in TEMPLATES.items() if template["params"]]

Scene = tuple[set[str], set[str]]
Ask = Callable[..., Scene]


@pytest.fixture(scope="module")
def harbour(store: Store, arun: Any) -> Iterator[str]:
    """The process of `query_cases`, stored once an engine."""
    process_id = f"bloom-{uuid.uuid4().hex[:12]}"
    arun(store_harbour(store, process_id))
    arun(store_reviews(store, process_id))
    yield process_id
    arun(store.processes.delete(process_id))


def rows_of(store: Store, arun: Any, text: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement of the perspective as Bloom does: its text and its parameters."""
    found = arun(store.database.run_text(text, values, 100_000))
    assert not found.truncated
    return list(found.rows)


def scene(rows: list[tuple[Any, ...]], process_id: str) -> Scene:
    """Nodes as `Label name`, relationships as `TYPE name>name`; both ends must be there."""
    nodes: dict[str, str] = {}
    whose: dict[str, str] = {}
    links: dict[str, Relationship] = {}
    for value in (each for row in rows for each in row if each is not None):
        assert isinstance(value, Node | Relationship | Path), value  # all that Bloom can draw
        path_nodes = value.nodes if isinstance(value, Path) else [value]
        nodes |= {n.element_id: named(n, process_id) for n in path_nodes if isinstance(n, Node)}
        whose |= {n.element_id: n.get("process_id", "") for n in path_nodes if isinstance(n, Node)}
        path_links = value.relationships if isinstance(value, Path) else [value]
        links |= {r.element_id: r for r in path_links if isinstance(r, Relationship)}
    names = [
        f"{link.type} {name_of(nodes, link.start_node)}>{name_of(nodes, link.end_node)}"
        for link in links.values()
    ]
    # Nothing of another verification slips in; another process may hold the same ids.
    processes = [
        {whose[end.element_id] for end in (link.start_node, link.end_node) if end is not None}
        for link in links.values()
    ]
    places = [(name, *sorted(one)) for name, one in zip(names, processes, strict=True)]
    assert len(set(places)) == len(places)
    return set(nodes.values()), set(names)


def name_of(nodes: dict[str, str], node: Node | None) -> str:
    assert node is not None
    return nodes[node.element_id].split(" ", 1)[1]


def named(node: Node, process_id: str) -> str:
    (label,) = node.labels
    name = {
        "Process": lambda: node["process_id"],
        "Span": lambda: node["node_id"],
        "Claim": lambda: node["claim_id"],
        "Verification": lambda: node["verification_id"],
        "Iteration": lambda: f"{node['verification_id']}/{node['number']}",
        "Review": lambda: node["review_id"],
        "Evidence": lambda: node["evidence_id"],
        "Sentence": lambda: f"{node['node_id']}#{node['index']}",
        "TrailNode": lambda: f"{node['verification_id']}@{node['node_id']}",
    }[label]()
    return f"{label} {name.removeprefix(f'{process_id}/')}"


@pytest.fixture
def ask(store: Store, arun: Any, harbour: str) -> Ask:
    """Give what a search phrase shows; `HARBOUR` in a value means the process."""

    def call(name: str, **values: Any) -> Scene:
        template = TEMPLATES[TEXTS[name]]
        assert {f"${key}" for key in values} == {p["name"] for p in template["params"]}
        given = {
            key: value.replace("HARBOUR", harbour) if isinstance(value, str) else value
            for key, value in values.items()
        }
        return scene(rows_of(store, arun, template["cypher"], given), harbour)

    return call


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "claims",
        {"process": "HARBOUR"},
        "Claim k1|Claim k2|Claim k3|Claim k4|Claim k5|Span t|Span m1|"
        "Verification v1|Verification v2|Verification v3|Verification v5",
        "EXTRACTED_FROM k1>t|EXTRACTED_FROM k2>t|EXTRACTED_FROM k3>t|EXTRACTED_FROM k4>m1|"
        "EXTRACTED_FROM k5>t|VERIFIES v1>k1|VERIFIES v2>k2|VERIFIES v3>k3|VERIFIES v5>k5",
    ),
    (
        "final_outputs",
        {"process": "HARBOUR"},
        "Process HARBOUR|Span t|Claim k1|Claim k2|Claim k3|Claim k5",
        "HAS_FINAL_OUTPUT HARBOUR>t|EXTRACTED_FROM k1>t|EXTRACTED_FROM k2>t|EXTRACTED_FROM k3>t|"
        "EXTRACTED_FROM k5>t",
    ),
    (
        "unsupported_claims",
        {"process": "HARBOUR"},
        "Claim k2|Claim k5|Verification v2|Verification v5|Span s2|Span m1|Span t",
        "VERIFIES v2>k2|VERIFIES v5>k5|ERROR_INTRODUCED_AT v2>s2|ERROR_INTRODUCED_AT v2>m1|"
        "ERROR_INTRODUCED_AT v5>t",
    ),
    (
        "without_verdict",
        {"process": "HARBOUR"},
        "Claim k2|Verification v2-failed",
        "VERIFIES v2-failed>k2",
    ),
    (
        "reviews",
        {"process": "HARBOUR"},
        "Claim k1|Claim k2|Claim k3|Claim k5|Review r1|Review r2|Review r3|Review r4|Review r5|"
        "Review r6|Verification v1|Verification v2|Verification v2-old|Verification v3|"
        "Verification v5",
        "REVIEWS r1>k1|REVIEWS r2>k2|REVIEWS r3>k2|REVIEWS r4>k2|REVIEWS r5>k3|REVIEWS r6>k5|"
        "CONSIDERS r1>v1|CONSIDERS r2>v2|CONSIDERS r3>v2|CONSIDERS r4>v2-old|CONSIDERS r5>v3|"
        "CONSIDERS r6>v5|VERIFIES v1>k1|VERIFIES v2>k2|VERIFIES v2-old>k2|VERIFIES v3>k3|"
        "VERIFIES v5>k5",
    ),
    (
        "provenance",
        {"claim": "HARBOUR/k1"},
        "Claim k1|Verification v1|Span t|Span s1|Span c1|TrailNode v1@s1|TrailNode v1@c1|"
        "Sentence s1#0|Sentence c1#0",
        "VERIFIES v1>k1|EXTRACTED_FROM k1>t|LEADS_TO v1@c1>v1@s1|LEADS_TO v1@s1>v1|"
        "AT v1@s1>s1|AT v1@c1>c1|CITES v1@s1>s1#0|CITES v1@c1>c1#0",
    ),
    # Nobody verified k4, and nothing was found for k5.
    ("provenance", {"claim": "HARBOUR/k4"}, "Claim k4|Span m1", "EXTRACTED_FROM k4>m1"),
    (
        "provenance",
        {"claim": "HARBOUR/k5"},
        "Claim k5|Span t|Verification v5",
        "EXTRACTED_FROM k5>t|VERIFIES v5>k5",
    ),
    (
        "error_origin",
        {"claim": "HARBOUR/k2"},
        "Claim k2|Verification v2|Span s2|Span m1|Span t|TrailNode v2@s2|TrailNode v2@m1",
        "VERIFIES v2>k2|ERROR_INTRODUCED_AT v2>s2|ERROR_INTRODUCED_AT v2>m1|"
        "ERROR_PROPAGATED_THROUGH v2>t|AT v2@s2>s2|AT v2@m1>m1|LEADS_TO v2@s2>v2@m1|"
        "LEADS_TO v2@s2>v2|LEADS_TO v2@m1>v2",
    ),
    ("error_origin", {"claim": "HARBOUR/k1"}, "Claim k1|Verification v1", "VERIFIES v1>k1"),
    ("error_origin", {"claim": "HARBOUR/k4"}, "Claim k4", ""),
    (
        "evidence_trail",
        {"verification": "HARBOUR/v2"},
        "Claim k2|Verification v2|Iteration v2/1|Iteration v2/2|Evidence v2/1/0|Evidence v2/2/0|"
        "Evidence v2/2/1|Sentence s2#0|Sentence m1#0|Sentence c2#0|Sentence s1#1|"
        "Span s2|Span m1|Span c2|Span s1",
        "VERIFIES v2>k2|HAS_ITERATION v2>v2/1|HAS_ITERATION v2>v2/2|FOUND v2/1>v2/1/0|"
        "FOUND v2/2>v2/2/0|FOUND v2/2>v2/2/1|CITES v2/1/0>s2#0|CITES v2/1/0>m1#0|"
        "CITES v2/2/0>c2#0|CITES v2/2/1>s1#1|SENTENCE_OF s2#0>s2|SENTENCE_OF m1#0>m1|"
        "SENTENCE_OF c2#0>c2|SENTENCE_OF s1#1>s1",
    ),
    (
        "evidence_trail",
        {"verification": "HARBOUR/v2-failed"},
        "Claim k2|Verification v2-failed",
        "VERIFIES v2-failed>k2",
    ),
    (
        "checked_nodes",
        {"verification": "HARBOUR/v1"},
        "Verification v1|Iteration v1/1|Iteration v1/2|Iteration v1/3|Span s2|Span m1|Span c2|"
        f"Span {HOSTILE}|Span s1|Span c1",
        "HAS_ITERATION v1>v1/1|HAS_ITERATION v1>v1/2|HAS_ITERATION v1>v1/3|CHECKED v1/1>s2|"
        f"CHECKED v1/1>m1|CHECKED v1/2>c2|CHECKED v1/2>{HOSTILE}|CHECKED v1/2>s1|CHECKED v1/3>c1",
    ),
    (
        "candidates",
        {"verification": "HARBOUR/v5"},
        f"Verification v5|Iteration v5/1|Iteration v5/2|Span s2|Span m1|Span c1|Span c2|"
        f"Span {HOSTILE}|Span s1",
        "HAS_ITERATION v5>v5/1|HAS_ITERATION v5>v5/2|CHECKED v5/1>s2|CHECKED v5/1>m1|"
        f"CHECKED v5/2>c2|CHECKED v5/2>{HOSTILE}|CHECKED v5/2>s1|INPUT_TO c2>s2|"
        f"INPUT_TO {HOSTILE}>s2|INPUT_TO s1>m1|INPUT_TO s2>m1|INPUT_TO c1>s1|INPUT_TO c2>s1",
    ),
    (
        "impact",
        {"node": "HARBOUR/c1"},
        "Span c1|Span s1|Span m1|Span t|Claim k1|Claim k2|Claim k3|Claim k4|Claim k5|"
        "Verification v1|Verification v2|Verification v3|Verification v5",
        "INPUT_TO c1>s1|INPUT_TO s1>m1|INPUT_TO m1>t|EXTRACTED_FROM k1>t|EXTRACTED_FROM k2>t|"
        "EXTRACTED_FROM k3>t|EXTRACTED_FROM k4>m1|EXTRACTED_FROM k5>t|VERIFIES v1>k1|"
        "VERIFIES v2>k2|VERIFIES v3>k3|VERIFIES v5>k5",
    ),
    (
        "source_nodes",
        {"node": "HARBOUR/s1"},
        "Span s1|Span c1|Span c2",
        "INPUT_TO c1>s1|INPUT_TO c2>s1",
    ),
    ("source_nodes", {"node": f"HARBOUR/{HOSTILE}"}, f"Span {HOSTILE}", ""),
    (
        "made_from",
        {"node": "HARBOUR/c2"},
        "Span c2|Span s1|Span s2",
        "INPUT_TO c2>s1|INPUT_TO c2>s2",
    ),
    ("made_from", {"node": "HARBOUR/t"}, "Span t", ""),
    ("stage", {"stage": 2, "process": "HARBOUR"}, "Span s1|Span s2", ""),
    ("stage", {"stage": 9, "process": "HARBOUR"}, "", ""),
]


def parts(text: str) -> set[str]:
    return set(text.split("|")) - {""}


@pytest.mark.parametrize(("name", "values", "nodes", "links"), CASES)
def test_a_phrase_shows_what_it_promises(
    ask: Ask, harbour: str, name: str, values: dict[str, Any], nodes: str, links: str
) -> None:
    expected = (parts(part.replace("HARBOUR", harbour)) for part in (nodes, links))
    assert ask(name, **values) == tuple(expected)


def test_every_phrase_has_a_case(ask: Ask, harbour: str) -> None:
    assert {name for name, *_ in CASES} | {"processes"} == set(TEXTS)
    assert f"Process {harbour}" in ask("processes")[0]


def test_a_claim_is_found_by_its_id_alone_and_by_its_text(ask: Ask) -> None:
    # Other processes may hold a claim of that id or text: it is shown as well.
    whole = ask("provenance", claim="HARBOUR/k1")
    for claim in ("k1", CLAIMS["k1"][0]):
        nodes, links = ask("provenance", claim=claim)
        assert whole[0] <= nodes
        assert whole[1] <= links
    assert ask("error_origin", claim="HARBOUR/k2")[1] <= ask("error_origin", claim="k2")[1]


def test_a_node_is_found_by_its_id_alone(ask: Ask) -> None:
    assert ask("made_from", node=HOSTILE)[1] >= {f"INPUT_TO {HOSTILE}>s2"}


@pytest.mark.parametrize("text", WITH_SUBJECT)
def test_an_unknown_or_hostile_value_finds_nothing_and_changes_nothing(
    store: Store, arun: Any, harbour: str, ask: Ask, text: str
) -> None:
    template = TEMPLATES[text]
    for wrong in ("nowhere", INJECTION, f"{harbour}/", f"{harbour}/nowhere", ""):
        values = {
            p["name"][1:]: 1 if p["dataType"] == "Integer" else wrong for p in template["params"]
        }
        assert rows_of(store, arun, template["cypher"], values) == []
    assert len(parts(CASES[0][2])) == len(ask("claims", process="HARBOUR")[0])


@pytest.mark.parametrize("text", WITH_SUBJECT)
def test_what_is_suggested_is_found(store: Store, arun: Any, harbour: str, text: str) -> None:
    template = TEMPLATES[text]
    suggested = {p["name"][1:]: suggestions(store, arun, p) for p in template["params"]}
    ours = {
        "process": {harbour},
        "claim": {f"{harbour}/{claim}" for claim in CLAIMS} | {t for t, _ in CLAIMS.values()},
        "node": {f"{harbour}/{node}" for node in ("c1", "c2", "s1", "s2", "m1", "t")},
        "verification": {f"{harbour}/{v}" for v in ("v1", "v2", "v2-old", "v2-failed", "v3", "v5")},
        "stage": {1, 2, 3, 4},
    }
    for name, values in suggested.items():
        assert ours[name] <= set(values)
        assert len(set(values)) == len(values)
    empty = {
        "without_verdict",
        "unsupported_claims",
        "checked_nodes",
        "candidates",
    }  # may be so, and well
    for name in suggested.keys() - {"stage"}:
        for value in ours[name]:
            rows = rows_of(store, arun, template["cypher"], {"stage": 1, name: value})
            assert rows or any(TEXTS[each] == text for each in empty)


def suggestions(store: Store, arun: Any, parameter: dict[str, Any]) -> list[Any]:
    """What Bloom would suggest for a parameter: values of a property, or of a statement."""
    if parameter["cypher"] is None:
        label, key = parameter["suggestionLabel"], parameter["suggestionProp"]
        text = f"MATCH (n:{label}) RETURN DISTINCT n.{key}"
        return [value for (value,) in rows_of(store, arun, text, {})]
    kind = int if parameter["dataType"] == "Integer" else str
    rows = rows_of(store, arun, parameter["cypher"], {})
    assert all(len(row) == 1 and type(row[0]) is kind for row in rows)
    return [value for (value,) in rows]


def test_a_process_that_is_not_whole_is_not_shown(store: Store, arun: Any, process_id: str) -> None:
    arun(store_harbour(store, process_id))
    subjects = {
        "process": process_id,
        "claim": f"{process_id}/k1",
        "node": f"{process_id}/s1",
        "verification": f"{process_id}/v1",
        "stage": 1,
    }
    for state, is_shown in (("ready", True), ("deleting", False)):
        if not is_shown:
            arun(store.processes.mark(process_id, state))
        for name in (
            "claims",
            "provenance",
            "impact",
            "source_nodes",
            "evidence_trail",
            "stage",
            "checked_nodes",
            "candidates",
            "error_origin",
            "made_from",
        ):
            template = TEMPLATES[TEXTS[name]]
            values = {p["name"][1:]: subjects[p["name"][1:]] for p in template["params"]}
            assert bool(rows_of(store, arun, template["cypher"], values)) is is_shown, name
        for parameter in (p for t in TEMPLATES.values() for p in t["params"] if p["cypher"]):
            found = any(process_id in str(v) for v in suggestions(store, arun, parameter))
            assert found is is_shown or parameter["name"] == "$stage"


def test_scene_actions_start_from_what_is_selected(store: Store, arun: Any, harbour: str) -> None:
    def selected(label: str, key: str, *names: str) -> list[str]:
        text = f"MATCH (n:{label}) WHERE n.process_id = $p AND n.{key} IN $names RETURN n"
        rows = rows_of(store, arun, text, {"p": harbour, "names": list(names)})
        assert len(rows) == len(names)
        return [node.element_id for (node,) in rows]

    actions = {each["name"]: each["cypher"] for each in PERSPECTIVE["sceneActions"]}

    def run(statement: str, nodes: list[str]) -> Scene:
        name = next(each.name for each in ACTIONS if each.statement == f"bloom/{statement}")
        return scene(rows_of(store, arun, actions[name], {"nodes": nodes}), harbour)

    assert run("action_source_nodes", selected("Span", "node_id", "s1", "t")) == (
        parts("Span s1|Span c1|Span c2|Span t|Span m1|Span s2"),
        parts("INPUT_TO c1>s1|INPUT_TO c2>s1|INPUT_TO m1>t|INPUT_TO s2>t"),
    )
    assert run("action_made_from", selected("Span", "node_id", HOSTILE)) == (
        {f"Span {HOSTILE}", "Span s2"},
        {f"INPUT_TO {HOSTILE}>s2"},
    )
    assert run("action_verifications", selected("Claim", "claim_id", "k2")) == (
        parts("Claim k2|Verification v2|Verification v2-old|Verification v2-failed"),
        parts("VERIFIES v2>k2|VERIFIES v2-old>k2|VERIFIES v2-failed>k2"),
    )
    assert run("action_evidence", selected("Verification", "verification_id", f"{harbour}/v3")) == (
        parts(
            "Verification v3|Iteration v3/1|Iteration v3/2|Evidence v3/1/0|Sentence m1#0|Span m1"
        ),
        parts(
            "HAS_ITERATION v3>v3/1|HAS_ITERATION v3>v3/2|FOUND v3/1>v3/1/0|"
            "CITES v3/1/0>m1#0|SENTENCE_OF m1#0>m1"
        ),
    )
    for name, text in actions.items():
        assert rows_of(store, arun, text, {"nodes": []}) == [], name


async def store_fan(store: Store, process_id: str, sentences: int, summaries: int) -> None:
    """Store one root with many sentences of evidence for many summaries of one terminal node."""
    middle = [f"s{number}" for number in range(summaries)]
    texts = {name: f"{name}." for name in ("root", *middle, "t")}
    edges = [*(("root", name) for name in middle), *((name, "t") for name in middle)]
    await ingest(store, process(texts, edges, {"k": "A claim."}, process_id=process_id))
    refs = tuple(NodeRef(u, 2, n, Role.INTERMEDIATE) for n, u in enumerate(middle, 1))
    root = NodeRef("root", 1, 0, Role.ROOT)
    summed = found("all", *(cited(u, 0, 0, texts[u][:3]) for u in middle))
    rooted = found("all", *(cited("root", n, 0, "root.") for n in range(sentences)))
    made = a_trail(
        f"{process_id}/v",
        a_round(1, NFS, refs, [summed]),
        a_round(2, NFS, [root], [rooted]),
        process_id=process_id,
        claim=Claim(claim_id="k", text="A claim.", node_id="t"),
        paths=tuple(path(u, v, 1 + (u == "root")) for u, v in edges),
        error_nodes=refs,
        propagated_nodes=(NodeRef("t", 3, summaries + 1, Role.TERMINAL),),
    )
    await store.trails.write(made)


def test_many_sentences_and_links_of_one_node_are_all_shown(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_fan(store, process_id, 40, 30))
    asked = {"claim": f"{process_id}/k"}
    rows = rows_of(store, arun, TEMPLATES[TEXTS["provenance"]]["cypher"], asked)
    nodes, links = scene(rows, process_id)
    assert {f"Sentence root#{n}" for n in range(40)} <= nodes
    assert {f"LEADS_TO v@root>v@s{n}" for n in range(30)} <= links
    assert {f"LEADS_TO v@s{n}>v" for n in range(30)} <= links
    assert len(rows) == (40 + 30) + 30 * (1 + 1)  # a sum, not a product
    rows = rows_of(store, arun, TEMPLATES[TEXTS["error_origin"]]["cypher"], asked)
    _, links = scene(rows, process_id)
    assert {f"ERROR_INTRODUCED_AT v>s{n}" for n in range(30)} <= links
    assert {f"LEADS_TO v@s{n}>v" for n in range(30)} <= links
    # The nodes come first: what is cut off where there is too much are links between them.
    assert {row[4]["node_id"] for row in rows[:31]} == {f"s{n}" for n in range(30)} | {"t"}


def test_a_node_id_may_begin_with_that_of_its_process(
    store: Store, arun: Any, process_id: str
) -> None:
    odd = f"{process_id}/t"
    texts = {"a": "A.", odd: "Odd.", "t": "T."}
    arun(ingest(store, process(texts, [("a", odd), ("a", "t")], process_id=process_id)))
    # As a bare id the one, behind that of its process the other: both may be meant.
    for given, ids in ((odd, {odd, "t"}), (f"{process_id}/{odd}", {odd})):
        for name in ("source_nodes", "made_from"):
            rows = rows_of(store, arun, TEMPLATES[TEXTS[name]]["cypher"], {"node": given})
            assert {row[0]["node_id"] for row in rows} == ids, (name, given)


@pytest.mark.timeout(60)
def test_a_deep_trail_is_shown_in_bounded_time(store: Store, arun: Any, process_id: str) -> None:
    depth = 40  # a million million paths
    arun(store_ladder(store, process_id, depth))
    text = TEMPLATES[TEXTS["provenance"]]["cypher"]
    nodes, links = scene(rows_of(store, arun, text, {"claim": f"{process_id}/k"}), process_id)
    assert len([n for n in nodes if n.startswith("Span ")]) == 2 * depth + 1
    assert len([link for link in links if link.startswith("LEADS_TO ")]) == 4 * depth - 2
    text = TEMPLATES[TEXTS["impact"]]["cypher"]
    nodes, links = scene(rows_of(store, arun, text, {"node": f"{process_id}/a0"}), process_id)
    assert len([link for link in links if link.startswith("INPUT_TO ")]) == depth
    assert {"Claim k", "Verification v"} <= nodes


def test_no_statement_of_the_perspective_writes() -> None:
    for name in cypher.names("bloom"):
        assert not re.search(
            r"\b(CREATE|MERGE|SET|DELETE|REMOVE|LOAD|FOREACH|CALL)\b", cypher.load(name).text
        ), name
