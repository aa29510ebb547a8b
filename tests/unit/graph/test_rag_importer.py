"""Logs of questions, contexts and answers in every form that people keep them in."""

from __future__ import annotations

import ast
import csv
import dataclasses
import gzip
import json
import math
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.printed import unfolded
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

ROW = {"question": "When?", "contexts": ["In May.", "A ferry."], "answer": "In May.", "id": 7}


def opened(path: Path) -> list[Draft]:
    drafts = [one.open() for one in find_processes(path)]
    assert all(isinstance(one, Draft) for one in drafts)
    for one in drafts:
        survey(one)
    return drafts  # type: ignore[return-value]


def write(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def parquet(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist([ROW, ROW | {"answer": "In June."}]), path)
    return path


CSV = 'question,contexts,answer\nWhen?,"[""In May."", ""A ferry.""]",In May.\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", json.dumps(ROW) + "\n"),
        ("a.json", [ROW]),
        ("b.json", ROW),
        ("c.json", {"samples": [ROW]}),
        ("d.json", {key: [value] for key, value in ROW.items()}),
        ("e.json", {key: {"0": value} for key, value in ROW.items()}),
        ("f.csv", CSV),
        ("g.tsv", "question\tcontexts\tanswer\nWhen?\t['In May.', 'A ferry.']\tIn May.\n"),
        ("h.json", [{"user_input": "When?", "retrieved_contexts": ["In May.", "A ferry."],
                     "response": "In May."}]),
        ("i.json", [{"input": "When?", "retrieval_context": ["In May.", {"text": "A ferry."}],
                     "actual_output": "In May."}]),
    ],
)  # fmt: skip
def test_a_row_is_a_process(tmp_path: Path, name: str, content: Any) -> None:
    (draft,) = opened(write(tmp_path / name, content))
    assert {key: (node.text, node.origin, node.stage) for key, node in draft.nodes.items()} == {
        "context/1": ("In May.", Origin.SOURCE, 1),
        "context/2": ("A ferry.", Origin.SOURCE, 1),
        "answer": ("In May.", Origin.GENERATED, 2),
    }
    assert set(draft.edges) == {("context/1", "answer"), ("context/2", "answer")}
    assert (draft.header.question, draft.header.terminals) == ("When?", ("answer",))


def test_every_row_of_a_parquet_file_is_one(tmp_path: Path) -> None:
    first, second = opened(parquet(tmp_path / "rows.parquet"))
    assert [one.nodes["answer"].text for one in (first, second)] == ["In May.", "In June."]
    assert first.nodes["answer"].metadata["id"] == 7


def test_a_text_as_context_is_one_and_a_gzipped_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    row = {"context": "[not a list", "answer": "A.", "reference": "B."}
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    (draft,) = opened(path)
    assert draft.nodes["context/1"].text == "[not a list"
    assert draft.nodes["answer"].metadata == {"reference": "B."}
    assert draft.header.question is None


def test_equal_contexts_are_one_and_an_answer_without_any_is_unsourced(tmp_path: Path) -> None:
    rows = [ROW | {"contexts": ["Same.", "Same."]}, ROW | {"contexts": []}]
    first, second = opened(write(tmp_path / "rows.json", rows))
    assert list(first.nodes) == ["context/1", "answer"]
    assert survey(second).unsourced == 1


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=|"])
def test_a_first_line_that_tells_excel_the_separator_is_no_header(
    tmp_path: Path, first: str
) -> None:
    mark = first.strip('"')[-1]
    lines = [first, "question;answer;contexts", "Who ran it?;Ann ran it, alone.;Ann ran the mill."]
    text = "\r\n".join([first, *(one.replace(";", mark) for one in lines[1:])])
    (found,) = opened(write(tmp_path / "rows.csv", text))
    assert [node.text for node in found.nodes.values()][-1] == "Ann ran it, alone."


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ROW | {"answer": " "}, "#2: the answer is empty"),
        (ROW | {"contexts": [5]}, "a context must be a text"),
        (ROW | {"question": [{"role": "user"}]}, "list of messages"),
        (ROW | {"question": ["Q1?", "Q2?"]}, "a list of 2 values, and which of them was answered"),
        ({"answer": "A."}, "no column of the contexts"),
        (5, "a row must be an object"),
    ],
)
def test_a_bad_row_says_which_and_leaves_the_others_alone(
    tmp_path: Path, row: Any, words: str
) -> None:
    path = write(tmp_path / "rows.jsonl", f"{json.dumps(ROW)}\n{json.dumps(row)}\n")
    first, second = find_processes(path)
    assert first.open()
    with pytest.raises(InputError, match=words):
        second.open()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.csv", "question,answer\na,b\n", "no column of the contexts"),
        ("rows.csv", b"question,contexts,answer\n\xff,b,c\n", "not UTF-8"),
        ("rows.csv", 'question,contexts,answer\n"a,b\n', "cannot be read as a table"),
        ("rows.parquet", b"PAR1", "no parquet file"),
    ],
)
def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, name: str, content: str | bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=words):
        list(find_processes(path, format_name="rag"))


