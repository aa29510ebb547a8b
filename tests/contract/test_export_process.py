"""A process file of what is stored: reading it again gives the same, on both engines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.exporting import (
    NASTY,
    document_of,
    lines_of,
    nasty_input,
    nasty_verification,
    statements,
    store_nasty,
)
from fakes.process_files import DOCUMENT, as_json

from veritrail_graph.graph.errors import NotFound, ProcessConflict
from veritrail_graph.graph.exporters.cypher_script import write_script
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import IngestReport, ingest
from veritrail_graph.graph.ingest.restoring import restored_id
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

pytestmark = pytest.mark.engine


def read_back(store: Store, arun: Any, content: bytes, name: str, **how: Any) -> IngestReport:
    Path(name).write_bytes(content)
    report: IngestReport = arun(
        ingest(store, ProcessFileImporter().open(Path(name), ImportOptions()), **how)
    )
    return report


@pytest.mark.parametrize(("form", "name"), [(lines_of, "p.jsonl"), (document_of, "p.json")])
def test_reading_an_export_gives_the_same_process_with_its_trails(
    store: Store, arun: Any, process_id: str, form: Any, name: str
) -> None:
    digest = arun(store_nasty(store, process_id))
    before = arun(form(store, process_id))
    ids = arun(store.trails.all_ids(process_id))
    trails = arun(store.trails.read(ids))
    claims = arun(store.claims.all(process_id))
    sentences = arun(store.claims.sentences(process_id))
    facts = arun(store.processes.get(process_id))
    run = arun(store.trails.of_run(f"r-{process_id}", process_id))
    reviews = arun(store.reviews.all(process_id))
    assert [one.review.kind.value for one in reviews] == ["unclear", "confirmed", "overridden"]
    arun(store.processes.delete(process_id))

    report = read_back(store, arun, before, name)

    assert (report.status, report.verifications_added) == ("created", 3)
    assert report.reviews_added == 3
    assert arun(store.reviews.all(process_id)) == reviews
    assert report.survey.hash == digest
    assert arun(form(store, process_id)) == before
    assert arun(store.trails.all_ids(process_id)) == ids
    assert arun(store.trails.read(ids)) == trails
    assert arun(store.claims.all(process_id)) == claims
    assert arun(store.claims.sentences(process_id)) == sentences
    assert arun(store.processes.get(process_id)) == facts
    assert facts.source_format == "graphrag"
    again = arun(store.trails.of_run(f"r-{process_id}", process_id))
    assert [one.verification_id for one in again] == [one.verification_id for one in run]


def test_a_process_that_is_there_gets_the_verifications_that_it_lacks(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    before = arun(lines_of(store, process_id))
    arun(store.claims.remove(process_id, ["k1"], force=True))
    arun(ingest(store, nasty_input(process_id)))

    first = read_back(store, arun, before, "p.jsonl")
    second = read_back(store, arun, before, "p.jsonl")

    assert (first.status, first.verifications_added) == ("unchanged", 3)
    assert (second.status, second.verifications_added) == ("unchanged", 0)
    assert (first.reviews_added, second.reviews_added) == (2, 0)  # that of k2 was there
    lines = set(arun(lines_of(store, process_id)).splitlines()[1:])
    assert lines == set(before.splitlines()[1:])


def test_a_verification_whose_id_belongs_to_another_process_gets_a_new_one(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    other = f"{process_id}-b"
    try:
        for expected in (3, 0):
            report = read_back(
                store, arun, arun(lines_of(store, process_id)), "p.jsonl", process_id=other
            )
            assert report.verifications_added == expected
            assert "stored under new ids" in report.survey.warnings[-1]
        made = arun(store.trails.all_ids(other))
        own = arun(store.trails.all_ids(process_id))
        assert set(made) == {restored_id(name, other) for name in own}
        assert not set(made) & set(own)
        assert len(arun(store.trails.of_run(f"r-{process_id}"))) == 3
        there, here = arun(store.reviews.all(other)), arun(store.reviews.all(process_id))
        for one, origin in zip(there, here, strict=True):
            about = origin.review.overrides
            assert one.review == origin.review.replace(
                process_id=other,
                review_id=restored_id(origin.review.review_id, other),
                overrides=about and restored_id(about, other),
            )
        assert arun(store.queries.run("check_reviews", {"process_id": other})).rows == []
    finally:
        arun(store.processes.delete(other))


@pytest.mark.parametrize("form", ["jsonl", "cypher"])
@pytest.mark.parametrize("newer_first", [True, False], ids=["newer first", "older first"])
def test_a_kept_verdict_is_linked_to_the_earlier_one_in_whatever_order_they_come(
    store: Store, arun: Any, process_id: str, form: str, newer_first: bool
) -> None:
    older = f"{process_id}-old"
    arun(store_nasty(store, older))
    digest = arun(store_nasty(store, process_id))
    kept = nasty_verification(process_id, "4", digest).replace(reused_from=f"v-{older}-1")
    # Both versions may have the content that the earlier verdict is of.
    again = nasty_verification(process_id, "5", digest).replace(reused_from=kept.verification_id)
    arun(store.trails.write(kept, again))
    linked = {kept.verification_id: older, again.verification_id: process_id}
    assert links(store, arun, process_id) == linked

    names = [process_id, older] if newer_first else [older, process_id]
    content = {name: arun(lines_of(store, name)) for name in names}
    scripts = {name: arun(script_of(store, name)) for name in names}
    for name in names:
        arun(store.processes.delete(name))
    try:
        for place, name in enumerate(names):
            if form == "jsonl":
                read_back(store, arun, content[name], "p.jsonl")
            else:
                for text, parameters in statements(store, arun, scripts[name].decode()):
                    arun(store.database.run_text(text, parameters, 1, write=True))
            if newer_first and not place:  # nothing but what is stored is linked
                there = links(store, arun, process_id)
                assert there == {**linked, kept.verification_id: None}
        assert links(store, arun, process_id) == linked
    finally:
        arun(store.processes.delete(older))


def links(store: Store, arun: Any, process_id: str) -> dict[str, str | None]:
    """The processes of the verifications that those of a process are linked to."""
    found = arun(store.queries.run("reused", {"process_id": process_id}))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    return {row["verification_id"]: row["earlier_process"] for row in rows}


async def script_of(store: Store, process_id: str) -> bytes:
    out = io.BytesIO()
    await write_script(store, await StoredProcess.open(store.database, process_id), out.write)
    return out.getvalue()


def test_a_verification_of_earlier_content_keeps_what_it_was_about(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    content = arun(lines_of(store, process_id)).decode()
    (found, *_) = [line for line in content.splitlines() if line.startswith('{"verification"')]
    digest = json.loads(found)["verification"]["content_hash"]
    earlier = content.replace(digest, "ab" * 32)
    arun(store.processes.delete(process_id))
    read_back(store, arun, earlier.encode(), "p.jsonl")
    assert arun(lines_of(store, process_id)).decode() == earlier


def test_objects_as_verify_prints_them_are_taken_too(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    document = json.loads(arun(document_of(store, process_id)))
    for one in document["verifications"]:
        for key in ("paths", "propagated_nodes", "content_hash", "place", "method", "run_options"):
            del one[key]
        for iteration in one["iterations"]:
            iteration["summaries"] = iteration["summaries"][:1]
            iteration["evidence"] = iteration["evidence"][-1:]
            for summary in iteration["summaries"]:
                del summary["sentences"]
    arun(store.processes.delete(process_id))
    report = read_back(store, arun, as_json(document), "p.json")
    assert report.verifications_added == 3


def test_a_process_that_changes_under_way_is_not_exported(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    stored = arun(StoredProcess.open(store.database, process_id))
    arun(store.processes.delete(process_id))
    with pytest.raises(ProcessConflict, match="while it was being read"):
        arun(stored.check_unchanged())
    with pytest.raises(ProcessConflict, match="while it was being read"):
        arun(_all_spans(stored))
    with pytest.raises(NotFound, match="No process"):
        arun(StoredProcess.open(store.database, process_id))


async def _all_spans(stored: StoredProcess) -> int:
    return sum([len(page) async for page in stored.spans()])


def test_pages_are_bounded_and_hold_everything(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in {
        "_INDEX_WINDOW": 7,
        "_MOST_NODES": 3,
        "_MOST_EDGES": 5,
        "_WINDOW": 4,
    }.items():
        monkeypatch.setattr(f"veritrail_graph.graph.store.export.{name}", most)
    made = {
        **DOCUMENT,
        "process_id": process_id,
        "nodes": [{"node_id": f"n{n:02}", "text": NASTY * (n % 3)} for n in range(31)],
        "edges": [
            {"source": f"n{a:02}", "target": f"n{b:02}"}
            for b in range(20, 31)
            for a in range(20 if b == 20 else b - 2, b if b > 20 else 20)
        ]
        + [{"source": f"n{a:02}", "target": "n20"} for a in range(20)],
        "claims": [],
    }
    report = read_back(store, arun, as_json(made), "p.json")
    content = arun(document_of(store, process_id))
    arun(store.processes.delete(process_id))
    again = read_back(store, arun, content, "p.json")
    assert again.survey.hash == report.survey.hash
    assert arun(document_of(store, process_id)) == content
    assert [node["node_id"] for node in json.loads(content)["nodes"]] == [
        node["node_id"] for node in made["nodes"]
    ]


def test_empty_texts_and_names_are_kept_apart_from_absent_ones(
    store: Store, arun: Any, process_id: str
) -> None:
    made = {**DOCUMENT, "process_id": process_id, "question": ""}
    made["nodes"] = [
        {**node, "kind": "", "metadata": {"model": "", "prompt": None}} for node in made["nodes"]
    ]
    read_back(store, arun, as_json(made), "p.json")
    content = arun(document_of(store, process_id))
    found = json.loads(content)
    assert found["question"] == ""
    assert {node["kind"] for node in found["nodes"]} == {""}
    assert {json.dumps(node["metadata"]) for node in found["nodes"]} == {
        '{"prompt": null, "model": ""}'
    }
    assert "step" not in found["nodes"][0]


def test_a_run_of_record_stays_one_under_its_new_id(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    arun(store.trails.pin(process_id, f"r-{process_id}"))
    content = arun(lines_of(store, process_id))
    read_back(store, arun, content, "p.jsonl", process_id=f"{process_id}-b")
    pinned = arun(store.processes.get(f"{process_id}-b")).run_of_record
    assert pinned == restored_id(f"r-{process_id}", f"{process_id}-b")
    assert arun(store.trails.of_run(pinned, f"{process_id}-b"))
