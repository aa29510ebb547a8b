"""Starting the engine early; no engine runs."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest

from veritrail_graph.api.cli.main import begin_early
from veritrail_graph.graph.embedded import EngineSettings, begin_engine, client, running_engine
from veritrail_graph.graph.errors import EngineUnavailable


async def use(settings):
    async with running_engine(settings) as address:
        return address


def test_a_start_that_was_begun_early_and_fails_is_not_tried_a_second_time(tmp_path, monkeypatch):
    threads = []

    async def refuse(*_args, **_options):
        threads.append(threading.current_thread())
        raise EngineUnavailable("no room")

    monkeypatch.setattr(client, "_lease", refuse)
    settings = EngineSettings(tmp_path)
    begin_engine(settings)
    with pytest.raises(EngineUnavailable, match="no room"):
        asyncio.run(use(settings))
    (thread,) = threads
    assert thread is not threading.main_thread()
    with pytest.raises(EngineUnavailable, match="no room"):  # a later call tries again
        asyncio.run(use(settings))
    assert len(threads) == 2


def test_an_engine_that_was_begun_early_is_awaited(tmp_path, monkeypatch):
    release, order = threading.Event(), []

    class Channel:
        async def close(self):
            return

    async def lease(*_args, **_options):
        if threading.current_thread() is not threading.main_thread():
            await asyncio.to_thread(release.wait, 5)
            order.append("begun")
            return Channel()
        order.append("used")
        raise EngineUnavailable("this is far enough")

    monkeypatch.setattr(client, "_lease", lease)
    settings = EngineSettings(tmp_path)
    begin_engine(settings)
    threading.Timer(0.05, release.set).start()
    with pytest.raises(EngineUnavailable, match="far enough"):
        asyncio.run(use(settings))
    assert order == ["begun", "used"]


class Starts:
    """Takes the place of a start of the engine, and holds every start until it is released."""

    def __init__(self):
        self.homes, self.begun, self.release = [], threading.Event(), threading.Event()

    async def lease(self, settings, _folder, on_starting, **_options):
        self.homes.append(settings.home)
        if on_starting is not None:
            on_starting()
        self.begun.set()
        await asyncio.to_thread(self.release.wait, 5)
        raise EngineUnavailable("this is far enough")


@pytest.fixture
def starts(monkeypatch):
    starts = Starts()
    monkeypatch.setattr(client, "_lease", starts.lease)
    monkeypatch.setattr(client, "_begun", {})
    yield starts
    starts.release.set()


def test_a_later_request_for_a_start_under_way_calls_its_function_once(tmp_path, starts):
    said = []
    begin_engine(EngineSettings(tmp_path))
    assert starts.begun.wait(5)
    for number in range(2):
        begin_engine(EngineSettings(tmp_path), lambda number=number: said.append(number))
    assert said == [0]
    assert starts.homes == [tmp_path]
    starts.release.set()
    with pytest.raises(EngineUnavailable, match="far enough"):
        asyncio.run(use(EngineSettings(tmp_path)))


@pytest.mark.parametrize(
    ("arguments", "asks"),
    [
        (["verify", "library"], True),
        (["list"], True),
        (["verify", "--help"], False),
        (["verify", "--cancel=run"], False),
        (["formats"], False),
        ([], False),
    ],
)
def test_only_a_command_that_is_sure_to_ask_the_graph_has_it_started_before_all_else(
    tmp_path, monkeypatch, starts, arguments, asks
):
    monkeypatch.setenv("VERITRAIL_HOME", str(tmp_path))
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.delitem(sys.modules, "veritrail_graph.api.cli.app", raising=False)
    begin_early(arguments)
    assert starts.begun.wait(5 if asks else 0) == asks


def test_a_server_of_the_user_and_settings_that_are_wrong_start_nothing(
    tmp_path, monkeypatch, starts
):
    monkeypatch.setenv("VERITRAIL_HOME", str(tmp_path))
    monkeypatch.delitem(sys.modules, "veritrail_graph.api.cli.app", raising=False)
    for name, value in (("NEO4J_URI", "bolt://127.0.0.1:1"), ("NEO4J_URI", "no address")):
        monkeypatch.setenv(name, value)
        begin_early(["verify", "library"])
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.setenv("VERITRAIL_DB_IDLE", "soon")
    begin_early(["verify", "library"])
    assert client._begun == {}


def test_a_call_loads_no_other_command():
    code = (
        "import json, sys; sys.argv = ['veritrail', 'db', '--help']\n"
        "from veritrail_graph.api.cli.app import status\n"
        "ended = status(); print(json.dumps([ended, sorted(sys.modules)]))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
    text, _, found = told.stdout.decode().strip().rpartition("\n")
    ended, loaded = json.loads(found)
    assert (ended, "Usage: veritrail db" in text) == (0, True)
    assert "veritrail_graph.api.cli.db" in loaded
    assert not {"veritrail_graph.api.cli.verify", "veritrail_graph.api.cli.serve"} & {*loaded}
