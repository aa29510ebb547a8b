"""Jobs through the clients: stopped, resumed, watched over a kill, and sent again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking, expected, pumps
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.settings_of import settings_of
from fakes.tcp_proxy import Cut, tcp_proxy
from fakes.waiting import until

from veritrail_graph import Client, Local
from veritrail_graph.api.client import Rejected, Unavailable

pytestmark = pytest.mark.engine

CLAIMS = 6


@pytest.fixture(scope="module")
def veritrail(veritrail: Veritrail) -> Iterator[Veritrail]:
    """A home of its own: services of other tests, with other models, would take its jobs."""
    with home_beside(veritrail) as own:
        yield own


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("client") / "pumps-client.json"
    veritrail("ingest", pumps(path, CLAIMS))
    return path.stem


class Door(NamedTuple):
    """A client, and the address of the service that it asks; None: it works in this process."""

    client: Client | Local
    url: str | None


@pytest.fixture(scope="module", params=["service", "in process"])
def door(request, veritrail, model) -> Iterator[Door]:
    """Either works on its jobs itself, so that there is never one beside the other."""
    env = asking(model)
    if request.param == "in process":
        with Local(settings_of(veritrail.environment(env))) as here:
            yield Door(here, None)
        return
    with serving(veritrail, env=env) as service:
        service.until_ready()
        with Client(service.url) as client:
            yield Door(client, service.url)


@pytest.fixture
def client(door: Door) -> Client | Local:
    return door.client


@pytest.fixture
def kind(door: Door) -> str:
    return "service" if door.url else "here"


def test_a_job_is_stopped_and_gone_on_with(client, model, process):
    model.latency = 60.0
    asked = len(model.requests)
    job = client.verify(process, again=True, use_cache=False)
    until(lambda: len(model.requests) > asked)
    job.cancel()
    job.wait(20)
    assert job.status == "cancelled"
    assert job.counts == {"cancelled": CLAIMS}
    model.latency = 0.0
    job.resume().wait(60)
    assert (job.status, job.counts) == ("succeeded", {"succeeded": CLAIMS})
    assert verdicts(job) == {name: found[0] for name, found in expected(CLAIMS).items()}
    assert job.usage.calls > 0
    told = list(job.events())
    assert [one.kind for one in told].count("job.finished") == 2


def test_a_job_keeps_what_a_change_cannot_touch(client, kind, tmp_path):
    name = f"kept-{kind}"
    document = json.loads(Path(pumps(tmp_path / f"{name}.json", CLAIMS)).read_text())
    client.ingest(document)
    client.verify(name).wait(60)
    with pytest.raises(Rejected, match="No verification of an earlier version"):
        client.verify(name, since="last")
    document["nodes"][0]["text"] += " It snows."  # r0, which k0 rests on
    kept_as = client.ingest(document, replace=True, keep=True).kept_as
    job = client.verify(name, since="last").wait(60)
    changes = job.changes()
    assert (job.status, changes.since) == ("succeeded", kept_as)
    assert [one.kept for one in changes.claims] == [False, False, True, True, False, True]
    assert changes.changed == changes.moved == 0
    pair, other = ({"earlier": one, "claim_id": one} for one in ("k0", "k1"))
    versions = client.compare_versions(name, "last", match=[pair, other])
    assert versions.nodes_changed == [one.node_id for one in versions.texts] == ["r0"]
    with pytest.raises(Rejected, match="nosuch"):
        client.compare_versions(name, "last", match=[{**pair, "earlier": "nosuch"}])


def test_claims_are_extracted_in_a_job(client, kind, veritrail, tmp_path):
    process = f"pumps-extracted-{kind}"
    veritrail("ingest", pumps(tmp_path / f"{process}.json", CLAIMS))
    with pytest.raises(Rejected):
        client.verify(process, extract=True, engine="lexical")
    job = client.verify(process, extract=True, use_cache=False).wait(90)
    assert job.status == "succeeded", job.state
    assert len(job.verification_ids) == CLAIMS


@pytest.mark.soak
def test_what_happens_is_told_once_although_the_service_is_killed(veritrail, model, process):
    env = asking(model)
    with serving(veritrail, env=env, child=True) as service:
        service.until_ready()
        with Client(service.url) as client:
            model.latency = 0.3
            job = client.verify(process, again=True, use_cache=False)
            told = []
            for event in job.events():
                told.append(event)
                if len(told) == 3:
                    service.kill()
                    service.start()
            model.latency = 0.0
            assert [one.id for one in told] == [str(n + 1) for n in range(len(told))]
            assert told[-1].kind == "job.finished"
            job.refresh()
            assert (job.status, job.counts) == ("succeeded", {"succeeded": CLAIMS})
            assert verdicts(job) == {name: found[0] for name, found in expected(CLAIMS).items()}


@pytest.mark.parametrize("door", ["service"], indirect=True)
def test_a_submission_whose_answer_is_lost_begins_one_job(door, client, process):
    with tcp_proxy(door.url) as proxy, Client(f"http://127.0.0.1:{proxy.port}") as far:
        before = {one.job_id for one in client.jobs(process_id=process)}
        proxy.plan(Cut(b"POST /v1/verifications", is_answered=True))
        job = far.verify(process, claim_ids=["k0"], engine="lexical")
        assert proxy.cuts == 1
        assert job.wait(60).status == "succeeded"
        after = {one.job_id for one in client.jobs(process_id=process)}
    assert after - before == {job.job_id}


def test_a_service_that_starts_later_is_waited_for(veritrail):
    there = serving(veritrail, args=["--no-worker"], start=False)
    with there as service, Client(service.url, patience=120) as client:
        starting = threading.Timer(1.0, service.start)
        starting.start()
        try:
            assert client.health().status == "ok"
        finally:
            starting.join()


@pytest.mark.soak
def test_in_process_a_lost_engine_is_told_and_then_opened_anew(frail):
    with Local(settings_of(frail.environment({}))) as here:
        assert here.processes().all() == []
        frail.kill_engine()
        with pytest.raises(Unavailable) as lost:
            here.verify("p", "x")
        assert lost.value.status == 503
        assert here.ready().status == "ready"


def verdicts(job) -> dict[str, str | None]:
    return {one.claim_id: one.verdict for one in job.verifications()}
