"""A model is downloaded from a hub, a real server on loopback, when a person asks for it."""

from __future__ import annotations

import asyncio

import pytest
from fakes.entailment import tiny_model
from fakes.model_hub import COMMIT, model_hub

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.port import Meter, Unreachable
from veritrail_graph.verifier.nli.fetching import fetch
from veritrail_graph.verifier.nli.opening import ModelChoice, folder_of, open_folder
from veritrail_graph.verifier.nli.port import Pair


@pytest.fixture
def hub(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    folder = tiny_model(tmp_path / "upstream", ["The ferry sailed."])
    (folder / "README.md").write_text("No file that is read.")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model_quantized.onnx").write_bytes(b"another form")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with model_hub(folder) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        yield found


def test_the_files_that_are_read_are_fetched_and_the_model_judges(hub, tmp_path):
    seen = []
    found = fetch("owner/tiny", tmp_path / "home", on_file=seen.append)
    assert list(found.files) == seen == ["config.json", "tokenizer.json", "model.onnx"]
    assert found.revision == COMMIT
    assert sorted(path.name for path in found.folder.iterdir()) == sorted(seen)
    assert found.bytes == sum(path.stat().st_size for path in found.folder.iterdir())
    choice = ModelChoice("owner/tiny")
    model = open_folder(folder_of(choice, tmp_path / "home"), choice)
    [score] = asyncio.run(model.predict([Pair("The ferry sailed.", "Sailed.")], Meter()))
    assert score.entailment > 0.9


def test_a_newer_form_replaces_the_older_one(hub, tmp_path):
    fetch("owner/tiny", tmp_path / "home")
    (hub.folder / "tokenizer_config.json").write_text("{}")
    found = fetch("owner/tiny", tmp_path / "home")
    assert "tokenizer_config.json" in found.files
    assert (found.folder / "tokenizer_config.json").is_file()


def test_safetensors_are_fetched_where_there_is_no_onnx(hub, tmp_path):
    (hub.folder / "model.onnx").rename(hub.folder / "model.safetensors")
    assert "model.safetensors" in fetch("owner/tiny", tmp_path / "home").files


@pytest.mark.parametrize(
    ("remove", "message"),
    [("tokenizer.json", "no tokenizer.json"), ("model.onnx", "no safetensors")],
)
def test_a_model_without_what_is_needed_is_refused_and_nothing_is_kept(
    hub, tmp_path, remove, message
):
    (hub.folder / remove).unlink()
    with pytest.raises(InputError, match=message):
        fetch("owner/tiny", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_names_that_the_hub_does_not_know_and_that_are_none(hub, tmp_path):
    with pytest.raises(InputError, match="has no model 'owner/other'"):
        fetch("owner/other", tmp_path / "home")
    asked = len(hub.asked)
    for name in ("../../etc", "a/b/c", "", "/x", "owner/.."):
        with pytest.raises(InputError, match="is no name of a model"):
            fetch(name, tmp_path / "home")
    assert len(hub.asked) == asked


def test_a_hub_that_is_not_there(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(Unreachable, match="could not be downloaded"):
        fetch("owner/tiny", tmp_path / "home")
