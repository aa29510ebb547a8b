"""Parts of messages in every vendor's form: thoughts, streams, calls, results, pictures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from unit.graph.test_trace_sources import ANSWER, ASKED, LEDGER, at, final, into, origins, read, run
from unit.graph.test_traces import LLM, TOOL, said, user

from veritrail_graph.graph.importers.traces.parts import without_thought
from veritrail_graph.graph.importers.traces.streams import joined, joined_texts
from veritrail_graph.graph.importers.traces.texts import everything, pieces
from veritrail_graph.graph.model import Origin

THOUGHT = "Vielleicht ist die andere Mühle gemeint, erbaut 1702."
SEAL = "EuQBCkYIBxABGAIiQFjt0sampleOnlyNothingIsInIt" * 3 + "9=="
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 4


def answered(made: Any) -> Any:
    """The process in which a model read a source, and wrote this."""
    return read(run(None), at("m", LLM, 1, 2, [user(f"{LEDGER} {ASKED}")], made))


@pytest.mark.parametrize(
    "made",
    [
        said([{"type": "thinking", "thinking": THOUGHT, "signature": SEAL},
              {"type": "text", "text": ANSWER}]),
        [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": ANSWER}],
        said([{"type": "redacted_thinking", "data": SEAL},
              {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
              {"type": "text", "text": ANSWER}]),
        said([{"type": "reasoning", "reasoning": THOUGHT}, {"type": "text", "text": ANSWER}]),
        said([{"type": "reasoning", "text": THOUGHT}, {"type": "text", "text": ANSWER}]),
        said([{"type": "reasoning_content", "reasoning_content": {"text": THOUGHT}},
              {"type": "text", "text": ANSWER}]),
        {"role": "model", "parts": [{"text": THOUGHT, "thought": True},
                                    {"text": ANSWER, "thoughtSignature": SEAL}]},
        {"candidates": [{"content": {"parts": [{"text": THOUGHT, "thought": True},
                                               {"text": ANSWER}]}, "finishReason": "STOP"}],
         "modelVersion": "a-model-of-today", "usageMetadata": {"totalTokenCount": 812}},
        {"output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": SEAL}}},
            {"text": ANSWER}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 5}},
        {"object": "response", "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}],
             "encrypted_content": SEAL},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": ANSWER}]}]},
        {"choices": [{"finish_reason": "stop", "message": {
            "role": "assistant", "content": ANSWER, "reasoning_content": THOUGHT}}]},
        said(ANSWER, reasoning=THOUGHT, reasoning_details=[
            {"type": "reasoning.encrypted", "data": SEAL}]),
        {"message": {"role": "assistant", "content": ANSWER, "thinking": THOUGHT}, "done": True},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": ANSWER}],
                     "tool_plan": THOUGHT}, "finish_reason": "COMPLETE"},
        [{"role": "assistant", "parts": [{"type": "reasoning", "content": THOUGHT},
                                         {"type": "text", "content": ANSWER}]}],
        {"kind": "response", "parts": [{"part_kind": "thinking", "content": THOUGHT},
                                       {"part_kind": "text", "content": ANSWER}]},
        {"role": "assistant", "blocks": [{"block_type": "thinking", "content": THOUGHT},
                                         {"block_type": "text", "text": ANSWER}]},
        {"type": "ai", "content": ANSWER, "additional_kwargs": {"reasoning_content": THOUGHT}},
        f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final"
        f"<|message|>{ANSWER}<|return|>",
        said(f"{THOUGHT}</think>{ANSWER}"),
        said(json.dumps([{"type": "thinking", "thinking": THOUGHT, "signature": SEAL},
                         {"type": "text", "text": ANSWER}])),
        {"reasoning": THOUGHT, "answer": ANSWER},
    ],
)  # fmt: skip
def test_thoughts_are_no_answers(made: Any) -> None:
    draft = answered(made)
    (node,) = [one for one in draft.nodes.values() if one.origin is Origin.GENERATED]
    assert (node.text, final(draft)) == (ANSWER, ANSWER)
    assert node.metadata["thought"] == THOUGHT
    assert not any(SEAL[:40] in one.text for one in draft.nodes.values())


def test_thoughts_that_a_model_is_given_again_are_no_nodes() -> None:
    before = said([{"type": "thinking", "thinking": THOUGHT, "signature": SEAL},
                   {"type": "text", "text": "Ich sehe nach."}])  # fmt: skip
    draft = read(run(ANSWER), at("m", LLM, 1, 2, [user(ASKED), before, user("Und?")], said(ANSWER)))
    assert set(origins(draft)) == {ASKED, "Ich sehe nach.", "Und?", ANSWER}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain </b> text", ("plain </b> text", "")),
        ("<think>a</think>b", ("b", "a")),
        ("[THINK]a[/THINK] b", ("b", "a")),
        ("a</thinking>\nb", ("b", "a")),
        ("Write <think> and </think> around it.", ("Write <think> and </think> around it.", "")),
        ("<think>never closed", ("<think>never closed", "")),
    ],
)
def test_a_thought_in_front_of_an_answer_is_taken_off(text: str, expected: tuple[str, str]) -> None:
    assert without_thought(text) == expected


PARTS = ["Nein, die ", "Mühle am Bach ", "stammt von 1687."]


def _openai(text: str) -> dict[str, Any]:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": text}}],
    }


@pytest.mark.parametrize(
    "made",
    [
        PARTS,
        {"combined_chunk_content": "".join(PARTS), "chunk_count": 3},
        {"output": PARTS},
        json.dumps(PARTS),
        [_openai(one) for one in PARTS],
        [{"object": "text_completion", "choices": [{"text": one}]} for one in PARTS],
        [{"type": "message_start", "message": {"role": "assistant", "content": []}},
         {"type": "content_block_delta", "index": 0,
          "delta": {"type": "thinking_delta", "thinking": THOUGHT}},
         {"type": "content_block_delta", "index": 0,
          "delta": {"type": "signature_delta", "signature": SEAL}},
         *({"type": "content_block_delta", "index": 1,
            "delta": {"type": "text_delta", "text": one}} for one in PARTS),
         {"type": "message_stop"}],
        [{"candidates": [{"content": {"role": "model", "parts": [{"text": one}]}}]}
         for one in PARTS],
        [{"type": "AIMessageChunk", "content": one, "id": "run-1"} for one in PARTS],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessageChunk"],
          "kwargs": {"content": one}} for one in PARTS],
        [{"text": one, "type": "ChatGenerationChunk",
          "message": {"type": "AIMessageChunk", "content": one}} for one in PARTS],
        [{"model": "m", "message": {"role": "assistant", "content": one}, "done": False}
         for one in PARTS],
        [{"model": "m", "response": one, "done": one is PARTS[-1]} for one in PARTS],
        [{"type": "text-delta", "textDelta": one} for one in PARTS],
        [{"type": "text-start", "id": "0"},
         *({"type": "text-delta", "id": "0", "delta": one} for one in PARTS), {"type": "finish"}],
        [*({"type": "response.output_text.delta", "delta": one} for one in PARTS),
         {"type": "response.output_text.done", "text": ANSWER}],
        [{"messageStart": {"role": "assistant"}},
         *({"contentBlockDelta": {"delta": {"text": one}, "contentBlockIndex": 0}}
           for one in PARTS),
         {"messageStop": {"stopReason": "end_turn"}}],
        [{"type": "content-delta", "index": 0,
          "delta": {"message": {"content": {"text": one}}}} for one in PARTS],
        said([{"type": "text", "text": one} for one in PARTS]),
        {"role": "model", "parts": [{"text": one} for one in PARTS]},
    ],
)  # fmt: skip
def test_the_chunks_of_a_stream_are_one_text(made: Any) -> None:
    draft = read(run(made), at("m", LLM, 1, 2, [user(f"{LEDGER} {ASKED}")], made, parent="run"))
    texts = [one.text for one in draft.nodes.values() if one.origin is Origin.GENERATED]
    assert texts == [ANSWER]
    assert final(draft) == ANSWER


def test_calls_of_tools_in_a_stream_are_whole() -> None:
    def delta(**call: Any) -> dict[str, Any]:
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    chunks = [
        delta(index=0, id="c1", function={"name": "look", "arguments": ""}),
        delta(index=0, function={"arguments": '{"ort":'}),
        delta(index=0, function={"arguments": ' "Bach"}'}),
    ]
    (call,) = pieces(chunks)
    assert (call.text, call.role, call.link) == ('look({"ort":"Bach"})', "call", "c1")


@pytest.mark.parametrize(
    ("texts", "by_model", "expected"),
    [
        (["水车", "建于1687年。"], True, "水车建于1687年。"),
        (["It was built in 1687. ", "It burnt in 1801."], True,
         "It was built in 1687. It burnt in 1801."),
        (["It was built in 1687.", "It burnt in 1801."], True, None),
        (["mill at the brook", "mill on the hill"], True, None),
        (["A page of one book.\n", "A page of another.\n"], False, None),
        (["It was ", "built in ", "1687."], False, "It was built in 1687."),
        (["one"], True, None),
        ([], True, None),
    ],
)  # fmt: skip
def test_a_list_of_texts_is_a_stream_where_one_goes_on_in_the_next(
    texts: list[str], by_model: bool, expected: str | None
) -> None:
    assert joined_texts(texts, by_model=by_model) == expected


@pytest.mark.parametrize(
    "value",
    [[], [{"a": 1}], [user("x")], [{"type": "text", "text": "a"}], [{"page_content": "a"}], ["a"]],
)
def test_a_list_of_something_else_is_no_stream(value: Any) -> None:
    assert joined(value) is None


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {"a": 1}},
         ('look({"a":1})', "call", "c")),
        ({"functionCall": {"name": "look", "args": {"a": 1}}}, ('look({"a":1})', "call", "look")),
        ({"toolUse": {"toolUseId": "c", "name": "look", "input": {"a": 1}}},
         ('look({"a":1})', "call", "c")),
        ({"part_kind": "tool-call", "tool_name": "look", "args": '{"a": 1}', "tool_call_id": "c"},
         ('look({"a":1})', "call", "c")),
        ({"type": "tool-result", "toolCallId": "c", "output": {"type": "text", "value": "Zu."}},
         ("Zu.", "tool", "c")),
        ({"toolResult": {"toolUseId": "c", "content": [{"text": "Zu."}]}}, ("Zu.", "tool", "c")),
        ({"functionResponse": {"name": "look", "response": {"x": "Zu."}}},
         ('{"x":"Zu."}', "tool", "look")),
        ({"part_kind": "tool-return", "tool_name": "look", "content": "Zu.", "tool_call_id": "c"},
         ("Zu.", "tool", "c")),
        ({"type": "tool_result", "tool_use_id": "c", "content": [
            {"type": "text", "text": "Zu."}, {"type": "image", "source": {"data": PICTURE}}]},
         ("Zu.", "tool", "c")),
    ],
)  # fmt: skip
def test_calls_and_results_are_known_in_every_spelling(part: Any, expected: Any) -> None:
    assert [(one.text, one.role, one.link) for one in pieces([part])] == [expected]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
        {"type": "input_audio", "input_audio": {"data": PICTURE, "format": "wav"}},
        {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
        {"image": {"format": "png", "source": {"bytes": PICTURE}}},
        {"type": "file", "mediaType": "application/pdf", "data": PICTURE},
        {"type": "document", "source": {"type": "base64", "data": PICTURE}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": PICTURE},
        f"data:image/png;base64,{PICTURE}",
        PICTURE,
        "@@@langfuseMedia:type=image/jpeg|id=ab|source=bytes@@@",
    ],
)  # fmt: skip
def test_what_has_no_text_is_named_in_a_warning(part: Any) -> None:
    shown = {"role": "user", "content": [{"type": "text", "text": ASKED}, part]}
    draft = read(
        run(ANSWER),
        at("see", TOOL, 1, 2, {"ort": "Bach"}, [part, {"type": "text", "text": LEDGER}]),
        at("m", LLM, 3, 4, [shown, user(LEDGER)], said(ANSWER)),
    )
    assert origins(draft) == {
        ASKED: Origin.GIVEN, LEDGER: Origin.SOURCE, ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert any("without text" in one and "left out" in one for one in draft.header.warnings)


def test_a_text_that_a_program_wrote_as_json_is_read() -> None:
    quoted = json.dumps(LEDGER)
    draft = read(
        run(json.dumps(ANSWER)),
        at("find", TOOL, 1, 2, {"ort": "Bach"}, quoted),
        at("m", LLM, 3, 4, [user(f"{LEDGER} {ASKED}")], json.dumps(ANSWER)),
    )
    assert set(origins(draft)) == {ASKED, LEDGER, ANSWER}
    assert into(draft, ANSWER) == {ASKED, LEDGER}


def test_deep_and_odd_values_end() -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = {"type": "tool_result", "content": [{"type": "thinking", "thinking": [deep]}]}
    nested = json.dumps("x")
    for _ in range(12):
        nested = json.dumps(nested)
    for value in (deep, nested, "<think>" * 50_000, "data:" + "a;" * 50_000, [[]] * 10_000):
        assert list(everything(value)) is not None
