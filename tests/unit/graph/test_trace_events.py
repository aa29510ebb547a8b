"""Attributes and events of one span together: what is read of them, and what is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.vendor_spans import Events, request, span
from unit.graph.test_trace_sources import final, into, origins
from unit.graph.test_traces_of_vendors import ANSWER, ASKED, REGISTER, read

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.importers.traces.otlp import each_span
from veritrail_graph.graph.model import Origin

CHAT = {"gen_ai.operation.name": "chat"}
CALL = {"id": "c", "function": {"name": "look", "arguments": "{}"}}


def said(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


TOLD = {
    "gen_ai.input.messages": said("user", ASKED),
    "gen_ai.output.messages": said("assistant", ANSWER),
}


def logfire(*events: dict[str, Any]) -> dict[str, str]:
    """A call as Logfire notes it: every message an event, the answer as well."""
    noted = [{"event.name": f"gen_ai.{one['role']}.message", **one} for one in events]
    return {"gen_ai.request.model": "m", "events": json.dumps(noted)}


def test_the_last_message_of_a_call_without_a_choice_is_its_answer() -> None:
    asked, called = {"role": "user", "content": ASKED}, {"role": "assistant", "tool_calls": [CALL]}
    result = {"role": "tool", "id": "c", "content": REGISTER}
    answer = {"role": "assistant", "content": ANSWER}
    (draft,) = read(
        request(
            span(1, "Responses API", logfire(asked, called)),
            span(2, "Responses API", logfire(asked, called, result, answer)),
        )
    )
    assert origins(draft) == {
        ASKED: Origin.GIVEN, "look({})": Origin.GENERATED, REGISTER: Origin.SOURCE,
        ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert final(draft) == ANSWER


def test_messages_of_events_that_are_named_after_their_side_are_read() -> None:
    events: Events = [
        ("gen_ai.input.message", {"content": ASKED, "role": "user"}),
        ("gen_ai.output.message", {"content": ANSWER, "role": "assistant"}),
    ]
    (draft,) = read(request(span(1, "chat", CHAT, events)))
    assert origins(draft) == {ASKED: Origin.GIVEN, ANSWER: Origin.GENERATED}


def test_what_events_note_joins_what_attributes_of_the_span_hold() -> None:
    events: Events = [
        ("gen_ai.tool.message", {"content": REGISTER, "id": "c"}),
        ("gen_ai.choice", {"content": ANSWER}),
    ]
    (draft,) = read(request(span(1, "chat", CHAT | TOLD, events)))
    assert origins(draft) == {
        ASKED: Origin.GIVEN, REGISTER: Origin.SOURCE, ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert into(draft, ANSWER) == {ASKED, REGISTER}


@pytest.mark.parametrize(
    ("attributes", "events"),
    [
        ({"db.system": "chroma"}, [("db.query.result", {
            "db.query.result.id": "1", "db.query.result.document": REGISTER})]),
        ({"db.system": "pinecone"}, [("db.query.result", {
            "db.query.result.metadata": json.dumps({"text": REGISTER})})]),
        ({"db.system": "milvus"}, [("db.search.result", {
            "db.search.result.entity": str({"chunk": REGISTER})})]),
        ({"db.query.text": "Tern", "db.response.documents": json.dumps([REGISTER])}, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{} {}", "Context: {}\nQuestion: {}", "{}\n\n{}"])
def test_what_a_vector_store_found_is_source_text_and_the_question_stays(
    attributes: dict[str, str], events: Events, around: str
) -> None:
    asked = said("user", around.format(REGISTER, ASKED))
    chat = {"gen_ai.input.messages": asked, "gen_ai.output.messages": said("assistant", ANSWER)}
    store, model = span(2, "query", attributes, events), span(3, "chat", CHAT | chat)
    (draft,) = read(request(store | {"parentSpanId": ""}, model | {"parentSpanId": ""}))
    (source,) = [one for one in draft.nodes.values() if one.origin is Origin.SOURCE]
    assert source.text == REGISTER
    assert (draft.header.question or "").endswith(ASKED)
    assert REGISTER not in (draft.header.question or "")


@pytest.mark.parametrize(
    "name",
    ["agent.output", "user.question", "session.transcript", "db.documents", "event.payload",
     "http.response.body", "acme.answer.description", "metadata_said.text", "evaluationOutput"],
)  # fmt: skip
def test_text_that_was_not_read_is_named_whatever_the_name_begins_with(name: str) -> None:
    (draft,) = read(request(span(1, "chat", CHAT | TOLD | {name: REGISTER})))
    assert any("layout that is not known" in one and name in one for one in draft.header.warnings)


@pytest.mark.parametrize("name", ["agent.notes", "aws.bedrock.thing", "graph.state", "status"])
def test_a_refused_trace_names_all_that_its_text_may_be_in(tmp_path: Any, name: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(request(span(1, "run", {name: ANSWER}))))
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert f"in a layout that is not known: in '{name}'" in (draft.header.empty_because or "")


def test_what_a_model_is_only_given_again_is_not_called_no_text(tmp_path: Any) -> None:
    given = json.dumps([{"role": "assistant", "content": ANSWER}])
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(request(span(1, "chat", CHAT | {"gen_ai.input.messages": given}))))
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert "only among what its calls were given" in (draft.header.empty_because or "")


def test_what_is_written_around_a_document_is_a_template_where_the_question_is_known() -> None:
    chat = {
        "gen_ai.input.messages": said("user", f"Answer from this: {REGISTER} Asked was: {ASKED}"),
        "gen_ai.output.messages": said("assistant", ANSWER),
    }
    found = {
        "openinference.span.kind": "RETRIEVER",
        "db.response.documents": json.dumps([REGISTER]),
    }
    (draft,) = read(
        request(
            span(1, "run", {"input.value": ASKED}),
            span(2, "find", found),
            span(3, "c", CHAT | chat),
        )
    )
    assert set(origins(draft)) == {ASKED, REGISTER, ANSWER}


OTHER = "The ferry Gull carries 12 cars, says the pilot."


def test_another_call_with_the_id_of_one_before_it_is_kept_and_named() -> None:
    first = span(1, "chat", CHAT | TOLD)
    second = span(1, "chat", CHAT | TOLD | {"gen_ai.output.messages": said("assistant", OTHER)})
    (draft,) = read(request(first, first, second))
    written = {one.node_id for one in draft.nodes.values() if one.origin is Origin.GENERATED}
    assert written == {"chat/0000000000000001", "chat/0000000000000001~2"}
    assert any("have the id of another one" in one for one in draft.header.warnings)


def test_of_an_attribute_that_is_given_twice_the_last_counts_and_the_first_is_named() -> None:
    twice = span(1, "chat", CHAT | TOLD)
    again = span(1, "chat", {"gen_ai.output.messages": said("assistant", OTHER)})["attributes"]
    (draft,) = read(request(twice | {"attributes": [*twice["attributes"], *again]}))
    assert final(draft) == OTHER
    assert any("gen_ai.output.messages~2" in one for one in draft.header.warnings)


@pytest.mark.parametrize("wrap", [
    lambda spans: {"spans": spans}, lambda spans: {"result": {"spans": spans}},
    lambda spans: {"data": request(*spans)}, lambda spans: {"traces": [request(*spans)]},
    lambda spans: {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": spans}]}]},
])  # fmt: skip
def test_spans_of_otlp_are_read_below_what_tools_wrap_them_in(wrap: Any) -> None:
    (draft,) = read(wrap([span(1, "chat", CHAT | TOLD)]))
    assert final(draft) == ANSWER


@pytest.mark.parametrize(
    ("value", "named"),
    [({"foo": 1}, "'foo'"), ({"resourceSpans": [{"librarySpans": [{}]}]}, "'librarySpans'")],
)
def test_what_is_no_request_is_refused_with_what_it_holds(value: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        list(each_span(value, "The body"))


def test_an_error_is_named_with_its_first_words() -> None:
    failed: Events = [("exception", {"exception.message": "Rate limit was reached"})]
    (draft,) = read(request(span(1, "chat", CHAT | TOLD), span(2, "look", {}, failed)))
    assert any("look ('Rate limit was reached')" in one for one in draft.header.warnings)


def test_what_a_step_around_a_model_gave_is_named_where_nothing_was_made_of_it() -> None:
    step = {"input.value": ASKED, "output.value": OTHER}
    model = span(3, "chat", CHAT | TOLD)
    (draft,) = read(
        request(
            span(1, "run", {"input.value": ASKED, "output.value": ANSWER}), span(2, "tidy", step),
            model | {"parentSpanId": f"{2:016x}"},
        )
    )  # fmt: skip
    assert any(
        "tidy/0000000000000002" in one and "left out" in one for one in draft.header.warnings
    )
