"""The operations of the application, one test each, on both engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.app.studies import NewStudy, Studies
from veritrail_graph.api.app import Application
from veritrail_graph.api.app.check_terms import CheckOptions, CheckWatch
from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.app.teamwork import NewRound
from veritrail_graph.api.auth.access import LOCAL
from veritrail_graph.api.cli.checked import ending_of
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import (
    BeingWritten,
    EngineError,
    InputError,
    InvalidProcess,
    NotFound,
    ProcessConflict,
)
from veritrail_graph.graph.model.attribution import SourceMode
from veritrail_graph.graph.reviewing import NewReview
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

NODES = [
    {"node_id": "a", "text": "The quay opened in 1901.", "stage": 1},
    {"node_id": "t", "text": "The quay is old.", "stage": 2},
]


@pytest.fixture
def app(store: Store, arun: Any, tmp_path: Path) -> Any:
    made = Application.over(store, Settings(home=tmp_path))
    yield made
    arun(made.close())


@pytest.fixture
def file(tmp_path: Path, process_id: str) -> Path:
    document = {
        "format": "veritrail.process/1",
        "process_id": process_id,
        "nodes": NODES,
        "edges": [{"source": "a", "target": "t"}],
        "claims": [{"claim_id": "k1", "text": "The quay is old.", "node_id": "t"}],
    }
    path = tmp_path / "process.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_each_file_of_a_folder_ends_as_if_the_files_came_one_after_the_other(
    app: Application, arun: Any, process_id: str, tmp_path: Path
) -> None:
    names = [f"{process_id}.{n}" for n in range(2)]
    folder = tmp_path / "many"
    folder.mkdir()
    other = {"node_id": "t", "text": "The quay is new.", "stage": 2}
    for place, (name, last) in enumerate(
        [(names[0], NODES[1]), ("", NODES[1]), (names[1], NODES[1]), (names[0], other),
         (names[1], NODES[1])]
    ):  # fmt: skip
        document = {
            "format": "veritrail.process/1",
            "process_id": name,
            "nodes": [NODES[0], last],
            "edges": [{"source": "a", "target": "t"}],
        }
        (folder / f"{place}.json").write_text(json.dumps(document), encoding="utf-8")

    async def ended() -> list[str]:
        each = app.processes.ingest_each([folder])
        return [getattr(one, "status", type(one).__name__) async for _, one in each]

    try:
        wanted = ["created", "InvalidProcess", "created", "ProcessConflict", "unchanged"]
        assert arun(ended()) == wanted
        assert arun(app.nodes.text(names[0], "t"))[1] == NODES[1]["text"]
    finally:
        for name in names:
            arun(app.processes.delete(name))


def test_of_a_check_that_is_stopped_what_is_finished_counts_and_nothing_failed(
    app: Application, arun: Any, process_id: str, tmp_path: Path
) -> None:
    claims = [
        {"claim_id": f"k{n}", "text": f"The quay opened in {1900 + n}.", "node_id": "t"}
        for n in range(60)
    ]
    document = {
        "format": "veritrail.process/1",
        "process_id": process_id,
        "nodes": NODES,
        "edges": [{"source": "a", "target": "t"}],
        "claims": claims,
    }
    path = tmp_path / "process.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    stops: list[Callable[[], None]] = []
    options = CheckOptions(VerifyRequest(process_id="-", engine="lexical"), concurrency=1)
    watch = CheckWatch(begins=stops.append, claims=lambda done, _all: done and stops[0]())
    done = arun(app.checking.check([path], options, watch))
    assert done.is_stopped
    (checked,) = done.checked.processes
    assert 0 < checked.claims == len(checked.results) < len(claims)
    assert (checked.verdicts.failed, checked.failed, done.checked.failed) == (0, (), ())


def test_a_process_that_was_checked_is_another_one_after_a_replacement_and_a_deletion(
    app: Application, arun: Any, file: Path, tmp_path: Path
) -> None:
    options = CheckOptions(VerifyRequest(process_id="-", engine="lexical"))
    checked = arun(app.checking.check([file], options, CheckWatch())).checked
    (process,) = checked.processes
    with_failed = checked.replace(processes=(process.replace(failed=process.results),))
    assert arun(ending_of(app, with_failed)).outdated == {}
    document = json.loads(file.read_text(encoding="utf-8"))
    document["nodes"][0]["text"] += " It closed in 2001."
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document), encoding="utf-8")
    arun(app.processes.ingest(other, IngestOptions(replace=True)))
    assert arun(ending_of(app, with_failed)).outdated == {process.process_id: True}
    arun(app.processes.delete(process.process_id))
    assert arun(ending_of(app, with_failed)).outdated == {process.process_id: False}


def test_a_process_is_ingested_listed_exported_and_deleted(
    app: Application, arun: Any, file: Path, process_id: str, tmp_path: Path
) -> None:
    made = arun(app.processes.ingest(file))
    assert (made.status, made.nodes, made.stages, made.claims) == (
        "created", 2, {"1": 1, "2": 1}, 1
    )  # fmt: skip
    assert "nodes_added" not in made.as_json()
    assert arun(app.processes.ingest(file)).status == "unchanged"
    assert process_id in [one.process_id for one in arun(app.processes.all())]
    assert [one.nodes for one in arun(app.processes.stages(process_id)).stages] == [1, 1]
    out = tmp_path / "out.json"
    assert arun(app.processes.export(process_id, path=out)).path == out
    assert json.loads(out.read_text(encoding="utf-8"))["process_id"] == process_id
    assert arun(app.processes.delete(process_id)).verifications == 0
    with pytest.raises(NotFound):
        arun(app.processes.get(process_id))


def test_what_conflicts_or_breaks_rules_is_refused_and_nothing_is_stored(
    app: Application, arun: Any, file: Path, process_id: str
) -> None:
    broken = json.loads(file.read_text(encoding="utf-8"))
    broken["edges"] = [{"source": "a", "target": "nowhere"}]
    other = file.with_name("other.json")
    other.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(InvalidProcess):
        arun(app.processes.ingest(other))
    with pytest.raises(NotFound):
        arun(app.processes.get(process_id))
    arun(app.processes.ingest(file))
    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["nodes"][0]["text"] = "Another text."
    other.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(ProcessConflict):
        arun(app.processes.ingest(other))
    assert arun(app.processes.ingest(other, IngestOptions(replace=True))).status == "replaced"


def test_nodes_claims_and_reviews_are_read_and_changed(
    app: Application, arun: Any, file: Path, process_id: str
) -> None:
    arun(app.processes.ingest(file))
    page = arun(app.nodes.search(process_id, stage=1, fields=["text"]))
    assert [node.as_json()["text"] for node in page.nodes] == [NODES[0]["text"]]
    assert arun(app.nodes.get(process_id, ["t", "x"])).missing == ["x"]
    assert {node.node_id for node in arun(app.nodes.lineage(process_id, "t")).nodes} == {"a", "t"}
    with pytest.raises(InputError):
        arun(app.nodes.lineage(process_id, "t", "sideways"))
    claims, added = arun(app.claims.add(process_id, app.claims.records_of(["It is wet."])))
    assert added == len(claims) == 1
    edited = arun(app.claims.edit(process_id, claims[0].claim_id, "It is dry."))
    assert edited.text == "It is dry."
    given = NewReview("FULLY_SUPPORTED", "", "Ada")
    with pytest.raises(InputError):  # there is no verdict to review
        arun(app.reviews.add(process_id, "k1", given))
    assert arun(app.claims.remove(process_id, [claims[0].claim_id])).claims == 1
    assert [one.claim_id for one in arun(app.claims.all(process_id))] == ["k1"]
    assert arun(app.reviews.agreement(process_id)).reviews == 0
    assert arun(app.queries.run("stage_summary", {"process_id": process_id})).rows
    with pytest.raises(NotFound):
        arun(app.verifications.get("v-0"))


class CutOff(Exception):
    """A fault in the middle of a removal."""


@pytest.mark.parametrize("is_let_go", [True, False], ids=["let go of", "not let go of"])
def test_a_removal_that_failed_is_taken_up_while_its_program_lives(
    app: Application,
    store: Store,
    arun: Any,
    file: Path,
    process_id: str,
    monkeypatch: pytest.MonkeyPatch,
    is_let_go: bool,
) -> None:
    async def cut_off(*_: Any) -> None:
        raise CutOff

    async def engine_gone(*_: Any) -> None:
        raise EngineError("gone")

    arun(app.processes.ingest(file))
    with monkeypatch.context() as patch:
        patch.setattr("veritrail_graph.graph.store.processes.purge", cut_off)
        if not is_let_go:
            patch.setattr(store.processes, "release", engine_gone)
        with pytest.raises(CutOff):
            arun(app.processes.delete(process_id))
    with pytest.raises(NotFound, match="it is deleting"):
        arun(app.processes.get(process_id))
    if is_let_go:
        assert arun(app.processes.ingest(file)).status == "created"
    assert arun(app.processes.delete(process_id)).verifications == 0
    with pytest.raises(NotFound, match="No process"):
        arun(app.processes.delete(process_id))


def test_nothing_is_removed_of_a_process_that_is_being_loaded(
    app: Application, store: Store, arun: Any, file: Path, process_id: str
) -> None:
    arun(app.processes.ingest(file))
    arun(store.processes.mark(process_id, "loading"))
    with pytest.raises(BeingWritten):
        arun(store.processes.delete(process_id))
    assert arun(store.processes.state(process_id)).status == "loading"


def test_what_people_left_of_a_process_is_not_shown_with_its_namesake(
    app: Application, store: Store, arun: Any, file: Path, process_id: str
) -> None:
    changed = json.loads(file.read_text())
    changed["nodes"][0]["text"] = "The quay opened in 1902."

    def left() -> tuple[int, int, int]:
        comments = arun(app.teamwork.comments(process_id, "k1")).comments
        rounds = arun(app.teamwork.rounds(process_id)).rounds
        return len(comments), len(rounds), len(arun(app.sharing.of_process(process_id)).shares)

    arun(app.processes.ingest(file))
    arun(app.teamwork.comment(process_id, "k1", "See page 3.", "Ada"))
    arun(app.teamwork.begin(process_id, NewRound(["Ada"], 1)))
    new = NewStudy(["t"], modes=[SourceMode.PLAIN])
    study = arun(app.part(Studies).create(process_id, new, LOCAL))
    arun(app.sharing.create(process_id))
    assert left() == (1, 1, 1)
    file.write_text(json.dumps(changed), encoding="utf-8")
    assert arun(app.processes.ingest(file, IngestOptions(replace=True))).status == "replaced"
    assert left() == (1, 1, 1)
    assert arun(app.part(Studies).of_process(process_id)) == [study]
    assert arun(app.teamwork.assigned(process_id, "Ada")) == {"k1"}

    arun(store.processes.delete(process_id))  # as if killed before the rest was forgotten
    arun(app.processes.ingest(file))
    assert left() == (0, 0, 0)
    assert arun(app.teamwork.assigned(process_id, "Ada")) == set()
    assert arun(app.part(Studies).of_process(process_id)) == []
    with pytest.raises(NotFound):
        arun(app.part(Studies).get(process_id, study.study_id))


def test_a_removal_forgets_what_people_left_before_it_takes_texts_away(
    app: Application,
    store: Store,
    arun: Any,
    file: Path,
    process_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def looked(*_: Any) -> None:
        rows = await app.database.read(
            lambda one: one.exec_driver_sql("SELECT count(*) FROM claim_comments").scalar()
        )
        assert rows == 0
        raise CutOff

    arun(app.processes.ingest(file))
    arun(app.teamwork.comment(process_id, "k1", "See page 3.", "Ada"))
    with monkeypatch.context() as patch:
        patch.setattr("veritrail_graph.graph.store.processes.purge", looked)
        with pytest.raises(CutOff):
            arun(app.processes.delete(process_id))