def test_quotes_in_cells_of_a_table_with_tabs_are_kept(tmp_path: Path) -> None:
    header, row = "question\tcontexts\tanswer\n", 'What?\t"Tern" is a ferry.\t"It is old.\n'
    (draft,) = opened(write(tmp_path / "rows.tsv", header + row))
    assert [one.text for one in draft.nodes.values()] == ['"Tern" is a ferry.', '"It is old.']
    quoted = 'When?\t"In ""May"",\tor June."\tIn May.\n'
    (draft,) = opened(write(tmp_path / "quoted.tsv", header + quoted))
    assert draft.nodes["context/1"].text == 'In "May",\tor June.'


def test_a_row_with_fewer_columns_is_one_that_fails(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", CSV + "When?\n")
    first, second = find_processes(path)
    assert first.open()
    with pytest.raises(InputError, match="not as many columns"):
        second.open()


def test_a_response_of_llamaindex_is_a_row(tmp_path: Path) -> None:
    node = {"node": {"id_": "n", "text": "One.", "metadata": {"page": 3}}, "score": 0.5}
    response = {"response": "Two.", "source_nodes": [node], "query": "When?"}
    (draft,) = opened(write(tmp_path / "a.json", response))
    assert draft.header.source_format == "llamaindex"
    assert draft.nodes["context/1"].metadata == {"node": "n", "score": 0.5, "metadata": {"page": 3}}
    assert (draft.header.question, set(draft.edges)) == ("When?", {("context/1", "answer")})


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"source_nodes": [5], "response": "A."}, "a source node must be"),
        ({"source_nodes": [], "response": None}, "the answer is empty"),
    ],
)
def test_a_response_that_is_none_says_why(tmp_path: Path, response: Any, words: str) -> None:
    (found,) = find_processes(write(tmp_path / "b.json", response))
    with pytest.raises(InputError, match=words):
        found.open()


def test_what_is_not_a_number_is_null_and_told(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = ROW | {"faithfulness": math.nan, "all": [1.0, math.inf, {"deep": -math.inf}]}
    table = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([ROW | {"faithfulness": math.nan}]), table)
    lines = write(tmp_path / "a.jsonl", f"{json.dumps(ROW)}\n{json.dumps(row)}\n")
    first, second = opened(lines)
    assert first.header.warnings == ()
    assert [one[:39] for one in second.header.warnings] == [
        "3 values were NaN or Infinity, which JS"
    ]
    assert second.nodes["answer"].metadata["all"] == [1.0, None, {"deep": None}]
    (whole,) = opened(write(tmp_path / "b.json", [row]))
    assert whole.header.warnings == second.header.warnings
    (of_table,) = opened(table)
    assert of_table.nodes["answer"].metadata["id"] == 7
    assert of_table.header.warnings[0].startswith("One value was NaN")


def test_a_number_beyond_floats_is_null_too(tmp_path: Path) -> None:
    text = json.dumps(ROW | {"cost": 1}).replace('"cost": 1', '"cost": 1e999')
    (draft,) = opened(write(tmp_path / "a.json", text))
    assert len(draft.header.warnings) == 1


TWO = ["The quay opened in 1901.", 'It\'s "old".']


@pytest.mark.parametrize(
    "text",
    [
        "['The quay opened in 1901.'\n 'It\\'s \"old\".']",
        "['The quay opened in 1901.' 'It\\'s \"old\".']",
        "array(['The quay opened in 1901.', 'It\\'s \"old\".'], dtype=object)",
        "array(['The quay opened in 1901.', 'It\\'s \"old\".'],\n      dtype='<U24')",
        "np.array([ 'The quay opened in 1901.',\n 'It\\'s \"old\".',])",
        repr(TWO),
        json.dumps(TWO),
    ],
)
def test_lists_are_read_as_they_are_printed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("contexts", "answer"), (text, "In 1901.")])
    (draft,) = opened(path)
    assert [one.text for one in draft.nodes.values()][:-1] == TWO
    assert draft.header.warnings == ()


@pytest.mark.parametrize("text", ["['a' ... 'b']", "['a' nan]", "[1] Smith, see [2]", "array([a])"])
def test_a_list_that_cannot_be_read_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    (draft,) = opened(write(path, {"contexts": text, "answer": "A."}))
    assert draft.nodes["context/1"].text == text
    assert "cannot be read as one" in draft.header.warnings[0]


