"""Every command: its help, what it prints as JSON and for people, and its exit status."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from golden.calling import Ended, process_file
from golden.conftest import SAMPLES, Scene, fixed_id
from golden.golden import check

from veritrail_graph.api.cli.app import command

pytestmark = pytest.mark.engine

HARBOUR, ENERGY = SAMPLES
OF = {
    "process_id": HARBOUR,
    "claim_id": "k04",
    "node_id": "g2",
    "from_node_id": "c02",
    "to_node_id": "final",
    "value": "84,200",
}
# Calls that change nothing; `V1` and `V2` are verifications of the claims k01 and k04.
READING = {
    "list": ["list"],
    "list-harbour": ["list", HARBOUR],
    "list-energy": ["list", ENERGY],
    "show-supported": ["show", "V1"],
    "show-unsupported": ["show", "V2"],
    "diff": ["diff", "V1", "V2"],
    "claims-list": ["claims", "list", HARBOUR],
    "claims-list-node": ["claims", "list", HARBOUR, "--node", "final", "--sentences"],
    "reviews-list": ["reviews", "list", HARBOUR],
    "reviews-agreement": ["reviews", "agreement", HARBOUR],
    "query-list": ["query", "--list"],
    "query-cypher": ["query", "error-origin", "--cypher", "-p", 'claim_id=a"b'],
    "query-truncated": ["query", "claims", "-p", f"process_id={HARBOUR}", "-p", "limit=1"],
    "estimate-lexical": ["estimate", HARBOUR, "--engine", "lexical"],
    "estimate-model": ["estimate", HARBOUR, "--model", "m", "--price", "1,2", "--samples", "3"],
    "estimate-claim": ["estimate", ENERGY, "--claim", "The wind blows.", "--model", "gpt-6-luna"],
    "ingest-unchanged": ["ingest", "HARBOUR_FILE"],
    "verify-reused": ["verify", HARBOUR, "--claim-id", "k01", "--claim-id", "k04"],
    "verify-four": ["verify", HARBOUR, *(f"--claim-id=k0{n}" for n in (1, 2, 3, 4))],
    "gate": ["gate", HARBOUR],
    "gate-passed": ["gate", HARBOUR, "--max-unsupported", "9", "--max-unchecked", "0"],
    "gate-stages": ["gate", ENERGY, "--max-rate", "0.9", "--forbid-error-stage", "2", "--strict"],
    "cache-stats": ["cache", "stats"],
    "cache-clear": ["cache", "clear"],
    "keys-list": ["keys", "list"],
    "audit": ["audit"],
    "db-clean": ["db", "clean"],
}
# These have no --json.
SHOWN = {
    "version": ["--version"],
    "bloom-export": ["bloom", "export"],
    "db-style": ["db", "style"],
    "shell": ["db", "shell", "--own"],
}
TYPED = """:help
:param a => 'it\\'s; x'
:param {b: [1, 2.5, null, true], c: {d: 0x10}}
:params
RETURN $a AS a, $b AS b, $c.d AS d;
MATCH p = (:Span {node_id: 'g2'})-[:INPUT_TO]->() RETURN p;
MATCH (s:Stage) RETURN count(s) AS n
  , 'two; words' AS w; // the end
