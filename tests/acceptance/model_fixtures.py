"""What the tests of `veritrail verify` with models share: a process with planted errors, and runs.

Every pump has a root, a summary and a sentence of the final text, and a claim. One claim in
three is true, one goes wrong in the final text, one in the summary, so that the verdict, the
evidence and the error stage of every claim are known beforehand.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acceptance.command import Started, Veritrail, process_file
from fakes.model_faults import HARMLESS
from fakes.model_server import ModelServer, Received
from fakes.waiting import until

MODEL = "scripted"
KEY = "sk-test-7f3a91c2e5d8"
QUICK_FAULTS = {"VERITRAIL_ATTEMPT_TIMEOUT": "1.5"}
"""Hanging calls are given up soon."""
JUST_COME = 1.0
"""Seconds in which a command that gets little of the processor keeps an answer."""


def pumps(path: Path, count: int, filler: int = 1) -> str:
    """Write a process of a number of pumps, each with a claim; its process_id is the file's name.

    Every root has so many sentences that say nothing at its end.
    """
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    for number in range(count):
        wrong = number % 3
        nodes += [
            _node(f"r{number}", 1, f"The hall is cold. {_said(number)}{' It rains.' * filler}"),
            _node(f"s{number}", 2, f"{_said(number, wrong == 2)} The day was wet."),
        ]
        edges += [{"source": f"r{number}", "target": f"s{number}"}]
        edges += [{"source": f"s{number}", "target": "t"}]
    claims = [
        {"claim_id": f"k{number}", "text": _said(number, number % 3 > 0)} for number in range(count)
    ]
    nodes.append(_node("t", 3, " ".join(claim["text"] for claim in claims)))
    return process_file(path, nodes=nodes, edges=edges, claims=claims)


def expected(count: int) -> dict[str, tuple[str, list[int], list[str], list[list[str]]]]:
    """Verdict, error stages, error nodes and evidence of every claim, by claim_id."""
    found = {}
    for number in range(count):
        verdict = "NOT_FULLY_SUPPORTED" if number % 3 else "FULLY_SUPPORTED"
        stages = [[], [3], [2]][number % 3]
        nodes = [[], ["t"], [f"s{number}"]][number % 3]
        evidence = [
            [f"s{number} 0 {_said(number, number % 3 == 2)}"],
            [f"r{number} 1 {_said(number)}"],
        ]
        found[f"k{number}"] = (verdict, stages, nodes, evidence)
    return found


def outcome(told: Any) -> dict[str, tuple[str, list[int], list[str], list[list[str]]]]:
    """The same of a run that `verify --json` printed."""
    return {
        found["claim_id"]: (
            found["verdict"] or f"{found['status']}: {found['error']}",
            found["error_stages"],
            found["error_nodes"],
            [
                [f"{it['node_id']} {it['sentence']} {it['text']}" for it in each["evidence"]]
                for each in found["iterations"]
            ],
        )
        for found in told["verifications"]
    }


def asking(server: ModelServer, **more: str) -> dict[str, str]:
    """The settings of a command that asks this server."""
    return {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": KEY,
        "VERITRAIL_MODEL": MODEL,
        **more,
    }


def run_id(veritrail: Veritrail, process: str) -> str:
    """The latest run over a process, as a user finds it after a kill."""
    found: str = veritrail("list", process, "--json").json["runs"][0]["run_id"]
    return found


def statuses(veritrail: Veritrail, process: str) -> dict[str, str]:
    """Status by verification_id of everything that is stored for a process."""
    stored = veritrail("list", process, "--json").json["verifications"]
    return {found["verification_id"]: found["status"] for found in stored}


def kill_when(started: Started, server: ModelServer, calls: int, step: str | None = None) -> None:
    """Kill a command with signal 9 once the server has been asked so often (in a step)."""

    def is_so() -> bool:
        asked = server.requests if step is None else server.of(step)
        return len(asked) >= calls or started.child.poll() is not None

    until(is_so)
    started.child.kill()
    started.child.communicate()


def paid_twice(server: ModelServer, kills: Sequence[float]) -> list[str]:
    """Prompts that were sent again although their answer came well before a kill.

    What was in flight at a kill, or had just come and was not yet kept, is asked again.
    """
    earlier: dict[tuple[str, str, str], Received] = {}
    found: list[str] = []
    for received in server.requests:
        prompt = (received.step, received.system, received.user)
        before = earlier.get(prompt)
        if before is not None and _was_answered(before) and before.answered is not None:
            arrived, answered = before.arrived, before.answered
            if not any(arrived <= kill and answered >= kill - JUST_COME for kill in kills):
                found.append(f"{received.step}: {arrived}, {answered}, {received.arrived}, {kills}")
        earlier[prompt] = received
    return found


def _was_answered(received: Received) -> bool:
    """Whether it got an answer that is one."""
    return received.status == 200 and (received.fault is None or received.fault in HARMLESS)


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of this machine on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def _node(node_id: str, stage: int, text: str) -> dict[str, Any]:
    return {"node_id": node_id, "stage": stage, "text": text}


def _said(number: int, is_wrong: bool = False) -> str:
    return f"Pump{number} delivered {(5 if is_wrong else 1) * 10_000 + number}."
