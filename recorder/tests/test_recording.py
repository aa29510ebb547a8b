"""A recording writes nodes, edges, stages, answers and claims that a reader accepts."""

from __future__ import annotations

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr
from veritrail_graph.graph.errors import InvalidProcess

ROOT = Path(__file__).resolve().parents[2]


def test_the_calls_of_the_contract_write_a_process_file(file, capsys):
    with vr.record("nightly", question="What changed?", path="nightly.jsonl") as nowhere:
        pass
    assert nowhere.path == Path.cwd() / "nightly.jsonl"
    with vr.record("nightly", question="What changed?", path=str(file)) as run:
        chunk = run.source("The quay opened.", kind="chunk", metadata={"page": 3})
        note = run.step("A note.", inputs=[chunk], step="summarise", model="m", prompt="p.v1")
        answer = run.answer("An answer.", inputs=["A note."])
    assert (chunk.node_id, chunk.text) == ("source/1", "The quay opened.")
    assert [note.node_id, answer.node_id] == ["summarise/1", "answer/1"]
    header = lines(file)[0]
    assert header == {
        "format": "veritrail.process/1",
        "process_id": run.process_id,
        "name": "nightly",
        "question": "What changed?",
        "source_format": "recorder",
    }
    assert run.process_id.startswith("nightly-")
    assert nodes(file)["source/1"] == {
        "node_id": "source/1",
        "text": "The quay opened.",
        "stage": 1,
        "origin": "source",
        "kind": "chunk",
        "metadata": {"page": 3},
    }
    assert nodes(file)["summarise/1"]["metadata"] == {"model": "m", "prompt": "p.v1"}
    assert edges(file) == {("source/1", "summarise/1"), ("summarise/1", "answer/1")}
    found = checked(file)
    assert (found.process_id, found.terminals, found.warnings) == (
        run.process_id, ("answer/1",), ()
    )  # fmt: skip
    said = capsys.readouterr().err.splitlines()
    assert said == [f"veritrail: recorded 3 nodes; to check them: veritrail check {file}"]


def test_a_recording_in_which_nothing_was_made_names_no_command(tmp_path, capsys):
    with vr.record(path=tmp_path / "p.jsonl") as run:
        run.source("The quay opened.")
        run.given("When did it open?")
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("veritrail: recorded 2 nodes, all given from outside: nothing to verify")
    assert "veritrail check" not in said


