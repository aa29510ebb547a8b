"""`check` over REST and in Python: the same findings as the command gives."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking
from fakes.model_server import ModelServer, Received, Reply, error
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of
from fakes.waiting import until

from veritrail_graph import AsyncClient, Client, Local
from veritrail_graph.api.client import Conflict, Rejected
from veritrail_graph.api.client.checks import CheckResult
from veritrail_graph.api.mcp.allowance import Allowance

pytestmark = pytest.mark.engine

ANSWER = "The ferry carries 48 cars. The harbour fee rises to 4 euros in May."
SOURCES = {
    "ferry.md": "The ferry carries 42 cars.",
    "fees.md": "The harbour fee rises to 4 euros in May.",
}


@pytest.fixture
def working(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """A service that works on its jobs."""
    with serving(veritrail) as service:
        yield service


def assert_found(result: Any) -> None:
    """The figure that was turned is found, and the other claim is right."""
    assert [one.verdict for one in result.claims] == ["NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED"]
    (wrong,) = result.wrong
    assert (wrong.culprit.name, wrong.source.name) == ("answer", "ferry.md#1")
    assert (wrong.difference.source, wrong.difference.wrote) == ("42", "48")
    assert wrong.picture().startswith("<svg")
    assert (result.judge.engine, result.cost_usd, result.undecided) == ("lexical", 0.0, [])


def test_python_checks_by_itself_and_an_assertion_that_fails_shows_the_findings(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    with Local(settings_of(veritrail.environment({}))) as here:
        result = here.check(ANSWER, SOURCES, question="Cars?")
        assert_found(result)
        rows = [{"contexts": [text], "answer": text} for text in SOURCES.values()]
        several = here.check(rows, max=1)
        corrected = here.check(ANSWER, SOURCES, correct=True)
        stored = here.check(result.processes[0].process_id)
        unknown = here.check("It runs daily.", ["It runs weekly on Mondays."])
        with pytest.raises(Rejected, match="Give what the answer was made from"):
            here.check("An answer alone.")
        for given, words in ((("",), "no path, no id"), (("x", []), "sources: is empty"),
                             (([],), "nothing to check")):  # fmt: skip
            with pytest.raises(Rejected, match=words):
                here.check(*given)
        with pytest.raises(TypeError, match="whatever there is"):
            here.check(5)  # type: ignore[arg-type]
    assert list(result.wrong.to_pandas()["claim"]) == ["The ferry carries 48 cars."]
    assert len(several.processes) == 1
    assert corrected.wrong[0].correction == "The ferry carries 42 cars."
    assert "    instead The ferry carries *42* cars.\n" in str(corrected)
    assert (stored.processes[0].status, stored.processes[0].reused) == ("unchanged", 2)
    with pytest.raises(AssertionError, match="1 claim not supported, 0 allowed") as failed:
        result.assert_supported()
    assert "    source  ferry.md#1  The ferry carries *42* cars." in str(failed.value)
    result.assert_supported(max_unsupported=1, max_undecided=0)
    assert len(unknown.undecided) == len(unknown.claims) == 1
    with pytest.raises(AssertionError, match="none of 1 claim could be decided: name a model"):
        unknown.assert_supported()
    unknown.assert_supported(max_undecided=1)
    assert result.to_pandas()["culprit"][0] == "answer"
    assert "<svg" in result.report(tmp_path / "out.html").read_text("utf-8")
    assert "<svg" in result._repr_html_()


def test_a_service_checks_an_answer_or_a_file_in_jobs(
    working: ServiceProcess, tmp_path: Path
) -> None:
    with Client(working.url) as client:
        result = client.check(ANSWER, SOURCES)
        assert_found(result)
        rows = [{"contexts": [SOURCES["ferry.md"]], "answer": f"It is {n}."} for n in (42, 48)]
        log = tmp_path / "log.jsonl"
        log.write_text("\n".join(map(json.dumps, [*rows, {"contexts": ["Hm."]}])), "utf-8")
        of_log = client.check(log)
        assert [one.claims for one in of_log.processes] == [1, 1]
        assert [one.source for one in of_log.failed] == ["log.jsonl#3"]
        again = client.check(result.processes[0].process_id, again=True)
        assert [one.claim for one in again.wrong] == ["The ferry carries 48 cars."]
        verified = {one.verification_id for one in (*again.claims, *result.claims)}
        assert len(verified) == 4  # the second job found it itself
    name = result.processes[0].process_id
    page = working.get(f"/v1/processes/{name}/findings?limit=1").json()
    assert (page["claims"], len(page["results"]), len(page["findings"])) == (2, 1, 1)
    assert page["nextCursor"]
    stored = working.get("/v1/processes").json()
    refused = working.post(
        "/v1/check", json={"answer": "Anew.", "sources": ["x"], "options": {"engine": "qq"}}
    )
    assert (refused.status_code, "'qq'" in refused.text) == (422, True), refused.text
    assert working.get("/v1/processes").json() == stored
    for body, words in (
        ({"answer": ANSWER}, "sources"),
        ({"answer": ANSWER, "sources": ["x"], "options": {"qq": 1}}, "body.options.qq"),
        ({"answer": ANSWER, "sources": ["x"], "options": {"claims": ["x"]}}, "claims"),
        ({"answer": "Hello!", "sources": ["x"]}, "states nothing"),
        ({"answer": ANSWER, "sources": ["x"], "options": {"q": [{}] * 400_000}}, "100,000 values"),
    ):
        refused = working.post("/v1/check", json=body)
        assert (refused.status_code, words in refused.text) == (422, True), refused.text
    large = working.post("/v1/check", content=b" " * 20_000_001)
    assert (large.status_code, "20,000,000 bytes" in large.text) == (413, True), large.text
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    refused = working.post("/v1/check", content=b"--x--\r\n", headers=form)
    assert (refused.status_code, "not a part of a form" in refused.text) == (415, True)


class Refusing(ModelServer):
    """A server that answers until it `refuses_all`."""

    refuses_all = False

    def reply(self, received: Received) -> Reply:
        if self.refuses_all:
            return error(400, "This request is not taken.", "not_taken")
        return super().reply(received)


@dataclass(frozen=True)
class Told:
    """What a door told of a check of a process with one claim."""

    right: int
    failed: int
    engine: str
    not_in_force: list[str]


Options = dict[str, str]


def told(result: CheckResult) -> Told:
    (process,) = result.processes
    if process.verdicts.failed:
        with pytest.raises(AssertionError, match="1 could not be checked"):
            result.assert_supported()
    if process.not_in_force:
        assert "1 of these verdicts replace none: those of" in str(result)
    counts = process.verdicts
    kept = list(process.not_in_force)
    return Told(counts.FULLY_SUPPORTED, counts.failed, result.judge.engine, kept)


@dataclass(frozen=True)
class Doors:
    """The doors to one home; each checks a process."""

    veritrail: Veritrail
    service: ServiceProcess
    settings: dict[str, str]
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.document["process_id"])

    def command(self, how: Options) -> Told:
        given = [part for name, value in how.items() for part in (f"--{name}", value)]
        status = 0 if how else 1  # without options the model is asked, which refuses
        done = self.veritrail("check", self.name, *given, "--json", status=status, **self.settings)
        return told(CheckResult.model_validate(done.json))

    def local(self, how: Options) -> Told:
        with Local(settings_of(self.veritrail.environment(self.settings))) as here:
            return told(here.check(self.name, **how))

    def client(self, how: Options) -> Told:
        with Client(self.service.url) as client:
            return told(client.check(self.name, **how))

    def async_client(self, how: Options) -> Told:
        async def work() -> Told:
            async with AsyncClient(self.service.url) as client:
                return told(await client.check(self.document, **how))

        return asyncio.run(work())

    def rest(self, how: Options) -> Told:
        begun = self.service.post(
            "/v1/check", params={"format": "process", **how}, content=json.dumps(self.document)
        )
        job = f"/v1/jobs/{begun.json()['job_id']}"
        until(lambda: self.service.get(job).json()["status"] not in ("queued", "running"))
        found = self.service.get(begun.headers["location"]).json()
        assert found["run_id"] == begun.json()["run_id"]
        counts, kept = found["verdicts"], found.get("not_in_force", [])
        judge = found["judge"]["engine"]
        return Told(counts["FULLY_SUPPORTED"], counts["failed"], judge, kept)

    def mcp(self, how: Options) -> Told:
        import mcp

        from veritrail_graph.api.mcp.server import Terms, create_server

        async def work() -> Any:
            door = AsyncClient(self.service.url, caller="mcp")
            terms = Terms(engine=how.get("engine"), allowance=Allowance(max_calls=100))
            async with door, mcp.Client(create_server(door, terms)) as client:
                return await client.call_tool("check", {"process_id": self.name})

        answer = asyncio.run(work())
        found = answer.structured_content
        text = "\n".join(part.text for part in answer.content)
        counts, kept = found["verdicts"], found["not_in_force"]
        assert ("Not checked: k1: " in text) == bool(counts["failed"])
        assert ("stay in force" in text) == bool(kept)
        judge = found["judge"]["engine"]
        return Told(counts["FULLY_SUPPORTED"], counts["failed"], judge, kept)


DOORS = (
    Doors.command, Doors.local, Doors.client, Doors.async_client, Doors.rest, Doors.mcp,
)  # fmt: skip


def test_every_door_tells_what_the_check_found_and_not_what_counts(veritrail: Veritrail) -> None:
    text = "The ferry carries 48 cars."
    document = {
        "format": "veritrail.process/1",
        "process_id": f"doors-{uuid.uuid4().hex[:8]}",
        "nodes": [{"node_id": "s", "text": text}, {"node_id": "a", "text": text}],
        "edges": [{"source": "s", "target": "a"}],
        "claims": [{"claim_id": "k1", "text": text}],
    }
    with Refusing(is_strict=False) as server, serving(veritrail, env=asking(server)) as service:
        doors = Doors(veritrail, service, asking(server), document)
        with Client(service.url) as client:
            assert told(client.check(document, engine="lexical")) == Told(1, 0, "lexical", [])
        server.refuses_all = True
        failed = {door.__name__: door(doors, {}) for door in DOORS}
        assert failed == {door.__name__: Told(0, 1, "openai", []) for door in DOORS}
        findings = f"/v1/processes/{doors.name}/findings"
        counting = service.get(findings).json()
        assert (counting["verdicts"]["FULLY_SUPPORTED"], counting.get("run_id")) == (1, None)
        assert service.get(f"{findings}?run_id=r-none").status_code == 404
        server.refuses_all = False
        assert doors.client({}) == Told(1, 0, "openai", [])
        kept = {door.__name__: door(doors, {"engine": "lexical"}) for door in DOORS}
        assert kept == {door.__name__: Told(1, 0, "lexical", ["k1"]) for door in DOORS}


def test_a_check_over_a_service_replaces_only_what_it_is_told_to_and_keeps_it(
    working: ServiceProcess,
) -> None:
    name = f"told-{uuid.uuid4().hex[:8]}"

    def written(cars: int) -> dict[str, Any]:
        texts = {"ferry": "The ferry carries 42 cars.", "answer": f"It carries {cars} cars."}
        return {
            "format": "veritrail.process/1",
            "process_id": name,
            "nodes": [
                {"node_id": "ferry", "stage": 0, "text": texts["ferry"]},
                {"node_id": "answer", "stage": 1, "text": texts["answer"]},
            ],
            "edges": [{"source": "ferry", "target": "answer"}],
        }

    with Client(working.url) as client:
        assert client.check(written(48)).processes[0].process_id == name
        with pytest.raises(Conflict, match="replace=True, keep=True"):
            client.check(written(42))
        with pytest.raises(Rejected, match="name replace, too"):
            client.check(written(42), keep=True)
        kept = client.check(written(42), replace=True, keep=True)
        assert [one.process_id for one in kept.processes] == [name]
        stored = [one.process_id for one in client.processes() if one.process_id.startswith(name)]
        assert (stored[0], len(stored)) == (name, 2)
        gone = client.check(written(43), replace=True)
        assert gone.processes[0].claims == 1
        assert len([one for one in client.processes() if one.process_id.startswith(name)]) == 2
        assert client.check(name, replace=True).processes[0].process_id == name  # it is stored


def test_a_check_replaces_only_for_a_key_that_may_write(veritrail: Veritrail) -> None:
    body = {"answer": ANSWER, "sources": [SOURCES["ferry.md"]]}
    with home_beside(veritrail) as own:
        scopes = {"adder": ("ingest", "verify"), "writer": ("write", "verify")}
        keys = {}
        for name, each in scopes.items():
            given = [part for scope in each for part in ("--scope", scope)]
            made = own("keys", "create", "--name", name, *given, "--json").json
            keys[name] = {"Authorization": f"Bearer {made['key']}"}
        with serving(own, args=["--no-worker"]) as service:
            for name, query, status in (
                ("adder", "?replace=true", 403),
                ("adder", "", 202),
                ("writer", "?replace=true&keep=true", 202),
            ):
                found = service.post(f"/v1/check{query}", json=body, headers=keys[name])
                assert (found.status_code, query) == (status, query), found.text
                assert status != 403 or "write" in found.json()["detail"]
