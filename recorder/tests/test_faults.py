"""A recording never raises into the program; each kind of fault is logged once."""

from __future__ import annotations

import errno
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr


def test_a_file_that_cannot_be_made_records_nothing(tmp_path, caplog):
    with vr.record(path=tmp_path / "none" / "x.jsonl") as run:
        span = run.source("A page.")
        other = run.step("A note.", [span])
        run.answer(other)
    assert (span.node_id, span.text, other.text) == ("", "A page.", "A note.")
    assert (run.path, len(run)) == (None, 0)
    assert [one.name for one in caplog.records] == ["veritrail.recorder"]
    assert "cannot be made" in caplog.text


def test_a_full_disk_leaves_whole_records_and_recording_goes_on(file, caplog, monkeypatch):
    room = 10_000
    write = os.write

    def limited(fd: int, data: Any) -> int:
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(fd, bytes(data)[:room])
        room -= done
        return done

    run = vr.record(path=file, quiet=True)
    monkeypatch.setattr(os, "write", limited)
    pages = [run.source(f"Page {number}. " + "x" * 900) for number in range(20)]
    room = 10_000
    lost = next(page for page in pages if not page.node_id)
    run.step("A note.", [pages[0], lost])
    run.close()
    found = nodes(file)
    assert 5 < len(found) < 21
    assert edges(file) == {("source/1", "step/1")}
    checked(file)
    assert caplog.text.count("No space left") == 1
    assert caplog.text.count("not recorded before") == 1


def test_a_closed_file_and_a_closed_recording_are_logged(file, caplog):
    run = vr.record(path=file, quiet=True)
    os.close(run._nodes._file._file)
    run.source("A page.")
    run.source("Another.")
    run.close()
    assert caplog.text.count("cannot be written") == 2  # a text, and the end
    with vr.record(path=file, quiet=True) as run:
        run.source("A page.")
    assert run.source("Late.").node_id == ""
    assert run.step("Late.").node_id == ""
    assert caplog.text.count("recording is closed") == 1


@pytest.mark.parametrize("text", [None, 3, b"bytes", ["a"], object()])
def test_what_is_no_text_is_not_recorded(file, caplog, text):
    with vr.record(path=file, quiet=True) as run:
        for call in (run.source, run.given, run.step, run.answer):
            assert call(text).node_id == ""
    assert len(lines(file)) == 1
    assert caplog.text.count("is no text") == 1


@pytest.mark.parametrize("given", [None, 3, "unknown", [None], object(), [["unknown"]], [iter([])]])
def test_an_unknown_input_is_logged_and_the_node_has_no_edge(file, caplog, given):
    with vr.record(path=file, quiet=True) as run:
        page = run.source("A page.")
        run.step("A note.", [page, given])
        run.step("A note on nothing.", given)
    assert edges(file) == {("source/1", "step/1")}
    assert caplog.text.count("not recorded before") == 1
    assert checked(file).unsourced == 1


def test_spans_of_another_recording_are_known_by_their_text_alone(file, tmp_path, caplog):
    with vr.record(path=tmp_path / "other.jsonl", quiet=True) as other:
        page, only_there = other.source("A page."), other.source("Another.")
    with vr.record(path=file, quiet=True) as run:
        run.source("Something else.")
        run.source("A page.")
        run.step("A note.", [page, only_there])
    assert edges(file) == {("source/2", "step/1")}
    assert "not recorded before" in caplog.text


@pytest.mark.parametrize("node_id", ["", "x" * 1_025, 7, "half \ud800"])
def test_a_wrong_node_id_is_replaced(file, caplog, node_id):
    with vr.record(path=file, quiet=True) as run:
        assert run.source("A page.", node_id=node_id).node_id == "source/1"
    assert "is no node_id" in caplog.text


def test_a_node_id_that_is_taken_gets_a_number(file, caplog):
    with vr.record(path=file, quiet=True) as run:
        ids = [run.step(f"Text {number}.", node_id="s").node_id for number in range(3)]
        ids.append(run.step("Text.", step="s", node_id="s/3").node_id)
        ids.append(run.step("Text.", step="s").node_id)
    assert ids == ["s", "s/1", "s/2", "s/3", "s/4"]
    assert "there already" in caplog.text
    checked(file)


