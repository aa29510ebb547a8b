"""`veritrail check`: an answer against plain texts, and logs of answers."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.dialogues import DialogueReader
from fakes.model_server import ModelServer
from fakes.settings_of import settings_of
from fakes.tool_server import SECRET, LangfuseServer

from veritrail_graph import Local
from veritrail_graph.api.cli.check import is_a_file
from veritrail_graph.api.client import Conflict

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWER = "The ferry carries 48 cars. The harbour fee rises to 4 euros in May.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "fees.md").write_text("The harbour fee rises to 4 euros in May.", encoding="utf-8")
    (docs / "ferry.md").write_text("The ferry carries 42 cars.", encoding="utf-8")
    (tmp_path / "a.txt").write_text(ANSWER, encoding="utf-8")
    return tmp_path


def test_without_a_model_each_sentence_is_a_claim_and_the_wrong_one_is_shown(
    veritrail: Veritrail, folder: Path
) -> None:
    docs = [str(path) for path in sorted((folder / "docs").iterdir())]
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", *docs, "--question", "What?"]
    done = veritrail(*call, "--json").json
    (process,) = done["processes"]
    assert (process["name"], process["status"], process["claims"]) == ("What?", "created", 2)
    assert (done["judge"]["engine"], done["judge"]["indicative"], done["cost_usd"]) == (
        "lexical",
        True,
        0.0,
    )
    assert done["judge"]["measured"]["pairs"] == 240
    counts = process["verdicts"]
    assert (counts["NOT_FULLY_SUPPORTED"], counts["FULLY_SUPPORTED"]) == (1, 1)
    (wrong,) = process["wrong"]
    assert wrong["difference"] == {"source": "42", "wrote": "48"}
    assert wrong["culprit"]["node_id"] == "answer"
    assert (wrong["source"]["node_id"], wrong["source"]["text"]) == (
        "ferry.md#1",
        "The ferry carries 42 cars.",
    )
    again = veritrail(*call, "--all")
    assert "(unchanged)" in again.err
    assert again.out.splitlines()[:5] == [
        "✗ The ferry carries 48 cars.",
        "    went wrong in  answer  (answer, stage 2 of 2)",
        "    source  ferry.md#1  The ferry carries *42* cars.",
        "    wrote               The ferry carries *48* cars.",
        "✓ The harbour fee rises to 4 euros in May.",
    ]
    assert again.out.splitlines()[-1].startswith(
        "2 claims: 1 wrong, 1 right.   words compared, no model   veritrail show p-"
    )


def test_an_answer_comes_from_stdin_or_as_text_and_sources_from_a_folder(
    veritrail: Veritrail, folder: Path
) -> None:
    docs = str(folder / "docs")
    call = ["check", "--answer", "-", docs, "--process-id", "check-stdin", "--q", "1"]
    done = veritrail(*call, "--json", typed=ANSWER).json
    (process,) = done["processes"]
    begin = "The ferry carries 48 cars. The harbour fee rises to 4 euros…"
    assert (process["process_id"], process["name"]) == ("check-stdin", begin)
    said = veritrail("check", "--answer", ANSWER, docs, "--fail-on", "unsupported", status=1)
    assert "48" in said.out
    veritrail("check", "--answer", ANSWER, docs, "--fail-on", "undecided", "--fail-on", "failed")
    said = veritrail("check", "-", typed='{"format": "veritrail.process/1", "nodes": []}', status=2)
    assert said.err.startswith("Error: standard input breaks")


def test_an_answer_over_an_index_comes_as_text_or_from_stdin_too(veritrail: Veritrail) -> None:
    index = Path(__file__).resolve().parents[1] / "unit" / "graph" / "graphrag-3.3.0"
    said = "The Tern carries 48 cars [Data: Entities (0)], it is #1 on the sound."
    found = []
    for option, piped in ((said, ""), ("-", said)):
        call = ["check", str(index), "--answer", option, "--question", "What is the Tern?"]
        (process,) = veritrail(*call, "--json", typed=piped).json["processes"]
        (wrong,) = process["wrong"]
        assert wrong["source"]["node_id"].startswith("text_unit/")
        found.append(process["process_id"])
    assert found[0] == found[1]


def test_only_a_file_is_read_without_being_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("[]")
    with path.open() as file:
        assert is_a_file(file)
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "w"):
        assert not is_a_file(pipe)
    assert not is_a_file(io.StringIO("[]"))
    assert not is_a_file(None)


def test_several_inputs_are_checked_and_one_that_cannot_be_leaves_the_others(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    rows = [
        {
            "question": f"Cars {n}?",
            "contexts": ["The ferry carries 42 cars."],
            "answer": f"The ferry carries {n} cars.",
        }
        for n in (42, 48)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "none.json").write_text("{}", encoding="utf-8")
    done = veritrail("check", str(tmp_path), "no-such-id", "--json", status=1).json
    assert [one["wrong"][0]["claim"] for one in done["processes"] if one["wrong"]] == [
        "The ferry carries 48 cars."
    ]
    assert len(done["processes"]) == 2
    named = [(Path(one["source"]).name, bool(one["error"]["message"])) for one in done["failed"]]
    assert named == [("none.json", True), ("no-such-id", True)]
    first = done["processes"][0]["process_id"]
    both = veritrail("check", first, first[:9], "@last", "--json").json
    assert {one["status"] for one in both["processes"]} == {"unchanged"}
    assert sum(one["reused"] for one in both["processes"]) == len(both["processes"])
    typed = veritrail("check", "-", "--max", "1", typed=log.read_text("utf-8"))
    assert "1 claim: 1 right." in typed.out
    table = veritrail("check", str(log)).out
    assert re.search(r"log\.jsonl#2 +1 +1 +0 +0 +Cars 48\?", table), table


def test_an_edited_process_is_checked_in_the_place_of_the_stored_one_as_the_advice_says(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    source, file = "The ferry carries 42 cars.", tmp_path / "edited.json"

    def edit(answer: str) -> str:
        nodes = [{"node_id": "s", "text": source}, {"node_id": "t", "text": answer}]
        edges = [{"source": "s", "target": "t"}]
        return process_file(file, nodes=nodes, edges=edges, claims=[])

    assert "1 wrong" in veritrail("check", edit("The ferry carries 48 cars.")).out
    refused = veritrail("check", edit("The ferry carries 43 cars."), status=2).err
    assert "Use --replace to replace it" in refused
    assert "name --replace, too" in veritrail("check", str(file), "--keep", status=2).err
    assert "1 wrong" in veritrail("check", str(file), "--replace").out
    assert "1 right" in veritrail("check", edit(source), "--replace", "--keep").out
    kept = [one["process_id"] for one in veritrail("list", "--json").json["processes"]]
    assert len([one for one in kept if one.partition(".")[0] == "edited"]) == 2
    with Local(settings_of(veritrail.environment({}))) as here:
        path = Path(edit("The ferry carries 44 cars."))
        with pytest.raises(Conflict, match="Pass `replace=True`"):
            here.check(path)
        assert [one.difference.wrote for one in here.check(path, replace=True).wrong] == ["44"]


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--engine", "none-such"), "none-such"), (("--model", "gpt-6-luna"), "needs a key")],
    ids=["engine", "key"],
)
def test_a_judge_that_cannot_be_made_is_refused_before_anything_is_stored(
    veritrail: Veritrail, folder: Path, options: tuple[str, str], words: str
) -> None:
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", str(folder / "docs")]
    refused = veritrail(*call, "--process-id", "check-refused", *options, status=2)
    assert words in refused.err
    assert "check-refused" in veritrail("show", "check-refused", status=2).err


def test_a_model_extracts_the_claims_once_and_a_budget_is_that_of_all_processes(
    veritrail: Veritrail, folder: Path
) -> None:
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", str(folder / "docs")]
    with ModelServer() as server:
        done = veritrail(*call, "--process-id", "check-model", "--json", **asking(server)).json
        calls = len(server.requests)
        again = veritrail(*call, "--process-id", "check-model", "--json", **asking(server)).json
        assert len(server.requests) == calls
        (folder / "logs").mkdir()
        for n in range(3):
            text = f"The ferry carries {n} cars."
            row = {"contexts": [text], "answer": text}
            (folder / "logs" / f"{n}.json").write_text(json.dumps(row), encoding="utf-8")
        limited = veritrail(
            "check", str(folder / "logs"), "--max-calls", "4", "--no-cache", "--json",
            status=1, **asking(server),
        ).json  # fmt: skip
        assert len(server.requests) - calls <= 4
    assert (done["judge"]["engine"], done["judge"]["indicative"]) == ("openai", False)
    for told in (done, again):
        (process,) = told["processes"]
        assert [(one["claim"], one["verdict"]) for one in process["results"]] == [
            ("The ferry carries 48 cars.", "NOT_FULLY_SUPPORTED"),
            ("The harbour fee rises to 4 euros in May.", "FULLY_SUPPORTED"),
        ]
    assert again["processes"][0]["reused"] == 2
    assert any(one["verdicts"]["failed"] for one in limited["processes"]) or limited["failed"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Name what is to be checked"),
        (["no-such-id"], "no such file or folder, and no process"),
        (["none.json"], "none.json: no such file or folder"),
        (["langfuse://shop?since=1d"], "set LANGFUSE_PUBLIC_KEY"),
        (["{a}", "--since", "1d"], "--since is of addresses"),
        (["{a}", "--write-back"], "--write-back is of addresses"),
        (["--answer", "{a}"], "Name what the answer was made from"),
        (["--sources", "{docs}"], "Name the answer to check"),
        (["--question", "What?", "{docs}"], "Name the answer to check"),
        (["--answer", "{docs}", "--sources", "{docs}"], "cannot be read"),
        (["--answer", "{a}", "--sources", "{none}"], "cannot be read"),
        (["--answer", "{a}", "{docs}", "--process-id", "no id"], "--process-id"),
        (["--answer", "{a}", "{docs}", "langfuse://shop"], "an address, and --answer is of texts"),
        (["--answer", "{a}", "{docs}", "--columns", "answer=x"], "--columns is of tables"),
        (["{a}", "{docs}", "--process-id", "p"], "names one process, and 2 inputs are given"),
        (["{a}"], "a plain text.*--answer ANSWER --sources TEXTS"),
        (["{docs}"], "holds plain texts.*--answer ANSWER --sources TEXTS"),
        (["{a}", "{ferry}"], "--answer .*a.txt --sources .*ferry.md"),
        ([""], "An empty name is no file"),
        (["--answer", "{a}", "--sources", ""], "it is empty: name a file or folder"),
        (["--answer", "{a}", "{docs}", "--budget", "1", "--model", "unknown"], "price"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    veritrail: Veritrail, folder: Path, arguments: list[str], problem: str
) -> None:
    places = {"a": folder / "a.txt", "docs": folder / "docs", "none": folder / "none.txt"}
    places["ferry"] = folder / "docs" / "ferry.md"
    given = [one.format(**places) for one in arguments]
    refused = veritrail("check", *given, status=2, OPENAI_API_KEY="sk-x")
    assert re.search(problem, refused.err), refused.err


def test_traces_of_an_address_are_checked_once_and_their_key_is_nowhere(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    page = (EXAMPLES / "tasks" / "langfuse.json").read_text("utf-8")
    observations = json.loads(page.replace("solvik-crane", "crane-address"))["data"]
    with LangfuseServer({"crane-address": {"observations": observations}}) as server:
        call = ["check", "langfuse://shop?since=1d"]
        done = veritrail(*call, "--json", **server.environ)
        asked = len(server.asked)
        assert server.scores == []
        again = veritrail(*call, "--write-back", **server.environ)
        assert [one["traceId"] for one in server.scores] == ["crane-address"] * len(server.scores)
        assert {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"} <= {one["value"] for one in server.scores}
        assert {one.query.get("traceId") is None for one in server.asked[asked:]} == {True}
        (process,) = done.json["processes"]
        assert (process["process_id"], process["where"]) == (
            "crane-address",
            "langfuse://shop#crane-address",
        )
        assert process["wrong"][0]["difference"] == {"source": "40 tons", "wrote": "60 tons"}
        assert "(unchanged)" in again.err
        asked = len(server.asked)
        stored = veritrail("ingest", "langfuse://shop", "--json", **server.environ).json
        assert (stored["process_id"], stored["status"]) == ("crane-address", "unchanged")
        assert not any("traceId" in one.query for one in server.asked[asked:])
        veritrail("ingest", "langfuse://shop", "--replace", **server.environ)
        assert server.asked[-1].query["traceId"] == ["crane-address"]
        bad = {"broken": {"observations": [{**observations[0], "startTime": "soon"}]}}
        server.traces = bad
        refused = veritrail(*call, status=2, **server.environ)
    assert re.search(r"langfuse://shop#broken: .*startTime", refused.err)
    assert not re.search(r"jsonl|/tmp", refused.err)
    assert SECRET not in done.out + done.err + again.out + again.err + refused.err


def test_verdicts_are_written_back_only_to_the_trace_that_they_are_of(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    page = (EXAMPLES / "tasks" / "langfuse.json").read_text("utf-8")
    theirs = tmp_path / "theirs.json"
    for name in ("order-1", "order-2"):
        theirs.write_text(page.replace("solvik-crane", name), encoding="utf-8")
        veritrail("ingest", str(theirs))
    same = json.loads(page.replace("solvik-crane", "order-1"))["data"]
    other = json.loads(page.replace("solvik-crane", "order-2").replace("60 tons", "70 tons"))[
        "data"
    ]
    traces = {"order-1": {"observations": same}, "order-2": {"observations": other}}
    with LangfuseServer(traces) as server:
        call = ["check", "langfuse://shop", "--write-back"]
        done = veritrail(*call, status=1, **server.environ)
        assert {one["traceId"] for one in server.scores} == {"order-1"}
        assert "langfuse://shop#order-2: another content is stored under this id" in done.err
        fix = ["ingest", "langfuse://shop?id=order-2", "--replace", "--keep"]
        assert f'veritrail {fix[0]} "{fix[1]}" {fix[2]} {fix[3]}' in done.err
        asked = len(server.asked)
        veritrail(*fix, **server.environ)
        veritrail(*call, **server.environ)
        assert {one["traceId"] for one in server.scores} == {"order-1", "order-2"}
        fetched = [one.query["traceId"] for one in server.asked[asked:] if "traceId" in one.query]
        assert {*map(str, fetched)} == {"['order-2']"}
        traces["order-1"] = traces["order-2"]
        server.number = "cm2"  # a project of the same name, of other keys
        again = veritrail(*call, status=1, **server.environ)
    assert "#order-1: another content is stored under this id, from langfuse http" in again.err
    assert SECRET not in done.err + again.err


def test_a_conversation_is_checked_turn_by_turn_and_each_claim_is_shown(
    veritrail: Veritrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = str(EXAMPLES / "lindholm-dialogue.json")
    first = veritrail("check", sample)
    assert "veritrail show lindholm-dialogue" in first.out
    (process,) = veritrail("check", sample, "--json").json["processes"]
    counts = process["verdicts"]
    assert (counts["FULLY_SUPPORTED"], counts["NOT_FULLY_SUPPORTED"]) == (0, 0)
    assert (process["reused"], process["read"]["turns"]) == (process["claims"], 15)
    assert counts["OUT_OF_SCOPE"] > 0
    assert counts["undecided"] > 0
    shown = veritrail("show", "lindholm-dialogue")
    assert f"{process['claims']} claims: " in shown.out
    with ModelServer(DialogueReader()) as server:
        judged = veritrail(
            "check", "lindholm-dialogue", "--json", "--fail-on", "unsupported", status=1,
            **asking(server),
        )  # fmt: skip
    (process,) = judged.json["processes"]
    wrong = [one["category"] for one in process["wrong"]]
    assert wrong.count("CONTRADICTED") == 2
    assert {one["verdict"] for one in process["wrong"]} == {None}
    claim = next(one for one in process["wrong"] if one["category"] == "CONTRADICTED")
    name = claim["claim_id"]
    block = veritrail("show", "lindholm-dialogue", name[:9]).out
    assert block.startswith(f"✗ {claim['claim'][:60]}")
    assert "contradicted in  turn/" in block
    told = veritrail("show", "lindholm-dialogue", name, "--json").json
    assert (told["claim_id"], told["category"]) == (name, "CONTRADICTED")
    assert told["finding"] == claim
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda place: not opened.append(place))
    said = veritrail("show", "lindholm-dialogue", name, "--open").err
    page = Path(opened[0].removeprefix("file://"))
    assert f"Opened {page}" in said
    assert 'class="vp' in page.read_text("utf-8")


def test_a_process_or_a_claim_is_opened_as_a_report_and_without_a_browser_its_place_is_said(
    veritrail: Veritrail, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", str(folder / "docs")]
    (process,) = veritrail(*call, "--process-id", "check-opened", "--json").json["processes"]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    for what in (["check-opened"], ["check-opened", process["wrong"][0]["claim_id"]]):
        said = veritrail("show", *what, "--open").err
        place = said.partition("The report is in ")[2].strip()
        assert "The ferry carries 48 cars." in Path(place).read_text("utf-8")
    for refused in (["--open"], ["check-opened", "--open", "--json"]):
        assert "--open opens a process" in veritrail("show", *refused, status=2).err
