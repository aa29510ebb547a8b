"""Reasons not to start the engine: each is found first, and says what to do."""

import asyncio
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from veritrail_graph.graph.embedded import (
    EngineSettings,
    engine_status,
    running_engine,
    stop_engine,
)
from veritrail_graph.graph.embedded.launch import (
    absent_message,
    available_memory,
    find_library,
)
from veritrail_graph.graph.errors import EngineUnavailable

ROOT = Path(__file__).parents[3]


async def use(settings):
    async with running_engine(settings):
        pytest.fail("nothing may start")


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (("Darwin", "x86_64", "", ""), "Macs with an Intel processor"),
        (("Linux", "x86_64", "", ""), "without glibc"),
        (("Linux", "x86_64", "glibc", "2.27"), "glibc 2.27"),
        (("Linux", "riscv64", "glibc", "2.40"), "Linux on riscv64"),
        (("FreeBSD", "amd64", "", ""), "FreeBSD"),
    ],
)
def test_a_machine_without_a_wheel_is_named_and_neo4j_offered(machine, said):
    message = absent_message(*machine)
    assert said in message
    assert "NEO4J_URI" in message
    assert "pip install" not in message


@pytest.mark.parametrize(
    "machine", [("Linux", "x86_64", "glibc", "2.28"), ("Darwin", "arm64", "", "")]
)
def test_a_machine_with_a_wheel_is_told_to_install_the_version_that_was_tried(machine):
    pinned = re.search(r'"(arcadedb==[^;"]+);', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"`pip install {pinned[1]}`" in absent_message(*machine)


def test_an_absent_wheel_stops_the_start_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match="NEO4J_URI"):
        asyncio.run(use(EngineSettings(tmp_path / "home")))
    assert not (tmp_path / "home").exists()


def test_the_engines_package_is_found_and_never_imported():
    assert find_library().is_file()
    assert "arcadedb" not in sys.modules


def test_too_little_memory_is_said_in_numbers(tmp_path):
    settings = EngineSettings(tmp_path, min_free_memory=1 << 60)
    with pytest.raises(EngineUnavailable, match="VERITRAIL_DB_HEAP"):
        asyncio.run(use(settings))


def test_a_full_disk_is_said_in_numbers(tmp_path):
    settings = EngineSettings(tmp_path, min_free_disk=1 << 60)
    with pytest.raises(EngineUnavailable, match="MiB are free"):
        asyncio.run(use(settings))


def test_a_home_that_cannot_be_written_is_named():
    with pytest.raises(EngineUnavailable, match=r"/proc/veritrail.*VERITRAIL_HOME"):
        asyncio.run(use(EngineSettings(Path("/proc/veritrail"))))


def test_status_and_stop_start_and_write_nothing(tmp_path):
    settings = EngineSettings(tmp_path / "home")
    status = asyncio.run(engine_status(settings))
    assert (status.running, status.pid, status.data_bytes) == (False, None, 0)
    assert asyncio.run(stop_engine(settings)) is False
    assert not (tmp_path / "home").exists()


def test_a_containers_limit_counts_and_its_file_cache_is_free(tmp_path):
    (tmp_path / "memory.max").write_text("1000\n", "ascii")
    (tmp_path / "memory.current").write_text("900\n", "ascii")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 300\n", "ascii")
    assert available_memory(tmp_path) == 400
    (tmp_path / "memory.max").write_text("max\n", "ascii")
    assert available_memory(tmp_path) > 400
