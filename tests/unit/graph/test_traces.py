"""Traces: which texts become nodes, and which of them fed which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.importers.traces.answers import of_output
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace
from veritrail_graph.graph.importers.traces.finding import Finder, normalised
from veritrail_graph.graph.importers.traces.process import process_of
from veritrail_graph.graph.importers.traces.texts import pieces
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Inference, Origin

REPO = Path(__file__).resolve().parents[3]
EXAMPLES = REPO / "examples" / "traces"
REAL = REPO.parent / "shared" / "data" / "traces"

QUESTION = "What became of the old ferry?"
PAGE = "The old ferry was sold to a yard in Thyra, which broke it up in 1998."
NOTE = "A yard in Thyra broke up the old ferry in 1998."
ANSWER = "The old ferry was broken up in Thyra in 1998."
LLM, TOOL, RETRIEVER, OTHER = (
    CallKind.GENERATION, CallKind.TOOL, CallKind.RETRIEVER, CallKind.OTHER,
)  # fmt: skip


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def call(
    name: str, kind: CallKind, at: int, given: Any, made: Any, parent: str | None = "root"
) -> Call:
    """A call of one second, named like its id."""
    return Call(name, name, kind, parent, at * 10, at * 10 + 9, given, made)


def root(made: Any = None, given: Any = QUESTION) -> Call:
    return Call("root", "pipeline", OTHER, None, 0, 1_000, {"question": given}, made)


def read(*calls: Call, **options: Any) -> Draft:
    """The process of a trace, with every rule of a process kept."""
    draft = process_of(Trace(list(calls)), "test", ImportOptions(**options))
    survey(draft)
    return draft


def edges(draft: Draft) -> dict[tuple[str, str], str]:
    return {key: edge.inferred or "named" for key, edge in draft.edges.items()}


def test_documents_feed_notes_and_notes_the_answer() -> None:
    draft = read(
        root(ANSWER),
        call("search", RETRIEVER, 1, {"query": QUESTION}, [{"page_content": PAGE, "metadata": {}}]),
        call("note", LLM, 2, [user(f"Summarise: {PAGE}")], said(NOTE)),
        call("answer", LLM, 3, [user(f"{QUESTION}\n\n{NOTE}")], said(ANSWER)),
    )
    assert {name: node.origin for name, node in draft.nodes.items()} == {
        "question": Origin.GIVEN,
        "search/search": Origin.SOURCE,
        "note/note": Origin.GENERATED,
        "answer/answer": Origin.GENERATED,
    }
    assert edges(draft) == {
        ("search/search", "note/note"): "exact",
        ("question", "answer/answer"): "exact",
        ("note/note", "answer/answer"): "exact",
    }
    assert (draft.header.terminals, draft.header.question) == (("answer/answer",), QUESTION)
    given = len(f"Summarise: {PAGE}") + len(f"{QUESTION}\n\n{NOTE}")
    found = len(PAGE) + len(QUESTION) + len(NOTE)
    assert draft.header.explained == pytest.approx(found / given, abs=1e-4)


def test_only_named_edges_stay_where_that_is_asked() -> None:
    calls = (
        root(ANSWER),
        call("search", RETRIEVER, 1, None, [{"page_content": PAGE, "metadata": {}}]),
        call("answer", LLM, 2, [user(f"{PAGE} {QUESTION}")], said(ANSWER)),
    )
    assert edges(read(*calls)) != {}
    draft = process_of(Trace(list(calls)), "test", ImportOptions(only_explicit=True))
    assert edges(draft) == {}
    assert list(draft.nodes) == ["question", "search/search", "answer/answer"]
    assert survey(draft).unsourced == 2  # the question, and the answer
    assert "2 inferred edge(s) are left out" in draft.header.warnings[-1]


def test_text_that_was_reformatted_is_found_but_not_text_that_is_new() -> None:
    shown = (
        "| THE OLD FERRY was sold to a   yard |\n+-----+\n| in Thyra, which broke it up in 1998. |"
    )
    draft = read(
        root(ANSWER),
        call("search", RETRIEVER, 1, None, [{"page_content": PAGE, "metadata": {}}]),
        call("answer", LLM, 2, [user(f"Use this:\n{shown}")], said(ANSWER)),
    )
    assert edges(draft) == {("search/search", "answer/answer"): "normalised"}
    other = "Use this: The old ferry was sold and nobody knows who bought it, nor when."
    draft = read(
        root(ANSWER),
        call("search", RETRIEVER, 1, None, [{"page_content": PAGE, "metadata": {}}]),
        call("answer", LLM, 2, [user(other)], said(ANSWER)),
    )
    assert edges(draft) == {("user/1", "answer/answer"): "named"}
    assert draft.nodes["user/1"].origin is Origin.GIVEN
    assert "given to no step" in draft.header.warnings[0]


def test_words_in_common_make_an_edge_only_where_that_is_asked() -> None:
    shared = "was sold to a yard in Thyra, which broke it up"
    calls = (
        root(ANSWER),
        call("search", RETRIEVER, 1, None, [{"page_content": PAGE, "metadata": {}}]),
        call("answer", LLM, 2, [user(f"One says that it {shared} soon after")], said(ANSWER)),
    )
    assert "overlap" not in edges(read(*calls)).values()
    found = read(*calls, infer_overlap=True)
    edge = found.edges["search/search", "answer/answer"]
    assert edge.inferred is Inference.OVERLAP
    assert edge.score is not None
    assert 0.5 <= edge.score < 1


def test_a_row_of_an_earlier_output_is_found_in_a_later_input() -> None:
    table = (
        "id,event\n1,The old ferry left for the last time in May 1997.\n2,The yard closed in 2004."
    )
    draft = read(
        root(ANSWER),
        call("query", TOOL, 1, {"sql": "SELECT *"}, table),
        call(
            "answer", LLM, 2, {"row": "The old ferry left for the last time in May 1997."}, ANSWER
        ),
    )
    edge = draft.edges["query/query", "answer/answer"]
    assert (edge.inferred, edge.score) == (
        Inference.EXACT,
        pytest.approx(49 / len(table), abs=1e-3),
    )


def test_a_tool_call_ties_the_call_the_tool_and_its_result() -> None:
    asks = {
        "id": "call-1",
        "type": "function",
        "function": {"name": "look", "arguments": '{"a": 1}'},
    }
    draft = read(
        root(ANSWER),
        call("plan", LLM, 1, [user(QUESTION)], said("", tool_calls=[asks])),
        call("look", TOOL, 2, {"a": 1}, {"role": "tool", "content": "7", "tool_call_id": "call-1"}),
        call(
            "answer", LLM, 3,
            [user(QUESTION), said("", tool_calls=[asks]),
             {"role": "tool", "content": "7", "tool_call_id": "call-1"}],
            said(ANSWER),
        ),
    )  # fmt: skip
    assert draft.nodes["plan/plan"].text == 'look({"a":1})'
    assert draft.nodes["look/look"].origin is Origin.SOURCE
    into = {source for source, target in draft.edges if target == "answer/answer"}
    assert into == {"question", "plan/plan", "look/look"}
    assert draft.edges["look/look", "answer/answer"].inferred is None


def test_what_a_tool_had_a_model_write_is_no_source_text() -> None:
    draft = read(
        root(ANSWER),
        call("search", RETRIEVER, 1, None, [{"page_content": PAGE, "metadata": {}}]),
        Call("ask", "ask", TOOL, "root", 20, 40, {"q": "x"}, f"Our expert says: {NOTE}"),
        call("note", LLM, 2, [user(f"Summarise: {PAGE}")], said(NOTE), parent="ask"),
        call("answer", LLM, 5, [user(f"{QUESTION} Our expert says: {NOTE}")], said(ANSWER)),
    )
    assert draft.nodes["ask/ask"].origin is Origin.GENERATED
    assert ("note/note", "ask/ask") in draft.edges
    assert ("ask/ask", "answer/answer") in draft.edges
    # What came with a longer text that is known came through that one.
    assert ("note/note", "answer/answer") not in draft.edges


def test_of_nested_calls_with_one_text_the_innermost_is_the_node() -> None:
    outer = Call("step", "step", OTHER, "root", 10, 40, {"question": QUESTION}, {"answer": ANSWER})
    inner = call("model", LLM, 2, [user(QUESTION)], said(ANSWER), parent="step")
    draft = read(root({"answer": ANSWER}), outer, inner)
    assert set(draft.nodes) == {"question", "model/model"}
    assert draft.header.terminals == ("model/model",)


def test_retrieval_is_known_by_its_content_where_it_is_logged_as_a_chain() -> None:
    draft = read(
        root(ANSWER),
        call("retrieve", OTHER, 1, {"question": QUESTION, "docs": []}, {"docs": [PAGE]}),
        call("fan", OTHER, 2, {"docs": [PAGE]}, [f"Send(node='map', arg={{'doc': '{PAGE}'}})"]),
        call("note", LLM, 3, {"prompts": [f"Human: Summarise: {PAGE}"]}, said(ANSWER)),
    )
    assert draft.nodes["retrieve/retrieve"].origin is Origin.SOURCE
    assert edges(draft) == {("retrieve/retrieve", "note/note"): "exact"}


def test_instructions_and_definitions_of_tools_are_no_nodes() -> None:
    definition = {"role": "tool", "content": {"type": "function", "function": {"parameters": {}}}}
    system = {"role": "system", "content": "You answer questions of travellers."}
    draft = read(
        root(ANSWER), call("a", LLM, 1, [system, user(QUESTION), definition], said(ANSWER))
    )
    assert set(draft.nodes) == {"question", "a/a"}


def test_documents_that_stand_in_the_instructions_are_inputs() -> None:
    system = {"role": "system", "content": f"Answer from these pages alone.\n{PAGE}"}
    draft = read(
        root(ANSWER),
        call("search", RETRIEVER, 1, {"query": QUESTION}, [{"page_content": PAGE, "metadata": {}}]),
        call("a", LLM, 2, [system, user(QUESTION)], said(ANSWER)),
    )
    assert draft.nodes["search/search"].origin is Origin.SOURCE
    assert ("search/search", "a/a") in edges(draft)
    assert draft.header.explained is not None
    assert draft.header.explained > 0.5  # instructions around the pages count as given
    (warning,) = [one for one in draft.header.warnings if "left out" in one]
    assert "'Answer from these pages alone.'" in warning


def test_what_happened_before_the_trace_comes_from_the_messages() -> None:
    draft = read(
        call(
            "a", LLM, 1,
            [user("Hello there, who are you?"), said("I am the harbour's assistant."),
             user(QUESTION), {"role": "tool", "content": PAGE, "tool_call_id": "c9"}],
            said(ANSWER), parent=None,
        )
    )  # fmt: skip
    kinds = {node.text: (node.kind, node.origin) for node in draft.nodes.values()}
    assert kinds["I am the harbour's assistant."] == ("message", Origin.GENERATED)
    assert kinds[PAGE] == ("tool_result", Origin.SOURCE)
    assert survey(draft).unsourced == 3


def test_one_call_logged_at_its_start_and_its_end_is_one() -> None:
    begun = Call("a", "a", LLM, None, 10, 10, [user(QUESTION)], None)
    ended = Call("a", "a", OTHER, None, 10, 30, None, said(ANSWER))
    assert set(read(begun, ended).nodes) == {"question", "a/a"}


def test_an_output_in_an_event_of_the_same_time_is_found() -> None:
    event = Call("e", "output", CallKind.EVENT, "root", 15, 15, None, said(ANSWER))
    draft = read(root(), call("a", LLM, 1, [user(QUESTION)], None), event)
    assert draft.nodes["a/a"].text == ANSWER


def test_calls_without_text_are_named_and_so_is_what_read_the_answer() -> None:
    draft = read(
        root(ANSWER),
        call("mute", LLM, 1, [user(QUESTION)], None),
        call("answer", LLM, 2, [user(QUESTION)], said(ANSWER)),
        call(
            "grade", LLM, 3, [user(f"Is this right? {ANSWER}")], said("It is quite right, I think.")
        ),
    )
    assert "grade/grade" not in draft.nodes
    words = " ".join(draft.header.warnings)
    assert "later output that the final output went into is left out: grade/grade" in words
    assert "1 call(s) of models, tools or retrievers hold no output text: mute" in words


def test_calls_of_one_moment_make_no_circle() -> None:
    same = {"start": 5, "end": 5}
    calls = [
        Call("x", "x", LLM, None, **same, given=[user(f"Use {NOTE}")], made=said(ANSWER)),
        Call("y", "y", LLM, None, **same, given=[user(f"Use {ANSWER}")], made=said(NOTE)),
    ]
    assert read(*calls).nodes


def test_a_circle_of_parents_is_no_fault() -> None:
    one = call("x", LLM, 1, [user(QUESTION)], said(ANSWER), parent="y")
    other = call("y", OTHER, 2, None, None, parent="x")
    assert read(one, other).nodes


def test_a_trace_without_text_says_so() -> None:
    draft = process_of(Trace([root()]), "test", ImportOptions())
    assert draft.nodes == {}
    assert "No recorded call holds text that a model wrote" in draft.header.warnings


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", [("plain", None)]),
        ('{"answer": "inside", "id": "x"}', [("inside", None)]),
        ("{'docs': ['one', 'two']}", [("one", None), ("two", None)]),
        ("Human: hello", [("hello", "user")]),
        ({"role": "user", "content": [{"type": "text", "text": "part"}]}, [("part", "user")]),
        ({"type": "function_call_output", "call_id": "c", "output": "out"}, [("out", "tool")]),
        ([{"page_content": "page", "metadata": {"n": 1}}], [("page", "document")]),
        ({"deep": {"er": [{"x": 7}]}}, [("7", None)]),
        ({"token_usage": {"total": 5}, "model": "m"}, []),
        ("[" * 50_000, [("[" * 50_000, None)]),
        (None, []),
        ("  ", []),
    ],
)  # fmt: skip
def test_texts_are_taken_out_of_values(value: Any, expected: list[tuple[str, str | None]]) -> None:
    assert [(one.text, one.role) for one in pieces(value)] == expected


def test_of_an_answer_only_what_the_model_wrote_is_taken() -> None:
    openai = {"choices": [{"finish_reason": "stop", "message": said("yes it is")}], "object": "x"}
    assert [one.text for one in of_output(openai)] == ["yes it is"]
    response = {
        "object": "response", "instructions": "Be kind.",
        "output": [{"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "well"}]}],
    }  # fmt: skip
    assert [one.text for one in of_output(json.dumps(response))] == ["well"]


def test_every_text_is_found_wherever_it_stands() -> None:
    texts = ["aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaab", "é" * 20, "short"]
    finder = Finder.of(texts)
    text = "x" + texts[1] + texts[2]
    found = {(hit.found, hit.start, hit.end) for hit in finder.within(text)}
    assert found == {(0, 1, 17), (1, 1, 18), (2, 18, 38)}


def test_normal_forms_are_equal_where_only_programs_changed_the_text() -> None:
    assert normalised('A\\n b\\u00e9 \\"c\\"') == normalised('a\nbé   "C"')  # escapes
    assert normalised("| a | b |\n+---+---+\n") == normalised("A  B")


@pytest.mark.parametrize("name", ["langchain", "langfuse", "mlflow", "otlp"])
def test_the_example_of_each_tracer_is_the_same_process(name: str) -> None:
    (found,) = find_processes(EXAMPLES / f"{name}.json")
    draft = found.open()
    assert isinstance(draft, Draft)
    assert draft.header.source_format == name
    survey(draft)
    texts = {node: one.text.split()[0] for node, one in draft.nodes.items()}
    shape = {(texts[source], texts[target]) for source, target in draft.edges}
    assert shape == {("The", "The"), ("While", "The"), ("The", "During"), ("What", "During")}
    assert len(draft.nodes) == 6
    assert draft.header.explained is not None
    assert draft.header.explained > 0.8


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real traces are not at {REAL}")
@pytest.mark.parametrize(
    ("name", "nodes", "kinds"),
    [
        ("langchain_runtree_flat.json", 5, {"exact": 4}),
        ("mlflow_trace.json", 5, {"exact": 4}),
        ("mlflow_artifact_traces.json", 5, {"exact": 4}),
        ("openinference_langgraph_otlp.json", 5, {"exact": 4}),
        ("openinference_langgraph_spans_sdkjson.json", 5, {"exact": 4}),
        ("langfuse/openai-agents-2025-09-30.trace.json", 4, {"named": 4}),
        ("langfuse/langgraph-python-2025-08-22.trace.json", 5, {"named": 6}),
    ],
)
def test_traces_that_real_libraries_wrote(name: str, nodes: int, kinds: dict[str, int]) -> None:
    (found,) = find_processes(REAL / name)
    draft = found.open()
    assert isinstance(draft, Draft)
    survey(draft)
    ways = list(edges(draft).values())
    assert (len(draft.nodes), {way: ways.count(way) for way in ways}) == (nodes, kinds)
    roots = [one for one in draft.nodes.values() if one.origin is Origin.SOURCE]
    assert roots
    # What a user said explains nothing by itself, and one of them holds it nowhere else.
    least = 0.5 if "openai-agents" in name else 0.85
    assert draft.header.explained is not None
    assert least < draft.header.explained <= 1


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real traces are not at {REAL}")
def test_the_tool_of_a_real_trace_is_tied_by_the_id_of_its_call() -> None:
    path = REAL / "langfuse" / "openai-agents-2025-09-30.trace.json"
    (found,) = find_processes(path, options=ImportOptions(only_explicit=True))
    draft = found.open()
    assert isinstance(draft, Draft)
    (source,) = [one.node_id for one in draft.nodes.values() if one.origin is Origin.SOURCE]
    assert set(edges(draft).values()) == {"named"}
    assert source in {source for source, _ in draft.edges}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("langfuse", {"trace": {}, "observations": [{"startTime": "2025"}]}, "has no id"),
        ("langfuse", {"observations": [{"id": "a", "startTime": "noon"}]}, "is no time"),
        ("langfuse", {"trace": 5}, "observations"),
        (
            "otlp",
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]},
            "needs a traceId",
        ),
        ("otlp", {"resourceSpans": [5]}, "not as OTLP writes them"),
        ("otlp", {"a": 1}, "neither resourceSpans"),
        ("mlflow", {"data": {}}, "must hold the list"),
        ("mlflow", {"spans": [{"name": "x"}]}, "no span_id"),
        (
            "langchain",
            [{"run_type": "llm", "inputs": {}, "trace_id": "t"}],
            "run 1 of a trace",
        ),
        ("langchain", [5], "neither a run nor a state"),
    ],
)
def test_what_is_wrong_with_a_trace_is_said(
    tmp_path: Path, name: str, content: Any, words: str
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    found = find_processes(path, format_name=name)
    with pytest.raises(InputError, match=words):
        _ = [one.open() for one in found]


def test_outputs_of_haystack_are_read_in_their_order() -> None:
    (found,) = find_processes(EXAMPLES / "haystack.json")
    draft = found.open()
    assert isinstance(draft, Draft)
    survey(draft)
    assert set(draft.edges) == {
        ("retriever/retriever", "prompt_builder/prompt_builder"),
        ("prompt_builder/prompt_builder", "llm/llm"),
    }


def test_a_snapshot_of_haystack_says_who_sent_what(tmp_path: Path) -> None:
    def sent(value: Any, sender: str | None = None) -> list[dict[str, Any]]:
        return [{"sender": sender, "value": value}]

    document = {"content": PAGE, "meta": {}}
    inputs = {
        "retriever": {"query": sent(QUESTION)},
        "builder": {"documents": sent([document], "retriever"), "question": sent(QUESTION)},
        "llm": {"prompt": sent(f"Use {PAGE} to say: {QUESTION}", "builder")},
        "answers": {"replies": sent([ANSWER], "llm")},
    }
    snapshot = {
        "pipeline_state": {"inputs": {"serialized_data": inputs}, "pipeline_outputs": {}},
        "ordered_component_names": sorted(inputs),
    }
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert draft.header.terminals == ("llm/llm",)
    assert ("retriever/retriever", "builder/builder") in draft.edges
    assert ("builder/builder", "llm/llm") in draft.edges


def test_a_history_of_states_is_read_as_steps(tmp_path: Path) -> None:
    def state(step: int, values: Any, following: list[str]) -> dict[str, Any]:
        return {"values": values, "next": following, "metadata": {"step": step}}

    history = [
        state(2, {"question": QUESTION, "docs": [PAGE], "messages": [said(ANSWER)]}, []),
        state(1, {"question": QUESTION, "docs": [PAGE], "messages": []}, ["answer"]),
        state(0, {"question": QUESTION, "docs": [], "messages": []}, ["retrieve"]),
    ]
    path = tmp_path / "states.json"
    path.write_text(json.dumps(history), encoding="utf-8")
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert draft.nodes["retrieve/1"].origin is Origin.SOURCE
    assert ("retrieve/1", "answer/2") in draft.edges


def test_spans_of_protobuf_are_the_same_as_of_json(tmp_path: Path) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    value = json.loads((EXAMPLES / "otlp.json").read_text(encoding="utf-8"))
    (expected,) = find_processes(EXAMPLES / "otlp.json")
    import base64

    for span in value["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    path = tmp_path / "trace.pb"
    path.write_bytes(ParseDict(value, ExportTraceServiceRequest()).SerializeToString())
    (found,) = find_processes(path)
    one, other = found.open(), expected.open()
    assert isinstance(one, Draft)
    assert isinstance(other, Draft)
    assert {name: node.text for name, node in one.nodes.items()} == {
        name: node.text for name, node in other.nodes.items()
    }
    path.write_bytes(b"\xff\xff no protobuf")
    (unread,) = find_processes(path)
    with pytest.raises(InputError, match="no OTLP export request"):
        unread.open()


def test_messages_of_the_genai_conventions_are_read_from_events(tmp_path: Path) -> None:
    def value(text: str) -> dict[str, str]:
        return {"stringValue": text}

    def event(name: str, **attributes: str) -> dict[str, Any]:
        listed = [{"key": key, "value": value(text)} for key, text in attributes.items()]
        return {"name": name, "attributes": listed, "timeUnixNano": "5"}

    span = {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
        "name": "chat example-model", "startTimeUnixNano": "1", "endTimeUnixNano": "9",
        "attributes": [{"key": "gen_ai.operation.name", "value": value("chat")},
                       {"key": "gen_ai.request.model", "value": value("example-model")}],
        "events": [event("gen_ai.user.message", content=QUESTION),
                   event("gen_ai.choice", message=json.dumps(said(ANSWER)))],
    }  # fmt: skip
    path = tmp_path / "genai.json"
    path.write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}), encoding="utf-8"
    )
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    assert {one.text for one in draft.nodes.values()} == {QUESTION, ANSWER}
    terminal = draft.nodes[draft.header.terminals[0]]  # type: ignore[index]
    assert terminal.metadata["model"] == "example-model"
