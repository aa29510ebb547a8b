"""The engine's process, with a small script in the engine's place."""

import sys
import threading
import time

import pytest
from fakes.waiting import until

from veritrail_graph.graph.embedded import EngineSettings
from veritrail_graph.graph.embedded import process as module
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.errors import EngineUnavailable


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Gives a function that starts a script as if it were the engine."""
    started = []
    folder = EngineFolder(tmp_path / "home")
    folder.prepare()

    def start(script, timeout=10):
        monkeypatch.setattr(
            module, "engine_command", lambda *_: [sys.executable, "-u", "-c", script]
        )
        ended = threading.Event()
        settings = EngineSettings(folder.home, start_timeout=timeout, stop_timeout=1)
        engine = module.EngineProcess(settings, folder, ended.set)
        engine.start()
        started.append((engine, ended))
        return engine

    yield start
    for engine, ended in started:
        engine.stop()
        assert ended.wait(5)
        assert not engine.alive


def test_pages_that_could_not_be_written_ask_for_a_restart(engine):
    line = "SEVER [PageManagerFlushThread] Error on flushing page 'x' to disk"
    running = engine(f"import time; print('fine'); time.sleep(0.2); print({line!r}); time.sleep(9)")
    assert not running.needs_restart
    until(lambda: running.needs_restart, 5)


def test_an_engine_that_ends_at_once_is_reported_with_its_last_words(engine):
    script = "import sys; print('version GLIBC_2.38 not found: Error'); sys.exit(3)"
    with pytest.raises(EngineUnavailable, match=r"(?s)exit status 3.*GLIBC_2.38"):
        engine(script).wait_ready()


def test_its_last_words_never_hold_the_password(engine):
    script = (
        "import pathlib, sys; print('Error: login ' + pathlib.Path('password').read_text());"
        " sys.exit(1)"
    )
    running = engine(script)
    with pytest.raises(EngineUnavailable, match=r"login \*+") as caught:
        running.wait_ready()
    assert running._folder.read_password() not in str(caught.value)


def test_an_engine_that_names_a_deaf_port_is_not_ready(engine):
    line = "Listening for incoming BOLT connections on /127.0.0.1:1 (protocol v.4)"
    with pytest.raises(EngineUnavailable, match=r"within 0\.3 seconds"):
        engine(f"import time; print({line!r}); time.sleep(9)", timeout=0.3).wait_ready()


def test_an_engine_that_ignores_the_request_to_stop_is_killed(engine):
    running = engine("import signal, time; signal.signal(15, 1); print('deaf'); time.sleep(60)")
    until(lambda: running._log.excerpt(), 5)
    began = time.monotonic()
    running.stop()
    assert not running.alive
    assert time.monotonic() - began < 15
