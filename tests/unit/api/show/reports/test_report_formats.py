"""Reports of a process file in every format: what they say, and what texts cannot do to them."""

from __future__ import annotations

import ast
import asyncio
import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from acceptance.command import process_file
from fakes.hostile_file import PAYLOADS, hostile_process
from fakes.judged_files import judged_file
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from veritrail_graph.api.show.markdown import escaped
from veritrail_graph.api.show.reports.data import ClaimSelection, Made, states_named
from veritrail_graph.api.show.reports.files import Asked, pieces
from veritrail_graph.api.show.reports.sources import FileSource, is_file
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.importers.claims_file import read_claims_file

CLAIMS = [
    ("k1", "The ferry carries 180 people.", "supported", None),
    ("k2", "The ferry was built in 1997.", "not-supported", 2),
    ("k3", "The ferry is fast.", "not-supported", None),
    ("k4", "The ferry is liked.", "inconclusive", None),
    ("k5", "The ferry is old.", "failed", None),
    ("k6", "The ferry is blue.", "unchecked", None),
]
MADE = Made(at="2026-02-01T10:20:30.000000Z", by="veritrail-graph 9.9", origin="ferry.json")


@pytest.fixture
def ferry(tmp_path: Path) -> Path:
    """A process file with a claim in every state."""
    names = {"1": "source", "2": "summary", "3": "answer"}
    return Path(judged_file(tmp_path / "ferry.json", CLAIMS, stages=names))


def told(path: Path, name: str, wanted: ClaimSelection | None = None, **asked: Any) -> str:
    """A report of a file."""
    origin = FileSource.read(path, wanted or ClaimSelection(), MADE)

    async def whole() -> str:
        return "".join([piece async for piece in pieces(origin, Asked(name, **asked))])

    return asyncio.run(whole())


def test_a_report_as_csv_can_be_given_as_claims(tmp_path: Path) -> None:
    claims = [
        ("k1", "The ferry, once new, is old.", "supported", None),
        ("k2", "-2 is cold.", "unchecked", None),
    ]
    file = Path(judged_file(tmp_path / "ferry.json", claims))
    path = tmp_path / "report.csv"
    path.write_text(told(file, "csv"), "utf-8", newline="")
    found = [(one.claim_id, one.text, one.node_id) for one in read_claims_file(path)]
    assert found == [("k1", claims[0][1], "t"), ("k2", "-2 is cold.", "t")]


def test_the_latest_verdict_counts_and_a_later_failure_is_told(tmp_path: Path) -> None:
    twice = [
        ("k1", "The ferry is old.", "supported", None),
        ("k1", "The ferry is old.", "failed", None),
    ]
    path = Path(judged_file(tmp_path / "twice.json", twice))
    document = json.loads(path.read_text())
    document["claims"] = document["claims"][:1]
    document["verifications"][1]["created_at"] = "2026-02-01T09:30:00.000000Z"
    path.write_text(json.dumps(document))
    (one,) = FileSource.read(path).material.claims
    assert one.state is State.SUPPORTED
    assert one.later is not None
    assert "gave no verdict (failed" in told(path, "html")
    (claim,) = json.loads(told(path, "json"))["claims"]
    assert claim["later_attempt"]["status"] == "failed"


def test_filters_narrow_a_report_and_say_so(ferry: Path) -> None:
    only = ClaimSelection(states=states_named(["not-supported", "FAILED"]))
    document = json.loads(told(ferry, "json", only))
    assert [claim["claim_id"] for claim in document["claims"]] == ["k2", "k3", "k5"]
    assert document["process"]["claims"] == 6
    words = "Only: <bdi>not fully supported or could not be checked</bdi>"
    assert words in told(ferry, "html", only)
    with pytest.raises(NotFound, match=r"no claim 'k9'. It has 6 claims: 'k1', 'k2', .*'k6'.$"):
        FileSource.read(ferry, ClaimSelection(claim_ids=("k9",)))
    with pytest.raises(InputError, match="'s'"):
        FileSource.read(ferry, ClaimSelection(node_ids=("s",)))
    with pytest.raises(InputError, match="purple"):
        states_named(["purple"])


