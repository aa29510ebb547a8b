"""Nothing that is read from elsewhere becomes code: no pickle, no eval, no YAML of Python."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from veritrail_graph.verifier.nli.transformers import TransformersRunner

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "api", "verifier", "graph", "cypher", "evaluation/veritrail_eval", "recorder/veritrail_record",
)  # fmt: skip
RUNS_CODE = re.compile(
    r"\b(?:import|from) (?:pickle|marshal|shelve|dill|cloudpickle|joblib|yaml)\b"
    r"|(?<![\w.])(?:eval|exec|__import__)\(|\ballow_pickle=True|\btrust_remote_code=True"
    r"|\btorch\.load\(|\bread_pickle\(|\bshell=True|\bos\.(?:system|popen)\("
)


# The child that reads files, and its parent, which takes plain values and classes of ours alone.
OF_OUR_OWN_CHILD = ("graph/importers/apart.py", "graph/importers/apart_child.py")


def test_no_package_reads_what_can_run() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if RUNS_CODE.search(line)
        and not (line == "import pickle" and path.relative_to(ROOT).as_posix() in OF_OUR_OWN_CHILD)
    ]
    assert found == []


def test_of_a_folder_of_a_model_no_pickle_and_no_code_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {}

    def from_pretrained(_folder: str, **options: Any) -> Any:
        asked.update(options)
        return SimpleNamespace(eval=lambda: None)

    transformers, torch = ModuleType("transformers"), ModuleType("torch")
    model = SimpleNamespace(from_pretrained=from_pretrained)
    vars(transformers)["AutoModelForSequenceClassification"] = model
    vars(torch)["set_num_threads"] = lambda _number: None
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", torch)
    TransformersRunner(tmp_path, pad=0)
    assert asked["use_safetensors"] is True
    assert asked["trust_remote_code"] is False
    assert asked["local_files_only"] is True
