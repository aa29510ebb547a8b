"""Verdicts in the forms of Langfuse, OpenTelemetry, Phoenix and MLflow, with the original ids."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.verdicts import FORMATS, write_verdicts
from veritrail_graph.graph.exporters.verdicts.langfuse import MOST_BYTES
from veritrail_graph.graph.exporters.verdicts.mlflow import span_id_of
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Claim,
    ClaimOrigin,
    NodeRef,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

pytestmark = pytest.mark.engine

REPO = Path(__file__).resolve().parents[2]
EXAMPLES = REPO / "examples" / "traces"
REAL = REPO.parent / "shared" / "data" / "traces"
SOURCES = {
    "langfuse-scores": "langfuse",
    "otel-events": "otlp",
    "otel-logs": "otlp",
    "phoenix-annotations": "otlp",
    "mlflow-assessments": "mlflow",
}
NO_VERDICT = {"k3": "failed", "k4": "undecided", "k5": "over_budget", "k6": "cancelled"}


async def stored_trace(store: Store, process_id: str, path: Path) -> StoredProcess:
    """The first process of a file, under an id of ours."""
    (found, *_) = find_processes(path)
    await ingest(store, found.open(), process_id=process_id)
    return await StoredProcess.open(store.database, process_id)


async def written(store: Store, stored: StoredProcess, name: str) -> tuple[str, Mapping[str, int]]:
    out = io.BytesIO()
    counts = await write_verdicts(name, store, stored, out.write)
    return out.getvalue().decode(), counts


async def judge(store: Store, stored: StoredProcess) -> None:
    """Claims of every outcome: two verdicts, four without, one never verified, a question."""
    facts = await store.processes.get(stored.process_id)
    (answer,) = [one for one in stored.ids if one.startswith("answer/")]
    _, summary = [one for one in stored.ids if one.startswith("summarise/")]
    claims = [
        Claim(claim_id=f"k{n}", text=f"Claim {n} “of” the\u202eTern.", node_id=answer)
        for n in range(1, 8)
    ]
    asked = Claim(claim_id="k8", text="Was it?", node_id=answer, origin=ClaimOrigin.ASKED)
    await store.claims.add(stored.process_id, [*claims, asked])

    def of(claim: Claim, status: Status, **more: Any) -> Verification:
        given: dict[str, Any] = {
            "verification_id": f"v-{stored.process_id}-{claim.claim_id}",
            "process_id": stored.process_id,
            "q": 1,
            "engine": "openai",
            "model": "judge-1",
            "indicative": False,
            "created_at": "2026-01-02T03:04:05.600000Z",
            "status": status,
            "run_id": f"r-{stored.process_id}",
            "settings": '{"q":1}',
            "content_hash": facts.content_hash,
        }
        return Verification.of_claim(claim, **(given | more))

    ends = {"termination": Termination.NO_CANDIDATES, "reasoning": "Because."}
    made = [
        of(claims[0], Status.SUCCEEDED, verdict=Verdict.FULLY_SUPPORTED, score=0.75, **ends),
        of(
            claims[1], Status.SUCCEEDED, verdict=Verdict.NOT_FULLY_SUPPORTED, **ends,
            error_nodes=(NodeRef.named(summary),), propagated_nodes=(NodeRef.named(answer),),
            engine="lexical", model=None, indicative=True,
        ),
        *(
            of(claims[int(name[1:]) - 1], Status(status), error="The endpoint was gone.")
            for name, status in NO_VERDICT.items()
        ),
        of(asked, Status.SUCCEEDED, verdict=Verdict.NOT_FULLY_SUPPORTED, **ends),
    ]  # fmt: skip
    await store.trails.write(*made)


@pytest.fixture
def export(store: Store, arun: Any, process_id: str) -> Any:
    """Write the verdicts of an invented trace in a form; give text, counts and trace id."""

    def run(name: str) -> tuple[str, Mapping[str, int]]:
        async def work() -> tuple[str, Mapping[str, int]]:
            stored = await stored_trace(store, process_id, EXAMPLES / f"{SOURCES[name]}.json")
            await judge(store, stored)
            return await written(store, stored, name)

        return arun(work())  # type: ignore[no-any-return]

    return run


def test_scores_of_langfuse_are_on_the_observation_where_the_error_came_in(export: Any) -> None:
    text, counts = export("langfuse-scores")
    events = [one for line in text.splitlines() for one in json.loads(line)["batch"]]
    assert {one["type"] for one in events} == {"score-create"}
    assert len({one["id"] for one in events} | {one["body"]["id"] for one in events}) == 14
    scores = {(one["body"]["metadata"]["claim_id"], one["body"]["name"]): one for one in events}
    bodies = {key: one["body"] for key, one in scores.items()}

    assert {one["traceId"] for one in bodies.values()} == {"tern-refit"}  # not our process_id
    place = {
        key: (one["observationId"], one["value"], one["dataType"]) for key, one in bodies.items()
    }
    assert place == {
        ("k1", "veritrail.verdict"): ("o5", "FULLY_SUPPORTED", "CATEGORICAL"),
        ("k1", "veritrail.score"): ("o5", 0.75, "NUMERIC"),
        ("k2", "veritrail.verdict"): ("o4", "NOT_FULLY_SUPPORTED", "CATEGORICAL"),
        **{
            (claim, "veritrail.status"): ("o5", status, "CATEGORICAL")
            for claim, status in NO_VERDICT.items()
        },
    }
    judged = bodies["k2", "veritrail.verdict"]
    assert judged["metadata"]["indicative"] is True
    assert judged["comment"].startswith("Indicative only")
    assert "summarise/o4" in judged["comment"]
    assert "Indicative" not in bodies["k1", "veritrail.verdict"]["comment"]
    assert "The endpoint was gone." in bodies["k3", "veritrail.status"]["comment"]
    assert counts == {
        "scores": 7,
        "claims": 6,
        "claims without a verdict": 4,
        "questions left out": 1,
        "claims never verified left out": 1,
    }
    assert "\u202e" not in text  # nothing turns a terminal round


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    return getattr(value, kind)


def _attributes(one: Any) -> dict[str, Any]:
    return {each.key: _plain(each.value) for each in one.attributes}


def _results(name: str, text: str) -> Iterator[tuple[str, str, str, int, dict[str, Any]]]:
    """Trace, span, name, time and attributes of every event, as the protobuf package reads them."""
    for line in text.splitlines():
        document = json.loads(line)
        _to_base64(document)
        if name == "otel-logs":
            logs = ParseDict(document, ExportLogsServiceRequest())
            for record in logs.resource_logs[0].scope_logs[0].log_records:
                ids = record.trace_id.hex(), record.span_id.hex()
                yield *ids, record.event_name, record.time_unix_nano, _attributes(record)
            continue
        request = ParseDict(document, ExportTraceServiceRequest())
        for span in request.resource_spans[0].scope_spans[0].spans:
            for event in span.events:
                ids = span.trace_id.hex(), span.span_id.hex()
                yield *ids, event.name, event.time_unix_nano, _attributes(event)


def _to_base64(value: Any) -> None:
    """Ids in hexadecimal, as OTLP has them, in base64, as protobuf's own reader wants them."""
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            _to_base64(one)
    for key in ("traceId", "spanId") if isinstance(value, dict) else ():
        if key in value:
            value[key] = base64.b64encode(bytes.fromhex(value[key])).decode()


