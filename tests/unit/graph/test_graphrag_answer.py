from __future__ import annotations

import json

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag.answer import read_answer
from veritrail_graph.graph.importers.graphrag.citations import (
    ENTITY,
    REPORT,
    TEXT_UNIT,
    read_context,
)


def written(tmp_path, document, name="answers.json"):
    path = tmp_path / name
    path.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return path


def test_a_text_file_is_the_answer(tmp_path):
    answer = read_answer(str(written(tmp_path, "\ufeffYes [Data: Reports (1)].\n", "a.txt")))
    assert answer.text == "Yes [Data: Reports (1)]."
    assert answer.question is None
    assert not answer.says_what_was_given


def test_an_entry_of_a_list_is_picked_by_number(tmp_path):
    entries = [{"answer": "A", "query": "Qa"}, {"response": "B", "question": "Qb", "index": "x/y"}]
    path = written(tmp_path, entries)
    second = read_answer(f"{path}#1")
    assert (second.text, second.question, second.index) == ("B", "Qb", "x/y")
    assert second.where == f"{path}#1"


def test_a_file_with_a_hash_in_its_name_is_read_as_it_is(tmp_path):
    assert read_answer(str(written(tmp_path, "text", "note#1"))).text == "text"


@pytest.mark.parametrize(
    ("document", "pick", "message"),
    [
        ([{"answer": "A", "query": "Qa"}, {"answer": "B"}], "", "name one as FILE#N"),
        ([{"answer": "A"}], "#1", "#1 is not there"),
        ({"answer": "A"}, "#0", "an object, not a list"),
        ([{"answer": "A"}], "#x", "the number of an entry"),
        ([{"text": "A"}], "#0", "no key `answer` or `response`; there are: text"),
        ([7], "#0", "a number is no answer"),
        ({"answer": ["A"]}, "", "`answer` is a list; a text is expected"),
        ({"answer": "  "}, "", "empty"),
        ('{"answer": ', "", "line 1, column"),
        ("[" * 200_000, "", "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, document, pick, message):
    path = written(tmp_path, document)
    with pytest.raises(InputError) as caught:
        read_answer(f"{path}{pick}")
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_and_binary_files_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_answer(str(tmp_path / "absent.txt"))
    path = tmp_path / "binary.txt"
    path.write_bytes(b"ok\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_answer(str(path))


@pytest.mark.parametrize(
    "reports",
    [
        [{"id": "4", "title": "t"}, {"id": "0", "title": "u"}],
        {"id": ["4", "0"], "title": ["t", "u"]},
        {"title": {"0": "t", "1": "u"}, "id": {"0": "4", "1": "0"}},
        [4, 0],
    ],
)
def test_a_dumped_data_frame_is_read_in_every_shape(reports):
    assert read_context({"reports": reports, "other": [1]}) == {REPORT: (4, 0)}


def test_candidates_that_did_not_fit_are_not_given():
    frame = [{"id": "1", "in_context": True}, {"id": "2", "in_context": False}]
    assert read_context({"entities": frame, "Sources": [{"id": "0"}]}) == {
        ENTITY: (1,),
        TEXT_UNIT: (0,),
    }


def test_the_text_of_a_prompt_is_read():
    batch = 'id|title|occurrence weight|summary\n4|A|1.0|"a | b\n9|c"\n7|B|0.5|d\n'
    ruled = '9|x|"text\n-----\n8|no row"\n2|y|z\n'
    assert read_context("id|title|summary\n" + ruled) == {REPORT: (9, 2)}
    assert read_context(batch) == {REPORT: (4, 7)}
    tables = "-----Entities-----\nid|entity\n5|X\n\n-----Sources-----\nid|text\n0|words\n"
    assert read_context(tables) == {ENTITY: (5,), TEXT_UNIT: (0,)}


def test_the_context_of_a_drift_search_is_that_of_all_its_questions():
    context = {
        "Who leads?": {"reports": [{"id": "4"}], "entities": {"id": ["7"]}},
        "Since when?": {"reports": [{"id": "4"}, {"id": "2"}], "sources": []},
    }
    assert read_context(context) == {REPORT: (4, 2), ENTITY: (7,)}
    assert read_context([context, {"sources": [{"id": 3}]}]) == {
        REPORT: (4, 2),
        ENTITY: (7,),
        TEXT_UNIT: (3,),
    }


@pytest.mark.parametrize("value", [None, 3, "free text", {}, {"reports": []}, {"x": [1]}, ""])
def test_a_context_that_says_nothing_is_none(value):
    assert read_context(value) is None


def test_a_global_search_result_gives_points_with_what_each_was_given(tmp_path):
    entry = {
        "response": "Final [Data: Reports (1)].",
        "context_data": {"reports": [{"id": "1"}, {"id": "2"}]},
        "map_responses": [
            {
                "response": [
                    {"answer": "P [Data: Reports (1)]", "score": 80},
                    {"answer": "Q", "score": 0},
                    {"answer": "R", "score": 20},
                ],
                "context_data": "id|title|summary\n1|A|a\n",
            },
            {"response": [{"answer": "", "score": 0}], "context_data": "id|title\n2|B\n"},
            "plain text",
        ],
        "reduce_context_text": "----Analyst 1----\nP [Data: Reports (1)]\n\nplain text",
    }
    answer = read_answer(str(written(tmp_path, entry)))
    assert answer.given == {REPORT: (1, 2)}
    assert answer.empty_maps == 1
    assert [(m.name, m.score, m.given, m.combined) for m in answer.maps] == [
        ("1.1", 80, {REPORT: (1,)}, True),
        ("1.2", 0, {REPORT: (1,)}, False),
        ("1.3", 20, {REPORT: (1,)}, False),
        ("3", None, None, True),
    ]


def unread(tmp_path, **keys):
    return read_answer(str(written(tmp_path, {"answer": "A", **keys}))).unread


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"query": ["Q"]}, "`query` holds a list that is not understood; expected: a text"),
        ({"context_text": 5}, "`context_text` holds a number that is not understood"),
        ({"context_text": "free words"}, "`context_text` holds a text that is not understood"),
        (
            {"map_responses": [{"response": 7}]},
            "`map_responses`: `response` holds a number that is not understood; "
            "expected: a text (`1`)",
        ),
        (
            {"map_responses": ["P", {"response": [{"answer": "P", "score": "high"}]}]},
            "`map_responses`: `score` holds a text that is not understood; "
            "expected: a number (`2.1`)",
        ),
        (
            {"map_responses": [{"response": "P", "tokens": 1}]},
            "`map_responses`: the key `tokens` is not known, and is not read (`1`)",
        ),
        (
            {"map_responses": [{"response": [{"answer": "P", "why": "x"}]}]},
            "`map_responses`: the key `why` is not known, and is not read (`1.1`)",
        ),
        (
            {"map_responses": [{"response": "P", "context_data": 5}]},
            "`map_responses`: `context_data` holds a number that is not understood",
        ),
    ],
)
def test_what_is_not_understood_is_named_at_every_depth(tmp_path, keys, told):
    (found,) = unread(tmp_path, **keys)
    assert found.startswith(told)


def test_what_graphrag_itself_writes_is_not_called_unread(tmp_path):
    result = {"response": "P", "context_data": "id|title\n1|A\n", "context_text": "id|title\n1|A\n"}
    counts = {"completion_time": 1.5, "llm_calls": 1, "prompt_tokens": 9, "output_tokens": 3}
    entry = {"query": " ", "context_data": {"reports": [1]}, "context_text": ["words"], **counts}
    assert unread(tmp_path, **entry, map_responses=[result | counts]) == ()
