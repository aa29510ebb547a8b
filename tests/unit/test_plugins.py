"""Engines, commands, pages and parts of other packages: those that cannot be used are left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest
import typer
from fastapi import APIRouter
from typer.testing import CliRunner

from veritrail_graph.api.app import Application, part
from veritrail_graph.api.cli import plugin_commands as commands
from veritrail_graph.api.page import plugin_pages as pages
from veritrail_graph.graph import plugins
from veritrail_graph.graph.errors import EngineUnavailable, InputError
from veritrail_graph.verifier import engines

forgotten: list[str] = []


def hello(name: str) -> None:
    """Greet somebody."""
    typer.echo(f"Hello {name}")


class Remembering:
    """A part that keeps something of processes."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def forget(self, process_id: str) -> None:
        forgotten.append(process_id)


class Failing(Remembering):
    """A part that cannot forget."""

    async def forget(self, process_id: str) -> None:
        raise KeyError("boom")


class Unreachable(Remembering):
    """A part whose database is down."""

    async def forget(self, process_id: str) -> None:
        raise EngineUnavailable("It does not answer.")


class Panic(BaseException):
    """A fault as libraries in Rust raise it, which is no Exception."""


def unreadable(thing: int | str) -> None:
    """A function with a parameter that no command line can read."""


def panicking() -> None:
    raise Panic("index out of bounds")


def interrupted() -> None:
    raise KeyboardInterrupt


WITHOUT_ROUTERS = pages.Pages("veritrail_graph.api.page", (hello,))  # type: ignore[arg-type]
WITHOUT_FILES = pages.Pages("typing", (APIRouter(),))


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The entry points of every group: what a test puts there."""
    points: dict[str, str] = {}

    def found(group: str, name: str | None = None) -> list[EntryPoint]:
        own = points.items()
        return [EntryPoint(n, v, group) for n, v in own if name in (None, n)]

    cached = (commands._points, pages.plugin_pages, part._plugin_parts)
    for module in (commands, pages, part):
        monkeypatch.setattr(module, "entry_points", found)
    monkeypatch.setattr("importlib.metadata.entry_points", found)
    for one in cached:
        one.cache_clear()
    forgotten.clear()
    yield points
    for one in cached:
        one.cache_clear()


def called(app: typer.Typer, *arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def alone() -> typer.Typer:
    app = typer.Typer()
    app.command("ours")(hello)
    return app


def test_an_engine_that_cannot_be_loaded_is_named(named: dict[str, str]) -> None:
    named["missing"] = "no_such_package.part:THING"
    with pytest.raises(InputError, match=r"'missing' of the package no_such_package\.part is not"):
        engines.engine_named("missing")


def test_a_command_that_is_not_installed_refuses_every_call_and_says_how_to_get_it(
    named: dict[str, str],
) -> None:
    app = alone()
    commands.add_known(app, "check", "judge.check")
    for call in (["check"], ["check", "--help"], ["check", "run", "--count", "3"]):
        refused = called(app, *call).exception
        assert isinstance(refused, InputError)
        said = "`veritrail judge check` comes with veritrail-eval: pip install veritrail-eval"
        assert str(refused) == said
    assert "pip install veritrail-eval" in called(app, "--help").output


def test_a_command_that_cannot_be_loaded_says_why(named: dict[str, str]) -> None:
    named["eval"] = "no_such_package.cli:app"
    app = alone()
    commands.add_known(app, "eval", "eval")
    refused = called(app, "eval").exception
    assert "`veritrail eval` cannot be called: 'eval' of the package no_such_package" in str(
        refused
    )
    assert "ModuleNotFoundError" in str(refused)


def test_commands_of_other_packages_stand_beside_ours_and_take_no_name_of_ours(
    named: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    named["greet"] = f"{__name__}:hello"
    named["ours"] = f"{__name__}:alone"
    named["nothing"] = f"{__name__}:WITHOUT_FILES"
    named["unreadable"] = f"{__name__}:unreadable"
    app = alone()
    commands.add_plugins(app, ("ours",))
    assert called(app, "greet", "Ada").output == "Hello Ada\n"
    assert called(app, "ours", "Ben").output == "Hello Ben\n"
    left_out = [message.split("'")[1] for message in caplog.messages]
    assert left_out == ["ours", "nothing", "unreadable"]


def test_pages_without_their_files_are_left_out(
    named: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    named["bare"] = f"{__name__}:WITHOUT_FILES"
    named["missing"] = "no_such_package.pages:PAGES"
    named["odd"] = f"{__name__}:WITHOUT_ROUTERS"
    assert pages.page_packages() == ()
    assert pages.plugin_routers() == []
    assert pages.links_beside("dialogue") == []
    assert len(caplog.messages) == 3


def test_a_panic_is_a_fault_like_any_other_and_ctrl_c_is_none() -> None:
    with pytest.raises(InputError, match="mine failed: RuntimeError: Panic: index out of bounds"):
        plugins.called("mine", panicking)
    with pytest.raises(KeyboardInterrupt):
        plugins.called("mine", interrupted)


def test_a_part_that_fails_keeps_no_process_from_being_removed(
    named: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    named["failing"] = f"{__name__}:Failing"
    named["remembering"] = f"{__name__}:Remembering"
    named["nothing"] = "builtins:object"
    app = Application()
    asyncio.run(part.forget_in_plugin_parts(app, "p"))
    assert app.part(Remembering) is app.part(Remembering)
    assert forgotten == ["p"]
    assert "the part 'failing'" in caplog.text


def test_a_part_whose_database_is_down_says_so(named: dict[str, str]) -> None:
    named["unreachable"] = f"{__name__}:Unreachable"
    with pytest.raises(EngineUnavailable):
        asyncio.run(part.forget_in_plugin_parts(Application(), "p"))
