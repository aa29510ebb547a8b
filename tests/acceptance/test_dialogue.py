"""`veritrail dialogue`: from a file to what the graph says, with a scripted model."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Ended, Veritrail
from acceptance.model_fixtures import MODEL, asking
from fakes.dialogue_prompts import parse_dialogue
from fakes.dialogues import SAMPLE, DialogueReader, gold_run
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

RUN_KEYS = ["run_id", "dialogue_id", "turns", "score", "usage"]
TURN_KEYS = ["turn_id", "status", "label", "claims", "turn_check", "score"]
CLAIM_KEYS = ["claim_id", "claim", "category", "reason", "compared_with", "contradicts"]
GOLD = gold_run()


def copy_of(folder: Path, name: str, **changes: Any) -> str:
    """The sample under another id."""
    path = folder / f"{name}.json"
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "dialogue_id": name, **changes}), encoding="utf-8")
    return str(path)


def beginning(folder: Path, name: str, count: int) -> str:
    """The first turns of the sample, every second of them the assistant's."""
    turns = json.loads(SAMPLE.read_text(encoding="utf-8"))["turns"]
    return copy_of(folder, name, turns=turns[:count])


@pytest.fixture
def dialogue(veritrail: Veritrail, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The sample, stored under an id of the test's own."""
    name = f"dialogue-{abs(hash(request.node.name))}"
    veritrail("ingest", copy_of(tmp_path, name))
    return name


@dataclass(frozen=True)
class Verified:
    """The sample, verified once: what was asked and told, and what was told before."""

    name: str
    told: dict[str, Any]
    sent: list[str]
    again: Ended
    report_before: str


@pytest.fixture(scope="module")
def verified(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Verified:
    name = "dialogue-verified-one"
    veritrail("ingest", copy_of(tmp_path_factory.mktemp("verified"), name))
    before = veritrail("report", name, "--format", "markdown").out
    with ModelServer(DialogueReader(), caches_prefixes=True) as server:
        command = ("dialogue", "verify", name, "--turn-check")
        told = veritrail(*command, "--json", **asking(server)).json
        sent = [received.step for received in server.requests]
        again = veritrail("dialogue", "verify", name[:-1], "--turn-check", **asking(server))
        assert len(server.requests) == len(sent)  # from the cache of answers
    return Verified(name, told, sent, again, before)


def rows(veritrail: Veritrail, name: str, **parameters: str) -> list[dict[str, Any]]:
    given = [part for key, value in parameters.items() for part in ("--param", f"{key}={value}")]
    told = veritrail("query", name, *given, "--json").json
    return [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]


def categories(turns: list[dict[str, Any]]) -> list[list[str | None]]:
    return [[claim["category"] for claim in turn["claims"]] for turn in turns]


def test_the_planted_contradictions_are_found_stored_and_told(
    veritrail: Veritrail, verified: Verified
) -> None:
    dialogue, told, sent, again = verified.name, verified.told, verified.sent, verified.again
    assert list(told)[:5] == RUN_KEYS
    assert (told["engine"], told["model"], told["indicative"]) == ("openai", MODEL, False)
    assert (told["stored"], told["kept"]) == (15, 0)
    gold = GOLD.json_object()
    for found, wanted in zip(told["turns"], gold["turns"], strict=True):
        assert list(found)[:6] == TURN_KEYS
        assert {key: found[key] for key in wanted if key not in ("usage", "turn_check")} == {
            key: wanted[key] for key in wanted if key not in ("usage", "turn_check")
        }
        for claim in found["claims"]:
            assert list(claim)[:6] == CLAIM_KEYS
    assert (told["score"], told["course"]) == (gold["score"], gold["course"])
    assert told["usage"]["calls"] == len(sent)
    assert {step: sent.count(step) for step in set(sent)} == {
        "dialogue_extraction": 15, "dialogue_verification": 30, "dialogue_categorisation": 11,
        "dialogue_turn_check": 15,
    }  # fmt: skip
    shown = (
        "t24  unverifiable  0.50",
        "contradicted  The Lindholm Tram Museum is open on Mondays.",
        "said before in turn t4: The Lindholm Tram Museum is closed on Mondays.",
        "abstention  The assistant does not know who painted",
        "out of scope  The assistant has never left Lindholm.",
        "the turn contradicts an earlier one (t22): ",
        "t30  no claims",
    )
    assert [words for words in shown if words not in again.out] == []
    assert "turns 15 · claims 30: 19 verified, 5 out of scope, 2 contradicted" in again.out
    assert "score 0.79" in again.out
    (first, second) = rows(veritrail, "self-contradictions", process_id=dialogue)
    assert (first["turn"], first["earlier_turn"]) == (24, 4)
    # The check of the turn quotes both turns word by word.
    assert second["quotes"][1] == "I have never left Lindholm"
    stored = veritrail("dialogue", "show", dialogue, "--json").json
    assert [one["claims"] for one in stored["turns"]] == [one["claims"] for one in told["turns"]]
    assert stored["score"] == told["score"]


def test_a_report_shows_the_turns_with_their_claims(
    veritrail: Veritrail, verified: Verified, tmp_path: Path
) -> None:
    dialogue = verified.name
    assert "# The conversation" not in verified.report_before
    listed = veritrail("list", dialogue)
    assert re.search(r"turn/t24 +contradicted +The Lindholm Tram Museum is open", listed.out)
    categories = [one["category"] for one in veritrail("list", dialogue, "--json").json["claims"]]
    assert (len(categories), categories.count("CONTRADICTED")) == (30, 2)
    report = veritrail("report", dialogue, "--format", "markdown").out.replace("\\", "")
    assert "Not checked" not in report
    for words in (
        "- Checked by turn: 30",
        "| turn/t24 | contradicted |  | The Lindholm Tram Museum is open on Mondays. |",
        "# The conversation",
        "turns 15, claims 30: 19 **verified**",
        "2 **contradicted**",
        "score 0.79",
        "counts for 15 turns",
        "- turn 24 `t24` **unverifiable** 0.50",
        "  - **contradicted** The Lindholm Tram Museum is open on Mondays.",
        "    - said before in turn `t4`: The Lindholm Tram Museum is closed on Mondays.",
        "    - contradicted later in turn `t24`: The Lindholm Tram Museum is open on Mondays.",
    ):
        assert words in report
    rows = list(csv.DictReader(veritrail("report", dialogue, "--format", "csv").out.splitlines()))
    assert [one["category"] for one in rows] == categories
    path = tmp_path / "report.html"
    veritrail("report", dialogue, "--format", "html", "-o", str(path))
    page = path.read_text(encoding="utf-8")
    assert "were checked by turn only" in page
    assert '<h2 id="r-talk-heading">The conversation</h2>' in page
    assert 'role="img" aria-label="Score over all turns: 0.79.' in page
    assert page.count('<details class="r-resting"') == 15


def test_each_ablation_changes_what_is_asked(
    veritrail: Veritrail, dialogue: str, tmp_path: Path
) -> None:
    short = f"{dialogue}-short"
    veritrail("ingest", beginning(tmp_path, short, 10))

    def verify(dialogue: str, *options: str) -> tuple[list[list[str | None]], dict[str, list[Any]]]:
        with ModelServer(DialogueReader()) as server:
            told = veritrail("dialogue", "verify", dialogue, *options, "--json", **asking(server))
            asked: dict[str, list[Any]] = {}
            for one in server.requests:
                asked.setdefault(one.step, []).append(one)
        return categories(told.json["turns"]), asked

    gold = categories(GOLD.json_object()["turns"])
    found, asked = verify(dialogue, "--no-background")
    assert "CONTRADICTED" not in {one for turn in found for one in turn}
    claims = [parse_dialogue(one.user) for one in asked["dialogue_verification"]]
    assert not any(one.background for one in claims)
    found, asked = verify(dialogue, "--no-history", "--no-cache")
    assert found[8] == ["LACKING_EVIDENCE"] != gold[8]
    turns = [parse_dialogue(one.user) for one in asked["dialogue_extraction"]]
    assert not any(one.history for one in turns)
    found, asked = verify(short, "--zero-shot")
    assert found == gold[:5]
    assert not any("# Examples" in one.system for requests in asked.values() for one in requests)
    found, asked = verify(short, "--binary", "--no-cache")
    assert "dialogue_categorisation" not in asked
    assert found[3] == ["VERIFIED", None]
    shown = veritrail("dialogue", "show", short)
    assert "Parts of the method were left out: no categories." in shown.out


def test_single_turns_use_what_is_stored_of_the_others(veritrail: Veritrail, dialogue: str) -> None:
    with ModelServer(DialogueReader()) as server:
        alone = veritrail(
            "dialogue", "verify", dialogue, "--turn", "t24", "--json", **asking(server)
        ).json
        veritrail("dialogue", "verify", dialogue, **asking(server))
        (monday,) = veritrail(
            "dialogue", "verify", dialogue, "--turn", "t24", "--json", **asking(server)
        ).json["turns"]
    assert alone["turns"][0]["background_lacks"] == 11
    assert categories(alone["turns"])[0][0] == "LACKING_EVIDENCE"
    assert categories([monday]) == [["CONTRADICTED", "VERIFIED"]]
    assert monday["background_lacks"] == 0


def test_a_run_that_ended_early_goes_on_at_its_turn(veritrail: Veritrail, tmp_path: Path) -> None:
    dialogue, count = "dialogue-early", 8
    veritrail("ingest", beginning(tmp_path, dialogue, 2 * count))
    with ModelServer(DialogueReader()) as server:
        cut = veritrail(
            "dialogue", "verify", dialogue, "--max-calls", "20", "--no-cache", "--json", status=1,
            **asking(server),
        )  # fmt: skip
        run = cut.json["run_id"]
        statuses = [turn["status"] for turn in cut.json["turns"]]
        done = statuses.count("succeeded")
        assert statuses == ["succeeded"] * done + ["over_budget"] * (count - done)
        assert 3 <= done < count
        assert f"veritrail dialogue verify {dialogue} --resume {run}" in cut.err
        before = len(server.requests)
        whole = veritrail(
            "dialogue", "verify", dialogue, "--resume", run, "--no-cache", "--json",
            **asking(server),
        ).json  # fmt: skip
        asked = [one for one in server.requests[before:] if one.step == "dialogue_extraction"]
        again = veritrail(
            "dialogue", "verify", dialogue, "--resume", run, "--json", **asking(server)
        ).json
        other = veritrail(
            "dialogue", "verify", dialogue, "--resume", run, "--zero-shot", "--json", status=2,
            **asking(server),
        ).json  # fmt: skip
        unknown = veritrail(
            "dialogue", "verify", dialogue, "--resume", "r-0", "--json", status=2, **asking(server)
        ).json
    assert (whole["run_id"], whole["kept"], len(asked)) == (run, done, count - done)
    assert categories(whole["turns"]) == categories(GOLD.json_object()["turns"])[:count]
    assert (again["kept"], again["stored"], again["usage"]["calls"]) == (count, 0, 0)
    assert "another engine, model, prompt or limit" in other["error"]["message"]
    assert "has no run 'r-0'" in unknown["error"]["message"]


def test_a_claim_without_a_valid_answer_is_failed_and_the_turns_go_on(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    dialogue = "dialogue-broken"
    veritrail("ingest", beginning(tmp_path, dialogue, 14))
    broken = "The user can bring lunch to the Lindholm Tram Museum."
    reader = DialogueReader({broken: '{"label": "MAYBE", "reason": ""}'})
    with ModelServer(reader) as server:
        ended = veritrail(
            "dialogue", "verify", dialogue, "--no-cache", "--json", status=1,
            **asking(server, VERITRAIL_ANSWER_RETRIES="1"),
        )  # fmt: skip
    turn = ended.json["turns"][3]
    good, bad = turn["claims"]
    assert (turn["status"], turn["label"], turn["score"]) == ("failed", None, None)
    assert good["category"] == "VERIFIED"
    assert (bad["status"], bad["category"]) == ("failed", None)
    assert "which is no label" in bad["error"]
    later = ended.json["turns"][4:]
    assert {one["status"] for one in later} == {"succeeded"}
    assert {one["background_lacks"] for one in later} == {1}


def test_dialogues_are_verified_side_by_side(veritrail: Veritrail, tmp_path: Path) -> None:
    dialogue, second = "beside-a", "beside-b"
    for name in (dialogue, second):
        veritrail("ingest", beginning(tmp_path, name, 8))
    with ModelServer(DialogueReader()) as server:
        told = veritrail(
            "dialogue", "verify", dialogue, second, "--no-cache", "--json", **asking(server)
        ).json
        one = veritrail(
            "dialogue", "verify", dialogue, second, "--turn", "t2", "--json", status=2,
            **asking(server),
        ).json  # fmt: skip
    found = told["dialogues"]
    assert [each["dialogue_id"] for each in found] == [dialogue, second]
    gold = categories(GOLD.json_object()["turns"])[:4]
    assert [categories(each["turns"]) for each in found] == [gold, gold]
    assert "name a single one" in one["error"]["message"]


def test_without_a_model_everything_is_indicative(veritrail: Veritrail, dialogue: str) -> None:
    told = veritrail("dialogue", "verify", dialogue, "--json").json
    assert (told["engine"], told["model"], told["indicative"]) == ("lexical", None, True)
    by_turn = {turn["turn_id"]: turn for turn in told["turns"]}
    found = {one["claim"]: one["category"] for turn in told["turns"] for one in turn["claims"]}
    assert found["On Mondays we are closed."] is None  # other words may say it
    assert (told["score"], by_turn["t4"]["status"], by_turn["t4"]["label"]) == (
        None, "undecided", None,
    )  # fmt: skip
    assert found["I'm afraid I don't know who painted it."] == "ABSTENTION"
    assert found["I love them."] == "OUT_OF_SCOPE"
    assert by_turn["t30"]["claims"][0]["category"] == "OUT_OF_SCOPE"
    shown = veritrail("dialogue", "verify", dialogue)
    assert "indicative" in shown.out
    wrong = veritrail("dialogue", "verify", dialogue, "--turn-check", "--json", status=2).json
    assert "needs a language model" in wrong["error"]["message"]


def test_what_cannot_be_verified_is_refused(
    veritrail: Veritrail, tmp_path: Path, dialogue: str
) -> None:
    def refused(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = veritrail(*arguments, "--json", status=2).json["error"]
        return found

    error = refused("dialogue", "verify", dialogue, "--turn", "t1", "--turn", "t99")
    assert [(one["kind"], one["where"]) for one in error["violations"]] == [
        ("not_the_assistants_turn", "turn 't1'"), ("unknown_turn", "turn 't99'"),
    ]  # fmt: skip
    assert "No process 'nowhere'" in refused("dialogue", "verify", "nowhere")["message"]
    assert "was verified yet" in refused("dialogue", "show", dialogue)["message"]
    path = tmp_path / "plain.json"
    node = {"node_id": "r", "text": "A text."}
    path.write_text(
        json.dumps({"format": "veritrail.process/1", "process_id": f"{dialogue}-plain",
                    "nodes": [node], "edges": []})
    )  # fmt: skip
    veritrail("ingest", str(path))
    message = refused("dialogue", "verify", f"{dialogue}-plain")["message"]
    assert "is no dialogue" in message
    assert "is no dialogue" in refused("dialogue", "show", f"{dialogue}-plain")["message"]
    message = refused("estimate", dialogue, "--model", "gpt-6-luna")["message"]
    assert "is a dialogue and has no stored claims" in message
    assert f"`veritrail dialogue verify {dialogue}` does so" in message
    error = refused("ingest", copy_of(tmp_path, f"{dialogue}-user", turns=[
        {"turn_id": "t1", "role": "user", "text": "Hello?"}]))  # fmt: skip
    assert [one["kind"] for one in error["violations"]] == ["no_assistant_turn"]


def test_a_chat_is_detected_stored_once_and_verified(veritrail: Veritrail, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "When do you open?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "The museum opens at ten."},
        {"role": "assistant", "content": "The museum opens at ten."},
        {"role": "user", "content": "Thank you."},
        {"role": "assistant", "content": "You are welcome."},
    ]
    lines = [json.dumps({"id": name, "messages": messages}) for name in ("chat-1", "chat-2")]
    path.write_text("\n".join([*lines, "{"]), encoding="utf-8")
    told = veritrail("ingest", str(path), "--json", status=1).json
    assert [one.get("process_id") for one in told["processes"]] == ["chat-1", "chat-2", None]
    assert (told["created"], told["failed"]) == (2, 1)
    again = veritrail("ingest", str(path), "--json", status=1).json
    assert (again["unchanged"], again["failed"]) == (2, 1)
    (first, _) = veritrail("dialogue", "verify", "chat-1", "--json").json["turns"]
    assert (first["turn_id"], first["label"]) == ("m3", "VERIFIED")
    listed = veritrail("formats", "--json").json["formats"]
    (dialogue,) = [one for one in listed if one["name"] == "dialogue"]
    assert "chats of OpenAI, LangChain and ShareGPT" in str(dialogue)
