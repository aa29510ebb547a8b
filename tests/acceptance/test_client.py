"""The operations of every client, the same over REST and in process, plain and awaited."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of

from veritrail_graph import AsyncClient, AsyncLocal, Client, Local
from veritrail_graph.api.client import AsyncOperations, Conflict, Missing, Rejected
from veritrail_graph.api.client.blocking import Blocking
from veritrail_graph.api.settings import Settings

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    "a": "The harbour opened in 1901. It has two piers.",
    "b": "The lighthouse was built in 1923.",
    "t": "The harbour opened in 1901 and has two piers.",
}


@pytest.fixture(scope="module")
def service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """A service over the engine that all tests share."""
    with serving(veritrail) as service:
        service.until_ready()
        yield service


def in_process(veritrail: Veritrail) -> Settings:
    return settings_of(veritrail.environment({}))


@pytest.fixture(scope="module", params=["service", "in process"])
def client(request: pytest.FixtureRequest, veritrail: Veritrail) -> Iterator[Client | Local]:
    with _opened(request, veritrail) as found:
        yield found


def _opened(request: pytest.FixtureRequest, veritrail: Veritrail) -> Client | Local:
    if request.param == "service":
        return Client(request.getfixturevalue("service").url)
    return Local(in_process(veritrail))


@pytest.fixture(params=["service", "in process"])
def own_client(request: pytest.FixtureRequest, veritrail: Veritrail) -> Client | Local:
    """One that the test closes."""
    return _opened(request, veritrail)


def document(process_id: str, **more: Any) -> dict[str, Any]:
    return {
        "format": "veritrail.process/1",
        "process_id": process_id,
        "nodes": [{"node_id": name, "text": text} for name, text in TEXTS.items()],
        "edges": [{"source": "a", "target": "t"}, {"source": "b", "target": "t"}],
        **more,
    }


@pytest.fixture
def stored(client: Client | Local, request: pytest.FixtureRequest) -> Iterator[str]:
    """A small process of the test's own."""
    process_id = f"client-{abs(hash(request.node.name)) % 10**9}"
    client.ingest(document(process_id), replace=True)
    yield process_id
    client.delete(process_id, force=True)


def _without_self(described):
    return list(inspect.signature(described).parameters.values())[1:]


def test_every_client_offers_the_same_operations_with_the_same_arguments(veritrail):
    names = [name for name, one in vars(Blocking).items() if hasattr(one, "__wrapped__")]
    assert len(names) > 25
    settings = in_process(veritrail)
    for one in (Client(), AsyncClient(), Local(settings), AsyncLocal(settings)):
        for name in names:
            method = getattr(one, name)
            described = getattr(AsyncOperations, name)
            plain = inspect.signature(described).replace(parameters=_without_self(described))
            assert inspect.signature(method).parameters == plain.parameters
            assert method.__doc__ == described.__doc__


def test_a_process_is_stored_from_a_file_a_document_or_lines(client, tmp_path):
    plain = process_file(tmp_path / "client-forms.json")
    whole = json.loads(Path(plain).read_text())
    zipped = tmp_path / "zipped.json.gz"
    zipped.write_bytes(gzip.compress(Path(plain).read_bytes()))
    header = {key: whole[key] for key in ("format", "process_id")}
    lines = [header, *({"node": one} for one in whole["nodes"])]
    lines += [{"edge": one} for one in whole["edges"]]
    try:
        assert client.ingest(plain).status == "created"
        for again in (plain, Path(plain), zipped, whole, lines, iter(lines)):
            report = client.ingest(again)
            assert (report.process_id, report.status) == ("client-forms", "unchanged")
        assert report.nodes == 3
        other = {**whole, "nodes": [{**whole["nodes"][0], "text": "Other."}, *whole["nodes"][1:]]}
        with pytest.raises(Conflict, match="client-forms"):
            client.ingest(other)
        assert client.ingest(other, replace=True).status == "replaced"
        assert client.ingest(other, process_id="client-forms-2").process_id == "client-forms-2"
    finally:
        for name in ("client-forms", "client-forms-2"):
            client.delete(name)
    with pytest.raises(Missing, match=r"client-forms.*`client\.processes\(\)` lists"):
        client.process("client-forms")


