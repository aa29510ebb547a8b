"""What people type first about many trails of one answer: each statement, its first call included.

The statements are written as somebody does who has read one page of the data model: ids as
literals, no bounds, no hints. So each is planned anew, as it is in Neo4j Browser.
"""

from __future__ import annotations

import time
from typing import Any

import neo4j

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.ingest import OURS
from benchmarks.query_trails import fill
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.store import DatabaseAddress, open_store

VERIFICATIONS = 1_000
FIRST = 10_000
"""The claims have numbers of their own: other parts store theirs beside them."""
ROUNDS = 4
MOST_SECONDS = 1.0
LIMIT_SECONDS = 60.0
READS = 20

CITED = """
MATCH (n:Sentence {process_id: $process_id})<-[:CITES]-(t:TrailNode {role: 'root'})
RETURN n.node_id LIMIT 1"""
STATEMENTS: dict[str, str] = {
    "provenance of a claim": """
MATCH (c:Claim {process_id: 'PROCESS', claim_id: 'CLAIM'})-[:IN_FORCE]->(v:Verification)
MATCH p = (v)<-[:LEADS_TO*]-(:TrailNode)-[:AT]->(r:Span {role: 'root'})
RETURN p""",
    "the same, from its roots": """
MATCH p = (r:Span {process_id: 'PROCESS', role: 'root'})<-[:AT]-(:TrailNode)-[:LEADS_TO*]->
          (v:Verification)<-[:IN_FORCE]-(c:Claim {process_id: 'PROCESS', claim_id: 'CLAIM'})
RETURN p""",
    "error localization of all claims": """
MATCH (c:Claim {process_id: 'PROCESS'})-[:IN_FORCE]->(v {verdict: 'NOT_FULLY_SUPPORTED'})
      -[e:ERROR_INTRODUCED_AT]->(s:Span)
OPTIONAL MATCH (v)-[:ERROR_PROPAGATED_THROUGH]->(x:Span)
RETURN c.claim_id, e.stage, s.node_id, s.step, collect(x.node_id) ORDER BY e.stage""",
    "source sentences of the supported claims": """
MATCH (c:Claim {process_id: 'PROCESS'})-[:IN_FORCE]->(v {verdict: 'FULLY_SUPPORTED'})
      <-[:LEADS_TO*]-(t:TrailNode {role: 'root'})-[:CITES]->(n:Sentence)
RETURN c.claim_id, t.node_id, n.text""",
    "read, but nothing found, of a claim": """
MATCH (:Claim {process_id: 'PROCESS', claim_id: 'CLAIM'})-[:IN_FORCE]->(v)-[:HAS_ITERATION]->(i)
      -[:CHECKED]->(s)
WHERE NOT EXISTS { (s)<-[:AT]-(:TrailNode {verification_id: v.verification_id}) }
RETURN i.number, i.verdict, count(s)""",
    "claims that rest on each root": """
MATCH (r:Span {process_id: 'PROCESS', role: 'root'})<-[:AT]-(:TrailNode)-[:LEADS_TO*]->
      (v:Verification)<-[:IN_FORCE]-(c:Claim)
RETURN r.node_id, v.verdict, collect(DISTINCT c.claim_id)""",
    "the same, from the trails": """
MATCH (t:TrailNode {process_id: 'PROCESS', role: 'root'})-[:LEADS_TO*]->(v:Verification)
      <-[:IN_FORCE]-(c:Claim)
RETURN t.node_id, v.verdict, collect(DISTINCT c.claim_id)""",
    "claims that rest on a source sentence": """
MATCH (n:Sentence {process_id: 'PROCESS', node_id: 'ROOT'})<-[:CITES]-(:TrailNode)
      -[:LEADS_TO*]->(v:Verification)<-[:IN_FORCE]-(c:Claim)
RETURN n.text, v.verdict, collect(DISTINCT c.claim_id)""",
}
"""The six questions of a reader of the data model, two of them asked from both ends."""


def measure(report: Report, engine: Engine, scale: float, count: int = VERIFICATIONS) -> None:
    """Store the verifications, ask the statements, and read as the page does."""
    task = {"login": engine.login}
    given = {"scale": scale, "process_id": OURS, "count": count, "first": FIRST}
    stored = run_child("benchmarks.provenance:store", **task, **given)
    report.add(
        Line(
            f"{engine.name}: a trail written, of {count}",
            stored["seconds"] / count,
            note=f"eight a transaction, {stored['links']:.0f} links, {stored['nodes']:.0f} nodes",
        )
    )
    for name in STATEMENTS:
        found = run_child("benchmarks.provenance:ask", **task, name=name, count=count)
        report.add(
            Line(
                f"{engine.name}: {name}, first call",
                found["first"],
                target=MOST_SECONDS,
                note=f"later calls {found['later'] * 1000:.0f} ms, {found['rows']:.0f} rows",
            )
        )
    read = run_child("benchmarks.provenance:read", **task, count=count)
    for name in ("trail", "outline", "paths"):
        report.add(Line(f"{engine.name}: {name} of a verification read", read[name], note="median"))


async def store(login: dict[str, Any], **given: Any) -> dict[str, float]:
    """Store the trails: seconds, and what they are in the graph."""
    stored = await fill(login, **given)
    counts = {"nodes": "(x:TrailNode {process_id: $p})"}
    counts["links"] = "(:TrailNode {process_id: $p})-[x:LEADS_TO]->()"
    found = {"seconds": stored["seconds"]}
    async with open_store(DatabaseAddress(**login)) as opened:
        for name, pattern in counts.items():
            text = f"MATCH {pattern} RETURN count(x)"
            rows = (await opened.database.run_text(text, {"p": given["process_id"]}, 1)).rows
            found[name] = rows[0][0]
    return found


def ask(login: dict[str, Any], name: str, count: int) -> dict[str, float]:
    """Seconds of the first call of a statement and of later ones, with another claim in each."""
    auth = (login["username"] or "", login["password"] or "")
    times, rows = [], 0
    with (
        neo4j.GraphDatabase.driver(login["uri"], auth=auth) as driver,
        driver.session(database=login["database"]) as session,
    ):
        # It connects, too. A sentence that some trail cites.
        (root,) = session.run(CITED, process_id=OURS).single(strict=True)
        for number in range(ROUNDS):
            claim = f"claim-{FIRST + (1 + 20 * number) % count}"  # Fully Supported
            text = STATEMENTS[name].replace("PROCESS", OURS).replace("CLAIM", claim)
            text = text.replace("ROOT", root)
            begin = time.perf_counter()
            rows = len(list(session.run(neo4j.Query(text, timeout=LIMIT_SECONDS))))
            times.append(time.perf_counter() - begin)
    return {"first": times[0], "later": middle(times[1:]), "rows": rows}


async def read(login: dict[str, Any], count: int) -> dict[str, float]:
    """Median seconds of what the page reads of one verification."""
    times: dict[str, list[float]] = {"trail": [], "outline": [], "paths": []}
    async with open_store(DatabaseAddress(**login)) as opened:
        trails = opened.trails
        for number in range(READS + 1):
            name = f"v-queries-{FIRST + number * 20 % count}"
            for kind, call in (
                ("trail", trails.read), ("outline", trails.outlines),
                ("paths", lambda ids: trails.paths(ids[0])),
            ):  # fmt: skip
                begin = time.perf_counter()
                assert await call([name])
                times[kind].append(time.perf_counter() - begin)
    return {kind: middle(some[1:]) for kind, some in times.items()}
