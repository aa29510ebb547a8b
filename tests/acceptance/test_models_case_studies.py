"""The papers' two case studies, from a process file on the command line to the stored graph.

The same 17 nodes of a GraphRAG process as published, with texts of our own and a server that
answers from a script.

Source: VeriTrail 3.1, 3.2; the published case studies of a claim that is supported and of one
that is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking
from fakes.model_answers import FULLY_SUPPORTED, NOT_FULLY_SUPPORTED, Lines, ScriptedReader
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

INPUTS = {
    "17": ["15", "16"], "16": ["14"], "15": ["12", "13"], "14": ["9", "10", "11"],
    "13": ["4", "5", "11"], "12": ["8", "9"], "11": ["6", "7"], "10": ["3"], "9": ["3"],
    "8": ["2"], "7": ["2"], "6": ["1"], "5": ["1"], "4": ["1"],
}  # fmt: skip
STAGES = {
    **dict.fromkeys(["1", "2", "3"], 1),
    **dict.fromkeys(["4", "5", "6", "7", "8", "9", "10"], 2),
    "11": 3,
    **dict.fromkeys(["12", "13", "14"], 4),
    **dict.fromkeys(["15", "16"], 5),
    "17": 6,
}
NAMES = {
    "1": "source chunk", "2": "entity or relationship", "3": "summarized entity",
    "4": "community report", "5": "map-level answer", "6": "final answer",
}  # fmt: skip
INSULIN = "Lawmakers have acted on the high cost of diabetes supplies in the US."
BATTERIES = "Batteries that are hard to mend help to slow car sales in China."
TEXTS = {
    "15": "A North Carolina bill would limit what insulin may cost. Scrapping and mending the "
    "batteries of electric cars may slow car sales. Body shops can hardly mend battery packs.",
    "13": "The state's lawmakers are weighing a ceiling on insulin prices. A vote is not near.",
    "12": "Electric cars are one community of this report. China's market for them is touched by "
    "the trouble of scrapping and mending batteries.",
    "4": "GENERAL ASSEMBLY: the legislature that is considering the insulin ceiling.",
    "1": "The interview was held in Raleigh. A bill before the General Assembly would cap "
    "insulin, the attorney general said.",
    "17": f"Much was said about prices. {INSULIN} {BATTERIES}",
}
SCRIPT = {
    INSULIN: Lines(
        ["would limit what insulin", "a ceiling on insulin", "the insulin ceiling", "would cap"],
        verdicts=[FULLY_SUPPORTED],
        sub_claims=["Lawmakers have acted.", "Diabetes supplies cost much in the US."],
    ),
    BATTERIES: Lines(
        ["may slow car sales", "Body shops", "China's market"], verdicts=[NOT_FULLY_SUPPORTED]
    ),
}


@pytest.fixture(scope="module")
def told(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """What `verify --json` tells of both claims."""
    numbers = [str(number) for number in range(1, 18)]
    nodes = [
        {
            "node_id": one,
            "stage": STAGES[one],
            "text": TEXTS.get(one, f"Note {one} on the weather."),
        }
        for one in numbers
    ]
    edges = [{"source": u, "target": one} for one in numbers for u in INPUTS.get(one, [])]
    claims = [
        {"claim_id": "insulin", "text": INSULIN},
        {"claim_id": "batteries", "text": BATTERIES},
    ]
    path = process_file(
        tmp_path_factory.mktemp("cases") / "case-studies.json",
        nodes=nodes, edges=edges, claims=claims, stages=NAMES,
    )  # fmt: skip
    created = veritrail("ingest", path, "--json").json
    assert (created["nodes"], created["edges"], created["terminals"]) == (17, 22, ["17"])
    with ModelServer(ScriptedReader(SCRIPT)) as server:
        yield veritrail("verify", "case-studies", "--q", "2", "--json", **asking(server)).json


def steps(found: Any) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Per iteration: the nodes checked, the interim verdict, the sentences selected."""
    return [
        (
            " ".join(one["checked"]),
            one["verdict"],
            [(cited["node_id"], cited["sentence"]) for cited in one["evidence"]],
        )
        for one in found["iterations"]
    ]


def rows(veritrail: Veritrail, name: str, claim_id: str) -> list[dict[str, Any]]:
    of = ("--param", "process_id=case-studies", "--param", f"claim_id={claim_id}")
    found = veritrail("query", name, *of, "--json").json
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def test_the_supported_claim_is_traced_through_four_iterations_to_its_chunk(
    veritrail: Veritrail, told: Any
) -> None:
    insulin = told["verifications"][0]
    assert steps(insulin) == [
        ("15 16", FULLY_SUPPORTED, [("15", 0)]),
        ("12 13", FULLY_SUPPORTED, [("13", 0)]),
        ("4 5 11", FULLY_SUPPORTED, [("4", 0)]),
        ("1", FULLY_SUPPORTED, [("1", 1)]),
    ]
    assert insulin["verdict"] == FULLY_SUPPORTED
    assert insulin["termination"] == "only_roots_with_evidence_left"
    assert (insulin["error_stages"], insulin["error_nodes"]) == ([], [])
    assert insulin["sub_claims"] == list(SCRIPT[INSULIN].sub_claims)
    cited = [one["evidence"][0]["text"] for one in insulin["iterations"]]
    assert cited[-1] == TEXTS["1"].partition(". ")[2]
    assert veritrail("show", insulin["verification_id"], "--json").json == insulin
    (path,) = rows(veritrail, "provenance", "insulin")
    assert path["nodes"] == ["1", "4", "13", "15", "17"]
    assert path["complete"] is True
    assert [step["stage"] for step in path["path"]] == [1, 2, 4, 5, 6]
    assert path["path"][0]["sentences"][0]["text"] == cited[-1]


def test_the_unsupported_claim_goes_wrong_in_the_final_answer(
    veritrail: Veritrail, told: Any
) -> None:
    batteries = told["verifications"][1]
    assert steps(batteries) == [
        ("15 16", NOT_FULLY_SUPPORTED, [("15", 1), ("15", 2)]),
        ("12 13 14", NOT_FULLY_SUPPORTED, [("12", 1)]),
    ]
    assert batteries["verdict"] == NOT_FULLY_SUPPORTED
    assert batteries["termination"] == "max_consecutive_not_fully_supported"
    assert (batteries["error_stages"], batteries["error_nodes"]) == ([6], ["17"])
    assert veritrail("show", batteries["verification_id"], "--json").json == batteries
    (origin,) = rows(veritrail, "error_origin", "batteries")
    assert (origin["node_id"], origin["stage"]) == ("17", 6)
    (path,) = rows(veritrail, "provenance", "batteries")
    assert path["nodes"] == ["12", "15", "17"]
    assert path["complete"] is False
    shown = veritrail("show", batteries["verification_id"]).out
    assert "introduced in 17 (stage 6)" in shown
