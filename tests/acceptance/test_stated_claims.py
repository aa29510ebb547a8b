"""A process without claims at every door: what its final outputs state becomes claims."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess
from fakes.settings_of import settings_of

from veritrail_graph import Local

pytestmark = pytest.mark.engine

ANSWER = "## Ferry\n\nHello! The ferry carries 48 cars. It runs daily.\n\nIs that so?"
CLAIMS = ["The ferry carries 48 cars.", "It runs daily."]
SOURCE = "The ferry carries 42 cars. It runs daily."


def unclaimed(folder: Path, text: str = ANSWER, **more: Any) -> tuple[str, str]:
    """A process file without claims, and its process_id."""
    name = f"unclaimed-{uuid.uuid4().hex[:8]}"
    nodes = [{"node_id": "s", "text": SOURCE}, {"node_id": "t", "text": text}]
    edges = [{"source": "s", "target": "t"}]
    return name, process_file(folder / f"{name}.json", nodes=nodes, edges=edges, **more)


def test_verify_takes_the_sentences_and_shows_the_answer(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    name, path = unclaimed(tmp_path)
    assert f"Next: veritrail verify {name}\n" in veritrail("ingest", path).err
    shown = veritrail("verify", name)
    assert "has no claims: the sentences of its answer that state something" in shown.err
    assert shown.out.startswith("Answer\n  ## Ferry\n  Hello! The ferry carries 48 cars.")
    stored = veritrail("claims", "list", name, "--json").json["claims"]
    assert [one["text"] for one in stored] == CLAIMS
    assert [ANSWER[one["start"] : one["end"]] for one in stored] == CLAIMS
    again = veritrail("verify", name, "--json")
    assert "has no claims" not in again.err
    assert again.json["reused"] == 2
    one = again.json["verifications"][0]["verification_id"]
    assert "It runs daily." in veritrail("show", one).out.split("\n\n")[0]


def test_every_final_output_is_looked_at(veritrail: Veritrail, tmp_path: Path) -> None:
    name = f"unclaimed-{uuid.uuid4().hex[:8]}"
    texts = {"s": SOURCE, "t": "The ferry carries 48 cars.", "u": "It runs daily. Good luck!"}
    nodes = [{"node_id": one, "text": text} for one, text in texts.items()]
    edges = [{"source": "s", "target": one} for one in ("t", "u")]
    path = process_file(tmp_path / f"{name}.json", nodes=nodes, edges=edges)
    done = veritrail("ingest", path, "--verify", "--json").json
    assert (done["claims"], done["claims_added"]) == (2, 2)
    found = [(one["node_id"], one["claim"]) for one in done["verification"]["verifications"]]
    assert found == [("t", CLAIMS[0]), ("u", CLAIMS[1])]


def test_an_answer_that_states_nothing_is_shown_and_ends_with_a_fault(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    name, path = unclaimed(tmp_path, "Hello! I don't know.\x1b[31m")
    veritrail("ingest", path)
    refused = veritrail("verify", name, status=2)
    assert "states nothing that could be checked: “Hello! I don't know." in refused.err
    assert f'veritrail verify {name} --claim "…"' in refused.err
    assert "\x1b[31m" not in refused.err
    rows = [
        '{"question": "q", "contexts": ["The ferry carries 42 cars."], "answer": "Now it is 42."}',
        '{"question": "q", "contexts": ["The ferry carries 42 cars."], "answer": "No idea!"}',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = veritrail("check", tmp_path / "log.jsonl", "--json", status=1)
    assert "log.jsonl#2: " in done.err
    assert "“No idea!”" in done.err
    assert [one["claims"] for one in done.json["processes"]] == [1]
    assert [Path(one["source"]).name for one in done.json["failed"]] == ["log.jsonl#2"]


def test_with_a_model_verify_extracts_and_says_so(veritrail: Veritrail, tmp_path: Path) -> None:
    name, path = unclaimed(tmp_path)
    veritrail("ingest", path)
    with ModelServer() as server:
        budget = veritrail("verify", name, "--budget", "1", status=2, **asking(server))
        assert "price" in budget.err
        done = veritrail("verify", name, "--json", **asking(server))
    assert "the model extracts some from its answer first" in done.err
    assert done.json["extraction"]["claims_added"] == len(done.json["verifications"]) > 0


def test_a_claim_that_is_stored_under_another_id_is_found(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    given = [{"claim_id": "cars", "text": CLAIMS[0], "node_id": "t"}]
    name, path = unclaimed(tmp_path, "The ferry carries 48 cars. It runs daily.", claims=given)
    veritrail("ingest", path)
    with ModelServer() as server:
        done = veritrail("claims", "extract", name, "--json", **asking(server)).json
        again = veritrail("claims", "extract", name, "--json", **asking(server)).json
    assert done["claims"][0]["claim_id"] == "cars"
    assert (done["claims"][0]["start"], done["claims"][0]["end"]) == (0, 26)
    assert done["sentences"][0]["claim_ids"] == ["cars"]
    texts = [one["text"] for one in veritrail("claims", "list", name, "--json").json["claims"]]
    assert len(texts) == len(set(texts)) == 1 + done["claims_added"]
    assert again["claims_added"] == 0


def test_the_python_client_verifies_rows_without_claims(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    rows = [{"question": "q", "contexts": [SOURCE], "answer": ANSWER}]
    with Local(settings_of(veritrail.environment({}))) as here:
        (stored,) = here.ingest_all(rows).processes
        job = here.verify(stored.process_id)
        assert sorted(one.claim for one in job.verifications()) == sorted(CLAIMS)


def test_a_job_and_the_page_verify_what_the_answer_states(
    shared_service: ServiceProcess, tmp_path: Path
) -> None:
    name, path = unclaimed(tmp_path)
    shared_service.post("/v1/processes", content=Path(path).read_bytes())
    with httpx2.Client(base_url=shared_service.url, trust_env=False, timeout=60.0) as browser:
        told = browser.get("/upload", params={"stored": name, "how": "created"}).text
        assert "Verify what its answer states" in told
        assert "0 claims" not in told
        form = browser.get(f"/processes/{name}/verify").text
        assert re.search(r'value="answer" checked', form)
        assert "No claims are stored yet." in form
    made = shared_service.post("/v1/verifications", json={"process_id": name}).json()
    assert len(made["verification_ids"]) == 2