def test_files_of_other_formats_are_stored_one_or_many(client, tmp_path):
    trace = json.loads((ROOT / "examples" / "traces" / "langfuse.json").read_text())
    trace["trace"]["id"] = "client-trace"
    one, many = tmp_path / "trace.json", tmp_path / "log.jsonl"
    one.write_text(json.dumps(trace))
    other = {"trace": {"id": "client-second"}, "observations": "none"}
    many.write_text(f"{json.dumps(trace)}\n{json.dumps(other)}\n")
    try:
        with pytest.raises(Rejected, match="several processes"):
            client.ingest(many, format="langfuse")
        assert client.ingest(one, format="detect").status == "created"
        assert client.ingest(one, format="langfuse").format == "langfuse"
        found = client.ingest_all(many)
        assert (found.unchanged, found.failed) == (1, 1)
        stored, refused = found.processes
        assert (stored.process_id, refused.source) == ("client-trace", f"{_shown(client, many)}#2")
        assert [each.process_id for each in client.ingest_all(one).processes] == ["client-trace"]
        with pytest.raises(Rejected):
            client.ingest_all(one, format="mlflow")
    finally:
        client.delete("client-trace", force=True)


def _shown(client, path: Path) -> str:
    """How a client names a file: a service knows its name alone."""
    return str(path) if isinstance(client, Local) else path.name


def test_a_process_that_breaks_rules_is_told_with_every_violation(client):
    wrong = document("client-wrong", edges=[{"source": "a", "target": "x"}, {"source": "a"}])
    with pytest.raises(Rejected) as refused:
        client.ingest(wrong)
    assert refused.value.status == 422
    assert len(refused.value.violations) >= 2
    assert all(one.kind and one.message for one in refused.value.violations)
    assert str(refused.value.violations[0]) in str(refused.value)


def test_what_is_stored_is_read(client, stored):
    found = client.process(stored)
    assert (found.nodes, found.edges, found.terminals) == (3, 2, ["t"])
    assert stored in [one.process_id for one in client.processes(page=1)]
    nodes = client.nodes(stored, with_text=True, page=2).all()
    assert {one.node_id: one.text for one in nodes} == TEXTS
    assert [one.node_id for one in client.nodes(stored, role="terminal")] == ["t"]
    assert [one.text for one in client.nodes_by_id(stored, ["t", "a"])] == [TEXTS["t"], TEXTS["a"]]
    around = client.lineage(stored, "t")
    assert {one.node_id for one in around.nodes} == {"a", "b", "t"}
    assert {(one.source, one.target) for one in around.edges} == {("a", "t"), ("b", "t")}
    assert [one.nodes for one in client.stages(stored)] == [2, 1]


def test_claims_are_added_edited_and_removed(client, stored):
    added = client.add_claims(
        stored, ["The harbour opened in 1901.", {"claim_id": "k", "text": "x"}]
    )
    assert added.claims_added == 2
    assert client.add_claims(stored, ["The harbour opened in 1901."]).claims_added == 0
    assert client.edit_claim(stored, "k", "The harbour has two piers.").text.endswith("piers.")
    assert [one.claim_id for one in client.claims(stored, verdict="none", page=1)][-1] == "k"
    client.delete_claim(stored, "k")
    with pytest.raises(Missing, match="k"):
        client.claim(stored, "k")


