"""The scripted chat endpoint as a process of its own, so that it measures only the client.

`with model_server_process("--latency", "0.3") as base_url:` in Python, or
`python -m fakes.model_server_process` in the folder `tests`: it prints its address, and ends
when its standard input ends. `GET {base_url}/stats` gives its counts, `GET {base_url}/reset`
sets them to zero.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fakes.model_answers import Reader, WordReader
from fakes.model_faults import INVALID, TRANSPORT, Faults
from fakes.model_server import ModelServer

TESTS = Path(__file__).resolve().parents[1]


@contextmanager
def model_server_process(*arguments: str) -> Iterator[str]:
    """Run a server until the end of the block; gives its base_url."""
    child = subprocess.Popen(
        [sys.executable, "-m", "fakes.model_server_process", *arguments],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        base_url = child.stdout.readline().strip()
        assert base_url, "the scripted server did not start"
        try:
            yield base_url
        finally:
            child.stdin.close()


def main() -> int:
    """Serve until standard input ends."""
    options = _options()
    server = ModelServer(
        reader=_reader(options.reader),
        latency=options.latency,
        caches_prefixes=options.caches_prefixes,
        context_tokens=options.context_tokens,
        port=options.port,
        keeps=False,
        is_strict=False,
    )
    if options.transport_faults or options.invalid_answers:
        beside = (options.invalid_answers, INVALID)
        server.faults = Faults(options.transport_faults, TRANSPORT, options.seed, beside)
    with server:
        print(server.base_url, flush=True)
        sys.stdin.read()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A scripted chat endpoint.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--reader", default="word", help="`word`, or MODULE:NAME of a reader")
    parser.add_argument("--caches-prefixes", action="store_true")
    parser.add_argument("--context-tokens", type=int)
    parser.add_argument("--transport-faults", type=float, default=0.0, help="share of calls")
    parser.add_argument("--invalid-answers", type=float, default=0.0, help="share of calls")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _reader(name: str) -> Reader:
    if name == "word":
        return WordReader()
    module, _, attribute = name.partition(":")
    reader: Reader = getattr(importlib.import_module(module), attribute)
    return reader


if __name__ == "__main__":
    sys.exit(main())
