"""What of a trace is source text, what a model wrote, and what somebody said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes import vendor_spans
from unit.graph.test_traces import LLM, OTHER, RETRIEVER, TOOL, edges, said, user

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.importers.traces.attributes import kind_of_span
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace
from veritrail_graph.graph.importers.traces.otlp import each_span
from veritrail_graph.graph.importers.traces.process import process_of
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

AGENT = CallKind.AGENT
ASKED = "Stimmt es, dass die Mühle 1702 erbaut wurde?"
LEDGER = "Kirchenbuch: die Mühle am Bach wurde 1687 erbaut und 1744 erweitert."
WRONG = "Die Mühle wurde 1702 erbaut."
ANSWER = "Nein, die Mühle am Bach stammt von 1687."


def at(
    name: str, kind: CallKind, begin: int, end: int, given: Any, made: Any,
    parent: str | None = "run", **more: Any,
) -> Call:  # fmt: skip
    return Call(name, name, kind, parent, begin * 1_000, end * 1_000, given, made, **more)


def run(made: Any, given: Any = ASKED, kind: CallKind = OTHER) -> Call:
    return at("run", kind, 0, 100, given, made, None)


def read(*calls: Call) -> Draft:
    draft = process_of(Trace(list(calls)), "test", ImportOptions())
    survey(draft)
    return draft


def origins(draft: Draft) -> dict[str, Origin | None]:
    return {one.text: one.origin for one in draft.nodes.values()}


def final(draft: Draft) -> str:
    (terminal,) = draft.header.terminals or ()
    return draft.nodes[terminal].text


def into(draft: Draft, text: str) -> set[str]:
    """The texts of the inputs of a text."""
    nodes = draft.nodes
    return {nodes[a].text for a, b in draft.edges if nodes[b].text == text}


# Questions.


@pytest.mark.parametrize(
    "given",
    [
        {"frage": ASKED, "sprache": "deutsch"},
        {"args": [ASKED], "kwargs": {}},
        {"args": ["<desk.Agent object at 0x7f2a11>"], "kwargs": {"anliegen": ASKED}},
        {"inputs": {"goal": ASKED}, "config": {"recursion_limit": 25, "style": "brief and polite"}},
        {"crew": "archive desk, two people", "topic": ASKED},
        {"text": ASKED},
        {"content": ASKED},
        {"new_message": {"role": "user", "parts": [{"text": ASKED}]}},
        {"messages": [{"kind": "request", "parts": [
            {"part_kind": "user-prompt", "content": ASKED}]}]},
        [ASKED],
        json.dumps({"userQuery": ASKED}),
        json.dumps(ASKED),
    ],
)  # fmt: skip
def test_what_a_run_was_called_with_is_given_under_any_key(given: Any) -> None:
    draft = read(
        run(WRONG, given), at("m", LLM, 1, 2, [user(f"Aufgabe: {ASKED}")], said("Ja, 1702."))
    )
    assert origins(draft)[ASKED] is Origin.GIVEN
    assert Origin.SOURCE not in origins(draft).values()
    assert draft.header.question == ASKED


@pytest.mark.parametrize(
    "given",
    [
        {"frage": ASKED, "contexts": [LEDGER]},
        {"task": ASKED, "retrievedDocs": [{"title": "Kirchenbuch", "body": LEDGER}]},
        {"task": ASKED, "input_documents": [{"page_content": LEDGER, "metadata": {}}]},
        {"args": [ASKED], "kwargs": {"article": LEDGER}},
    ],
)
def test_documents_beside_the_question_are_source_text(given: Any) -> None:
    draft = read(run(ANSWER, given), at("m", LLM, 1, 2, [user(f"{LEDGER}\n{ASKED}")], said(ANSWER)))
    assert origins(draft) == {
        ASKED: Origin.GIVEN, LEDGER: Origin.SOURCE, ANSWER: Origin.GENERATED,
    }  # fmt: skip
    assert draft.header.question == ASKED


def test_a_step_that_repeats_the_question_is_no_source_text() -> None:
    prompt = f"Beantworte kurz: {ASKED}"
    draft = read(
        run(ANSWER, {"anfrage": ASKED}),
        at("prompt", OTHER, 1, 2, {"x": ASKED}, prompt),
        at("m", LLM, 3, 4, [user(prompt)], said(ANSWER)),
    )
    assert origins(draft)[prompt] is Origin.GENERATED
    assert into(draft, prompt) == {ASKED}


# Documents that a model says again.

NOTES = f"Notizen:\n{LEDGER}\n\nAntworte."


@pytest.mark.parametrize("times", [(1, 2, 3, 4), (1, 2, 1, 2), (0, 0, 0, 0), (1, 2, 1, 3)])
@pytest.mark.parametrize("prompt", [NOTES, LEDGER], ids=["within", "alone"])
@pytest.mark.parametrize("kind", [RETRIEVER, TOOL])
def test_a_document_that_the_answer_repeats_stays_its_source(
    kind: CallKind, prompt: str, times: tuple[int, int, int, int]
) -> None:
    begin, end, start, stop = times
    draft = read(
        run(LEDGER), at("find", kind, begin, end, {"q": "Mühle"}, LEDGER),
        at("m", LLM, start, stop, [user(prompt)], said(LEDGER)),
    )  # fmt: skip
    assert edges(draft) == {("find/find", "m/m"): "exact"}
    assert draft.nodes["find/find"].origin is Origin.SOURCE
    assert draft.header.terminals == ("m/m",)
    assert draft.header.warnings == ()


@pytest.mark.parametrize("kind", [AGENT, OTHER])
def test_an_answer_without_a_recorded_model_comes_from_the_document_that_it_repeats(
    kind: CallKind,
) -> None:
    whole = run({"answer": LEDGER}, kind=kind)
    draft = read(whole, at("find", RETRIEVER, 1, 2, {"q": "Mühle"}, [LEDGER]))
    assert draft.nodes["find/find"].origin is Origin.SOURCE
    assert edges(draft)["find/find", "run/run"] == "exact"


def test_an_answer_comes_from_the_model_whose_words_it_repeats() -> None:
    draft = read(
        run(WRONG), at("first", LLM, 1, 2, [user(ASKED)], said(WRONG)),
        at("second", LLM, 3, 4, [user(f"Entwurf: {WRONG} Verbessere ihn.")], said(WRONG)),
    )  # fmt: skip
    assert edges(draft)["first/first", "second/second"] == "exact"
    assert draft.header.terminals == ("second/second",)


def hypothetical(query: str, *documents: str) -> Draft:
    """A model guesses an answer, with which documents are looked up."""
    return read(
        run(LEDGER), at("guess", LLM, 1, 2, [user(ASKED)], said(WRONG)),
        at("find", RETRIEVER, 3, 4, {"q": query}, [{"page_content": one} for one in documents]),
        at("m", LLM, 5, 6, [user("\n\n".join(documents))], said(LEDGER)),
    )  # fmt: skip


@pytest.mark.parametrize("query", [WRONG, "Baujahr"])
def test_what_a_model_guessed_is_no_source_beside_what_was_looked_up_with_it(query: str) -> None:
    draft = hypothetical(query, WRONG, LEDGER)
    assert origins(draft) == {
        ASKED: Origin.GIVEN, WRONG: Origin.GENERATED, LEDGER: Origin.GENERATED,
    }  # fmt: skip
    assert draft.nodes["find/find"].origin is Origin.SOURCE
    assert edges(draft)["find/find", "m/m"] == "exact"
    assert [one for one in draft.header.warnings if "Nothing tells" in one] == [
        "1 result(s) of tools or retrievers repeat what was written or said before. Nothing tells "
        "whether that was looked up as well, so this part of them is no source text: find/find "
        f"'{WRONG}'"
    ]


def test_a_guess_with_which_a_document_was_looked_up_takes_nothing_from_it() -> None:
    draft = hypothetical(WRONG, LEDGER)
    assert draft.nodes["find/find"].origin is Origin.SOURCE
    assert edges(draft)["find/find", "m/m"] == "exact"
    assert draft.header.warnings == ()


def test_a_part_of_a_source_that_a_model_quoted_is_source_text_when_it_is_found_again() -> None:
    longer = f"Aus der Chronik. {LEDGER} Die Brücke ist jünger."
    draft = read(
        run(LEDGER), at("find", RETRIEVER, 1, 2, {"q": "Mühle"}, [longer]),
        at("m", LLM, 3, 4, [user(longer)], said(LEDGER)),
        at("again", RETRIEVER, 5, 6, {"q": "Kirchenbuch"}, [LEDGER]),
        at("n", LLM, 7, 8, [user(f"Prüfe: {LEDGER}")], said("Es stimmt so.")),
    )  # fmt: skip
    assert draft.nodes["again/again"].origin is Origin.SOURCE
    assert edges(draft)["again/again", "n/n"] == "exact"
    assert draft.header.terminals == ("m/m",)


# Agents as tools.


def desk(result: Any, begin: int, end: int, tool: str = "ask_archive", **more: Any) -> Draft:
    """An agent that asks another as a tool; the calls of both are recorded beside each other."""
    asks = {"id": "c1", "name": tool, "args": {"q": "Baujahr der Mühle"}}
    result_message = {
        "role": "tool", "tool_call_id": "c1",
        "content": result if isinstance(result, str) else json.dumps(result),
    }  # fmt: skip
    return read(
        run("Bitte beachten: 1702."),
        at("plan", LLM, 1, 2, [user(ASKED)], said("", tool_calls=[asks])),
        at("search", TOOL, 3, 4, {"ort": "Bach"}, LEDGER),
        at("inner", LLM, 5, 8, [user(f"Baujahr? {LEDGER}")], said(WRONG)),
        at(tool, TOOL, begin, end, {"q": "Baujahr der Mühle"}, result, link="c1", **more),
        at("outer", LLM, 20, 22,
           [user(ASKED), said("", tool_calls=[asks]), result_message],
           said("Bitte beachten: 1702.")),
    )  # fmt: skip


@pytest.mark.parametrize(
    "result",
    [
        WRONG,
        f"  {WRONG.upper()}\n",
        {"status": "ok", "result": WRONG},
        json.dumps({"output": WRONG}),
        [{"type": "text", "text": f"Archiv: {WRONG}"}],
        {"content": [{"text": WRONG}], "status": "success"},
        {"role": "assistant", "content": f"Das Archiv meint: {WRONG}"},
    ],
)
@pytest.mark.parametrize("times", [(2, 9), (9, 9)])
def test_what_an_agent_called_as_a_tool_wrote_leads_to_its_model(
    result: Any, times: tuple[int, int]
) -> None:
    draft = desk(result, *times)
    sources = [text for text, origin in origins(draft).items() if origin is Origin.SOURCE]
    assert sources == [LEDGER]
    reached = {final(draft)}
    for _ in draft.nodes:
        reached |= {source for text in reached for source in into(draft, text)}
    assert {WRONG, LEDGER} <= reached


@pytest.mark.parametrize(
    "longer",
    [
        f"Gedanke: Ich habe nachgesehen.\nAntwort: {WRONG}",
        f"{WRONG} Sie steht am Bach und gehörte lange der Familie Holm.",
    ],
)
def test_a_part_of_what_a_model_wrote_is_no_source_when_a_tool_returns_it(longer: str) -> None:
    def trace(read_before: Any) -> Draft:
        return read(
            run("Bitte beachten: 1702."),
            at("search", TOOL, 1, 2, {"ort": "Bach"}, read_before, link="c0"),
            at("inner", LLM, 5, 8, [user("Baujahr?")], said(longer)),
            at("historian", TOOL, 9, 9, {"q": "Baujahr"}, WRONG, link="c1"),
            at("m", LLM, 10, 11, [user(f"{ASKED} {WRONG}")], said("Bitte beachten: 1702.")),
        )

    assert trace(LEDGER).nodes["historian/historian"].origin is Origin.GENERATED
    quoted = f"Blatt 12: {WRONG} Gesiegelt."
    assert trace(quoted).nodes["historian/historian"].origin is Origin.SOURCE


def test_what_a_tool_with_the_name_of_an_agent_returns_is_no_source_text() -> None:
    draft = desk("Im Archiv steht nichts davon.", 9, 12, tool="archive_agent")
    assert origins(draft)["Im Archiv steht nichts davon."] is Origin.GENERATED


RIGHTS = "Allgemeine Erklärung der Menschenrechte"
OWN = "So steht es im Register der Gemeinde, Blatt 12, mit Siegel und Datum."


@pytest.mark.parametrize(
    ("result", "own"),
    [
        (f"{WRONG} {OWN}", OWN),
        (f"Laut Archiv gilt: {WRONG} {OWN}", f"Laut Archiv gilt: […] {OWN}"),
        (
            f"Im Archiv heißt es, die Mühle wurde 1702 erbaut. {OWN}",
            f"Im Archiv heißt es, […] {OWN}",
        ),
        ({"answer": WRONG, "note": OWN}, f'{{"answer":" […] ","note":"{OWN}"}}'),
        (json.dumps({"answer": WRONG, "note": OWN}, ensure_ascii=True), None),
    ],
)
def test_what_a_tool_says_of_its_own_stays_source_text(result: Any, own: str | None) -> None:
    draft = desk(result, 18, 19)
    whole = draft.nodes["ask_archive/ask_archive"]
    left = draft.nodes["ask_archive/ask_archive/own"]
    assert (whole.origin, left.origin) == (Origin.GENERATED, Origin.SOURCE)
    assert "1702" in whole.text
    assert "1702" not in left.text
    assert own in (left.text, None)
    assert into(draft, whole.text) >= {WRONG, left.text}


@pytest.mark.parametrize(
    "cut", ["Archiv: Die Mühle wurde 1702 erbaut von… [truncated]", "1702 von Jan Holm am Bach er"]
)
def test_a_text_of_a_model_that_a_tool_cuts_off_is_no_source(cut: str) -> None:
    written = "Die Mühle wurde 1702 erbaut von Jan Holm am Bach. 1702 von Jan Holm am Bach erbaut."
    draft = read(
        run("Bitte beachten: 1702."),
        at("inner", LLM, 5, 8, [user("Baujahr?")], said(written)),
        at("tool", TOOL, 9, 10, {"n": 30}, cut, link="c1"),
        at("m", LLM, 11, 12, [user(f"{ASKED} {cut}")], said("Bitte beachten: 1702.")),
    )
    assert Origin.SOURCE not in origins(draft).values()
    assert written in into(draft, cut)


@pytest.mark.parametrize("kind", [TOOL, RETRIEVER])
def test_what_a_user_said_is_no_source_in_what_is_looked_up(kind: CallKind) -> None:
    told = "Ich bin 1980 in Holm geboren."
    found = f"Der Kunde sagte: {told} Notiert am 3. Mai im Büro von Frau Berg."
    draft = read(
        run(ANSWER, f"{told} {ASKED}"),
        at("memory", kind, 1, 2, {"n": 5}, [{"page_content": found, "metadata": {}}]),
        at("m", LLM, 3, 4, [user(f"{ASKED} {found}")], said(ANSWER)),
    )
    sources = [text for text, one in origins(draft).items() if one is Origin.SOURCE]
    assert sources == ["Der Kunde sagte: […] Notiert am 3. Mai im Büro von Frau Berg."]


@pytest.mark.parametrize(
    ("asked", "query", "told", "left"),
    [
        (ASKED, ASKED, "1702", 2),
        (ASKED, WRONG, WRONG, 0),
        (WRONG, "Mühle Bach Jahr", WRONG, 0),
        ("Was gilt?", RIGHTS, RIGHTS, 1),
    ],
)
def test_a_search_keeps_its_documents_as_source_beside_the_query(
    asked: str, query: str, told: str, left: int
) -> None:
    law = f"Die {RIGHTS} wurde 1948 in Paris beschlossen."
    echo = {"n": 2, "frage": asked, "q": query, "hits": [LEDGER, law]}
    shown = json.dumps(echo, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    draft = read(
        run(ANSWER, asked),
        at("search", TOOL, 3, 4, {"q": query}, echo, link="c1"),
        at("m", LLM, 7, 8, [user(f"Treffer: {shown}")], said(ANSWER)),
    )
    (source,) = [text for text, one in origins(draft).items() if one is Origin.SOURCE]
    assert LEDGER in source
    assert law in source
    assert source.count(told) == left


def test_a_result_that_no_call_gave_is_parted_too() -> None:
    result = f"{WRONG} {OWN}"
    for tool, own in (("look", {OWN}), ("archive_agent", set())):
        asks = {"id": "c1", "name": tool, "args": {"ort": "Bach"}}
        answered = {"role": "tool", "tool_call_id": "c1", "content": result}
        draft = read(
            run(ANSWER),
            at("inner", LLM, 1, 2, [user("Baujahr?")], said(f"{WRONG} Sie brannte 1801.")),
            at("plan", LLM, 3, 4, [user(ASKED)], said("", tool_calls=[asks])),
            at("m", LLM, 5, 6, [user(ASKED), said("", tool_calls=[asks]), answered], said(ANSWER)),
        )
        assert {text for text, one in origins(draft).items() if one is Origin.SOURCE} == own


def test_what_a_model_quoted_from_a_source_stays_source_text() -> None:
    draft = read(
        run(ANSWER),
        at("search", TOOL, 1, 2, {"ort": "Bach"}, LEDGER, link="c1"),
        at("quote", LLM, 3, 4, [user(f"Zitiere: {LEDGER}")], said(LEDGER)),
        at("again", TOOL, 5, 6, {"ort": "Bach"}, LEDGER, link="c2"),
        at("m", LLM, 7, 8, [user(f"{ASKED} {LEDGER}")], said(ANSWER)),
    )
    assert draft.nodes["again/again"].origin is Origin.SOURCE


def test_a_tool_that_returns_what_it_was_handed_is_no_source() -> None:
    draft = read(
        run(ANSWER),
        at("note", TOOL, 1, 2, {"text": WRONG}, {"saved": WRONG}),
        at("m", LLM, 7, 8, [user(f'{ASKED} {{"saved":"{WRONG}"}}')], said(ANSWER)),
    )
    assert Origin.SOURCE not in origins(draft).values()


def test_a_note_that_a_model_wrote_is_no_source_when_a_retriever_finds_it() -> None:
    draft = read(
        run(ANSWER),
        at("draft", LLM, 1, 2, [user(ASKED)], said(WRONG)),
        at("memory", RETRIEVER, 3, 4, "Mühle", [{"page_content": WRONG, "metadata": {}}]),
        at("m", LLM, 7, 8, [user(f"{ASKED} {WRONG}")], said(ANSWER)),
    )
    assert Origin.SOURCE not in origins(draft).values()


# Steps without models.


def test_an_agent_without_recorded_models_goes_on_from_what_its_tools_returned() -> None:
    draft = read(
        run({"raw": ANSWER, "tasks_output": [{"description": "Prüfe das Jahr", "raw": ANSWER}]},
            {"inputs": {"frage": ASKED}}),
        at("agent", AGENT, 1, 9, ASKED, ANSWER),
        at("search", TOOL, 2, 3, {"ort": "Bach"}, LEDGER, parent="agent"),
    )  # fmt: skip
    assert origins(draft)[LEDGER] is Origin.SOURCE
    assert (final(draft), into(draft, ANSWER)) == (ANSWER, {ASKED, LEDGER})
    assert edges(draft)["search/search", "agent/agent"] == "order"
    assert "hold no call of a model" in draft.header.warnings[0]


def test_steps_without_models_go_on_from_the_step_before_them() -> None:
    note, report = "Notiz: 1687 laut Kirchenbuch.", "Bericht: erbaut 1687."
    draft = read(
        run(report, {"thema": "Mühle am Bach"}),
        at("search", TOOL, 1, 2, {"ort": "Bach"}, LEDGER),
        at("noting", OTHER, 3, 5, {"ort": "Bach"}, note),
        at("writing", OTHER, 6, 9, "Schreibe den Bericht.", {"output": report}),
    )
    assert into(draft, note) == {LEDGER}
    assert into(draft, report) == {note, "Schreibe den Bericht."}
    assert [text for text, one in origins(draft).items() if one is Origin.SOURCE] == [LEDGER]


def test_an_agent_beside_recorded_models_writes_what_no_model_is_recorded_for() -> None:
    draft = read(
        run(ANSWER),
        at("other", AGENT, 1, 4, "Suche die Mühle.", WRONG),
        at("m", LLM, 7, 8, [user(f"{ASKED} {WRONG}")], said(ANSWER)),
    )
    assert origins(draft)[WRONG] is Origin.GENERATED
    assert into(draft, ANSWER) == {WRONG, ASKED}


def test_documents_of_a_chain_without_models_stay_source_text() -> None:
    draft = read(
        run({"answer": ANSWER, "source_documents": [{"page_content": LEDGER, "metadata": {}}]}),
        at("find", OTHER, 1, 2, ASKED, {"documents": [LEDGER]}),
    )
    assert origins(draft)[LEDGER] is Origin.SOURCE
    assert into(draft, ANSWER) >= {LEDGER}


# Final answers.


@pytest.mark.parametrize(
    ("tool", "given", "made"),
    [
        ("final_answer", {"args": [ANSWER], "kwargs": {}}, ANSWER),
        ("submit", {"text": "1687."}, "1687."),
        ("return_result", {"result": ANSWER}, {"result": ANSWER}),
        ("FinalAnswerTool", {"answer": ANSWER}, ANSWER),
        ("execute_tool final_answer", {"answer": ANSWER}, f'"{ANSWER}"'),
    ],
)
def test_the_answer_that_was_handed_to_a_tool_is_the_final_output(
    tool: str, given: Any, made: Any
) -> None:
    shown = made if isinstance(made, dict) else json.loads(made) if '"' in made else made
    for whole in (shown, None):
        draft = read(
            run(whole),
            at("search", TOOL, 1, 2, {"ort": "Bach"}, LEDGER),
            at("m", LLM, 3, 4, [user(f"{ASKED} {LEDGER}")],
               said(f"Ich habe es: final_answer({ANSWER!r})")),
            at(tool, TOOL, 5, 6, given, made),
        )  # fmt: skip
        assert final(draft).strip('{}"').removeprefix('result":"') in (ANSWER, "1687.")
        assert origins(draft)[final(draft)] is Origin.GENERATED


def test_an_answer_in_the_arguments_of_a_call_comes_from_that_call() -> None:
    hands = {"id": "c1", "name": "submit_answer", "arguments": json.dumps({"answer": ANSWER})}
    draft = read(
        run({"output": ANSWER}),
        at("search", TOOL, 1, 2, {"ort": "Bach"}, LEDGER),
        at("m", LLM, 3, 4, [user(f"{ASKED} {LEDGER}")], said("", tool_calls=[hands])),
    )
    assert final(draft) == ANSWER
    assert into(draft, ANSWER) == {f'submit_answer({{"answer":"{ANSWER}"}})'}


@pytest.mark.parametrize("has_tool", [True, False])
def test_an_answer_that_a_tool_only_takes_is_in_what_it_was_handed(*, has_tool: bool) -> None:
    hands = {"id": "c1", "name": "submit", "arguments": json.dumps({"answer": ANSWER})}
    takes = at("submit", TOOL, 5, 6, {"answer": ANSWER}, "Angenommen.", link="c1")
    draft = read(
        run(None),
        at("search", TOOL, 1, 2, {"ort": "Bach"}, LEDGER),
        at("m", LLM, 3, 4, [user(f"{ASKED} {LEDGER}")], said("Fertig.", tool_calls=[hands])),
        *([takes] if has_tool else []),
    )
    assert final(draft) == (ANSWER if has_tool else f'submit({{"answer":"{ANSWER}"}})')
    assert "Angenommen." not in origins(draft)


# Ids of calls.


def turns(ids: tuple[str | None, str | None]) -> Draft:
    """Two turns, each with a call; the program's ids of calls may be equal."""
    first = {"name": "look", "arguments": {"ort": "Bach"}, "id": ids[0]}
    second = {"name": "look", "arguments": {"ort": "Berg"}, "id": ids[1]}

    def answered(link: str | None, text: str) -> dict[str, Any]:
        named = {"tool_call_id": link} if link else {"name": "look"}
        return {"role": "tool", "content": text, **named}

    other = "Kataster: die Mühle am Berg brannte 1801."
    before = [user(ASKED), said("", tool_calls=[first]), answered(ids[0], LEDGER)]
    return read(
        run(ANSWER),
        at("a", LLM, 1, 2, [user(ASKED)], said("", tool_calls=[first])),
        at("t1", TOOL, 3, 4, {"ort": "Bach"}, LEDGER, link=ids[0]),
        at("b", LLM, 5, 6, before, said("", tool_calls=[second])),
        at("t2", TOOL, 7, 8, {"ort": "Berg"}, other, link=ids[1]),
        at("c", LLM, 9, 10,
           [*before, said("", tool_calls=[second]), answered(ids[1], other)], said(ANSWER)),
    )  # fmt: skip