def test_claims_are_verified_and_their_trails_read(client, stored):
    claims = ["The harbour opened in 1901.", "The harbour opened in 1899."]
    job = client.verify(stored, claims, engine="lexical")
    assert job.job_id.startswith("j-")
    events = list(job.events())
    job.wait(60)
    assert (job.status, job.counts) == ("succeeded", {"succeeded": 2})
    assert [one.kind for one in events][-1] == "job.finished"
    assert {one.kind for one in events} >= {"claim.started", "claim.finished"}
    assert len({one.id for one in events}) == len(events)
    assert [one.id for one in job.events(after=events[-2].id)] == [events[-1].id]
    assert list(job.events(after=events[-1].id)) == []
    fine, wrong = job.verifications()
    assert [one.claim for one in (fine, wrong)] == claims
    assert (fine.verdict, wrong.verdict) == ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED")
    assert fine.indicative
    assert fine.iterations[0].evidence[0].text
    assert client.job(job.job_id).status == "succeeded"
    assert job.job_id in [one.job_id for one in client.jobs(process_id=stored)]
    paths = client.provenance(fine.verification_id)
    assert paths.complete
    assert [one.node_id for one in paths.paths[0]] == ["a", "t"]
    assert client.error(wrong.verification_id).verdict == "NOT_FULLY_SUPPORTED"
    assert client.diff(fine.verification_id, wrong.verification_id).same_claim is False
    assert len(list(client.verifications(stored, page=1))) == 2
    listed = [one.claim_id for one in client.claims(stored, verdict="NOT_FULLY_SUPPORTED")]
    assert listed == [wrong.claim_id]


def test_the_same_submission_under_the_same_key_is_the_same_job(client, stored):
    key = f"key-of-{stored}"  # both clients submit to the same jobs
    first = client.verify(stored, "It has piers.", engine="lexical", idempotency_key=key)
    again = client.verify(stored, "It has piers.", engine="lexical", idempotency_key=key)
    assert again.job_id == first.job_id
    with pytest.raises(Conflict):
        client.verify(stored, "Other.", engine="lexical", idempotency_key=key)
    assert client.verify(stored, "It has piers.", engine="lexical").job_id != first.job_id
    first.wait(60)


def test_people_review_verdicts(client, stored):
    job = client.verify(stored, "The harbour opened in 1899.", engine="lexical").wait(60)
    (trail,) = job.verifications()
    given = {"verdict": "FULLY_SUPPORTED", "reason": "The other calendar.", "reviewer": "Ada"}
    review = client.review(stored, trail.claim_id, **given)
    assert (review.kind, review.overrides) == ("overridden", trail.verification_id)
    assert [one.review_id for one in client.reviews(stored)] == [review.review_id]
    assert [one.reviewer for one in client.reviews(stored, trail.claim_id)] == ["Ada"]
    assert client.agreement(stored).reviews == 1
    found = client.verification(trail.verification_id)
    assert (found.verdict, found.carried) == ("NOT_FULLY_SUPPORTED", ())
    nodes = [one.node_id for one in found.error_nodes]
    client.attribute(stored, nodes, engine="lexical").wait(60)
    carried = client.verification(trail.verification_id).carried
    assert {one.node_id for one in carried} <= set(nodes)
    assert carried


def test_the_query_library_is_asked(client, stored):
    names = {one.name: one for one in client.queries()}
    assert names["source_nodes"].purpose
    rows = client.query("source_nodes", process_id=stored, node_id="t")
    assert {one["node_id"] for one in rows.records()} == {"a", "b"}
    assert len(rows) == 2
    with pytest.raises(Rejected) as refused:
        client.query("source_nodes", process_id=stored)
    assert [one.where for one in refused.value.violations] == ["node_id"]
    with pytest.raises(Missing):
        client.query("no_such_query")


ASKED_FOR_NOTHING: list[Callable[[Any], Any]] = [
    lambda one: one.process("no/such thing?"),
    lambda one: one.verification("v-none"),
    lambda one: one.job("j-none"),
    lambda one: one.verify("no-process"),
    lambda one: list(one.claims("no-process")),
    lambda one: one.delete("no-process"),
    lambda one: next(iter(one.job("j-none").events())),
]


def test_what_is_not_there_is_missing(client):
    for ask in ASKED_FOR_NOTHING:
        with pytest.raises(Missing) as missing:
            ask(client)
        assert (missing.value.status, missing.value.kind) == (404, "not-found")
        assert missing.value.type == "urn:veritrail:problem:not-found"
        assert "GET /v1" not in str(missing.value)


def test_what_cannot_be_verified_is_rejected_at_once(client, stored):
    with pytest.raises(Rejected, match="root"):
        client.verify(stored, "x", node_id="a")
    with pytest.raises(Rejected, match="root"):
        client.verify(stored, node_id="a")
    with pytest.raises(Rejected, match=r"body\.colour: is not known here"):
        client.verify(stored, "x", colour="blue")
    with pytest.raises(Rejected):
        client.verify(stored, "x", engine="lexical", q=0)


