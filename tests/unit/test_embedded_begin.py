"""Starting the engine early, and the cache with which it starts faster; no engine runs."""

import asyncio
import threading
from pathlib import Path

import pytest

from veritrail_graph.graph.embedded import EngineSettings, begin_engine, client, running_engine
from veritrail_graph.graph.embedded import startup_cache as caching
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.launch import Runtime, cache_file, engine_command
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


@pytest.fixture
def runtime(tmp_path):
    jar = tmp_path / "engine.jar"
    jar.write_text("a jar")
    return Runtime(jar, (jar,))


@pytest.fixture
def folder(tmp_path):
    folder = EngineFolder(tmp_path / "home")
    folder.prepare()
    return folder


def test_the_cache_of_this_version_is_used_by_an_engine_that_compiles_fully(runtime, folder):
    def options(jit):
        command = engine_command(runtime, folder, EngineSettings(folder.home, jit=jit))
        return [option for option in command if option.startswith("-XX:AOT")]

    assert options("full") == []
    file = cache_file(runtime, folder)
    file.write_text("classes")
    assert options("full") == [f"-XX:AOTCache={file}"]
    assert options("quick") == []
    runtime.jars[0].write_text("another version of it")
    assert options("full") == []


def test_the_cache_is_made_once_in_a_process_of_its_own(runtime, folder, monkeypatch):
    started = []
    monkeypatch.setattr(caching, "find_runtime", lambda: runtime)
    monkeypatch.setattr(caching, "_ROOM", 0)
    monkeypatch.setattr(caching.subprocess, "Popen", lambda *args, **_: started.append(args))
    caching.begin_cache(EngineSettings(folder.home, jit="quick"), folder)
    assert started == []
    caching.begin_cache(EngineSettings(folder.home), folder)
    caching.begin_cache(EngineSettings(folder.home), folder)
    assert len(started) == 1


def test_a_cache_that_cannot_be_made_leaves_nothing_behind(runtime, folder, monkeypatch):
    monkeypatch.setattr(caching, "find_runtime", lambda: runtime)

    class Failing:
        def __init__(self, settings, watched, **_options):
            assert watched.root.is_relative_to(folder.scratch)
            assert settings.home == watched.home

        def start(self):
            raise EngineUnavailable("it does not start")

        def stop(self):
            return

    monkeypatch.setattr(caching, "EngineProcess", Failing)
    with pytest.raises(EngineUnavailable):
        caching.make_cache(EngineSettings(folder.home))
    assert list(folder.scratch.iterdir()) == []
    assert not list(Path(folder.root).glob("startup-*"))
