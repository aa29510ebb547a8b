"""Ingest against the graph writers of other libraries, on a Neo4j with APOC, which they need.

The first nodes of the generated process, and the edges between them, are written by each in
turn, in a child process of its own: theirs from an environment that the first run makes under
`.cache/peers`, ours from the process file with every check. What is stored afterwards is
counted: a writer that leaves something out is listed, and not compared with ours.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import dag, engines
from benchmarks.children import ROOT, BenchmarkError, run_child
from benchmarks.ingest import OURS as PROCESS_ID
from benchmarks.peer_writers.environment import Environment, prepare
from benchmarks.processor import processor, server_process
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.store import DatabaseAddress, open_store

NODES, REPEATS = 20_000, 3
RATE = 4
"""Ours: at least this many times the rate of the fastest of them."""
OURS = "ours"
LABELS = {"neo4j-graphrag": "Passage", "langchain-neo4j": "Passage", "llama-index": "Chunk"}
_WRITE = ROOT / "benchmarks" / "peer_writers" / "write.py"

# Nothing of theirs leaves the machine: no proxy is there, and what can be refused is refused.
_NO_PROXY = "http://127.0.0.1:9"
_QUIET = {
    **{f"{kind}_proxy": _NO_PROXY for kind in ("http", "https", "all")},
    **{f"{kind}_PROXY": _NO_PROXY for kind in ("HTTP", "HTTPS", "ALL")},
    "no_proxy": "",
    "NO_PROXY": "",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "NLTK_DATA": "/nonexistent",
}
_COUNT = """
MATCH (n:{label}) WITH count(n) AS nodes, sum(size(n.text)) AS characters
OPTIONAL MATCH (:{label})-[r:INPUT_TO]->(:{label})
RETURN nodes, characters, count(r) AS edges
"""
_EMPTY = "MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 2000 ROWS"

Stored = dict[str, int]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one writing took: seconds on the clock, and of the server's processor."""

    seconds: float
    server: float


def measure(report: Report, folder: Path, nodes: int = NODES, repeats: int = REPEATS) -> None:
    """Write the same nodes and edges with every writer, in turn.

    Raises:
        BenchmarkError: The other writers cannot be had here, or one of the children failed.
    """
    environment = prepare()
    file = str(folder / "first.jsonl")
    wanted = run_child("benchmarks.peers:write_first", path=file, nodes=nodes)
    settings = {
        "server.directories.plugins": str(environment.apoc),
        "dbms.security.procedures.unrestricted": "apoc.*",
    }
    writers = (OURS, *LABELS)
    spent: dict[str, list[Spent]] = {writer: [] for writer in writers}
    wrong: dict[str, str] = {}
    with engines.own_neo4j(folder / "home", settings=settings) as engine:
        login = engine.login
        keep = run_child("benchmarks.peers:names_of_ours", login=login)["names"]
        for repeat in range(-1, repeats):
            turn = repeat % len(writers)
            for writer in (*writers[turn:], *writers[:turn]):
                taken, found = _write(environment, writer, login, file, wanted, keep)
                wrong.update({writer: found} if found else {})
                if repeat >= 0:  # in the first round the server still compiles
                    spent[writer].append(taken)
    _report(report, wanted, {name: _median(found) for name, found in spent.items()}, wrong)


def _median(found: Sequence[Spent]) -> Spent:
    return Spent(middle([one.seconds for one in found]), middle([one.server for one in found]))


def _report(
    report: Report, wanted: Stored, spent: Mapping[str, Spent], wrong: Mapping[str, str]
) -> None:
    if OURS in wrong:
        raise BenchmarkError(f"ours stored {wrong[OURS]}")
    seconds = {name: one.seconds for name, one in spent.items()}
    whole = {name: seconds[name] for name in LABELS if name not in wrong}
    for name in LABELS:
        note = (
            f"{seconds[name] / seconds[OURS]:.1f} x its rate; CPU of the server "
            f"{spent[OURS].server:.1f} s, with theirs {spent[name].server:.1f} s"
        )
        if name in wrong:
            note = f"not comparable: {wrong[name]}"
        line = Line(f"neo4j: ingest against {name}", seconds[OURS], reference=seconds[name])
        report.add(Line(line.name, line.ours, reference=line.reference, note=note))
    if not whole:
        raise BenchmarkError("none of the other writers stored everything")
    fastest = min(whole, key=lambda name: whole[name])
    report.add(
        Line(
            "neo4j: ingest against the fastest of them",
            seconds[OURS],
            reference=whole[fastest],
            target=1 / RATE,
            note=f"{fastest}; {wanted['nodes']:,} nodes, {wanted['edges']:,} edges",
        )
    )