def test_a_client_says_whether_the_graph_answers(own_client):
    client = own_client
    assert client.health().status == "ok"
    assert client.ready().status == "ready"
    assert repr(client).startswith(("Client(", "<Local: "))
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.health()


@pytest.mark.soak
def test_in_process_the_graph_may_be_a_neo4j_server(neo4j_server, tmp_path):
    login = {"NEO4J_URI": neo4j_server.uri, "NEO4J_DATABASE": neo4j_server.database}
    if neo4j_server.password:
        login |= {"NEO4J_USERNAME": neo4j_server.username, "NEO4J_PASSWORD": neo4j_server.password}
    settings = settings_of({**login, "VERITRAIL_HOME": str(tmp_path / "home")})
    with Local(settings) as here:
        assert neo4j_server.uri in repr(here)
        assert not neo4j_server.password or neo4j_server.password not in repr(here)
        here.ingest(document("client-neo4j"), replace=True)
        job = here.verify("client-neo4j", "The harbour opened in 1901.", engine="lexical").wait(90)
        (trail,) = job.verifications()
        assert trail.verdict == "FULLY_SUPPORTED"
        assert here.provenance(trail.verification_id).complete
        here.delete("client-neo4j")


def test_the_example_of_the_documentation_runs(veritrail, monkeypatch, capsys):
    for name, value in veritrail.environment({}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)
    first = (ROOT / "docs" / "python.md").read_text().split("```python\n")[1].split("```")[0]
    exec(compile(first, "python.md", "exec"), {})
    assert capsys.readouterr().out.startswith("FULLY_SUPPORTED Indicative")


@pytest.mark.parametrize("kind", ["service", "in process"])
def test_the_same_operations_are_awaited(kind, veritrail, request):
    async def work() -> None:
        if kind == "service":
            door: AsyncClient | AsyncLocal = AsyncClient(request.getfixturevalue("service").url)
        else:
            door = AsyncLocal(in_process(veritrail))
        async with door:
            name = f"client-awaited-{kind.replace(' ', '-')}"
            await door.ingest(document(name), replace=True)
            job = await door.verify(name, "The harbour opened in 1901.", engine="lexical")
            kinds = [event.kind async for event in job.events()]
            assert kinds[-1] == "job.finished"
            await job.wait(60)
            (trail,) = await job.verifications()
            assert trail.verdict == "FULLY_SUPPORTED"
            assert [one.node_id async for one in door.nodes(name, page=1)] == ["a", "b", "t"]
            assert len(await door.claims(name).all()) == 1
            await door.delete(name)
            with pytest.raises(Missing):
                await door.process(name)

    asyncio.run(work())


WRONG_VALUES: list[tuple[Callable[[Any, str], Any], str]] = [
    (lambda c, p: c.label_claims(p, {"k1": "PERHAPS"}), "body.labels.k1"),
    (lambda c, p: c.import_reviews(p, [{"claim": "k1"}]), "body.reviews.0.claim_id"),
    (lambda c, p: c.import_reviews(p, ["k1"]), "body.reviews.0"),
    (lambda c, p: c.review(p, "k1", verdict="PERHAPS"), "body.verdict"),
    (lambda c, p: c.decide(p, "k1", verdict="NO", reason="Why."), "body.verdict"),
    (lambda c, p: c.begin_round(p, ["Ada"], 0), "body.size"),
    (lambda c, p: c.begin_round(p, ["Ada"], "many"), "body.size"),
    (lambda c, p: c.comment(p, "k1", 7), "body.text"),
    (lambda c, p: c.share(p, days="long"), "body.days"),
    (lambda c, p: c.tag(p, project="x", tags=[""]), "body.tags.0"),
]


def test_wrong_values_are_refused_alike_by_every_client(client, stored):
    for call, where in WRONG_VALUES:
        with pytest.raises(Rejected) as refused:
            call(client, stored)
        assert (refused.value.status, refused.value.kind) == (422, "invalid-input")
        assert where in [one.where for one in refused.value.violations]
