"""A trail ends with what the error step did with which sentence, at every door that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.attributing import SAMPLE, gold_sentences
from fakes.explaining import LINES, MAY, TWISTED, WILL, Both
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

TURNED = "This sentence turned “may close” into “will close”."
FERRY = gold_sentences()[5]["text"]


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = process_file(tmp_path_factory.mktemp("twisted") / "twisted.json", **TWISTED)
    veritrail("ingest", path)
    return "twisted"


def test_verify_explains_what_the_error_step_did(
    veritrail: Veritrail, process: str, tmp_path: Path
) -> None:
    with ModelServer(Both(LINES)) as server:
        told = veritrail("verify", process, "--explain", "--json", **asking(server)).json
        sent = [received.step for received in server.requests]
        shown = veritrail("verify", process, "--explain", **asking(server))
        assert len(server.requests) == len(sent)  # from the graph, and from the cache of answers
    assert sent.count("attribution") == 2  # one sentence of each error node, and no other
    by_claim = {one["claim_id"]: one for one in told["verifications"]}
    assert [by_claim[name]["error_nodes"] for name in ("k1", "k2", "k3")] == [["notes"], [], ["t"]]
    (carried,) = by_claim["k1"]["carried"]
    assert (carried["node_id"], carried["sentence"], carried["text"]) == ("notes", 1, WILL)
    assert [one["text"] for one in carried["attributed"]] == [MAY]
    assert by_claim["k2"]["carried"] == []
    assert [one["attributed"] for one in by_claim["k3"]["carried"]] == [[]]
    run = told["attribution"]
    assert [node["node_id"] for node in run["nodes"]] == ["notes", "t"]
    assert told["usage"]["calls"] == len(sent)  # the attribution is part of what the run cost
    assert run["usage"]["calls"] == 2
    assert TURNED in " ".join(shown.out.split())
    assert "error nodes" in shown.out  # a row of what it cost
    assert "No sentence of this step's sources decides it." in " ".join(shown.out.split())
    name = by_claim["k1"]["verification_id"]
    again = veritrail("show", name)
    assert TURNED in " ".join(again.out.split())
    assert "*will close*" in again.out
    (kept,) = veritrail("show", name, "--json").json["carried"]
    of_run = ("run_id", "attributed_at")  # the same command again found the same
    assert {**kept, **{key: carried[key] for key in of_run}} == carried
    for kind, words in (("markdown", "turned “may close” into “will close”"),
                        ("html", "turned “may close” into “will close”")):  # fmt: skip
        out = tmp_path / f"report.{kind}"
        veritrail("report", process, "--format", kind, "-o", str(out))
        text = out.read_text(encoding="utf-8")
        assert words in text
        assert "What each sentence rests on" in text
        assert "near match: " in text
        assert "no source sentence decides it" in text.lower()


def test_the_attribution_spends_what_the_run_has_left(veritrail: Veritrail, process: str) -> None:
    with ModelServer(Both(LINES)) as server:
        calls = len(veritrail("verify", process, "--again", "--no-cache", "--json",
                              **asking(server)).json["verifications"])  # fmt: skip
        assert calls == 3
        spent = len(server.requests)
        told = veritrail(
            "verify", process, "--again", "--no-cache", "--explain", "--max-calls", str(spent + 1),
            "--json", status=1, **asking(server, VERITRAIL_CONCURRENCY="1"),
        )  # fmt: skip
        assert len(server.requests) == 2 * spent + 1
    statuses = [one["status"] for node in told.json["attribution"]["nodes"]
                for one in node["sentences"]]  # fmt: skip
    assert sorted(statuses) == ["over_budget", "succeeded"]
    assert {one["status"] for one in told.json["verifications"]} == {"succeeded"}
    assert "could not be attributed" in told.err


def test_claims_are_attributed_later_too(veritrail: Veritrail, process: str) -> None:
    with ModelServer(Both(LINES)) as server:
        veritrail("verify", process, "--json", **asking(server))
        told = veritrail("attribute", process, "--claim-id", "k1", "--json", **asking(server)).json
        every = veritrail("attribute", process, "--unsupported", "--json", **asking(server)).json
    (node,) = told["nodes"]
    assert (node["node_id"], [one["sentence"] for one in node["sentences"]]) == ("notes", [1])
    assert [node["node_id"] for node in every["nodes"]] == ["notes", "t"]


@pytest.fixture(scope="module")
def verified(veritrail: Veritrail, process: str) -> Iterator[ModelServer]:
    """A model whose verdicts are stored; it is asked nothing more."""
    with ModelServer(Both(LINES)) as server:
        veritrail("verify", process, "--json", **asking(server))
        yield server


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--claim-id", "k9"], "has no claim 'k9'"),
        (["--claim-id", "k2"], "has no verification in force that is Not Fully Supported"),
        (["--claim-id", "k1", "--node", "t"], "leave --node out"),
        (["--recheck", "walk"], "Nothing is corrected"),
        (["--all-modes"], "Nothing is corrected"),
        (["--mode", "plain"], "Nothing is judged or corrected"),
        (["--recheck", "nobody", "--correct"], "is not one of"),
    ],
)
def test_what_no_claim_was_carried_by_is_refused(
    veritrail: Veritrail,
    process: str,
    verified: ModelServer,
    arguments: list[str],
    message: str,
) -> None:
    asked = len(verified.requests)
    ended = veritrail("attribute", process, *arguments, "--json", status=2, **asking(verified))
    assert len(verified.requests) == asked
    told = [ended.message, *(f"{one['where']}: {one['message']}" for one in ended.violations)]
    assert any(message in one for one in told), told


def test_corrections_of_all_modes_are_walked_and_ranked(veritrail: Veritrail) -> None:
    veritrail("ingest", str(SAMPLE), "--process-id", "explained-by-walks")
    wordings = {
        "plain": "The Skerra ferry carried 41,000 passengers last year and sank.",
        "highlighted": "The Skerra ferry carried 41,000 passengers last year.",
        "attribution": "The Skerra ferry vanished and sank.",
    }
    with ModelServer(Both(corrections=wordings)) as server:
        told = veritrail(
            "attribute", "explained-by-walks", "--correct", "--recheck", "walk", "--all-modes",
            "--json", **asking(server),
        ).json  # fmt: skip
        shown = veritrail(
            "attribute", "explained-by-walks", "--correct", "--recheck", "walk", "--all-modes",
            **asking(server),
        )  # fmt: skip
    ferry = next(one for one in told["nodes"][0]["sentences"] if one["text"] == FERRY)
    ranks = {
        one["mode"]: (one["outcome"], one["supported"], one["claims"], one["rank"])
        for one in ferry["revisions"]
    }
    assert ranks == {
        "attribution": ("not", 0, 2, 3), "plain": ("partly", 1, 2, 2),
        "highlighted": ("fixed", 1, 1, 1),
    }  # fmt: skip
    assert ferry["correction"] == wordings["attribution"]
    assert "proposed: 1. highlighted: The Skerra ferry carried" in " ".join(shown.out.split())
    found = veritrail(
        "query", "proposed_revisions", "-p", "process_id=explained-by-walks", "-p",
        "outcome=partly", "--json",
    ).json  # fmt: skip
    assert wordings["plain"] in {row[found["columns"].index("proposed")] for row in found["rows"]}
    # A sentence to which nothing is attributed has no wording of the mode that shows that alone.
    museum = next(one for one in told["nodes"][0]["sentences"] if not one["attributed"])
    assert [one["mode"] for one in museum["revisions"]] == ["plain", "highlighted"]
