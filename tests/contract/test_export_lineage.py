"""PROV-JSON and OpenLineage of what is stored, read back and by the parsers of others."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fakes.exporting import (
    NASTY,
    ROOT,
    events_of,
    lines_of,
    nasty_verification,
    prov_of,
    store_nasty,
)
from fakes.processes import MemoryInput

from veritrail_graph.graph.importers.records import EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.importers.registry import find_processes, open_input
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Origin, Status, Verification
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine


def unsourced_input(process_id: str) -> MemoryInput:
    """A source, a user's turn, a generated text without inputs, and an answer from all three."""
    return MemoryInput(
        [
            NodeRecord("page.", "The mill closed in 1931.", "n", 0, "page", origin=Origin.SOURCE),
            NodeRecord("turn", "Since when is it closed?", "n", 0, origin=Origin.GIVEN),
            NodeRecord("plan", "I look at the page.", "n", 1, step="plan", origin=Origin.GENERATED),
            NodeRecord("x" * 1_024, "It closed in 1931.", "n", 2, step="answer"),
        ],
        [EdgeRecord(name, "x" * 1_024, "e") for name in ("page.", "turn", "plan")],
        header=Header("memory", process_id, terminals=("x" * 1_024,)),
    )


@pytest.fixture
def stored(store: Store, arun: Any, process_id: str) -> str:
    arun(store_nasty(store, process_id))
    return process_id


def test_reading_prov_gives_the_same_process_with_its_trails(
    store: Store, arun: Any, stored: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.prov.json"
    path.write_bytes(arun(prov_of(store, stored)))
    as_file, facts = arun(lines_of(store, stored)), arun(store.processes.get(stored))
    assert arun(prov_of(store, stored)) == path.read_bytes()  # the same bytes again
    arun(store.processes.delete(stored))

    report = arun(ingest(store, open_input(path)))

    assert report.survey.hash == facts.content_hash
    assert (report.verifications_added, report.reviews_added) == (3, 3)
    assert arun(store.processes.get(stored)) == facts
    assert arun(lines_of(store, stored)) == as_file
    assert arun(prov_of(store, stored)) == path.read_bytes()


async def store_unsourced(store: Store, process_id: str) -> None:
    await ingest(store, unsourced_input(process_id))


@pytest.mark.parametrize("keep", [store_nasty, store_unsourced])
def test_the_package_prov_reads_it_and_what_it_writes_is_the_same_process(
    store: Store, arun: Any, process_id: str, tmp_path: Path, keep: Any
) -> None:
    from prov.model import ProvDocument

    arun(keep(store, process_id))
    before = arun(lines_of(store, process_id))
    content = arun(prov_of(store, process_id))
    document = ProvDocument.deserialize(content=content.decode(), format="json")
    counts = Counter(record.get_type().localpart for record in document.records)
    raw = json.loads(content)
    assert counts["Entity"] == len(raw["entity"])
    assert counts["Activity"] == len(raw["activity"])
    assert counts["Derivation"] == len(raw["wasDerivedFrom"])
    for one in document.records:  # every end is a name that is declared
        for _, value in one.formal_attributes:
            assert value is None or document.get_record(value), value

    path = tmp_path / "theirs.json"
    document.serialize(str(path), format="json")
    arun(store.processes.delete(process_id))
    arun(ingest(store, open_input(path)))
    assert arun(lines_of(store, process_id)) == before


def test_prov_says_in_its_own_words_what_we_know(store: Store, arun: Any, stored: str) -> None:
    found = json.loads(arun(prov_of(store, stored)))
    kinds = Counter(one["prov:type"]["$"].partition(":")[2] for one in found["entity"].values())
    assert kinds == {
        "Process": 1, "Span": 3, "Claim": 2, "Extraction": 2, "Sentence": 2, "Verdict": 1,
        "Review": 3,
    }  # fmt: skip
    spans = [one for one in found["entity"].values() if one["prov:type"]["$"] == "veritrail:Span"]
    assert [one["veritrail:node_id"] for one in spans] == [ROOT, "$limit", "t;|"]
    assert [one["veritrail:role"] for one in spans] == ["root", "intermediate", "terminal"]
    assert [one["veritrail:stage"] for one in spans] == [1, 2, 3]
    assert spans[1]["veritrail:text"] == NASTY
    kinds = Counter(one["prov:type"]["$"] for one in found["activity"].values())
    assert kinds == {"veritrail:Step": 2, "veritrail:Verification": 3}
    inferred = [one for one in found["wasDerivedFrom"].values() if "veritrail:inferred" in one]
    assert [one["veritrail:score"] for one in inferred] == [0.25]
    assert [one["veritrail:cited"] for one in inferred] == [False]
    ends = {(one["prov:entity"], one["prov:activity"]) for one in found["used"].values()}
    verification = nasty_verification(stored, "1", None).verification_id
    used = {entity for entity, by in ends if by == f"process:verification/{verification}"}
    assert len(used) == 3  # the claim and two sentences
    (verdict,) = [one for name, one in found["entity"].items() if "/verdict" in f"/{name[8:]}"]
    assert verdict["veritrail:verdict"] == "NOT_FULLY_SUPPORTED"
    assert json.loads(verdict["veritrail:error_nodes"]["$"])
    people = [one for one in found["agent"].values() if one["prov:type"]["$"] == "prov:Person"]
    assert [one["prov:label"] for one in people] == ['Zoë "😀" $limit']


def test_a_generated_text_without_inputs_was_made_by_a_step(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, unsourced_input(process_id)))
    found = json.loads(arun(prov_of(store, process_id)))
    made = {one["prov:entity"] for one in found["wasGeneratedBy"].values()}
    assert "process:node/plan" in made
    assert not made & {"process:node/turn", "process:node/page%2E"}
    assert len(made) == 2
    assert max(map(len, found["entity"])) < 100  # very long ids are replaced by their hash