def _write(
    environment: Environment,
    writer: str,
    login: dict[str, Any],
    file: str,
    wanted: Stored,
    keep: Sequence[str],
) -> tuple[Spent, str]:
    """Write the file, count, and remove it all again.

    Returns:
        What writing took, and what differs from what is wanted, if anything does.
    """
    server = server_process(login["uri"])
    before = processor(server)
    if writer == OURS:
        done = run_child("benchmarks.ingest:ours", login=login, file=file)
    else:
        done = _run_peer(environment.python, writer=writer, login=login, file=file)
    spent = Spent(float(done["seconds"]), processor(server) - before)
    label = LABELS.get(writer, "Span")
    stored = run_child("benchmarks.peers:count", login=login, label=label)
    if writer == OURS:
        run_child("benchmarks.ingest:remove", login=login, process_id=PROCESS_ID)
    else:
        run_child("benchmarks.peers:clear", login=login, label=label, keep=list(keep))
    differences = [
        f"{stored[kind]:,} {kind} instead of {wanted[kind]:,}"
        for kind in ("nodes", "edges", "characters")
        if stored[kind] != wanted[kind]
    ]
    return spent, ", ".join(differences)


def _run_peer(python: Path, **task: Any) -> dict[str, Any]:
    """Run a writer in its own environment; the password goes through standard input."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [str(python), "-I", str(_WRITE)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env={**inherited, **_QUIET},
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(f"{task['writer']} failed:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def write_first(path: str, nodes: int) -> Stored:
    """Write the first nodes of the paper-size process, and the edges between them."""
    shape = dag.Shape.of(1)
    counts = {"nodes": 0, "edges": 0, "characters": 0}
    ids: set[str] = set()
    with Path(path).open("w", encoding="utf-8") as file:

        def line(value: object) -> None:
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")

        line({"format": "veritrail.process/1", "process_id": "first", "name": "First nodes"})
        for node in dag.nodes(shape):
            if len(ids) == nodes:
                break
            ids.add(node["node_id"])
            counts["characters"] += len(node["text"])
            line({"node": node})
        for source, target in dag.edges(shape):
            if source in ids and target in ids:
                counts["edges"] += 1
                line({"edge": {"source": source, "target": target}})
    return {**counts, "nodes": len(ids)}


async def names_of_ours(login: dict[str, Any]) -> dict[str, list[str]]:
    """Make our schema, as a user's first command does, and name what is in it."""
    async with open_store(DatabaseAddress(**login)) as store:
        await store.processes.unfinished()
    names = [name for kind in ("CONSTRAINTS", "INDEXES") for name in _names(login, kind)]
    return {"names": names}


def count(login: dict[str, Any], label: str) -> Stored:
    """What is stored under a label."""
    (row,) = _ask(login, _COUNT.format(label=label))
    return dict(zip(("nodes", "characters", "edges"), row, strict=True))


def clear(login: dict[str, Any], label: str, keep: list[str]) -> None:
    """Remove what a writer left, its constraints and indexes among it."""
    _ask(login, _EMPTY.format(label=label))
    for kind in ("CONSTRAINTS", "INDEXES"):
        for name in set(_names(login, kind)).difference(keep):
            _ask(login, f"DROP {kind.removesuffix('S').removesuffix('E')} `{name}`")


def _names(login: dict[str, Any], kind: str) -> list[str]:
    return [name for (name,) in _ask(login, f"SHOW {kind} YIELD name")]


def _ask(login: dict[str, Any], statement: str) -> list[list[Any]]:
    import neo4j

    auth = (login["username"], login["password"])
    with (
        neo4j.GraphDatabase.driver(login["uri"], auth=auth) as driver,
        driver.session(database=login["database"]) as session,
    ):
        return session.run(statement).values()
