"""The embedded engine's life, with the real engine: start, share, hold, idle, kill, stop."""

import asyncio
import contextlib
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import neo4j
import psutil
import pytest
from fakes.waiting import until

import veritrail_graph
from veritrail_graph.graph.embedded import (
    EngineSettings,
    engine_status,
    running_engine,
    start_engine,
    stop_engine,
)
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.probe import Login, refusal
from veritrail_graph.graph.embedded.settings import DATABASE, USERNAME
from veritrail_graph.graph.errors import EngineUnavailable

pytestmark = pytest.mark.engine

ROOT = Path(veritrail_graph.__file__).parent.parent
HOLD = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from veritrail_graph.graph.embedded import EngineSettings, engine_status, running_engine
async def main():
    settings = EngineSettings(
        Path(sys.argv[1]), heap="256m", idle_seconds=float(sys.argv[2])
    )
    async with running_engine(settings):
        print((await engine_status(settings)).pid, flush=True)
        await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


def processes(home):
    """Every process that was started for this home."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and any(
                str(home) in argument for argument in process.cmdline()
            ):
                found.append(process)
    return found


@contextlib.contextmanager
def a_home(folder):
    settings = EngineSettings(folder / "home", heap="256m", idle_seconds=120)
    yield settings
    for process in processes(settings.home):
        with contextlib.suppress(psutil.Error):
            process.kill()
    until(lambda: not processes(settings.home), 10)


@pytest.fixture
def settings(tmp_path):
    """A home where no engine has run yet."""
    with a_home(tmp_path) as settings:
        yield settings


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A home for all tests that start an engine on existing data: an engine may run there."""
    with a_home(tmp_path_factory.mktemp("used")) as settings:
        yield settings


