"""The demo, as a newcomer runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.model_answers import WordReader
from fakes.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120

pytestmark = pytest.mark.engine


@pytest.fixture
def _engine_stopped() -> Iterator[None]:
    yield
    stop = [sys.executable, "-m", "veritrail_graph.api.cli.main", "db", "stop"]
    subprocess.run(stop, cwd=ROOT, check=False, timeout=60)


def demo(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), *arguments],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.soak
@pytest.mark.usefixtures("_engine_stopped")
def test_the_demo_with_a_model_shows_verdicts_cost_and_a_trail() -> None:
    with ModelServer(WordReader()) as server:
        done = demo(
            "--engine", "openai",
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="none", VERITRAIL_MODEL="words",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told, cost = done.stdout.split("What did it cost?")
    assert "The model words judges" in told
    for claim in ("few-1", "few-2", "few-3", "few-4"):
        assert claim in told
    assert "Fully Supported" in told
    calls = next(line.split()[1] for line in cost.splitlines() if line.startswith("all "))
    assert int(calls) == len(server.requests)
    assert "not known" in cost  # no price is known for a model of that name
    trail = cost.split("$ veritrail show ")[1]
    assert "iteration 1" in trail
    assert "checked g1, g2, g3, g4" in trail


def test_the_demo_asks_no_endpoint_without_the_name_of_a_model() -> None:
    with ModelServer() as server:
        done = demo("--engine", "openai", OPENAI_BASE_URL=server.base_url)
    assert done.returncode == 2
    assert "VERITRAIL_MODEL" in done.stdout
    assert server.requests == []
