"""`veritrail.toml`: settings of a project, behind the environment; no secrets in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from veritrail_graph.api.settings import Settings
from veritrail_graph.api.settings.listing import settings_found
from veritrail_graph.api.settings.secret_files import keys_by_environment, roles_of
from veritrail_graph.api.settings.sources import Source
from veritrail_graph.api.settings.values import Role
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
        ("[verdict]\napi_key = 'x'", "'verdict.api_key' is a secret"),
        ("openai_base_url = 'x'", "is an address.*Set OPENAI_BASE_URL in the env"),
        ("webhook_url = 'x'", "Set VERITRAIL_WEBHOOK_URL in the environment"),
        ("[verdict]\nbase_url = 'x'", "Set VERITRAIL_VERDICT_BASE_URL in the env"),
        ("record = '~/.profile'", "is a path that is written to.*Set VERITRAIL_RECORD in the env"),
        ("cors_origins = 'https://h'", "opens the service.*Set VERITRAIL_CORS_ORIGINS in the env"),
        ("proxies = '*'", "opens the service to others"),
        ("webhook_private = true", "opens the service to others"),
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


EVERY = {
    name: (keys, roles_of(field))
    for name, keys, field in keys_by_environment(Settings, "VERITRAIL_")
}
NAMES = {
    Role.SECRET: re.compile(r"(KEY|PASSWORD|SECRET|TOKEN)$"),
    Role.ADDRESS: re.compile(r"(URL|URI|ENDPOINT|HOST|ADDRESS)$"),
}


def test_what_is_named_as_a_secret_or_an_address_is_one() -> None:
    assert len(EVERY) > 100
    for name, (_, roles) in EVERY.items():
        for role, named in NAMES.items():
            assert role in roles or not named.search(name), name


@pytest.mark.parametrize("name", [name for name, (_, roles) in EVERY.items() if roles])
def test_no_secret_no_address_and_no_path_that_is_written_to_is_taken_from_the_file(
    name: str, folder: Path
) -> None:
    keys, roles = EVERY[name]
    *table, key = (one.lower().removeprefix("veritrail_") for one in keys)
    for written_key in (key, f"{key}_file") if Role.SECRET in roles else (key,):
        lines = [f"[{table[0]}]"] if table else []
        written(folder, "\n".join([*lines, f"{written_key} = 'x'"]))
        with pytest.raises(
            InputError, match=r"is (a secret|an address|a path that is w|something that opens)"
        ):
            Settings()


def test_the_file_is_found_above_the_working_folder_unless_another_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, 'model = "above"\n')
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert Settings().model == "above"
    (below / "other.toml").write_text('model = "named"\n', encoding="utf-8")
    monkeypatch.setenv("VERITRAIL_CONFIG", "other.toml")
    assert Settings().model == "named"
    (below / "other.toml").write_text("budget = 1.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"^other\.toml: .*'budget'.* in the table \[options\]"):
        Settings()
    monkeypatch.setenv("VERITRAIL_CONFIG", "missing.toml")
    with pytest.raises(InputError, match=r"missing\.toml cannot be read"):
        Settings()


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["veritrail.toml", ".env"])
def test_a_file_of_another_user_counts_only_where_the_working_folder_is_theirs(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = 'model = "theirs"\n' if name.endswith("toml") else "VERITRAIL_MODEL=theirs\n"
    (folder / name).write_text(text, encoding="utf-8")
    os.chown(folder / name, 12_345, -1)
    assert Settings().model is None
    assert Settings().model is None
    (warning,) = caplog.messages
    assert f"{folder / name} belongs to another user and is not read" in warning
    (folder / name).rename(folder / "mine")
    (folder / "mine").chmod(0o644)
    os.chown(folder / "mine", 0, -1)
    (folder / name).symlink_to("mine")  # a link that a stranger made to a file of root
    os.chown(folder / name, 12_345, -1, follow_symlinks=False)
    assert Settings().model is None
    os.chown(folder, 12_345, -1)  # as where a container works on the folder of its user
    assert Settings().model == "theirs"


def test_a_list_of_settings_says_where_each_came_from_and_shows_no_secret(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, '[verdict]\nmodel = "large"\n')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    found = {each.name: each for each in settings_found(Settings())}
    assert (found["verdict.model"].value, found["verdict.model"].source) == (
        "large",
        Source.PROJECT,
    )
    assert found["openai_api_key"].source is Source.ENVIRONMENT
    assert "hidden" not in str(found)
    assert found["db_idle"].source is None
