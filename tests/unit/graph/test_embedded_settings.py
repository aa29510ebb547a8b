"""Settings of the embedded engine: what is read, what is refused."""

from pathlib import Path

import pytest

from veritrail_graph.graph.embedded import EngineSettings, parse_duration
from veritrail_graph.graph.embedded.settings import MEBIBYTE, parse_heap
from veritrail_graph.graph.errors import InputError

HOME = Path("/nowhere")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("600", 600), ("30s", 30), ("10m", 600), ("1h", 3600), ("1.5m", 90), (" 10 M ", 600)],
)
def test_times_are_read_with_and_without_a_unit(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5", "10 days", "1m30s", "inf", "nan"])
def test_what_is_not_a_time_is_refused_with_its_name(text):
    with pytest.raises(InputError, match="VERITRAIL_DB_IDLE"):
        parse_duration(text, "VERITRAIL_DB_IDLE")


@pytest.mark.parametrize("text", ["", "1", "1gb", "lots", "0g", "64m", "1g -agentlib:x"])
def test_what_is_not_a_heap_size_is_refused(text):
    with pytest.raises(InputError, match="VERITRAIL_DB_HEAP"):
        EngineSettings(HOME, heap=text)


def test_the_memory_asked_for_follows_the_heap_unless_it_is_set():
    assert parse_heap("1g") == 1024 * MEBIBYTE
    assert EngineSettings(HOME, heap="1g").needed_memory == 640 * MEBIBYTE
    assert EngineSettings(HOME, min_free_memory=0).needed_memory == 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time_to_wait_is_refused(seconds):
    with pytest.raises(InputError, match="VERITRAIL_DB_IDLE"):
        EngineSettings(HOME, idle_seconds=seconds)