def hold(settings, idle=None):
    """A command of its own that holds the engine until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(settings.home), str(idle or settings.idle_seconds)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def holding(settings, idle=None):
    with hold(settings, idle) as command:
        try:
            yield command, int(command.stdout.readline())
        finally:
            command.kill()


async def query(settings, text, **parameters):
    async with running_engine(settings) as address:
        return _query(address, text, **parameters)


def _query(address, text, **parameters):
    login = (address.username, address.password)
    with neo4j.GraphDatabase.driver(address.uri, auth=login) as driver:
        found = driver.execute_query(text, parameters, database_=address.database)
    return [record.values() for record in found.records]


def write(settings, number):
    asyncio.run(query(settings, "CREATE (:Thing {number: $number})", number=number))


def numbers(settings):
    rows = asyncio.run(query(settings, "MATCH (t:Thing) RETURN t.number ORDER BY t.number"))
    return [number for (number,) in rows]


def status(settings):
    return asyncio.run(engine_status(settings))


def test_the_first_command_starts_it_and_the_next_ones_share_it(settings):
    said = []

    async def life():
        async with running_engine(settings, on_starting=lambda: said.append("starting")) as first:
            assert _query(first, "CREATE (t:Thing {number: 1}) RETURN t.number") == [[1]]
            async with running_engine(settings, on_starting=lambda: said.append("again")) as second:
                assert second == first
                assert (await engine_status(settings)).clients == 2
        found = await engine_status(settings)
        assert (found.running, found.uri, found.pinned) == (True, first.uri, False)
        assert found.data_bytes > 0
        assert found.version

    asyncio.run(life())
    assert said == ["starting"]
    assert numbers(settings) == [1]
    assert asyncio.run(stop_engine(settings)) is True
    assert asyncio.run(stop_engine(settings)) is False
    assert processes(settings.home) == []
    assert numbers(settings) == [1]  # a start on existing data


def test_it_stays_while_held_or_asked_and_stops_after_the_idle_time(used):
    asyncio.run(stop_engine(used))
    with holding(used, idle=0.8) as (_, pid):
        time.sleep(1.2)
        found = status(used)
        assert (found.pid, found.clients) == (pid, 1)
        login = (USERNAME, EngineFolder(used.home).read_password())
        driver = neo4j.GraphDatabase.driver(found.uri, auth=login)
        driver.verify_connectivity()
    with driver:  # a Bolt client without a lease
        time.sleep(2)
        found = status(used)
        assert (found.pid, found.clients) == (pid, 0)
    until(lambda: not status(used).running, 5)
    until(lambda: not processes(used.home), 10)


@pytest.mark.soak
def test_a_killed_command_gives_its_lease_back_and_leaves_the_engine_working(used):
    with holding(used) as (command, pid):
        assert status(used).clients == 1
        command.send_signal(signal.SIGKILL)
        command.wait()
        until(lambda: status(used).clients == 0, 10)
        assert status(used).pid == pid
        assert numbers(used) is not None
        until(lambda: status(used).idle_seconds_left is not None, 10)
        assert 0 < status(used).idle_seconds_left <= 120


def test_a_pinned_engine_does_not_stop_by_itself(used):
    asyncio.run(stop_engine(used))
    brief = EngineSettings(used.home, heap="256m", idle_seconds=0.4)
    pinned = asyncio.run(start_engine(brief))
    assert (pinned.running, pinned.pinned, pinned.clients) == (True, True, 0)
    time.sleep(1.2)
    assert status(brief).pid == pinned.pid
    assert asyncio.run(stop_engine(brief)) is True
    assert not status(brief).running


def test_a_killed_supervisor_takes_the_engine_with_it_and_no_data(used):
    write(used, 1)
    before = numbers(used)
    found = status(used)
    os.kill(found.supervisor_pid, signal.SIGKILL)
    until(lambda: not processes(used.home), 10)
    assert not status(used).running
    write(used, 2)
    assert numbers(used) == sorted([*before, 2])


@pytest.mark.skipif(sys.platform != "linux", reason="the second safety net is Linux's own")
def test_the_engine_ends_even_when_supervisor_and_keeper_are_killed(used):
    write(used, 1)
    before = numbers(used)
    found = status(used)
    children = psutil.Process(found.supervisor_pid).children()
    for process in (
        *(c for c in children if c.pid != found.pid),
        psutil.Process(found.supervisor_pid),
    ):
        process.kill()
    until(lambda: not processes(used.home), 10)
    assert numbers(used) == before


@pytest.mark.soak
def test_a_leftover_engine_is_ended_by_the_next_start(used):
    write(used, 1)
    before = numbers(used)
    found = status(used)
    os.kill(found.pid, signal.SIGSTOP)  # deaf to the keeper's request for its three seconds
    os.kill(found.supervisor_pid, signal.SIGKILL)
    assert numbers(used) == before
    assert found.pid not in {process.pid for process in processes(used.home)}
    assert status(used).running


def test_after_a_killed_engine_the_next_command_starts_both(used):
    write(used, 1)
    before = numbers(used)
    found = status(used)
    os.kill(found.pid, signal.SIGKILL)
    assert numbers(used) == before  # whether or not the supervisor has noticed it by now
    assert status(used).supervisor_pid != found.supervisor_pid


def test_a_supervisor_that_is_asked_to_end_stops_the_engine_cleanly(used):
    write(used, 1)
    os.kill(status(used).supervisor_pid, signal.SIGTERM)
    until(lambda: not processes(used.home), 10)
    assert not list((used.home / "engine" / "databases" / "veritrail").glob("*.wal"))


def test_a_full_disk_leaves_no_half_batch_and_harms_nothing_later(used):
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("a full disk is simulated with Linux's prlimit")
    write(used, 1)
    before = numbers(used)
    found = status(used)
    free = resource.prlimit(found.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(found.pid, resource.RLIMIT_FSIZE, (200_000, free[1]))
    batch = "UNWIND range(1, 2000) AS i CREATE (:Thing {number: 0, text: $words})"
    with pytest.raises(neo4j.exceptions.ClientError, match="Transaction error on commit"):
        asyncio.run(query(used, batch, words="word " * 50))
    assert numbers(used) == before
    resource.prlimit(found.pid, resource.RLIMIT_FSIZE, free)
    write(used, 2)
    assert numbers(used) == sorted([*before, 2])


def test_two_first_commands_share_one_engine(used):
    asyncio.run(stop_engine(used))
    with hold(used) as first, hold(used) as second, hold(used) as third:
        commands = (first, second, third)
        pids = {command.stdout.readline() for command in commands}
        assert len(pids) == 1
        assert status(used).clients == 3
        engines = [p for p in processes(used.home) if p.name() == "arcadedb"]
        assert len(engines) == 1
        for command in commands:
            command.stdin.close()
            assert command.wait(10) == 0


def test_nothing_is_readable_by_others_and_nothing_shows_the_password(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-children")
    previous = os.umask(0o000)
    try:
        write(settings, 1)
    finally:
        os.umask(previous)
    password = (settings.home / "engine" / "password").read_text("utf-8").strip()
    found = processes(settings.home)
    found += psutil.Process(status(settings).supervisor_pid).children()
    assert len({process.pid for process in found}) == 3  # supervisor, engine, keeper
    for process in found:
        shown = "\0".join([*process.cmdline(), *process.environ().values()])
        assert password not in shown
        assert "sk-not-for-children" not in shown
    paths = [settings.home, *settings.home.rglob("*")]
    assert len(paths) > 15
    assert [path for path in paths if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []
    for log in (settings.home / "engine" / "log").iterdir():
        assert password not in log.read_text("utf-8")


def test_it_listens_on_loopback_alone_and_reads_no_files(used):
    write(used, 1)
    found = status(used)
    listening = {
        connection.laddr[0]
        for pid in (found.pid, found.supervisor_pid)
        for connection in psutil.Process(pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert listening
    with pytest.raises(neo4j.exceptions.Neo4jError, match="LOAD CSV"):
        asyncio.run(query(used, "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line"))


def test_a_wrong_password_is_refused_and_a_new_one_made_where_it_is_lost(used):
    write(used, 1)
    before = numbers(used)
    with (
        neo4j.GraphDatabase.driver(status(used).uri, auth=("root", "x" * 20)) as driver,
        pytest.raises(neo4j.exceptions.AuthError),
    ):
        driver.execute_query("RETURN 1")
    asyncio.run(stop_engine(used))
    (used.home / "engine" / "password").unlink()
    assert numbers(used) == before


def test_the_first_question_to_a_started_engine_hears_why_a_login_is_refused(used):
    write(used, 1)
    port = int(status(used).uri.rpartition(":")[2])
    password = EngineFolder(used.home).read_password()
    right = Login(port, USERNAME, password, DATABASE)
    assert refusal(right, 5, lambda: True) is None
    assert "nowhere" in refusal(replace(right, database="nowhere"), 2, lambda: True)
    # Once: after some wrong passwords the engine refuses the right one, too, for a while.
    said = refusal(replace(right, password="x" * 20), 2, lambda: False)
    assert "Authentication failed" in said
    assert "x" * 20 not in said


def test_data_that_another_process_holds_is_named(used):
    write(used, 1)
    before = numbers(used)
    asyncio.run(stop_engine(used))
    lock = used.home / "engine" / "databases" / "veritrail" / "database.lck"
    with lock.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        with pytest.raises(EngineUnavailable, match="another process has the data"):
            numbers(used)
    until(lambda: not processes(used.home), 10)
    assert numbers(used) == before


def test_a_start_that_takes_too_long_is_reported_and_cleaned_up(used):
    asyncio.run(stop_engine(used))
    hasty = EngineSettings(used.home, heap="256m", start_timeout=0.02)
    with pytest.raises(EngineUnavailable, match=r"within 0\.02 seconds") as caught:
        numbers(hasty)
    assert "\tat " not in str(caught.value)
    assert "NEO4J_URI" in str(caught.value)
    until(lambda: not processes(used.home), 10)


def test_a_home_with_an_awkward_name_works_in_any_locale(settings, monkeypatch):
    monkeypatch.delenv("LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "C")
    awkward = EngineSettings(settings.home / "ü, x;y%20$1", heap="256m")
    write(awkward, 1)
    assert status(awkward).data_bytes > 0
    assert asyncio.run(stop_engine(awkward)) is True


@pytest.mark.soak
def test_a_stale_state_file_does_not_mislead(settings):
    state = settings.home / "engine" / "supervisor.json"
    state.parent.mkdir(parents=True)
    own = psutil.Process()
    state.write_text(
        f'{{"pid": 1, "port": 1, "token": "x", "engine_pid": {own.pid}, '
        f'"engine_created": {own.create_time()}}}',
        "utf-8",
    )
    write(settings, 1)  # and this process, whose number the file gives, is still alive
    assert status(settings).running
