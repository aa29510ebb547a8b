"""The programs of `examples/recorders` on the installed libraries, with a model on loopback."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes.chat_server import chat_server
from recorded_file import checked, edges, nodes

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # it is read when Haystack is imported

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "recorders"
SOURCES = {"openai": 2, "langchain": 2, "llamaindex": 2, "haystack": 2, "opentelemetry": 1}


def script(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"content": f"They say this, of {len(body['messages'][-1]['content'])} letters."}]


def test_every_program_is_tried() -> None:
    assert {one.stem.removeprefix("with_") for one in FOLDER.glob("*.py")} == set(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_records_how_its_answer_came_about(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, target = FOLDER / f"with_{name}.py", tmp_path / "quay.jsonl"
    assert len(program.read_text().splitlines()) < 41
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(sys, "argv", [str(program), str(target)])
    with chat_server(script) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        runpy.run_path(str(program), run_name="__main__")
    file = next(target.glob("*.jsonl")) if target.is_dir() else target
    by_id = nodes(file)
    sources = {key for key, one in by_id.items() if one["origin"] == "source"}
    assert len(sources) == SOURCES[name]
    found = checked(file)
    (answer,) = found.terminals
    assert by_id[answer]["text"].startswith("They say this")
    reached, waiting = set(), {answer}
    while waiting:  # upstream of the answer
        reached |= waiting
        waiting = {source for source, target in edges(file) if target in waiting} - reached
    assert sources <= reached