ANSWERS = {"answer/a": "When did it open?", "answer/b": "How long is it?"}


@pytest.fixture
def two_answers(tmp_path: Path) -> Path:
    """Two answers of one index; the question of the process is that of the first."""
    texts = {"answer/a": "It opened in 1901.", "answer/b": "It is *long*.", "note": "A pier."}
    nodes = [{"node_id": "r", "text": "The pier opened in 1901."}]
    nodes += [
        {"node_id": name, "text": text, "question": ANSWERS.get(name)}
        for name, text in texts.items()
    ]
    document = {
        "question": ANSWERS["answer/a"],
        "nodes": [{key: value for key, value in one.items() if value} for one in nodes],
        "edges": [{"source": "r", "target": name} for name in texts],
        "terminals": list(texts),
        "claims": [
            {"claim_id": f"k{n}", "text": text, "node_id": name}
            for n, (name, text) in enumerate(texts.items())
        ],
    }
    return Path(process_file(tmp_path / "pier.json", **document))


def test_a_report_gives_each_answer_its_own_question(two_answers: Path) -> None:
    both = ClaimSelection(node_ids=tuple(ANSWERS))
    text = told(two_answers, "markdown", both)
    assert "\nQuestion: " not in text
    for name, question in ANSWERS.items():
        assert f"- {name}: {question}\n" in text
    document = json.loads(told(two_answers, "json", both))
    assert document["questions"] == ANSWERS
    rows = list(csv.DictReader(io.StringIO(told(two_answers, "csv", both), newline="")))
    assert {row["node_id"]: row["question"] for row in rows} == ANSWERS
    suites = ET.fromstring(told(two_answers, "junit", both)).findall("testsuite")
    given = [one.find(".//property[@name='veritrail.question']").get("value") for one in suites]
    assert given == list(ANSWERS.values())
    page = told(two_answers, "html", both)
    assert page.count(ANSWERS["answer/a"]) == page.count(ANSWERS["answer/b"]) == 1


def test_a_report_on_one_answer_is_headed_by_its_question(two_answers: Path) -> None:
    text = told(two_answers, "markdown", ClaimSelection(node_ids=("answer/b",)))
    assert f"Question: {ANSWERS['answer/b']}\n" in text
    assert ANSWERS["answer/a"] not in text
    # A node without a question of its own answers that of the process.
    text = told(two_answers, "markdown")
    assert f"Question: {ANSWERS['answer/a']}\n" in text
    assert f"- answer/b: {ANSWERS['answer/b']}\n" in text


def test_a_dossier_brings_nodes_and_what_stands_around_its_sentences(tmp_path: Path) -> None:
    path = Path(judged_file(tmp_path / "ferry.json", CLAIMS[:1]))
    document = json.loads(path.read_text())
    text = "Ships are large. The ferry of 1998 carries 180 people. It is white."
    document["nodes"][1]["text"] = text
    start = text.index("The ferry")
    (sentence,) = document["verifications"][0]["iterations"][0]["evidence"]
    end = start + len(sentence["text"])
    place = {"sentence": 1, "start": start, "end": end}
    sentence |= place
    document["verifications"][0]["iterations"][0]["summaries"][0]["sentences"][0] |= place
    path.write_text(json.dumps(document))
    (claim,) = json.loads(told(path, "json", dossier=True))["claims"]
    assert claim["context"][0] == {
        "node_id": "s", "start": start, "end": end,
        "before": "Ships are large.", "after": "It is white.",
    }  # fmt: skip
    assert {node["node_id"] for node in claim["nodes"]} >= {"r", "s", "t"}


