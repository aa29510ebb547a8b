"""Results of Promptfoo, of OpenAI's evals and of TruLens as rows of question, contexts, answer."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.evaluations import answers_in, as_row, results_of
from veritrail_graph.graph.importers.records import NodeRecord
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ASKED = "Who runs the bakery in Vik?"
FOUND = "The bakery in Vik has been run by the Dahl family since 1958."
SAID = "The Dahl family runs it."


def of_promptfoo() -> dict[str, Any]:
    result = {
        "id": "r-1", "provider": {"id": "openai:gpt-5.4"}, "success": True,
        "gradingResult": {"pass": True, "reason": "It names the family."},
        "vars": {"question": ASKED, "context": FOUND},
        "prompt": {"raw": f"Answer {ASKED} from {FOUND}", "label": "p"},
        "response": {"output": SAID},
    }  # fmt: skip
    return {"evalId": "e-1", "results": {"version": 3, "results": [result]}, "config": {}}


def of_openai() -> dict[str, Any]:
    return {
        "object": "eval.run.output_item", "id": "o-1", "status": "pass",
        "datasource_item": {"question": ASKED, "context": FOUND},
        "sample": {
            "model": "gpt-5.4", "input": [{"role": "user", "content": ASKED}],
            "output": [{"role": "assistant", "content": SAID}],
        },
    }  # fmt: skip


def of_trulens() -> dict[str, Any]:
    def called(name: str, returned: Any) -> dict[str, Any]:
        return {"stack": [{"method": {"name": name}}], "rets": returned}

    calls = [called("retrieve", [FOUND]), called("query", SAID)]
    record = json.dumps({"main_input": ASKED, "calls": calls})
    row = {"app_id": "rag", "record_id": "t-1", "input": ASKED, "output": SAID}
    return {**row, "record_json": record, "Groundedness": 0.4}


def of_trulens_feedback() -> dict[str, Any]:
    judged = [{"args": {"question": ASKED, "context": FOUND}, "ret": 0.9}]
    row = {key: one for key, one in of_trulens().items() if key != "record_json"}
    return {**row, "Context Relevance_calls": judged}


EVERY = [of_promptfoo(), of_openai(), [of_trulens()], [of_trulens_feedback()]]


def the_one(path: Path) -> Draft:
    (found,) = find_processes(path)
    draft = found.open()
    assert isinstance(draft, Draft)
    survey(draft)
    return draft


@pytest.mark.parametrize("value", EVERY, ids=["promptfoo", "openai", "trulens", "feedback"])
def test_question_contexts_and_answer_are_told_apart(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")

    draft = the_one(path)

    assert draft.header.source_format == "rag"
    assert draft.header.question == ASKED
    assert {one.text: one.origin for one in draft.nodes.values()} == {
        FOUND: Origin.SOURCE, SAID: Origin.GENERATED,
    }  # fmt: skip
    if "evalId" in value:
        kept = [one.metadata.get("reason") for one in draft.nodes.values()]
        assert "It names the family." in kept


def test_each_prompt_of_a_table_of_promptfoo_is_a_process(tmp_path: Path) -> None:
    path = tmp_path / "output.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "context", "[gpt-5.4] brief", "[gpt-5.4] long"])
        writer.writerow([ASKED, FOUND, f"[PASS] {SAID}", "[FAIL] (no)\n---\nNobody does."])

    first, second = find_processes(path)

    assert [one.where.rpartition("#")[2] for one in (first, second)] == ["1.1", "1.2"]
    texts = [[one.text for one in found.open().records() if hasattr(one, "text")]
             for found in (first, second)]  # fmt: skip
    assert texts == [[FOUND, SAID], [FOUND, "(no)\n---\nNobody does."]]


def test_a_table_of_trulens_holds_what_its_retrievers_returned(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(of_trulens()))
        writer.writeheader()
        writer.writerow(of_trulens())

    assert FOUND in {one.text for one in the_one(path).nodes.values()}


def test_a_result_without_an_answer_is_named_alone(tmp_path: Path) -> None:
    value = of_promptfoo()
    results = value["results"]["results"]
    results.append({**results[0], "response": {"error": "timed out"}})
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")

    first, second = find_processes(path)

    assert first.open().header.question == ASKED
    with pytest.raises(InputError, match=r"json#2: the answer is empty or no text"):
        second.open()


@pytest.mark.parametrize("other", [None, 7, "x", [], [7], {"x": {}}, [{"args": 7}]])
def test_records_whose_parts_are_of_another_type_raise_nothing(other: Any) -> None:
    records = [of_promptfoo()["results"]["results"][0], *EVERY[1:2], of_trulens(),
               of_trulens_feedback()]  # fmt: skip
    for record in records:
        for key in record:
            row = as_row({**record, key: other})
            assert isinstance(answers_in(row), list)
    assert results_of({"results": other}) is None
    assert results_of({"results": {"results": other}}) is None


def test_both_kinds_of_test_case_of_one_run_are_read(tmp_path: Path) -> None:
    case = {"input": ASKED, "actualOutput": SAID, "retrievalContext": [FOUND]}
    called = {"name": "tariff", "output": "Tariff: a car pays 18 euros."}
    turns = [
        {"role": "user", "content": "And what does a car pay?"},
        {"role": "assistant", "content": "A car pays 18 euros.", "toolsCalled": [called]},
    ]
    other = {"name": "fares", "turns": turns, "scenario": "Somebody plans a trip by car."}
    run = {"testRunData": {"testCases": [case], "conversationalTestCases": [other]}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")

    single, several = [one.open() for one in find_processes(path)]
    assert {SAID, FOUND} <= {one.text for one in single.records() if isinstance(one, NodeRecord)}
    found = {one.text: one for one in several.records() if isinstance(one, NodeRecord)}
    assert found["Tariff: a car pays 18 euros."].origin is Origin.SOURCE
    assert several.header.warnings == ("One field beside the messages is left out: 'scenario'.",)


def told(path: Path, *rows: Any) -> list[dict[str, Origin | None]]:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    sources = [one.open() for one in find_processes(path)]
    return [
        {one.text: one.origin for one in source.records() if isinstance(one, NodeRecord)}
        for source in sources
    ]


def test_samples_of_ragas_with_several_turns_keep_their_contexts(tmp_path: Path) -> None:
    asked = [{"content": "How many cars?", "type": "human"}, {"content": "I look.", "type": "ai"}]
    rows = (
        {"user_input": [*asked, {"content": "Please do.", "type": "human"}],
         "response": "It carries 42 cars.", "retrieved_contexts": ["The Tern carries 42 cars."]},
        {"user_input": asked, "retrieved_contexts": ["The desk looks things up."]},
    )  # fmt: skip
    first, second = told(tmp_path / "samples.jsonl", *rows)
    assert first["The Tern carries 42 cars."] is Origin.SOURCE
    assert first["It carries 42 cars."] is Origin.GENERATED
    assert second["The desk looks things up."] is Origin.SOURCE


def test_each_sample_of_a_log_of_oaieval_is_a_process(tmp_path: Path) -> None:
    about = {"run_id": "r1", "created_by": "", "created_at": "2026-11-28"}
    prompt = [{"role": "user", "content": "How many cars?"}]
    rows = (
        {"spec": {"run_id": "r1", "eval_name": "ferry.dev.v0", "completion_fns": ["desk"]}},
        {**about, "event_id": 0, "sample_id": "ferry.dev.0", "type": "sampling",
         "data": {"prompt": prompt, "sampled": ["It carries 42 cars."]}},
        {**about, "event_id": 1, "sample_id": "ferry.dev.0", "type": "match",
         "data": {"correct": True, "expected": "42 cars"}},
        {**about, "event_id": 2, "sample_id": "ferry.dev.1", "type": "sampling",
         "data": {"prompt": "Is it red?", "sampled": "It is red."}},
        {"final_report": {"accuracy": 1.0}, "run_id": "r1"},
    )  # fmt: skip
    first, second = told(tmp_path / "log.jsonl", *rows)
    assert list(first) == ["How many cars?", "It carries 42 cars."]
    assert list(second) == ["Is it red?", "It is red."]
    (found, _) = find_processes(tmp_path / "log.jsonl")
    assert any("match (1)" in one for one in found.open().header.warnings)
