"""The texts of a trace that are no node: known of one, or named."""

from __future__ import annotations

import json
from typing import Any

from fakes.vendor_spans import request, span
from unit.graph.test_traces_of_vendors import read

from veritrail_graph.graph.importers.draft import Draft

QUESTION = "How many looms stand in the mill at Ebersbach?"
REGISTER = "Register of mills, 1921: the mill at Ebersbach runs 64 looms."
ANSWER = "64 looms stand in the mill at Ebersbach."
RULES = "You are a clerk of the archive. Never guess a figure."
THOUGHT = "The register of 1921 may say it."


def llm(number: int, given: Any, made: str, **more: Any) -> Any:
    """The call of a model."""
    own = {"openinference.span.kind": "LLM", "input.value": json.dumps(given),
           "output.value": made, **more}  # fmt: skip
    return span(number, "ask", own)


def retriever(number: int, query: str = QUESTION) -> Any:
    """What was looked up."""
    found = {"retrieval.documents.0.document.content": REGISTER}
    own = {"openinference.span.kind": "RETRIEVER", "input.value": query, **found}
    return span(number, "search", own)


def root() -> Any:
    """The whole."""
    return span(1, "run", {"input.value": QUESTION, "output.value": ANSWER})


def user(text: str) -> list[Any]:
    """A user's message."""
    return [{"role": "user", "content": text}]


def answer(draft: Draft) -> Any:
    """The metadata of the answer."""
    (found,) = [one for one in draft.nodes.values() if one.text == ANSWER]
    return found.metadata


def test_instructions_are_named_once_whatever_number_of_calls_had_them() -> None:
    system = [{"role": "system", "content": RULES}]
    calls = [llm(n, [*system, *user(f"{QUESTION} ({n})")], f"Draft {n}, with words.")
             for n in range(2, 6)]  # fmt: skip
    (draft,) = read(request(root(), *calls, llm(6, [*system, *user(QUESTION)], ANSWER)))
    (warning,) = [one for one in draft.header.warnings if "instruction" in one]
    assert warning.startswith("1 instruction (system prompt) of models is left out")
    assert RULES in warning


def test_the_words_around_a_found_document_are_known_of_the_answer() -> None:
    prompt = f"Known:\n{REGISTER}\nToday is 4 May.\n{QUESTION}\nBe brief!"
    (draft,) = read(request(root(), retriever(2), llm(3, user(prompt), ANSWER)))
    assert answer(draft)["given"] == "Known:\nToday is 4 May.\nBe brief!"
    assert not any("left out" in one for one in draft.header.warnings)


def test_a_query_that_no_other_text_holds_is_known_of_what_it_found() -> None:
    calls = (
        retriever(2, "looms Ebersbach register"),
        llm(3, user(f"{REGISTER}\n{QUESTION}"), ANSWER),
    )
    (draft,) = read(request(root(), *calls))
    (found,) = [one for one in draft.nodes.values() if one.text == REGISTER]
    assert found.metadata["given"] == "looms Ebersbach register"


def test_what_a_run_was_called_with_and_nobody_read_is_named_or_known() -> None:
    asked = json.dumps({"task": QUESTION, "additional_args": {"note": "The mill burnt in 1934."}})
    whole = {"input.value": asked, "output.value": ANSWER}
    (draft,) = read(request(span(1, "run", whole), llm(2, user(QUESTION), ANSWER)))
    assert len(draft.nodes) == 2
    assert any("The mill burnt in 1934." in one for one in draft.header.warnings)


def test_fields_beside_input_and_output_are_named_unless_a_text_holds_them() -> None:
    tool = {"description": "Looks mills up."}
    own = {"smolagents.additional_args": json.dumps({"text": "The mill burnt in 1934."}),
           "metadata.asked": QUESTION, "http.user_agent": "a browser of somebody",
           "llm.tools.0.tool.json_schema": json.dumps(tool)}  # fmt: skip
    (draft,) = read(request(root(), llm(2, user(QUESTION), ANSWER, **own)))
    (warning,) = [one for one in draft.header.warnings if "field" in one]
    assert warning == (
        "2 fields beside what calls were given and gave are left out: "
        "'smolagents.additional_args', 'llm.tools.0.tool.json_schema'"
    )


def test_the_message_of_a_status_is_that_of_the_error() -> None:
    failed = {**retriever(2), "status": {"code": 2, "message": "The archive is closed today."}}
    (draft,) = read(request(root(), failed, llm(3, user(QUESTION), ANSWER)))
    assert any(
        "ended with an error: search ('The archive is closed today.')" in one
        for one in draft.header.warnings
    )


def messages() -> list[Any]:
    """All messages of a run of Pydantic AI."""
    thinking = {"type": "thinking", "content": THOUGHT}
    return [
        {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
        {"role": "assistant", "parts": [thinking, {"type": "text", "content": ANSWER}]},
    ]


def test_the_answer_among_all_messages_of_a_run_is_one_node_with_its_thought() -> None:
    own = {"pydantic_ai.all_messages": json.dumps(messages()), "final_result": ANSWER}
    (draft,) = read(request(span(1, "invoke_agent clerk", own)))
    assert [one.text for one in draft.nodes.values()] == [QUESTION, ANSWER]
    assert answer(draft)["thought"] == THOUGHT


def test_a_thought_in_an_earlier_turn_is_known_of_that_turn() -> None:
    history = [*messages(), {"role": "user", "parts": [{"type": "text", "content": "Sure?"}]}]
    (draft,) = read(request(llm(1, history, "Quite sure, says the register.")))
    assert answer(draft)["thought"] == THOUGHT


def test_passages_that_a_provider_of_vercel_grounded_an_answer_in_are_source_text() -> None:
    chunk = {"retrievedContext": {"title": "mills", "text": REGISTER}}
    about = {"google": {"groundingMetadata": {"groundingChunks": [chunk]}}}
    own = {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": ANSWER,
           "ai.prompt.messages": json.dumps(user(QUESTION)),
           "ai.response.providerMetadata": json.dumps(about)}  # fmt: skip
    (draft,) = read(request(span(1, "ai.generateText.doGenerate", own)))
    (found,) = [one for one in draft.nodes.values() if one.text == REGISTER]
    assert found.origin == "source"


def test_a_step_that_only_cuts_a_text_out_is_no_place_of_an_error() -> None:
    written = f"{ANSWER} Nobody counted them again before the mill was closed."
    whole = {"input.value": QUESTION, "output.value": ANSWER}
    cut = {"openinference.span.kind": "CHAIN", "input.value": written, "output.value": ANSWER}
    changed = {**cut, "output.value": f"Reply to the reader, in short: {ANSWER}"}
    for own, is_copy in ((cut, True), (changed, False)):
        spans = llm(2, user(QUESTION), written), span(3, "shorten", own)
        root = span(1, "run", {**whole, "output.value": own["output.value"]})
        (draft,) = read(request(root, *spans))
        (node,) = [one for one in draft.nodes.values() if one.step == "shorten"]
        assert ("generative" in node.metadata) is is_copy
        assert node.metadata.get("generative", True) is not is_copy