def test_csv_has_a_row_a_claim_and_no_cell_is_a_formula(ferry: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(told(ferry, "csv"), newline="")))
    assert [row["claim_id"] for row in rows] == [name for name, *_ in CLAIMS]
    assert rows[1]["error_stages"] == "2"
    assert rows[1]["error_stage_names"] == "summary"
    assert [row["state"] for row in rows] == [state for _, _, state, _ in CLAIMS]
    assert rows[4]["verdict"] == rows[5]["verdict"] == ""
    odd = [f"{char}1+1" for char in "=+-@\t\n\uff1d"]
    claims = [(f"k{n}", text, "supported", None) for n, text in enumerate(odd)]
    found = told(Path(judged_file(tmp_path / "odd.json", claims)), "csv")
    cells = [row["claim"] for row in csv.DictReader(io.StringIO(found, newline=""))]
    assert cells == [f"'{text}" for text in odd]
    assert "\r\n" in found


def test_an_unknown_cost_is_never_zero(ferry: Path) -> None:
    document = json.loads(ferry.read_text())
    unpriced = {"calls": 3, "input_tokens": 10, "output_tokens": 5, "unpriced_calls": 3}
    document["verifications"][0]["usage"] = {**unpriced, "cost_usd": None}
    ferry.write_text(json.dumps(document))
    rows = list(csv.DictReader(io.StringIO(told(ferry, "csv"), newline="")))
    assert rows[0]["cost_usd"] == "unknown"
    assert rows[1]["cost_usd"] == ""
    assert json.loads(told(ferry, "json"))["summary"]["usage"]["cost_usd"] is None
    html = told(ferry, "html")
    assert "<dd>unknown</dd>" in html
    assert "$0" not in html


@pytest.mark.parametrize(
    ("strict", "figures"), [(False, ("6", "2", "1", "2")), (True, ("6", "3", "2", "0"))]
)
def test_junit_tells_failures_errors_and_skipped_apart(
    ferry: Path, strict: bool, figures: tuple[str, ...]
) -> None:
    suites = ET.fromstring(told(ferry, "junit", strict=strict))
    names = ("tests", "failures", "errors", "skipped")
    assert tuple(suites.attrib[name] for name in names) == figures
    (suite,) = suites
    assert suite.attrib["name"] == "ferry: t"
    assert suite.attrib["timestamp"] == "2026-02-01T10:20:30"
    cases = {case.attrib["classname"]: case for case in suite.iter("testcase")}
    failure = cases["ferry.k2"].find("failure")
    assert failure is not None
    assert "introduced at stage 2 (summary)" in failure.attrib["message"]
    error = cases["ferry.k5"].find("error")
    assert error is not None
    assert "no usable answer" in error.attrib["message"]
    assert cases["ferry.k1"].find("failure") is None


def test_junit_tells_no_cost_where_no_model_was_asked(ferry: Path) -> None:
    document = json.loads(ferry.read_text())
    for one in document["verifications"]:
        one |= {"engine": "lexical", "model": None, "indicative": True}
    ferry.write_text(json.dumps(document))
    assert "veritrail.cost" not in told(ferry, "junit")
    usage = {"calls": 1, "input_tokens": 10, "output_tokens": 5, "unpriced_calls": 0}
    document["verifications"][0] |= {"model": "m", "usage": {**usage, "cost_usd": 0.5}}
    ferry.write_text(json.dumps(document))
    assert '<property name="veritrail.cost" value="$0.5000"/>' in told(ferry, "junit")


def test_no_form_counts_with_a_bracketed_plural(ferry: Path) -> None:
    for name in ("html", "markdown"):
        assert "(s)" not in told(ferry, name)


def test_hostile_texts_leave_every_format_what_it_is(tmp_path: Path) -> None:
    path = Path(hostile_process(tmp_path / "hostile.json"))
    count = len(json.loads(path.read_text())["claims"])
    xml = told(path, "junit", strict=True)
    assert len(list(ET.fromstring(xml).iter("testcase"))) == count
    rows = list(csv.reader(io.StringIO(told(path, "csv"), newline="")))
    assert len(rows) == count + 1
    assert len({len(row) for row in rows}) == 1
    document = json.loads(told(path, "json", dossier=True))
    assert [claim["text"] for claim in document["claims"]][: len(PAYLOADS)] == list(PAYLOADS)
    for text in (xml, told(path, "csv"), told(path, "json"), told(path, "markdown")):
        assert not re.search(
            "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text
        )