def test_every_process_of_a_file_of_documents_is_read(
    store: Store, arun: Any, stored: str, tmp_path: Path
) -> None:
    path = tmp_path / "many.jsonl"
    document = json.loads(arun(prov_of(store, stored)))
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (document, {"entity": 3}, document)))
    found = list(find_processes(path, format_name="prov"))
    assert [one.where.rpartition("#")[2] for one in found] == ["1", "2", "3"]
    assert found[2].open().header.process_id == stored


def test_each_step_is_an_openlineage_event(store: Store, arun: Any, stored: str) -> None:
    content = arun(events_of(store, stored))
    assert arun(events_of(store, stored)) == content
    events = [json.loads(line) for line in content.decode().split("\n") if line]
    for event in events:
        check_event(event)
    assert [event["outputs"][0]["name"] for event in events] == ["$limit", "t;|"]
    assert [one["name"] for one in events[1]["inputs"]] == [ROOT, "$limit"]
    assert NASTY[:20] not in json.dumps([event["inputs"] for event in events])
    span = events[1]["inputs"][0]["facets"]["veritrail_span"]
    assert (span["node_id"], span["stage"], span["role"]) == (ROOT, 1, "root")
    assert span["text_length"] == len(f"One. {NASTY}")
    edge = events[1]["inputs"][0]["inputFacets"]["veritrail_edge"]
    assert (edge["cited"], edge["inferred"], edge["score"]) == (False, "overlap", 0.25)
    (claim,) = events[1]["outputs"][0]["outputFacets"]["veritrail_claims"]["claims"]
    assert (claim["claim_id"], claim["verdict"]) == ("k1", "NOT_FULLY_SUPPORTED")
    assert claim["error_stages"] == [2]
    assert len({event["run"]["runId"] for event in events}) == 2
    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in events}
    assert len(parents) == 1


def test_an_undecided_claim_is_in_its_event_without_a_verdict(
    store: Store, arun: Any, process_id: str
) -> None:
    digest = arun(store_nasty(store, process_id))
    undecided = Verification.of_claim(
        Claim(claim_id="k2", text="another", node_id="$limit"),
        verification_id=f"v-{process_id}-9",
        process_id=process_id,
        q=3,
        engine="lexical",
        model=None,
        indicative=True,
        created_at="2026-01-01T00:00:00Z",
        status=Status.UNDECIDED,
        error="Cannot tell.",
        content_hash=digest,
    )
    arun(store.trails.write(undecided))
    lines = [json.loads(line) for line in arun(events_of(store, process_id)).splitlines()]
    facets = [event["outputs"][0]["outputFacets"]["veritrail_claims"] for event in lines]
    claims = [claim for facet in facets for claim in facet["claims"]]
    assert [(one["claim_id"], one["status"], one["verdict"]) for one in claims] == [
        ("k2", "undecided", None),
        ("k1", "succeeded", "NOT_FULLY_SUPPORTED"),
    ]


def test_a_text_without_inputs_has_an_event_where_a_step_made_it(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, unsourced_input(process_id)))
    events = [json.loads(line) for line in arun(events_of(store, process_id)).splitlines()]
    for event in events:
        check_event(event)
    found = {event["job"]["name"]: len(event["inputs"]) for event in events}
    assert found == {"plan": 0, "answer": 3}


def check_event(event: dict[str, Any]) -> None:
    """The keys that the schema 2-0-2 of RunEvent demands, and their forms."""
    assert event["eventType"] == "COMPLETE"
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert str(UUID(event["run"]["runId"])) == event["run"]["runId"]
    for named in (event["job"], *event["inputs"], *event["outputs"]):
        assert isinstance(named["namespace"], str)
        assert named["namespace"]
        assert isinstance(named["name"], str)
        assert named["name"]
    for url in (event["producer"], event["schemaURL"]):
        assert url.startswith("https://")
    facets = [event["run"]["facets"]]
    for dataset in (*event["inputs"], *event["outputs"]):
        facets += [dataset[key] for key in dataset if key.lower().endswith("facets")]
    for some in facets:
        for facet in some.values():
            assert facet["_producer"].startswith("https://")
            assert facet["_schemaURL"].startswith("https://")
    assert set(event) == {
        "eventType", "eventTime", "run", "job", "inputs", "outputs", "producer", "schemaURL",
    }  # fmt: skip