@pytest.mark.parametrize("name", ["otel-events", "otel-logs"])
def test_events_of_opentelemetry_are_on_the_spans_that_were_verified_or_brought_an_error(
    export: Any, name: str
) -> None:
    text, counts = export(name)
    found = list(_results(name, text))
    assert {(trace, kind, time) for trace, _, kind, time, _ in found} == {
        ("5b8efff798038103d269b633813fc60c", "gen_ai.evaluation.result", 1767323045600000000)
    }
    spans = {
        (said["veritrail.claim_id"], said["gen_ai.evaluation.name"]): (span[-1], said)
        for _, span, _, _, said in found
    }
    label = "gen_ai.evaluation.score.label"
    assert {key: (span, said.get(label)) for key, (span, said) in spans.items()} == {
        ("k1", "veritrail.verdict"): ("5", "FULLY_SUPPORTED"),
        ("k2", "veritrail.verdict"): ("5", "NOT_FULLY_SUPPORTED"),
        ("k2", "veritrail.error_origin"): ("4", "INTRODUCED"),
        **{(claim, "veritrail.verdict"): ("5", None) for claim in NO_VERDICT},
    }
    errors = {key[0]: said.get("error.type") for key, (_, said) in spans.items()}
    assert errors == {"k1": None, "k2": None, **NO_VERDICT}
    first, second = spans["k1", "veritrail.verdict"][1], spans["k2", "veritrail.error_origin"][1]
    assert first["gen_ai.evaluation.score.value"] == 0.75
    assert (first["veritrail.indicative"], second["veritrail.indicative"]) == (False, True)
    assert (second["veritrail.error_stages"], second["veritrail.error_nodes"]) == (
        [2],
        ["summarise/0000000000000004"],
    )
    assert counts["events"] == 7