def test_a_file_of_tests_holds_what_is_wrong_as_literals_whatever_the_texts_are(
    tmp_path: Path,
) -> None:
    nasty = "''' \"\"\" \\ {by}\n\r\nimport os\u2028\u202e " + PAYLOADS[11]
    claims = [("k.1", nasty, "not-supported", 2), ("k-1", "It is fast.", "not-supported", None)]
    whole = [*claims, ("k3", "It is old.", "supported", None)]
    path = Path(judged_file(tmp_path / "ferry.json", whole, process_id="f"))
    tree = ast.parse(told(path, "pytest"))
    found = [
        (ast.literal_eval(one.args[1]), ast.literal_eval(one.keywords[0].value))
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "param"
    ]
    assert found == [(nasty, "k.1"), ("It is fast.", "k-1")]
    only = ClaimSelection(claim_ids=("k3",))
    with pytest.raises(InputError, match="No claim of 'f' that is asked for is wrong"):
        told(path, "pytest", only)


def test_nothing_in_a_claim_becomes_markdown(tmp_path: Path) -> None:
    path = Path(hostile_process(tmp_path / "hostile.json"))
    text = told(path, "markdown")
    lines = text.splitlines()
    header = next(number for number, line in enumerate(lines) if line.startswith("| claim |"))
    rows = []
    for line in lines[header:]:
        if not line.startswith("|"):
            break
        rows.append(len(re.findall(r"(?<!\\)\|", line)))
    assert len(set(rows)) == 1
    assert len(rows) == len(json.loads(path.read_text())["claims"]) + 2
    assert not re.search(r"<(?!!-- -->)", text)
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[", text)
    assert not re.search(r"[a-z]://|www\.|@\w", text)


@given(st.text(alphabet="ab 12\n\t.)(-+=#!*_`[]<>&|~$@:/\\wW{}", max_size=40))
@example("1. One")
@example("---")
@example("== 2")
@example("![a](b)")
@example("[a]: b")
@example("see p. 3 (6.5 m)")
@example("<!-- -->")
def test_a_reader_of_markdown_shows_a_text_unchanged(text: str) -> None:
    wanted = " ".join(text.split())
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for before in ("", "Reasons: ", "A line\n"):
        tokens = reader.parse(f"{before}{escaped(text)}\n")
        inside = [one for token in tokens for one in token.children or ()]
        assert {token.type for token in tokens} <= {
            "paragraph_open",
            "paragraph_close",
            "inline",
        }
        assert {one.type for one in inside} <= {"text", "softbreak", "html_inline", "text_special"}
        shown = "".join(
            {"softbreak": "\n", "html_inline": ""}.get(one.type, one.content) for one in inside
        )
        assert shown == (before + wanted).strip()
    assert escaped("see p. 3 (6.5 m)!") == "see p. 3 (6.5 m)!"


def test_a_file_is_told_from_a_process_by_its_name(
    ferry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ferry.parent)
    assert is_file("ferry.json")
    assert is_file(str(ferry))
    assert not is_file("ferry")
    assert not is_file("other.json")
    assert not is_file(f"{'a' * 5_000}.json")
    Path("ferry").write_text("{}")
    assert not is_file("ferry")
    assert is_file("./ferry")


def test_an_ampersand_is_escaped_only_where_it_would_begin_a_character() -> None:
    from veritrail_graph.api.show.markdown import escaped

    assert escaped("Thole & Sons, R&D; 5 &lt; 6 &#x41;") == (
        "Thole & Sons, R&amp;D; 5 &amp;lt; 6 &amp;\\#x41;"
    )
