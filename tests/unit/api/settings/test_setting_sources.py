"""A secret is sent to no address of a less trusted source: a folder of a stranger gets no key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.app.embeddings import embedding_choice
from veritrail_graph.api.configured.graph_connection import server_address
from veritrail_graph.api.settings import Settings, Use, model_settings
from veritrail_graph.api.work.webhooks.target import Target
from veritrail_graph.graph.errors import InputError

SECRET = "whsec_" + "bXlzZWNyZXRteXNlY3JldG15c2VjcmV0"
Use_ = Callable[[Settings], Any]


def _model(engine: str, use: Use = Use.VERDICT) -> Use_:
    return lambda settings: model_settings(settings, use, engine, model="m")


PAIRS: dict[str, tuple[str, str, str, str, Use_]] = {
    "models": ("OPENAI_BASE_URL", "http://s/v1", "OPENAI_API_KEY", "sk-user", _model("openai")),
    "azure": (
        "AZURE_OPENAI_ENDPOINT", "http://s", "AZURE_OPENAI_API_KEY", "sk-user", _model("azure"),
    ),
    "a step": (
        "VERITRAIL_VERDICT_BASE_URL", "http://s/v1", "VERITRAIL_VERDICT_API_KEY", "sk-user",
        _model("openai"),
    ),
    "a step's key for the usual address": (
        "OPENAI_BASE_URL", "http://s/v1", "VERITRAIL_VERDICT_API_KEY", "sk-user", _model("openai"),
    ),
    "embeddings": (
        "VERITRAIL_EMBEDDING_BASE_URL", "http://s/v1", "VERITRAIL_EMBEDDING_API_KEY", "sk-user",
        lambda settings: embedding_choice(settings, "some-model"),
    ),
    "graph": ("NEO4J_URI", "bolt://s:7687", "NEO4J_PASSWORD", "pw-of-user", server_address),
    "webhook": (
        "VERITRAIL_WEBHOOK_URL", "https://example.org/x", "VERITRAIL_WEBHOOK_SECRET", SECRET,
        Target.of,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for url, _, secret, _, _ in PAIRS.values():
        monkeypatch.delenv(url, raising=False)
        monkeypatch.delenv(secret, raising=False)
    return tmp_path


@pytest.mark.parametrize("pair", PAIRS)
def test_an_address_of_dotenv_gets_no_secret_of_the_environment(
    pair: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, address, name, secret, use = PAIRS[pair]
    (folder / ".env").write_text(f"{url}={address}\n", encoding="utf-8")
    monkeypatch.setenv(name, secret)
    with pytest.raises(InputError) as refused:
        use(Settings())
    said = str(refused.value)
    assert f"{url} comes from .env of the working folder, and {name} from the environment" in said
    assert secret not in said
    assert address not in said


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("ways", [("file", "file"), ("env", "env"), ("env", "file")])
def test_an_address_of_the_same_or_a_more_trusted_source_gets_the_secret(
    pair: str, ways: tuple[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, address, name, secret, use = PAIRS[pair]
    lines = []
    for way, key, value in ((ways[0], url, address), (ways[1], name, secret)):
        if way == "env":
            monkeypatch.setenv(key, value)
        else:
            lines.append(f"{key}={value}\n")
    (folder / ".env").write_text("".join(lines), encoding="utf-8")
    assert use(Settings()) is not None


def test_an_address_of_the_environment_counts_where_dotenv_names_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("OPENAI_BASE_URL=http://s/v1\n", encoding="utf-8")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://mine/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-user")
    found = _model("openai")(Settings())
    assert (found.base_url, found.api_key) == ("http://mine/v1", "sk-user")


def test_without_a_secret_an_address_of_dotenv_is_used(folder: Path) -> None:
    (folder / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:1/v1\n", encoding="utf-8")
    found = _model("openai")(Settings())
    assert (found.base_url, found.api_key) == ("http://127.0.0.1:1/v1", None)


def test_a_value_of_a_call_is_trusted_most(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    (folder / ".env").write_text("NEO4J_URI=bolt://s:7687\n", encoding="utf-8")
    found = server_address(Settings(NEO4J_URI="bolt://mine:7687"))
    assert found is not None
    assert found.uri == "bolt://mine:7687"
