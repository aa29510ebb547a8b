"""Which parts of what a model was given are found again, and how much of it they explain."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from unit.graph.test_traces import (
    ANSWER,
    LLM,
    NOTE,
    PAGE,
    QUESTION,
    RETRIEVER,
    TOOL,
    call,
    edges,
    read,
    root,
    said,
    user,
)

from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.importers.traces.finding import (
    Finder,
    Hit,
    gaps,
    is_whole,
    normalised,
)
from veritrail_graph.graph.importers.traces.leaves import items, leaves
from veritrail_graph.graph.importers.traces.otlp import trace_process
from veritrail_graph.graph.model import Inference, Origin

SHOUTED = "THE OLD FERRY  was sold to a yard\nin Thyra, which broke it up in 1998."
LIST = "The yard in Thyra was closed in 2004."


def search(*texts: str, at: int = 1, name: str = "search") -> Any:
    return call(name, RETRIEVER, at, None, [{"page_content": one, "metadata": {}} for one in texts])


def asked(prompt: str, *before: Any, **options: Any) -> Draft:
    """The process in which the prompt follows on some calls."""
    return read(root(ANSWER), *before, call("a", LLM, 9, [user(prompt)], said(ANSWER)), **options)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (f"Context: {SHOUTED} \n Question: {QUESTION}",
         {"question": "exact", "search/search": "normalised"}),
        (f"Context: {PAGE} Question: {QUESTION.upper()}",
         {"question": "normalised", "search/search": "exact"}),
        (f"{SHOUTED}\n{LIST}\nQuestion: {QUESTION}",
         {"question": "exact", "search/search": "normalised", "search/search~2": "exact"}),
        (f"{SHOUTED}\n{LIST.upper()}",
         {"search/search": "normalised", "search/search~2": "normalised"}),
        (f"{PAGE}\n{SHOUTED}", {"search/search": "exact"}),
    ],
)  # fmt: skip
def test_what_is_not_found_exactly_is_looked_for_in_the_rest_of_the_text(
    prompt: str, expected: dict[str, str]
) -> None:
    draft = asked(prompt, search(PAGE, LIST))
    assert {source: how for (source, _), how in edges(draft).items()} == expected


def test_less_is_explained_where_less_is_found() -> None:
    found = asked(f"Context: {PAGE} Go on.", search(PAGE)).header.explained
    changed = PAGE.replace("yard", "shipyard").replace("broke", "took")
    lost = asked(f"Context: {changed} Go on.", search(PAGE))
    assert found == pytest.approx(len(PAGE) / len(f"Context: {PAGE} Go on."), abs=1e-4)
    # The message is a node, as no recorded text is in it: that explains nothing.
    assert lost.nodes["user/1"].origin is Origin.GIVEN
    assert lost.header.explained == 0
    bare = read(search(PAGE), call("a", LLM, 9, [user(changed)], said(ANSWER), parent=None))
    assert bare.header.explained == 0


def test_less_is_explained_where_inferred_edges_are_left_out() -> None:
    prompt = f"{QUESTION}\n{PAGE}"
    assert asked(prompt, search(PAGE)).header.explained == pytest.approx(1, abs=0.02)
    assert asked(prompt, search(PAGE), only_explicit=True).header.explained == 0


def test_what_was_said_before_the_trace_is_explained_by_its_role() -> None:
    messages = [user(QUESTION), said("I looked it up."), {"role": "tool", "content": PAGE}]
    draft = read(call("a", LLM, 1, messages, said(ANSWER), parent=None))
    length = len(QUESTION) + len("I looked it up.") + len(PAGE)
    expected = 1 - len(QUESTION) / length
    assert draft.header.explained == pytest.approx(expected, abs=1e-4)


def test_a_prompt_that_begins_the_trace_is_searched_for_what_came_before() -> None:
    before = search(PAGE)
    before.parent_id = None
    draft = read(before, call("a", LLM, 2, [user(f"Use {PAGE}")], said(ANSWER), parent=None))
    assert edges(draft) == {("search/search", "a/a"): "exact"}


def weather(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "weather",
            "arguments": json.dumps({"city": city})}  # fmt: skip


def answered(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def test_a_tool_without_an_id_answers_the_call_with_its_name_and_arguments() -> None:
    first, second = weather("c1", "Thyra"), weather("c2", "Solm")
    tools = [
        call("solm", TOOL, 2, '{"city": "Solm"}', "Rain."),
        call("thyra", TOOL, 3, {"city": "Thyra"}, "Sun."),
    ]
    for one in tools:
        one.name = "weather"
    given = [user(QUESTION), first, second, answered("c1", "Sun."), answered("c2", "Rain.")]
    draft = read(
        root(ANSWER),
        call("plan", LLM, 1, [user(QUESTION)], [first, second]),
        *tools,
        call("a", LLM, 5, given, said(ANSWER)),
        only_explicit=True,
    )
    assert {(source, how) for (source, target), how in edges(draft).items() if target == "a/a"} >= {
        (source, "named")
        for source in ("weather/solm", "weather/thyra", "plan/plan", "plan/plan~2")
    }


def test_results_with_one_text_are_tied_to_the_calls_that_they_answer() -> None:
    def tool(name: str, at: int) -> Any:
        made = call(name, TOOL, at, None, "The yard is closed.")
        made.link = name
        return made

    given = [user(QUESTION), answered("c2", "The yard is closed.")]
    draft = read(root(ANSWER), tool("c1", 1), tool("c2", 2), call("a", LLM, 5, given, said(ANSWER)))
    assert edges(draft)["c2/c2", "a/a"] == "named"
    assert "c1/c1" not in draft.nodes


def test_the_conventions_for_generative_ai_name_the_call_that_a_tool_answers(
    tmp_path: Path,
) -> None:
    def span(number: int, name: str, **attributes: Any) -> dict[str, Any]:
        listed = [
            {"key": key.replace("__", "."), "value": {
                "stringValue": one if isinstance(one, str) else json.dumps(one)}}
            for key, one in attributes.items()
        ]  # fmt: skip
        return {
            "traceId": "5b8efff798038103d269b633813fc60c", "spanId": f"{number:016x}",
            "name": name, "startTimeUnixNano": str(number * 10),
            "endTimeUnixNano": str(number * 10 + 5), "attributes": listed,
        }  # fmt: skip

    ask = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "Thyra"}}
    response = {"type": "tool_call_response", "id": "c1", "result": "Closed."}
    spans = [
        span(1, "chat", gen_ai__operation__name="chat",
             gen_ai__output__messages=[{"role": "assistant", "parts": [ask]}]),
        span(2, "execute_tool look", gen_ai__operation__name="execute_tool",
             gen_ai__tool__call__id="c1", gen_ai__tool__call__result="Closed."),
        span(3, "chat", gen_ai__operation__name="chat",
             gen_ai__input__messages=[{"role": "tool", "parts": [response]}],
             gen_ai__output__messages=[
                 {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]),
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), encoding="utf-8"
    )
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    tool = f"execute_tool look/{2:016x}"
    assert draft.nodes[tool].origin is Origin.SOURCE
    assert edges(draft)[tool, f"chat/{3:016x}"] == "named"


def test_an_answer_to_a_call_in_a_message_of_the_user_is_the_result_of_the_tool() -> None:
    parts = [{"type": "tool_result", "tool_use_id": "c1", "content": PAGE}]
    draft = read(call("a", LLM, 1, [{"role": "user", "content": parts}], said(ANSWER), parent=None))
    assert [one.kind for one in draft.nodes.values() if one.text == PAGE] == ["tool_result"]


def test_cells_of_a_printed_table_are_found_in_the_rows_that_it_shows() -> None:
    rows = {"rows": [{"name": "Old ferry", "year": 1998, "note": PAGE},
                     {"name": "Thyra", "year": 2004, "note": LIST}]}  # fmt: skip
    first, second = f"| Old ferry | 1998 | {PAGE} |", f"| Thyra | 2004 | {LIST} |"
    table = f"| name | year | note |\n|---|---|---|\n{first}\n{second}"
    load = call("load", TOOL, 1, {"sql": "SELECT"}, rows)
    quote = call("quote", LLM, 2, [user(f"Pick one: {PAGE}")], said(f"I pick this one: {LIST}"))
    prompt = f"Table:\n{table}\n"
    draft = asked(prompt, load, quote)
    edge = draft.edges["load/load", "a/a"]
    assert edge.inferred is Inference.NORMALISED
    whole = len(normalised(draft.nodes["load/load"].text))
    assert edge.score == pytest.approx((len(PAGE) + len(LIST)) / whole, abs=1e-3)
    assert ("quote/quote", "a/a") not in draft.edges  # it quotes one of the rows
    given = len(prompt) + len(f"Pick one: {PAGE}")
    assert draft.header.explained == pytest.approx((len(PAGE) + len(LIST)) / given, abs=1e-4)


def test_headings_and_short_cells_are_found_nowhere() -> None:
    load = call("load", TOOL, 1, {"sql": "SELECT"}, {"rows": ["Answer briefly", "Thyra"]})
    draft = asked("Answer briefly\n| Thyra | 2004 |", load)
    assert "load/load" not in draft.nodes


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Context:\nThyra\nA big yard\nWhich yard was it?", {"exact"}),
        ("Context:\n- THYRA\n2. A big  yard.\n", {"normalised"}),
        ('Context: "Thyra", "A big yard"', {"exact"}),
        ("Was it in Thyra, in A big yard there?", set()),
    ],
)
def test_short_documents_are_found_where_they_are_a_whole_line_or_item(
    prompt: str, found: set[str]
) -> None:
    draft = asked(prompt, search("Thyra", "A big yard" if "." not in prompt else "a big yard."))
    into = {how for (source, _), how in edges(draft).items() if source.startswith("search")}
    assert into == found
    assert len([name for name in draft.nodes if name.startswith("search")]) == 2 * len(found)


def test_two_calls_that_wrote_one_text_both_feed_what_was_given_it_twice() -> None:
    def notes(prompt: str) -> set[str]:
        draft = read(
            root(ANSWER), search(PAGE),
            call("one", LLM, 2, [user(f"Sum up: {PAGE}")], said(NOTE)),
            call("two", LLM, 3, [user(f"Again: {PAGE}")], said(NOTE)),
            call("a", LLM, 9, [user(prompt)], said(ANSWER)),
        )  # fmt: skip
        return {source for source, target in draft.edges if target == "a/a"}

    assert notes(f"Combine: {NOTE} | {NOTE}") == {"one/one", "two/two"}
    assert notes(f"Improve: {NOTE}") == {"two/two"}  # the later one is what was at hand


def test_a_text_is_taken_apart_as_people_read_it() -> None:
    text = '- "Thyra"\n| a cell of a table | b |\na line of the text, no heading\nshort line'
    assert list(leaves(text)) == ["a cell of a table", "a line of the text, no heading"]
    assert list(items("1) Thyra,\n'one' and `two`")) == ["Thyra", "one' and `two", "one", "two"]
    assert gaps("abcdef", [Hit(0, 1, 3), Hit(1, 2, 4)]) == ["a", "ef"]
    assert (is_whole("an old yard", Hit(0, 3, 6)), is_whole("golden", Hit(0, 1, 4))) == (
        True,
        False,
    )


def test_texts_of_one_letter_are_found_longest_first_and_at_few_places_only() -> None:
    texts = ["a" * length for length in range(24, 1_024)]
    finder = Finder.of(texts)
    few = finder.within("b" + "a" * 30)
    assert [(hit.start, hit.end) for hit in few[:3]] == [(1, 31), (1, 30), (1, 29)]
    assert not finder.is_spent
    many = finder.within("a" * 100_000)
    assert len(many) <= 30_000
    assert (many[0].start, many[0].end) == (0, 1_023)
    assert finder.is_spent


@pytest.mark.parametrize("unit", ["a", "ab "])
def test_a_trace_of_one_letter_takes_work_in_proportion_to_its_characters(unit: str) -> None:
    def work(count: int) -> int:
        spans: list[dict[str, Any]] = [
            {
                "trace_id": "1" * 32, "span_id": f"{number:016x}", "name": "s", "events": [],
                "parent_id": f"{1:016x}" if number > 1 else None,
                "start": 10 * number, "end": 10 * number + 5,
                "attributes": {
                    "openinference.span.kind": "LLM", "input.value": unit * (24 + number),
                    "output.value": unit * (24 + count + number),
                },
            }
            for number in range(1, count + 1)
        ]  # fmt: skip
        calls = 0

        def called(_frame: Any, _event: str, _about: Any) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(called)
        try:
            draft = trace_process("1" * 32, spans, ImportOptions())
        finally:
            sys.setprofile(None)
        assert len(draft.nodes) >= count
        return calls

    assert work(160) < 6 * work(80), "the characters are four times as many"


def test_halves_of_characters_are_searched_and_found_as_written() -> None:
    half = "It rained \ud83d in the harbour."
    hits = Finder.of([half]).within(f"Well: {half}")
    assert [(one.start, one.end) for one in hits] == [(6, 6 + len(half))]
    escaped, meant = "A ship came \\ud83d\\udea2 in May", "a ship came \U0001f6a2 in may"
    assert normalised(escaped) == meant
    assert Finder.of([normalised(escaped)]).within(meant)
    assert normalised("A half \\ud83d of one") == "a half \ufffd of one"
