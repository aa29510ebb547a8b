"""A file to record to, and a model on loopback that answers by the script of a test file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.chat_server import chat_server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "nightly.jsonl"


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with chat_server(request.module.script) as address:
        yield address