def test_half_a_character_is_replaced_everywhere(file, caplog):
    with vr.record("n\ud800", question="\udc00", path=file, quiet=True) as run:
        page = run.source("A \ud800 page.", kind="\ud800", metadata={"\ud800": ["\udfff"]})
        run.step("A pair: \ud83d\ude00", ["A \ud800 page."], step="s\ud800")
    assert page.text == "A \ud800 page."
    assert len(edges(file)) == 1
    found = checked(file)
    assert "�" in found.header.name
    assert nodes(file)["s�/1"]["text"] == "A pair: 😀"
    assert "half a character" in caplog.text


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no text of mine")


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"x": found}
    return found


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": float("nan")},
        {"x": Broken()},
        partial(nested, 200),  # when it is called: the runner looks into what it is given
        partial(nested, 100_000),
        7,
        "text",
    ],
)
def test_metadata_that_is_no_json_is_left_out(file, caplog, metadata):
    given = metadata() if callable(metadata) else metadata
    with vr.record(path=file, quiet=True) as run:
        span = run.step("A page.", metadata=given, model="m")
    assert nodes(file)[span.node_id]["metadata"] == {"model": "m"}
    assert "metadata was left out" in caplog.text
    checked(file)


def test_metadata_values_become_json(file):
    with vr.record(path=file, quiet=True) as run:
        run.source("A page.", metadata={1: Path("x"), "1": (2,), "d": {"a": None}})
    assert nodes(file)["source/1"]["metadata"] == {"1": [2], "d": {"a": None}}
    checked(file)


def test_wrong_ids_and_claims_of_the_recording_are_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    run = vr.record("Über uns!", process_id="no id", claims=[7, "A claim."], quiet=True)  # type: ignore[list-item]
    run.close()
    assert run.process_id.startswith("ber-uns-")
    assert run.path is not None
    assert json.loads(run.path.read_text())["name"] == "Über uns!"
    assert "is no process_id" in caplog.text
    assert vr.record("日本", quiet=True).process_id.startswith("recording-")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_write_into_the_file(file):
    with vr.record(path=file, quiet=True) as run:
        run.source("A page.")
        child = os.fork()
        if not child:
            status = 1
            try:
                status = len(run.source("Of the child.").node_id)
                run.close()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        run.source("Another page.")
    assert [one["text"] for one in nodes(file).values()] == ["A page.", "Another page."]


def _fail(run: Any, error: BaseException) -> None:
    with run:
        run.step("A note.", [run.source("A page.")])
        raise error


def test_an_error_of_the_program_passes_and_the_file_is_whole(file):
    run = vr.record(path=file, quiet=True)
    with pytest.raises(ZeroDivisionError):
        _fail(run, ZeroDivisionError())
    assert not run.is_open
    assert len(checked(file).topology.ids) == 2


def test_what_cannot_be_stored_stays_in_a_file_that_is_named(tmp_path, monkeypatch, caplog, capsys):
    monkeypatch.setenv("VERITRAIL_ENGINE", "no such engine")
    monkeypatch.setenv("NEO4J_URI", "http://127.0.0.1:1")  # no scheme of a graph: told at once
    with vr.record("kept", store=True) as run:
        run.source("A page.")
    assert run.ingested is None
    assert run.path is not None
    assert len(nodes(run.path)) == 1
    assert f"could not be stored; it is in {run.path}" in caplog.text
    assert f"veritrail ingest {run.path}" in capsys.readouterr().err
    run.path.unlink()
    run.path.parent.rmdir()


def test_nothing_is_stored_and_no_file_stays_where_nothing_was_recorded(monkeypatch):
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    with vr.record("empty", store=True) as run:
        place = run.path
    assert place is not None
    assert run.path is None
    assert not place.parent.exists()


def test_a_program_that_is_stopped_is_not_held_up(monkeypatch, capsys):
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    run = vr.record("stopped", store=True)
    with pytest.raises(KeyboardInterrupt):
        _fail(run, KeyboardInterrupt())
    assert run.path is not None
    assert f"veritrail check {run.path}" in capsys.readouterr().err
    run.path.unlink()
    run.path.parent.rmdir()