def test_what_is_not_a_number_is_told_in_other_formats(tmp_path: Path) -> None:
    node = {"node": {"text": "One."}, "score": math.nan}
    response = {"response": "Two.", "source_nodes": [node]}
    asked = {"role": "user", "content": "Hi?", "at": math.nan}
    messages = [asked, {"role": "assistant", "content": "A."}]
    tree = {"levels": [["One."], ["Two."]], "score": math.inf}
    for name, value in (("llamaindex", response), ("agents", messages), ("summaries", tree)):
        path = write(tmp_path / f"{name}.json", value)
        (found,) = find_processes(path, format_name=name)
        assert found.open().header.warnings[-1].startswith("One value was NaN"), name


def test_the_line_for_a_response_of_llamaindex_works(tmp_path: Path) -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    responses = pytest.importorskip("llama_index.core.base.response.schema")
    node = schema.NodeWithScore(node=schema.TextNode(text="One.", metadata={"page": 3}), score=0.5)
    response = responses.Response("Two.", source_nodes=[node])
    page = (Path(__file__).resolve().parents[3] / "docs/formats/rag.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"json": json, "question": "When?", "response": response}
    exec(code, names)
    (draft,) = opened(write(tmp_path / "a.jsonl", names["line"]))
    assert (draft.header.question, draft.header.source_format) == ("When?", "llamaindex")
    assert draft.nodes["context/1"].text == "One."
    assert draft.nodes["context/1"].metadata["metadata"] == {"page": 3}
    bad = write(tmp_path / "b.json", json.dumps(dataclasses.asdict(response), default=str))
    (found,) = find_processes(bad)
    with pytest.raises(InputError, match=r"#1: its source nodes are texts .*one.model_dump"):
        found.open()


SECOND = {
    "question": "How long?", "user_input": "length ferry", "answer": "It is 61 m long.",
    "Response": "(draft) sixty", "contexts": ["The Tern is 61 m long."], "context": ["ideal"],
    "ground_truth": "61 m", "reference": "p. 3",
}  # fmt: skip


def test_columns_under_a_second_name_are_kept_with_the_answer(tmp_path: Path) -> None:
    (draft,) = opened(write(tmp_path / "a.jsonl", SECOND))

    assert draft.header.question == "How long?"
    assert [one.text for one in draft.nodes.values()] == [SECOND["contexts"][0], SECOND["answer"]]
    assert draft.nodes["answer"].metadata == {
        "user_input": "length ferry", "Response": "(draft) sixty", "context": ["ideal"],
        "ground_truth": "61 m", "reference": "p. 3",
    }  # fmt: skip


@pytest.mark.parametrize("second", ["retrieved_contexts", "Context", "response"])
def test_a_second_column_of_contexts_or_answers_is_told(tmp_path: Path, second: str) -> None:
    (other,) = opened(write(tmp_path / "log.json", [ROW | {second: ["Never."]}]))
    (told,) = other.header.warnings
    assert repr(second) in told
    assert other.nodes["answer"].metadata[second] == ["Never."]
    (same,) = opened(write(tmp_path / "same.json", [ROW | {"documents": ROW["contexts"]}]))
    assert same.header.warnings == ()


def test_columns_are_joined_by_the_key_of_the_row(tmp_path: Path) -> None:
    columns = {
        "answer": {"b": "Eighteen.", "a": "Forty-two."},
        "question": {"a": "How many cars?", "b": "What fee?"},
        "contexts": {"b": ["The fee is eighteen."], "a": ["It carries forty-two."]},
        "reference": {"b": "18", "z": "7"},
    }
    drafts = opened(write(tmp_path / "a.json", columns))

    found = {one.header.question: one for one in drafts}
    assert found["How many cars?"].nodes["context/1"].text == "It carries forty-two."
    assert found["How many cars?"].nodes["answer"].text == "Forty-two."
    assert found["What fee?"].nodes["answer"].metadata == {"reference": "18"}
    said = " ".join(found["How many cars?"].header.warnings)
    assert "'reference' has no value for 1 of the rows" in said
    assert "'reference' has values of no row: 'z'" in said


def test_a_column_of_another_length_is_told_and_never_joined_by_place(tmp_path: Path) -> None:
    even = {"question": ["A?", "B?"], "contexts": [["A."], ["B."]], "answer": ["A.", "B."]}
    drafts = opened(write(tmp_path / "a.json", even | {"ground_truth": ["B."], "version": 3}))

    assert [one.nodes["answer"].metadata for one in drafts] == [{}, {}]
    for one in drafts:
        said = " ".join(one.header.warnings)
        assert "'ground_truth' has 1 value for 2 rows" in said
        assert "'version'" in said
    shorter = write(tmp_path / "b.json", even | {"answer": ["B."]})
    with pytest.raises(InputError, match=r"not of one length.*'answer' 1"):
        opened(shorter)


@pytest.mark.parametrize(
    ("contexts", "texts", "said"),
    [
        (["One.", None, "Two.", " "], ["One.", "Two."], "2 contexts hold no text"),
        ([["One."], ["Two."]], ["One.", "Two."], None),
        ([{"text": None}, {"text": "One."}], ["One."], "1 context holds no text"),
        (
            "[Document(metadata={'a': {}}, page_content='One.'), Document(page_content=\"Two.\")]",
            ["One.", "Two."],
            None,
        ),
        ("Document(id='7', page_content='One.', at=datetime.date(2024, 1, 2))", ["One."], None),
        (["page_content='One.' metadata={'source': 'a.md'}", "Two."], ["One.", "Two."], None),
        ("Ferry(s) are boats (all of them)", ["Ferry(s) are boats (all of them)"], None),
        ("[Document(page_content=open('x'))", ["[Document(page_content=open('x'))"], None),
    ],
)  # fmt: skip
def test_contexts_in_other_forms(
    tmp_path: Path, contexts: Any, texts: list[str], said: str | None
) -> None:
    (draft,) = opened(write(tmp_path / "a.jsonl", {"contexts": contexts, "answer": "A."}))

    found = [one.text for name, one in draft.nodes.items() if name != "answer"]
    assert found == texts
    assert any(said in one for one in draft.header.warnings) if said else not draft.header.warnings


def test_names_of_columns_may_be_spelled_in_other_ways(tmp_path: Path) -> None:
    cells = '"[""In May."", ""A ferry.""]";In May.'
    table = write(
        tmp_path / "a.csv", f"User Input; Contexts (x, y);Contexts ;ANSWER\nWhen?;z;{cells}\n"
    )
    run = {"testRunData": {"testCases": [
        {"input": "When?", "actualOutput": "In May.", "retrievalContext": ["In May.", "A ferry."]}
    ]}}  # fmt: skip

    for path in (table, write(tmp_path / "b.json", run)):
        (draft,) = opened(path)
        assert draft.header.question == "When?"
        assert sorted(draft.nodes) == ["answer", "context/1", "context/2"]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [("One.|Two.", ["One.", "Two."]), ("a | b\n--|--\n1 | 2", ["a | b\n--|--\n1 | 2"])],
)
def test_texts_that_deepeval_joins_are_parted_and_told(
    tmp_path: Path, cell: str, texts: list[str]
) -> None:
    (draft,) = opened(
        write(tmp_path / "a.csv", f'input,actual_output,retrieval_context\nQ?,A.,"{cell}"\n')
    )

    assert [one.text for one in draft.nodes.values()][:-1] == texts
    assert bool(draft.header.warnings) == (len(texts) > 1)