def test_annotations_of_phoenix_say_who_judged(export: Any) -> None:
    text, counts = export("phoenix-annotations")
    found = json.loads(text)["data"]
    assert counts["annotations"] == len(found) == 7
    rows = [
        (
            one["identifier"],
            one["name"],
            one["span_id"][-1],
            one["annotator_kind"],
            one["result"]["label"],
        )
        for one in found
    ]
    assert rows == [
        ("k1", "veritrail.verdict", "5", "LLM", "FULLY_SUPPORTED"),
        ("k2", "veritrail.verdict", "5", "CODE", "NOT_FULLY_SUPPORTED"),
        ("k2", "veritrail.error_origin", "4", "CODE", "INTRODUCED"),
        *((k, "veritrail.status", "5", "LLM", status) for k, status in NO_VERDICT.items()),
    ]
    assert found[0]["result"]["score"] == 0.75
    assert {tuple(one) for one in found} == {
        ("name", "annotator_kind", "span_id", "result", "metadata", "identifier")
    }


def test_assessments_of_mlflow_are_feedback_with_an_error_where_there_is_no_verdict(
    export: Any,
) -> None:
    text, _ = export("mlflow-assessments")
    document = json.loads(text)
    assert document["trace_id"] == "tr-tern"
    found = {
        (one["metadata"]["veritrail.claim_id"], one["assessment_name"]): one
        for one in document["assessments"]
    }
    said = {key: (one["span_id"][-1], one["feedback"]["value"]) for key, one in found.items()}
    assert said == {
        ("k1", "veritrail.verdict"): ("5", "FULLY_SUPPORTED"),
        ("k1", "veritrail.score"): ("5", 0.75),
        ("k2", "veritrail.verdict"): ("4", "NOT_FULLY_SUPPORTED"),
        **{(claim, "veritrail.verdict"): ("5", None) for claim in NO_VERDICT},
    }
    codes = [one["feedback"].get("error", {}).get("error_code") for one in found.values()]
    assert codes == [None, None, None, *(status.upper() for status in NO_VERDICT.values())]
    kinds = {name[0]: tuple(one["source"].values()) for name, one in found.items()}
    assert (kinds["k1"], kinds["k2"]) == (("LLM_JUDGE", "judge-1"), ("CODE", "lexical"))
    assert found["k2", "veritrail.verdict"]["metadata"]["veritrail.indicative"] == "true"
    assert {type(text) for one in found.values() for text in one["metadata"].values()} == {str}


@pytest.mark.parametrize(
    ("call_id", "span_id"),
    [
        ("Tj9jXoor41s=", "4e3f635e8a2be35b"),
        ("0x4E3F635E8A2BE35B", "4e3f635e8a2be35b"),
        ("4e3f635e8a2be35b", "4e3f635e8a2be35b"),
        ("run-17", None),
        ("AAAA", None),
        (None, None),
    ],
)
def test_ids_of_spans_are_as_mlflow_names_them(call_id: str | None, span_id: str | None) -> None:
    assert span_id_of(call_id) == span_id


@pytest.mark.parametrize("name", FORMATS)
def test_what_came_from_another_tool_is_refused(
    store: Store, arun: Any, process_id: str, name: str
) -> None:
    other = "mlflow" if SOURCES[name] != "mlflow" else "langfuse"
    stored = arun(stored_trace(store, process_id, EXAMPLES / f"{other}.json"))
    with pytest.raises(InputError, match=f"from the format {other}, and {name} needs"):
        arun(written(store, stored, name))


