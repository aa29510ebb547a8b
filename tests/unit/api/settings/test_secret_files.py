"""`NAME_FILE` in the environment: a file that holds the secret `NAME`."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.api.settings import Settings, Use, model_settings
from veritrail_graph.api.settings.secret_files import keys_by_environment, roles_of
from veritrail_graph.api.settings.values import Role
from veritrail_graph.graph.errors import InputError

SECRETS = [
    (name, keys)
    for name, keys, field in keys_by_environment(Settings, "VERITRAIL_")
    if Role.SECRET in roles_of(field)
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, _ in SECRETS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_every_secret_may_lie_in_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {name for name, _ in SECRETS} >= {
        "VERITRAIL_API_KEY", "NEO4J_PASSWORD", "OPENAI_API_KEY", "VERITRAIL_VERDICT_API_KEY",
        "VERITRAIL_JOBS_URL", "VERITRAIL_WEBHOOK_SECRET", "VERITRAIL_FROM_PASSWORD",
    }  # fmt: skip
    for number, (name, _) in enumerate(SECRETS):
        (folder / name).write_text(f"secret-{number}\n", encoding="utf-8")
        monkeypatch.setenv(f"{name}_FILE", str(folder / name))
    found = Settings()
    for number, (name, keys) in enumerate(SECRETS):
        value: object = found
        for key in keys:
            fields = type(value).model_fields  # type: ignore[attr-defined]
            field = next(one for one, of in fields.items() if key in (one, of.validation_alias))
            value = getattr(value, field)
        assert value == f"secret-{number}", name


def test_the_value_itself_comes_first_and_a_dotenv_names_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "key").write_text("of-the-file", encoding="utf-8")
    (folder / ".env").write_text(f"OPENAI_API_KEY_FILE={folder / 'key'}\n", encoding="utf-8")
    assert Settings().openai_api_key is None
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(folder / "key"))
    assert Settings().openai_api_key == "of-the-file"
    monkeypatch.setenv("OPENAI_API_KEY", "itself")
    assert Settings().openai_api_key == "itself"


def test_a_secret_of_a_file_goes_to_no_address_of_dotenv(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "key").write_text("sk-user", encoding="utf-8")
    (folder / ".env").write_text("OPENAI_BASE_URL=http://s/v1\n", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(folder / "key"))
    with pytest.raises(InputError, match="OPENAI_API_KEY from the environment"):
        model_settings(Settings(), Use.VERDICT, "openai", model="m")


@pytest.mark.parametrize("text", [None, b"\xff\xfe", b"a" * 10_001])
def test_a_file_that_cannot_be_a_secret_is_named_and_not_repeated(
    text: bytes | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (folder / "key").write_bytes(text)
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(folder / "key"))
    with pytest.raises(InputError, match=r"NEO4J_PASSWORD_FILE .* cannot be read") as refused:
        Settings()
    assert "aaaa" not in str(refused.value)
