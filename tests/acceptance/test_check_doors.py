"""`check` over REST and in Python: the same findings as the command gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of

from veritrail_graph import Client, Local
from veritrail_graph.api.client import Rejected

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
        again = client.check(result.processes[0].process_id)
        assert [one.claim for one in again.wrong] == ["The ferry carries 48 cars."]
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