def test_a_row_that_failed_may_be_the_first(tmp_path: Path) -> None:
    lines = json.dumps({"question": "How?", "error": "timeout"}) + "\n" + json.dumps(ROW)
    failed, good = list(find_processes(write(tmp_path / "a.jsonl", lines)))

    with pytest.raises(InputError, match="#1: no column of the contexts"):
        failed.open()
    assert good.open().header.question == "When?"


@pytest.mark.parametrize(
    "about",
    [{"model": "m"}, {"prompt": "p"}, {"role": "assistant"}, {"metadata": {"type": "Summary"}}],
)
def test_a_context_that_names_its_model_or_is_a_summary_is_no_source_text(
    tmp_path: Path, about: dict[str, Any]
) -> None:
    contexts = [{"text": "It was in May.", **about}, {"text": "A car.", "metadata": {"model": "X"}}]
    (draft,) = opened(write(tmp_path / "a.json", {"contexts": contexts, "answer": "May."}))

    origins = [draft.nodes[f"context/{place}"].origin for place in (1, 2)]
    assert origins == [Origin.GENERATED, Origin.SOURCE]
    assert any("unsourced" in one and "context/1" in one for one in survey(draft).warnings)


def test_one_thread_at_a_time_reads_what_python_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, met = [], []

    def parse(*given: object, **named: object) -> object:
        met.append(len(busy))
        busy.append(1)
        time.sleep(0.02)
        busy.pop()
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(ast, "parse", parse)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(unfolded, ["[1+1j]"] * 4)) == ["[1+1j]"] * 4
    assert set(met) == {0}
