"""`veritrail.toml`: settings of a project, behind the environment; no secrets in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("VERITRAIL_MODEL", "VERITRAIL_RPM", "OPENAI_BASE_URL", "NEO4J_URI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def written(folder: Path, text: str) -> None:
    (folder / "veritrail.toml").write_text(text, encoding="utf-8")


def test_settings_of_the_file_count_behind_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(
        folder,
        'model = "small"\nrpm = 60\nprice = [0.15, 0.6]\nstructured = true\n'
        'neo4j_browser = "http://127.0.0.1:7474"\n'
        '[verdict]\nmodel = "large"\n',
    )
    monkeypatch.setenv("VERITRAIL_RPM", "30")
    found = Settings()
    assert (found.model, found.rpm, found.price) == ("small", 30, (0.15, 0.6))
    assert found.structured
    assert found.verdict.model == "large"
    assert found.neo4j_browser == "http://127.0.0.1:7474"
    (folder / ".env").write_text("VERITRAIL_MODEL=other\n", encoding="utf-8")
    assert Settings().model == "other"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("modle = 'x'", "no setting 'modle'. Did you mean 'model'"),
        ("[verdict]\nmodle = 'x'", "no setting 'verdict.modle'"),
        ("openai_api_key = 'x'", "'openai_api_key' is a secret"),
        ("[verdict]\napi_key = 'x'", "'verdict.api_key' is a secret"),
        ("neo4j_password = 'x'", "is a secret"),
        ("webhook_secret = 'x'", "is a secret"),
        ("api_key_file = 'x'", "is a secret"),
        ("openai_base_url = 'http://h/v1'", "is an address.*Set OPENAI_BASE_URL in the env"),
        ("azure_openai_endpoint = 'http://h'", "Set AZURE_OPENAI_ENDPOINT in the environment"),
        ("neo4j_uri = 'bolt://h:7687'", "is an address.*Set NEO4J_URI in the environment"),
        ("webhook_url = 'https://h/x'", "Set VERITRAIL_WEBHOOK_URL in the environment"),
        ("[verdict]\nbase_url = 'http://h'", "Set VERITRAIL_VERDICT_BASE_URL in the env"),
        ("[embedding]\nbase_url = 'http://h'", "is an address"),
        ("[embedding]\nmodel = ' HTTP://h'", "is an address"),
        ("[nli]\nmodel = 'https://h'", "Set VERITRAIL_NLI_MODEL in the environment"),
        ("verdict = 'x'", r"is a table: \[verdict\]"),
        ("model = {a = 1}", "'model' must be a text"),
        ("rpm = 'many'", "VERITRAIL_RPM"),
        ("model =", "is no TOML"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(
    folder: Path, text: str, words: str
) -> None:
    written(folder, text)
    with pytest.raises(InputError, match=words):
        Settings()