def test_a_process_file_and_a_trace_without_an_id_are_refused(
    store: Store, arun: Any, process_id: str, tmp_path: Path
) -> None:
    file = {
        "format": "veritrail.process/1",
        "nodes": [{"node_id": "a", "text": "A."}, {"node_id": "b", "text": "B."}],
        "edges": [{"source": "a", "target": "b"}],
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(file))
    stored = arun(stored_trace(store, process_id, path))
    with pytest.raises(InputError, match="was read from a process file"):
        arun(written(store, stored, "langfuse-scores"))
    arun(store.processes.delete(process_id))

    trace = json.loads((EXAMPLES / "langfuse.json").read_text())
    del trace["trace"]["id"]
    path.write_text(json.dumps(trace))
    stored = arun(stored_trace(store, process_id, path))
    with pytest.raises(InputError, match="its trace had no id"):
        arun(written(store, stored, "langfuse-scores"))


def test_many_scores_are_several_requests(store: Store, arun: Any, process_id: str) -> None:
    async def work() -> str:
        stored = await stored_trace(store, process_id, EXAMPLES / "langfuse.json")
        await judge(store, stored)
        return (await written(store, stored, "langfuse-scores"))[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veritrail_graph.graph.exporters.verdicts.langfuse.MOST_BYTES", 2_000)
        lines = arun(work()).splitlines()
    assert len(lines) > 2
    assert sum(len(json.loads(line)["batch"]) for line in lines) == 7
    assert MOST_BYTES < 3_500_000


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real traces are not at {REAL}")
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("langfuse-scores", "langfuse/langgraph-python-2025-08-22.trace.json"),
        ("langfuse-scores", "langfuse/openai-agents-2025-09-30.trace.json"),
        ("otel-events", "openinference_langgraph_otlp.json"),
        ("otel-logs", "openinference_langgraph_otlp.json"),
        ("mlflow-assessments", "mlflow_trace.json"),
        ("mlflow-assessments", "mlflow_artifact_traces.json"),
    ],
)
def test_the_ids_are_those_of_a_real_trace(
    store: Store, arun: Any, process_id: str, name: str, file: str
) -> None:
    async def work() -> str:
        stored = await stored_trace(store, process_id, REAL / file)
        (terminal,) = (await store.processes.get(process_id)).terminals
        claim = Claim(claim_id="k1", text="It was approved.", node_id=terminal)
        await store.claims.add(process_id, [claim])
        one = Verification.of_claim(
            claim, verification_id=f"v-{process_id}", process_id=process_id, q=1, engine="openai",
            model="m", indicative=False, created_at="2026-01-02T03:04:05Z",
            status=Status.SUCCEEDED, verdict=Verdict.NOT_FULLY_SUPPORTED, reasoning="No.",
            termination=Termination.NO_CANDIDATES, error_nodes=(NodeRef.named(terminal),),
        )  # fmt: skip
        await store.trails.write(one)
        return (await written(store, stored, name))[0]

    text, real = arun(work()), json.loads((REAL / file).read_text())
    if name == "langfuse-scores":
        (event,) = json.loads(text)["batch"]
        body, like = event["body"], real["trace"].get("scores") or [None]
        assert body["traceId"] == real["trace"]["id"]
        assert body["observationId"] in {one["id"] for one in real["observations"]}
        # What Langfuse exports of a score has every key that is sent.
        assert like[0] is None or set(body) <= set(like[0])
    elif name == "mlflow-assessments":
        (one,) = json.loads(text)["assessments"]
        spans = real.get("data", real)["spans"]
        assert one["span_id"] in {span_id_of(span["span_id"]) for span in spans}
        about = json.loads(spans[0]["attributes"]["mlflow.traceRequestId"])
        assert one["trace_id"] == about
    else:
        found = {(trace, span) for trace, span, *_ in _results(name, text)}
        spans = [
            one
            for resource in real["resourceSpans"]
            for scope in resource["scopeSpans"]
            for one in scope["spans"]
        ]
        ids = {
            tuple(base64.b64decode(one[key]).hex() for key in ("traceId", "spanId"))
            for one in spans
        }
        assert found
        assert found <= ids