CREATE (n:Try {name: 'x'}) RETURN n; MATCH (n:Try) DETACH DELETE n;
:queries
:nope
"""


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = getattr(command, "commands", {})
    return [path, *(each for name in inner for each in _commands(inner[name], (*path, name)))]


SECOND_NAMES = ("import", "review", "config", "judge estimate", "serve audit", "serve keys")
"""Commands that have another name, too; of these the group alone is kept."""
WITH_HELP = [
    path
    for path in _commands(command())
    if not " ".join(path).startswith(tuple(f"{each} " for each in SECOND_NAMES))
    or path == ("config", "show")
]


@pytest.mark.parametrize("path", WITH_HELP, ids=" ".join)
def test_help(scene: Scene, path: tuple[str, ...]) -> None:
    ended = scene.call(*path, "--help")
    assert (ended.status, ended.err) == (0, "")
    check(f"words/help/{'-'.join(path) or 'veritrail'}.txt", ended.out)


@pytest.mark.parametrize("name", READING)
def test_json(scene: Scene, name: str) -> None:
    ended = _read(scene, READING[name], "--json")
    check(f"data/commands/{name}.json", scene.plain.json(_document(ended)))


@pytest.mark.parametrize("name", [*READING, *SHOWN])
def test_for_people(scene: Scene, name: str) -> None:
    ended = _read(scene, READING.get(name) or SHOWN[name], given=TYPED)
    check(f"words/shown/{name}.txt", scene.plain.text(_page(ended)))


def test_every_query(scene: Scene) -> None:
    answers = {}
    for query in scene.call("query", "--list", "--json").json["queries"]:
        needed = [one["name"] for one in query["parameters"] if one.get("required")]
        given = [word for name in needed for word in ("-p", f"{name}={OF[name]}")]
        answers[query["name"]] = _document(scene.call("query", query["name"], *given, "--json"))
    check("data/queries.json", scene.plain.json(answers))


def test_what_changes_a_process(scene: Scene) -> None:
    """Claims, reviews and contents of a process of its own, which is deleted in the end."""
    folder = scene.call.folder
    claims = [{"claim_id": "k1", "text": "The harbour opened in 1901."}]
    first = process_file(folder / "quay.json", claims=claims)
    other = [{"node_id": "a", "text": "Old."}, {"node_id": "t", "text": "New."}]
    edge = {"source": "a", "target": "t"}
    process_file(folder / "quay-new.json", process_id="quay", nodes=other, edges=[edge])
    more = [{"claim_id": "k2", "text": "The harbour has nine piers."}, "A lighthouse stands there."]
    (folder / "claims.json").write_text(json.dumps(more), encoding="utf-8")
    verify = ["verify", "quay", "--concurrency", "1"]
    calls: list[list[str]] = [
        ["ingest", first],
        ["verify", "quay", "--claim", "It has two piers.", "--q", "1"],
        [*verify, "--claims", "claims.json"],
        [*verify, "--claim-id", "k1", "--again"],
        [*verify, "--unfinished"],
        ["claims", "edit", "quay", "k1", "--text", "The harbour opened in 1902."],
        ["claims", "edit", "quay", "k1", "--text", "The harbour opened in 1902.", "--force"],
        ["reviews", "add", "quay", "k2", "--confirm", "--reviewer", "ann"],
        ["reviews", "add", "quay", "k2", "--verdict", "UNCLEAR", "--reason", "Why?",
         "--reviewer", "bob"],
        ["reviews", "list", "quay"],
        ["reviews", "agreement", "quay"],
        ["claims", "remove", "quay", "k2"],
        ["claims", "remove", "quay", "k2", "--force"],
        ["gate", "quay"],
        ["list", "quay"],
        ["ingest", "quay-new.json"],
        ["ingest", "quay-new.json", "--append"],
        ["ingest", "quay-new.json", "--replace"],
        ["ingest", "quay-new.json"],
        ["ingest", "quay.json", "--process-id", "quay-2"],
        ["delete", "quay-2", "--yes"],
        ["keys", "create", "--name", "ann", "--scope", "read", "--scope", "verify",
         "--budget", "2.5", "--rate", "60"],
        ["keys", "list"],
        ["keys", "revoke", "ann"],
        ["audit"],
        ["delete", "quay", "--yes"],
    ]  # fmt: skip
    data, words = [], []
    for number, call in enumerate(calls):
        ended = scene.call(*call, *(["--json"] if number != 1 else []))
        if call[:2] == ["keys", "create"]:
            scene.plain.names[ended.json["secret" if "secret" in ended.json else "key"]] = "<key>"
            scene.plain.names[ended.json["key_id"]] = "<key_id>"
        words.append(_page(ended, out=number == 1))
        if number != 1:
            data.append(_document(ended))
    check("data/changes.json", scene.plain.json(data))
    check("words/changes.txt", scene.plain.text("\n".join(words)))


def _read(scene: Scene, words: list[str], *more: str, given: str = "") -> Ended:
    stand = {
        "V1": fixed_id(HARBOUR, "k01"),
        "V2": fixed_id(HARBOUR, "k04"),
        "HARBOUR_FILE": f"{HARBOUR}.json",
    }
    return scene.call(*(stand.get(word, word) for word in words), *more, given=given)


def _document(ended: Ended) -> dict[str, Any]:
    """What other programs read of a command that printed JSON; no messages."""
    out = ended.json
    if isinstance(out, dict) and isinstance(out.get("error"), dict):
        error = {**out["error"], "message": "…"}
        error["violations"] = [{**one, "message": "…"} for one in error["violations"]]
        out = {**out, "error": error}
    if isinstance(out, dict) and "queries" in out:  # their purposes are words
        out = {
            "queries": [
                (one["name"], *(p["name"] for p in one["parameters"])) for one in out["queries"]
            ]
        }
    return {"call": ended.call, "status": ended.status, "out": out}


def _page(ended: Ended, *, out: bool = True) -> str:
    """What a person reads of a command."""
    shown = ended.out if out else ""
    if not out and ended.out.startswith("{") and "error" in ended.json:
        shown = json.dumps(ended.json["error"], indent=1, ensure_ascii=False) + "\n"
    return f"$ {ended.call}\nstatus {ended.status}\n--- stdout\n{shown}--- stderr\n{ended.err}"
