"""Files of recorded answers: what is written is given again; what is wrong with one is said."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from fakes.model_server import ModelServer, Received
from fakes.settings_of import settings_of

from veritrail_graph.api.app.samples import FOLDER
from veritrail_graph.api.configured.judge import JudgeOptions, configure_judge
from veritrail_graph.api.configured.models import ModelOptions, all_model_settings
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.model import Status, Verification
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Request, StepCall
from veritrail_graph.verifier.models.recorded_answers import (
    AnswerRecorder,
    InvalidRecording,
    NotRecorded,
    answer_line,
    header,
    recorded_answers,
)

A, B = "a" * 64, "b" * 64
FIRST = header("2026-11-01", "a model")
REQUEST = Request(StepCall("verdict", "verdict.v1", "0", "a model", 0.0), "system", "user")
HELD = HeldProcess.read(open_input(Path(str(FOLDER / "harbour-summary.json"))))


def verified(
    settings: Settings, engine: str, options: dict[str, Any], claims: int = 6
) -> list[Verification]:
    async def run() -> list[Verification]:
        async with configure_judge(settings, JudgeOptions(engine, **options)) as judge:
            nodes = HeldNodes(HELD, judge.splitter)
            tasks = [Task(claim, HELD.node_of(None)) for claim in HELD.claims[:claims]]
            observer = judge.watched(None)
            walks = (
                verify_claim(
                    task, "p", judge.judge, nodes, **({"observer": observer} if observer else {})
                )
                for task in tasks
            )
            return await asyncio.gather(*walks)

    return asyncio.run(run())


def outcome(found: list[Verification]) -> list[Any]:
    """What a verdict rests on, without when and what it cost."""
    return [
        (one.claim_id, one.status, one.verdict, one.score, one.reasoning, one.sub_claims,
         one.error_stages, [(it.evidence, it.verdict) for it in one.iterations])
        for one in found
    ]  # fmt: skip


class Wavering:
    """A reader whose answers to one prompt differ."""

    def __init__(self) -> None:
        self.server = ModelServer()

    def __call__(self, step: str, system: str, user: str, request: Received) -> Any:
        found = self.server.reader(step, system, user, request)
        if step == "verdict" and isinstance(found, dict):
            return {**found, "reason": f"{found['reason']} (answer {request.number})"}
        return found


@pytest.mark.parametrize(
    "options", [{}, {"samples": Samples(3, 2)}, {"share": 4}], ids=["one", "samples", "shared"]
)
def test_what_was_recorded_of_a_model_gives_the_same_verdicts_without_it(
    options: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    with ModelServer(Wavering()) as server:
        asked = settings_of(
            {
                "VERITRAIL_HOME": str(tmp_path),
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": "sk-secret",
                "VERITRAIL_MODEL": "scripted",
                "VERITRAIL_RECORD": str(file),
            }
        )
        first = verified(asked, "openai", options)
        sent = len(server.requests)
        if "share" not in options:  # whose prompts depend on which claims wait at a time
            assert outcome(verified(asked, "openai", options)) == outcome(first)
            assert len(server.requests) == sent
    assert all(one.status is Status.SUCCEEDED for one in first)
    own = settings_of({"VERITRAIL_RECORDED": str(file), "OPENAI_BASE_URL": "no address"})
    again = verified(own, "recorded", options)
    assert outcome(again) == outcome(first)
    assert {one.usage.calls + one.usage.cached_calls for one in again} == {0}
    assert {one.usage.cost_usd for one in again} == {0.0}
    assert again[0].model is not None
    assert again[0].model.startswith("answers of scripted, recorded on ")
    text = file.read_text("utf-8")
    assert "sk-secret" not in text
    assert "Tarnmouth recorded 1,386" not in json.loads(text.splitlines()[0])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 or os.name == "nt"


def test_a_prompt_without_an_answer_is_told_what_was_not_recorded_and_what_to_do() -> None:
    other = recorded_answers()
    with pytest.raises(NotRecorded, match=r"no answer to the instructions verdict\.v1") as caught:
        other.answer(REQUEST)
    assert "--record FILE" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no line"),
        ("{}\n", 'line 1: the first line of recorded answers says "format"'),
        ('{"format": "veritrail.process/1"}\n', "line 1: the first line"),
        ("\x00\n", "line 1: not UTF-8"),
        ('{"format":"veritrail.recorded/1","reader":"m"}\n', "line 1: the key 'recorded'"),
        (header("26 November", "m"), "line 1: recorded is no date"),
        (header("2026-11-26", "a\nb"), "line 1: reader is no line of text"),
        (FIRST + "[]\n", "line 2: no JSON object"),
        (FIRST + '{"answer":"x"}\n', "line 2: the key 'system_sha256' is missing"),
        (FIRST + answer_line(A, "no hash", "x"), "line 2: user_sha256 is no SHA-256"),
        (FIRST + answer_line(A, B, "x", prompt="y"), "line 2: unknown key 'prompt'"),
        (FIRST + answer_line(A, B, {"x": 1}), "line 2: answer is no text"),  # type: ignore[arg-type]
        (FIRST + answer_line(A, B, "x", sample=-1), "line 2: sample is no number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_line(
    content: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(content, "utf-8")
    with pytest.raises(InvalidRecording) as caught:
        recorded_answers(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_a_file_in_another_encoding_is_told_as_such(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "answers.jsonl"
    first = FIRST.replace("}", ',"note":"\u00e9"}', 1)
    path.write_bytes(f"{first}{{}}\n".encode(encoding))
    with pytest.raises(InvalidRecording, match=r"line 1: not UTF-8 .*Save the file as UTF-8"):
        recorded_answers(path)


def test_a_file_that_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InvalidRecording, match=str(path)):
            recorded_answers(path)


def test_several_answers_to_a_prompt_are_its_samples_in_order(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    lines = [answer_line(A, B, text) for text in ("first", "second")]
    lines.append(answer_line(A, B, "a better first", sample=0))
    file.write_text(FIRST + "".join(lines), "utf-8")
    assert recorded_answers(file).answers[A, B] == {0: "a better first", 1: "second"}


def test_a_recording_that_was_killed_is_read_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    whole = FIRST + answer_line(A, B, "kept")
    file.write_text(whole + '{"system_sha256":"aa', "utf-8")
    assert recorded_answers(file).answers == {(A, B): {0: "kept"}}
    recorder = AnswerRecorder(file)
    recorder.write(REQUEST, "new")
    recorder.write(REQUEST, "new")  # stands there already
    recorder.write(REQUEST, "newer")
    recorder.close()
    text = file.read_text("utf-8")
    assert text.startswith(whole)
    assert text.count("\n") == 4
    prompt = tuple(sha256(part.encode()).hexdigest() for part in ("system", "user"))
    found = recorded_answers(file)
    assert found.answers[prompt] == {0: "newer"}  # type: ignore[index]
    assert found.label.startswith("answers of a model, recorded from 1 November 2026 to ")


def test_a_line_that_another_program_is_writing_is_not_cut_off(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    file, line = tmp_path / "answers.jsonl", answer_line(A, B, "kept")
    file.write_text(FIRST + line[:20], "utf-8")
    with file.open("a", encoding="utf-8") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        opening = threading.Thread(target=lambda: AnswerRecorder(file).close())
        opening.start()
        opening.join(0.2)
        other.write(line[20:])
    opening.join()
    assert recorded_answers(file).answers == {(A, B): {0: "kept"}}


def test_a_file_that_two_programs_began_is_read(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(FIRST + FIRST + answer_line(A, B, "kept"), "utf-8")
    assert recorded_answers(file).answers == {(A, B): {0: "kept"}}


def test_a_file_that_is_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    for content in ('{"mine": 1}\n', "notes without an end"):
        file = tmp_path / "notes.json"
        file.write_text(content, "utf-8")
        with pytest.raises(InvalidRecording, match=r"notes\.json"):
            AnswerRecorder(file)
        assert file.read_text("utf-8") == content
    with pytest.raises(InvalidRecording, match="cannot be written"):
        AnswerRecorder(tmp_path / "nowhere" / "answers.jsonl")


def test_no_model_can_be_chosen_where_answers_were_recorded() -> None:
    settings = settings_of({"VERITRAIL_MODEL": "m", "VERITRAIL_VERDICT_MODEL": "n"})
    found = all_model_settings(settings, "recorded", ModelOptions(budget=1.0))
    assert {one.model for one in found.values()} == {recorded_answers().label}
    with pytest.raises(InputError, match="engine recorded gives recorded answers"):
        all_model_settings(settings, "recorded", ModelOptions(verdict_model="m"))