def test_without_with_and_without_a_path(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = vr.record(process_id="p1", quiet=True)
    span = run.source("Text.")
    assert len(run) == 1
    assert str(span) == "Text."
    assert run.is_open
    run.close()
    run.close()
    assert not run.is_open
    assert nodes(tmp_path / "p1.jsonl").keys() == {"source/1"}
    assert capsys.readouterr().err == ""


def test_every_record_is_in_the_file_at_once(file):
    run = vr.record(path=file)
    assert len(lines(file)) == 1
    chunk = run.source("One.")
    run.step("Two.", chunk)
    assert len(lines(file)) == 4
    assert checked(file).terminals == ("step/1",)
    run.close()


def test_inputs_are_spans_texts_lists_of_them_or_one_alone(file):
    with vr.record(path=file, quiet=True) as run:
        one, two = run.source("One."), run.source("Two.")
        run.step("a", one, node_id="a")
        run.step("b", "Two.", node_id="b")
        run.step("c", (span for span in [one, two]), node_id="c")
        run.step("d", [[one], {"x": "Two."}], node_id="d")
    assert edges(file) == {
        ("source/1", "a"), ("source/2", "b"), ("source/1", "c"), ("source/2", "c"),
        ("source/1", "d"), ("source/2", "d"),
    }  # fmt: skip


def test_equal_texts_are_told_apart_by_the_object_and_else_taken_from_the_latest(file):
    with vr.record(path=file, quiet=True) as run:
        chunks = [run.source(f"Chunk {number}.") for number in range(3)]
        texts = [f"Nothing {what}." for what in ["found"] * 3]
        for text, chunk in zip(texts, chunks, strict=True):
            run.step(text, chunk, step="note")
        run.step("first", texts[0], node_id="first")
        run.step("all", texts, node_id="all")
        run.step("other", "Nothing" + " found.", node_id="other")
    assert {edge for edge in edges(file) if edge[1] in {"first", "all", "other"}} == {
        ("note/1", "first"), ("note/1", "all"), ("note/2", "all"), ("note/3", "all"),
        ("note/3", "other"),
    }  # fmt: skip


def test_long_texts_are_found_and_not_kept(file):
    text = "A long text. " * 1_000
    with vr.record(path=file, quiet=True) as run:
        run.source(text)
        run.step("short", ["A long text. " * 1_000], node_id="s")
        assert not run._nodes.texts._short.keys() & {text}
    assert edges(file) == {("source/1", "s")}


def test_the_same_source_text_is_recorded_once(file):
    with vr.record(path=file, quiet=True) as run:
        one = run.source("A page.", metadata={"page": 1})
        again = run.source("A page.", metadata={"page": 1})
        other = run.source("A page.", metadata={"page": 2})
        named = run.source("A page.", node_id="mine")
    assert one == again
    assert list(nodes(file)) == [one.node_id, other.node_id, "mine"]
    assert named.node_id == "mine"


def test_what_a_user_says_supports_nothing(file):
    with vr.record(path=file, quiet=True) as run:
        asked = run.given("When did it open?", kind="user")
        run.answer("In 1901.", [asked])
    found = checked(file)
    assert (found.unsourced, nodes(file)["given/1"]["origin"]) == (1, "given")


def test_a_recorded_text_becomes_the_answer_without_a_second_node(file):
    with vr.record(path=file, quiet=True) as run:
        note = run.step("A note.", run.source("A page."))
        deeper = run.step("Deeper.", [note])
        run.step("Deepest.", [deeper])
        last = run.step("A note on it.", [note])
        assert run.answer("A note on it.") == last
    assert lines(file)[0]["terminals"] == [last.node_id]
    assert checked(file).terminals == (last.node_id,)


def test_source_text_that_is_the_answer_is_a_node_of_its_own(file):
    with vr.record(path=file, quiet=True, claims="It opened.") as run:
        run.source("It opened.")
        answer = run.answer("It opened.")
    assert edges(file) == {("source/1", answer.node_id)}
    assert [claim.node_id for claim in checked(file).claims] == [answer.node_id]


def test_an_answer_that_is_used_on_is_none_and_two_answers_are_two(file):
    with vr.record(path=file, quiet=True) as run:
        page = run.source("A page.")
        first = run.answer("First.", [page], question="Which is first?")
        run.answer("Second.", [run.step("Between.", [page])])
        run.answer("Third.", [first])
    found = checked(file)
    assert found.terminals == ("answer/2", "answer/3")
    assert nodes(file)[first.node_id]["question"] == "Which is first?"


def test_stages_are_always_there_and_always_in_order(file, caplog):
    with vr.record(path=file, quiet=True, stages={0: "pages", 5: "notes", -1: "no"}) as run:
        page = run.source("A page.", stage=0)
        run.source("Another.", stage=4)
        note = run.step("A note.", [page], stage=5)
        low = run.step("Low.", [note], stage=1)
        run.step("Loose.", stage=0)
        run.answer("The end.", [low], stage="top")  # type: ignore[arg-type]
    assert [one["stage"] for one in nodes(file).values()] == [0, 0, 5, 5, 0, 6]
    found = checked(file)
    assert dict(found.header.stage_names) == {0: "pages", 5: "notes"}
    assert "breaks the order of stages" in caplog.text
    assert "'top' is no stage" in caplog.text


@pytest.mark.parametrize("first", ["source", "step", "given"])
@pytest.mark.parametrize("stage", [None, 0, 1, 7])
def test_no_order_of_calls_breaks_a_rule_of_stages(file, first, stage):
    with vr.record(path=file, quiet=True) as run:
        one = getattr(run, first)("One.", stage=stage)
        run.source("Two.")
        run.step("Three.", [one])
        run.step("Four.", [one], stage=0)
        run.given("Five.", stage=0)
    checked(file)


def test_claims_stand_in_the_file_once_it_is_closed(file, caplog):
    with vr.record(path=file, quiet=True, claims=["One.", "Two.", "One.", " "]) as run:
        run.answer("One. Two.", [run.source("One.")])
    assert [claim.text for claim in checked(file).claims] == ["One.", "Two."]
    assert "an empty one" in caplog.text
    with vr.record(path=file, quiet=True, claims=["One."]) as run:
        page = run.source("A page.")
        run.answer("One.", [page])
        run.answer("Two.", [page])
    assert checked(file).claims == ()

    def fail() -> None:
        with vr.record(path=file, quiet=True, claims=["One."]) as run:
            run.step("A note.", [run.source("A page.")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert checked(file).claims == ()


def test_an_earlier_file_is_there_until_the_new_one_can_be_read(tmp_path, file):
    first, second = vr.record(path=file, quiet=True), vr.record(path=file, quiet=True)
    first.source("Of the first.")
    second.source("Of the second.")
    first.close()
    second.close()
    assert [one["text"] for one in nodes(file).values()] == ["Of the second."]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_link_is_followed_and_permissions_are_those_of_any_file(tmp_path):
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("old")
    link.symlink_to(target)
    with vr.record(path=link, quiet=True) as run:
        page = run.source("A page.")
        run.answer("An answer.", [page])
        run.step("Later.", [run.step("A note.", [page])])
    assert link.is_symlink()
    assert nodes(target)
    assert lines(target)[0]["terminals"] == ["answer/1"]
    umask = os.umask(0)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


def test_threads_share_a_recording(file):
    def work(number: int) -> None:
        for place in range(50):
            page = run.source(f"Page {number}.{place}")
            run.step(f"Note {number}.{place}", [page], step="note")

    with vr.record(path=file, quiet=True) as run:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    by_id = nodes(file)
    assert len(by_id) == 800
    for source, target in edges(file):
        assert by_id[source]["text"].split()[1] == by_id[target]["text"].split()[1]
    checked(file)


def test_inputs_may_record_themselves_or_wait_for_threads_that_record(file):
    with vr.record(path=file, quiet=True) as run, ThreadPoolExecutor(2) as pool:
        run.step("One.", (run.source(f"Page {number}.") for number in range(3)))
        futures = [pool.submit(run.source, f"Late page {number}.") for number in range(3)]
        run.answer("Two.", (future.result(timeout=10) for future in futures))
    assert len(edges(file)) == 6


def test_threads_that_search_and_record_at_once_lose_nothing(file, caplog):
    def work(number: int) -> None:
        for place in range(200):
            page = run.source(f"This is the text of page {number}.{place} " + "x" * place)
            assert page.node_id in run.links(f"Read: {page}", within=True).nodes

    with vr.record(path=file, quiet=True) as run, ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert caplog.text == ""


KILLED = """
import sys, veritrail_record as vr
run = vr.record("killed", path=sys.argv[1])
page = run.source("page " * 100_000)
print("begun", flush=True)
while True:
    page = run.step("note " * 200_000, [page])
"""


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_a_file_that_can_be_read(file):
    for pause in (0.0, 0.05, 0.11):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        found = checked(file)
        assert found.process_id.startswith("killed-")
        assert len(found.topology.ids) >= 1


def test_a_last_line_that_is_cut_off_is_left_out_with_a_warning(file):
    with vr.record(path=file, quiet=True) as run:
        page = run.source("A page.")
        run.step("A note. ÄÖÜ", [page])
    whole = file.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    node = whole.rindex(b"\n", 0, start - 1) + 1
    for end in range(node + 1, len(whole)):
        file.write_bytes(whole[:end])
        found = checked(file)
        is_whole = whole[:end].endswith(b"}}") and end in {start - 1, len(whole) - 1}
        is_whole = is_whole or whole[end - 1 : end] == b"\n"
        assert ("cut off" in " ".join(found.warnings)) is not is_whole, whole[node:end]
        assert len(found.topology.ids) == (1 if end < start - 1 else 2)
        # Without its edge a generated text is no source text.
        assert found.unsourced == (1 if start - 1 <= end < len(whole) - 1 else 0)


def test_a_line_that_is_cut_off_within_a_file_or_in_another_file_is_a_fault(file):
    with vr.record(path=file, quiet=True) as run:
        run.source("A page.")
    text = file.read_text()
    file.write_text(text + '{"node": {"node_id"\n')
    with pytest.raises(InvalidProcess, match="breaks"):
        checked(file)
    file.write_text(text.replace("recorder", "agents") + '{"node": {"node_id"')
    with pytest.raises(InvalidProcess, match="breaks"):
        checked(file)


def test_the_current_recording_is_that_of_the_context(file, tmp_path):
    from veritrail_record import current

    assert current() is None
    with vr.record(path=file, quiet=True) as outer:
        with vr.record(path=tmp_path / "inner.jsonl", quiet=True) as inner:
            assert current() is inner
        assert current() is outer
        found: list[Any] = []
        copied = contextvars.copy_context()
        for target in (lambda: copied.run(lambda: found.append(current())), lambda: _in(outer)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        assert found == [outer]
        late = contextvars.copy_context()
    assert current() is None
    assert late.run(current) is None  # it is closed


def _in(run: Any) -> None:
    from veritrail_record import current

    with run.activate():
        assert current() is run
    assert current() is None
