"""Logs of agents and chats: what a tool repeats of what was written or said is no source text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes import conversations
from fakes.conversations import Graph

from veritrail_graph.graph.importers.dialogue.chats import chat
from veritrail_graph.graph.model import Origin

WRONG = "The ferry takes fifty minutes to the island."
OWN = "Entry of 4 May, made on board, page 12."
BOTH = f"Log book: {WRONG} {OWN}"
LEFT = f"Log book: […] {OWN}"
TIMETABLE = "The ferry crosses to the island in 40 minutes, says the timetable of the harbour."
QUERY = "crossing time of the ferry to the island in the summer timetable of the harbour"


def asked(text: str = "How long does the ferry take?") -> dict[str, Any]:
    return {"role": "user", "content": text}


def wrote(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def used(tool: str, given: Any, result: Any) -> list[dict[str, Any]]:
    """A call of a tool, and what the tool returned."""
    function = {"name": tool, "arguments": json.dumps(given)}
    call = {"id": tool, "type": "function", "function": function}
    shown = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": tool, "content": shown},
    ]


ANSWER = wrote("It takes fifty minutes.")
NOTED = used("write_note", {"text": WRONG}, "ok")
AGAIN = used("read_note", {"path": "log"}, BOTH)


@pytest.fixture
def agents(tmp_path):
    def read(*messages: dict[str, Any]) -> Graph:
        (one,) = conversations.found(tmp_path, list(messages))
        return Graph(one.open())

    return read


def sources(read: Graph) -> set[str]:
    return {one.text for one in read.nodes.values() if one.origin is Origin.SOURCE}


@pytest.mark.parametrize(
    ("before", "teller"),
    [
        ([asked(), *NOTED], "message/1"),
        ([asked(), wrote(f"Noted. {WRONG} I go on.")], "message/1"),
        ([asked(f"{WRONG} Is that in the log?")], "message/0"),
    ],
)
def test_a_result_leads_to_who_wrote_or_said_a_part_of_it(agents, before, teller):
    read = agents(*before, *AGAIN, ANSWER)
    whole = f"message/{len(before) + 1}"
    assert read.nodes[whole].text == BOTH
    assert read.origin(whole) is Origin.GENERATED
    assert set(read.inputs[whole]) == {teller, f"{whole}/own"}
    assert sources(read) - {"ok"} == {LEFT}
    (terminal,) = read.header.terminals
    assert whole in read.inputs[terminal]
    assert f"{whole}/own" not in read.inputs[terminal]
    assert read.said(f"no source text. The first begins: '{WRONG}'")


def test_a_result_that_is_all_repeated_is_the_text_that_it_repeats(agents):
    read = agents(asked(WRONG), *used("read_note", {"path": "log"}, WRONG), ANSWER)
    assert not sources(read)
    assert "message/2" not in read.nodes
    assert read.said("What tools returned was written or said before")


def test_a_search_keeps_its_documents_as_source_text_beside_its_query(agents):
    found = used("search", {"q": QUERY}, {"query": QUERY, "hits": [TIMETABLE]})
    (source,) = sources(agents(asked(), *found, ANSWER))
    assert TIMETABLE in source
    assert QUERY not in source


@pytest.mark.parametrize(
    "quoted", [[wrote(f"I quote: {TIMETABLE}")], used("write_note", {"text": TIMETABLE}, "ok")]
)
def test_what_a_model_quoted_from_a_source_stays_source_text(agents, quoted):
    first, again = used("a", {"n": 1}, TIMETABLE), used("b", {"n": 2}, f"{TIMETABLE} {OWN}")
    assert f"{TIMETABLE} {OWN}" in sources(agents(asked(), *first, *quoted, *again, ANSWER))


@pytest.mark.parametrize("place", ["instructions", "document", "prompt"])
def test_what_stood_in_a_prompt_or_a_document_stays_source_text(agents, place):
    shown = {
        "instructions": [{"role": "system", "content": TIMETABLE}, asked()],
        "document": [
            {
                "role": "user",
                "content": [
                    {"type": "document", "source": {"type": "text", "data": TIMETABLE}},
                    {"type": "text", "text": "How long?"},
                ],
            }
        ],
        "prompt": [asked(f"{TIMETABLE} " + "Answer from the timetable alone. " * 150)],
    }[place]
    again = used("look", {"n": 2}, f"{TIMETABLE} {OWN}")
    assert f"{TIMETABLE} {OWN}" in sources(agents(*shown, wrote(TIMETABLE), *again, ANSWER))


KNOWN = "I remember that the pier of Norvik has 63 lamps, and it was closed in 2019."


@pytest.mark.parametrize(
    ("result", "own"),
    [
        ("Memory 1: The pier of Norvik has 63 lamps. (score 0.92)", "Memory 1: […] (score 0.92)"),
        ("Note 7 (score 0.9): the pier of Norvik has 63 lamps | 3 May",
         "Note 7 (score 0.9): […] | 3 May"),
        ('{"id": 7, "memory": "The pier of Norvik has 63 lamps", "score": 0.92}',
         '{"id": 7, "memory": " […] ", "score": 0.92}'),
        ("[4 May 2024, user 12] The pier of Norvik has 63 lamps [3 stars]",
         "[4 May 2024, user 12] […] [3 stars]"),
        ("   1\tThe pier of Norvik has\n   2\t63 lamps, and it was\n   3\tclosed in 2019.", None),
    ],
)  # fmt: skip
def test_labels_of_a_program_keep_no_words_of_a_user_as_source_text(agents, result, own):
    read = agents(asked(KNOWN), *used("recall", {"n": 1}, result), ANSWER)
    assert sources(read) == ({own} if own else set())


MARKED = "The <b>pier of Norvik</b> has <em class='hit of a search'>63</em> lamps since 2&nbsp;May"


@pytest.mark.parametrize(
    "result",
    [
        f"<html><h1>Notes</h1><p>{MARKED} 2&#48;19.</p><p>Page&nbsp;2</p></html>",
        f"<ul><li>Notes<li>{MARKED} 20<wbr>19</ul>",
        json.dumps({"html": f"{MARKED} 2019."}).replace("<", "\\u003c").replace(">", "\\u003e"),
        f"{MARKED} 2019.".replace("<", "&lt;").replace(">", "&gt;"),
        '<img src="7.png" alt="The pier of Norvik has 63 lamps since 2 May 2019.">',
        "The pier of Nor\u00advik has 63 lamps since 2 May 2019.",
    ],
)
def test_tags_and_entities_keep_no_words_of_a_model_as_source_text(agents, result):
    wrong = wrote("The pier of Norvik has 63 lamps since 2 May 2019.")
    read = agents(asked(), wrong, *used("open_page", {"n": 1}, result), ANSWER)
    assert not any("lamps" in source for source in sources(read))


@pytest.mark.parametrize("sign", ["</p><p>", "<br>", "</td><td>"])
def test_tags_between_sentences_part_what_was_said_from_what_a_page_says(agents, sign):
    page = f"<p>{WRONG[:-1]}{sign}{TIMETABLE}</p>"
    read = agents(asked(), wrote(WRONG), *used("open_page", {"n": 1}, page), ANSWER)
    (source,) = sources(read)
    assert TIMETABLE in source
    assert "fifty" not in source


@pytest.mark.parametrize(
    ("before", "result"),
    [
        ("I read The Fall of the House of Usher as a boy.",
         '{"title": "The Fall of the House of Usher", "year": 1839}'),
        ("There are rows: 1, 2 and 3.", "1 | 40 lamps\n2 | 36 lamps"),
    ],
)  # fmt: skip
def test_names_and_rows_of_a_source_stay_source_text(agents, before, result):
    read = agents(asked(before), *used("look", {"n": 1}, result), ANSWER)
    assert sources(read) == {result}


def test_a_source_with_another_figure_is_no_copy_of_a_wrong_guess(agents):
    guess = "The mill by the old bridge was built by the miller Holm in 1702, I believe so."
    true = "The mill by the old bridge was built by the miller Holm in 1712."
    read = agents(asked(), wrote(guess), *used("look", {"n": 1}, true), ANSWER)
    assert sources(read) == {true}


PASSAGE = " metres high and was built of concrete in the 1950s by the state."


@pytest.mark.parametrize(
    ("guess", "true"),
    [
        (f"The dam at Orr is 80{PASSAGE}", f"The dam at Orr is 92{PASSAGE}"),
        ("I look up the weather in Lyon on 3 May.", "The weather in Lyon on 3 May: 21 and dry."),
        ("I look up the weather in Lyon on 3 May.",
         '{"text": "The weather in Lyon on 3 May: hardly any rain at all."}'),
    ],
)  # fmt: skip
def test_words_that_a_model_wrote_leave_a_sentence_its_own_figure_or_value(agents, guess, true):
    read = agents(asked(), wrote(guess), *used("look", {"n": 1}, true), ANSWER)
    assert sources(read) == {true}


@pytest.mark.parametrize(
    "frame", ["Result: {}", "You said: {}", '{{"result": "{}"}}', "{} (saved: 3 May)", "{}: saved"]
)
def test_a_frame_of_a_program_keeps_no_words_of_a_model_as_source_text(agents, frame):
    result = frame.format("The pier of Norvik has 63 lamps")
    read = agents(asked(), wrote(KNOWN), *used("look", {"n": 1}, result), ANSWER)
    assert not any("lamps" in source for source in sources(read))


def test_a_program_prints_a_value_of_its_own_behind_a_label_that_a_model_wrote(agents):
    label = "The number of cars on the ferry in the second week of May is"
    code = f'Run this:\nprint("{label}:", count)\nprint("{WRONG}")'
    printed = f"exitcode: 0 (execution succeeded)\nCode output:\n{label}: many\n{WRONG}"
    read = agents(asked(), wrote(code), asked(printed), ANSWER)
    (source,) = sources(read)
    assert f"{label}: many" in source
    assert WRONG not in source


def dialogue(*messages: dict[str, Any]) -> Graph:
    return Graph(chat(list(messages), "chat"))


@pytest.mark.parametrize(
    "before",
    [
        [asked(), *NOTED, wrote("I noted it."), asked("Is that so?")],
        [asked(), wrote(WRONG), asked("Is that so?")],
        [asked(f"I was told this. {WRONG}"), wrote("I see."), asked("Is that so?")],
        [asked(), *used("ask_crew_agent", {"n": 1}, WRONG), wrote("So it is."), asked("Sure?")],
    ],
)
def test_a_document_of_a_dialogue_is_without_what_was_written_or_said_before(before):
    read = dialogue(*before, *AGAIN, ANSWER)
    assert sources(read) - {"ok"} == {LEFT}
    assert read.said(f"left out of one document. The first begins: '{WRONG}'")
    only = dialogue(*before, *used("read_note", {"path": "log"}, WRONG), ANSWER)
    assert not sources(only) - {"ok"}


def test_a_document_of_a_dialogue_keeps_what_a_search_found_and_a_turn_quoted():
    found = used("search", {"q": QUERY}, {"query": QUERY, "hits": [TIMETABLE]})
    again = used("look", {"n": 1}, TIMETABLE)
    read = dialogue(asked(), *found, wrote(TIMETABLE), asked("Sure?"), *again, ANSWER)
    first, second = (one.text for one in read.nodes.values() if one.origin is Origin.SOURCE)
    assert (QUERY in first, TIMETABLE in first, second) == (False, True, TIMETABLE)
