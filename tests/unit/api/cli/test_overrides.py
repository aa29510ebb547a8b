"""`--set`, `--config` and the table of options in the file of the project."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.api.cli import overrides
from veritrail_graph.api.cli.app import FRONT, GROUPED, command
from veritrail_graph.api.cli.config import show
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError

VERIFY: Any = command("verify").commands["verify"]
OPTIONS = overrides.long_options(VERIFY)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return tmp_path


def test_what_a_call_sets_is_taken_out_wherever_it_stands(folder: Path) -> None:
    (folder / "x.toml").write_text("")
    call = ["--config", "x.toml", "verify", "p", "--set=q=2", "--set", "model=a=b", "--", "--set"]
    left, values, config = overrides.taken(call)
    assert left == ["verify", "p", "--", "--set"]
    assert values == [("q", "2"), ("model", "a=b")]
    assert config == "x.toml"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["--set", "q"], "must be KEY=VALUE"),
        (["--set"], "must be KEY=VALUE"),
        (["--config", "none.toml"], "no such file"),
    ],
)
def test_what_sets_nothing_is_refused(call: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        overrides.taken(call)


def test_a_name_is_that_of_an_option_before_that_of_a_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [("q", "2"), ("max_sentences", "9"), ("no_cache", "true"), ("again", "false")]
    assert overrides.set_all(given, OPTIONS) == ["--q=2", "--max-sentences=9", "--no-cache"]
    monkeypatch.setitem(os.environ, "VERITRAIL_RPM", "7")
    assert overrides.set_all([("verdict.model", "big"), ("rpm", "30")], OPTIONS) == []
    assert os.environ["VERITRAIL_VERDICT_MODEL"] == "big"
    assert os.environ["VERITRAIL_RPM"] == "30"
    with pytest.raises(InputError, match="Did you mean 'model'"):
        overrides.set_all([("modle", "x")], OPTIONS)
    with pytest.raises(InputError, match="It is an option of check, verify"):
        overrides.set_all([("q", "2")], {})


def test_the_file_of_the_project_gives_options_other_defaults(folder: Path) -> None:
    (folder / "veritrail.toml").write_text("rpm = 5\n[options]\nq = 2\nno_cache = true\n")
    assert Settings().rpm == 5
    assert overrides.defaults_of(command("verify"))["verify"] == {"q": 2, "no_cache": True}
    (folder / "veritrail.toml").write_text("[options]\nquux = 2\n")
    with pytest.raises(InputError, match=r"no command that judges .* has the option options.quux"):
        overrides.defaults_of(command("verify"))
    assert Settings().rpm is None


@pytest.mark.parametrize(
    ("called", "option"),
    [("verify", "record"), ("verify", "webhook"), ("gate", "summary"), ("check", "sources")],
)
def test_a_shared_file_names_no_file_and_no_address_of_an_option(
    called: str, option: str, folder: Path
) -> None:
    (folder / "veritrail.toml").write_text(f"[options]\n{option} = 'http://h/x'\n")
    with pytest.raises(InputError, match=rf"options\.{option} names a file.*Give --{option}"):
        overrides.defaults_of(command(called))


def test_defaults_of_options_are_listed_with_the_settings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "veritrail.toml").write_text("[options]\nq = 2\n", encoding="utf-8")
    show(as_json=True)
    listed = json.loads(capsys.readouterr().out)["settings"]
    assert {"name": "options.q", "value": "2", "source": "project"} in listed


@pytest.mark.parametrize(
    ("called", "option"), [("mcp", "url"), ("serve", "host"), ("delete", "yes"), ("copy", "target")]
)
def test_a_shared_file_says_nothing_of_commands_that_do_not_judge(
    called: str, option: str, folder: Path
) -> None:
    (folder / "veritrail.toml").write_text(f"[options]\n{option} = 'x'\n")
    with pytest.raises(InputError, match=rf"no command that judges .* options\.{option}"):
        overrides.defaults_of(command(called))
    (folder / "veritrail.toml").write_text("[options]\nbudget = 9\nmax_rate = 0.1\n")
    assert overrides.defaults_of(command(called)) == {}


def test_the_first_help_fits_a_screen_and_names_commands_that_are_there() -> None:
    whole: Any = command()
    names = {name for row, _ in FRONT for name in row.split(", ")}
    assert names <= set(whole.commands)
    text = _help(whole)
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", GROUPED)
def test_options_stand_in_groups_and_rare_ones_on_request(name: str) -> None:
    whole: Any = command(name)
    with whole.make_context("veritrail", [name], terminal_width=80, resilient_parsing=True) as up:
        one = whole.commands[name]
        with one.make_context(name, [], parent=up, resilient_parsing=True) as context:
            text = one.get_help(context)
    assert "-h, --help" in text
    assert "Output:" in text
    assert "Options:" not in text
    assert "--help-all" in text
    assert len(text.splitlines()) <= 40
    assert "--max-reruns" not in text


def _help(found: Any) -> str:
    with found.make_context("veritrail", [], resilient_parsing=True, terminal_width=80) as context:
        text: str = found.get_help(context)
    return text
