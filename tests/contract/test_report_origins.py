"""A report of what is stored says what a report of the exported file says, on both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes.exporting import document_of, store_nasty
from fakes.hostile_file import hostile_process

from veritrail_graph.api.app import Application
from veritrail_graph.api.show.reports.data import ClaimSelection, Made, ReportSource
from veritrail_graph.api.show.reports.files import Asked, pieces
from veritrail_graph.api.show.reports.sources import FileSource, StoredSource
from veritrail_graph.graph.errors import NotFound, ProcessConflict
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

MADE = Made(at="2026-02-01T10:20:30.000000Z", by="veritrail-graph 9.9")
FORMS = (
    Asked("json", dossier=True),
    Asked("json"),
    Asked("html", dossier=True),
    Asked("html"),
    Asked("csv"),
    Asked("markdown"),
    Asked("junit", strict=True),
    Asked("pytest"),
)


async def told(origin: ReportSource, asked: Asked) -> str:
    return "".join([piece async for piece in pieces(origin, asked)])


def same(store: Store, arun: Any, process_id: str, path: Path, wanted: ClaimSelection) -> None:
    """Compare reports of the store and of the file in every form."""
    stored = arun(StoredSource.read(Application.over(store), process_id, wanted, MADE))
    filed = FileSource.read(path, wanted, MADE)
    for asked in FORMS:
        assert arun(told(stored, asked)) == arun(told(filed, asked)), asked


def test_a_stored_process_and_its_file_give_the_same_reports(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_nasty(store, process_id))
    path = Path("p.json")
    path.write_bytes(arun(document_of(store, process_id)))
    same(store, arun, process_id, path, ClaimSelection())


def test_so_they_do_where_every_field_is_hostile(store: Store, arun: Any, process_id: str) -> None:
    path = Path(hostile_process(Path("hostile.json"), process_id))
    arun(ingest(store, ProcessFileImporter().open(path, ImportOptions())))
    Path("p.json").write_bytes(arun(document_of(store, process_id)))
    same(store, arun, process_id, Path("p.json"), ClaimSelection())
    same(store, arun, process_id, Path("p.json"), ClaimSelection(claim_ids=("k1",)))


def test_one_claim_is_read_by_itself(store: Store, arun: Any, process_id: str) -> None:
    path = Path(hostile_process(Path("hostile.json"), process_id))
    arun(ingest(store, ProcessFileImporter().open(path, ImportOptions())))
    origin = arun(
        StoredSource.read(Application.over(store), process_id, ClaimSelection(claim_ids=("k1",)))
    )
    document = json.loads(arun(told(origin, Asked("json"))))
    assert [claim["claim_id"] for claim in document["claims"]] == ["k1"]
    assert document["process"]["claims"] > 1
    with pytest.raises(NotFound, match="no-such-claim"):
        arun(
            StoredSource.read(
                Application.over(store), process_id, ClaimSelection(claim_ids=("no-such-claim",))
            )
        )
    with pytest.raises(NotFound):
        arun(StoredSource.read(Application.over(store), f"{process_id}-none"))


def test_what_is_removed_meanwhile_makes_no_half_report(
    store: Store, arun: Any, process_id: str
) -> None:
    path = Path(hostile_process(Path("hostile.json"), process_id))
    arun(ingest(store, ProcessFileImporter().open(path, ImportOptions())))
    origin = arun(StoredSource.read(Application.over(store), process_id))
    arun(store.processes.delete(process_id))
    for asked in (Asked("html"), Asked("json", dossier=True), Asked("csv"), Asked("markdown")):
        with pytest.raises(ProcessConflict, match="Ask for the report again"):
            arun(told(origin, asked))