@pytest.mark.parametrize("ids", [("call_0", "call_0"), ("look", "look"), (None, None), ("x", "y")])
def test_each_turn_is_tied_to_its_own_call_and_result(ids: tuple[str | None, str | None]) -> None:
    draft = turns(ids)
    into_b = {one for one, to in draft.edges if to == "b/b"}
    into_c = {one for one, to in draft.edges if to == "c/c"}
    assert into_b == {"question", "a/a", "t1/t1"}
    assert into_c == {"question", "a/a", "t1/t1", "b/b", "t2/t2"}
    assert draft.nodes["t1/t1"].text == LEDGER
    assert len(draft.nodes) == 6


def test_a_document_that_a_clock_puts_into_the_call_is_an_input() -> None:
    draft = read(
        run(ANSWER),
        at("find", RETRIEVER, 1, 5, ASKED, [{"page_content": LEDGER, "metadata": {}}]),
        at("m", LLM, 3, 9, [user(f"{LEDGER} {ASKED}")], said(ANSWER)),
    )
    assert into(draft, ANSWER) == {ASKED, LEDGER}


@pytest.mark.parametrize("inner", [(), ("ask",)])
def test_what_a_judge_says_is_no_source_text_and_never_the_answer(inner: tuple[str, ...]) -> None:
    verdict = "Der Prüfer meint, dass die Mühle 1702 erbaut wurde, nicht 1687."
    grade = "Die Antwort ist falsch, denn das Kirchenbuch nennt 1687."
    models = [at(one, LLM, 71, 79, user(WRONG), grade, "grade") for one in inner]
    draft = read(
        run(None),
        at("judge", CallKind.JUDGE, 10, 20, ANSWER, {"label": "falsch", "explanation": verdict}),
        at("write", LLM, 30, 40, user(f"{ASKED}\n\n{verdict}"), WRONG),
        *models,
        at("grade", CallKind.JUDGE, 70, 80, WRONG, grade),
    )
    assert origins(draft)[verdict] is Origin.GENERATED
    assert Origin.SOURCE not in origins(draft).values()
    assert final(draft) == WRONG


@pytest.mark.parametrize("spelling", ["EVALUATOR", "GUARDRAIL"])
def test_spans_of_evaluators_and_guardrails_are_judges(spelling: str) -> None:
    span = vendor_spans.span(1, "one", {"openinference.span.kind": spelling})
    (read_span,) = each_span(vendor_spans.request(span), "here")
    assert not isinstance(read_span, InputError)
    assert kind_of_span(read_span) is CallKind.JUDGE
