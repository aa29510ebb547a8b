"""A process whose claims show what is undecided: in the middle of a trail, and at its end."""

from __future__ import annotations

import json
from pathlib import Path

from fakes.trails import FS, LEXICAL, NFS, NODES, a_round, a_trail, cited, found

from veritrail_graph.graph.model import Claim, Status, Termination

SILENT = "Cannot tell without a model: no sentence says this in the same words."
S1 = cited("s1", 0, 0, "The pier s1.")
C2 = cited("c2", 0, 0, "The pier c2.")
ROUNDS = (
    a_round(1, FS, [NODES["s1"], NODES["s2"]], [found("Old.", S1)], reasoning="It says so."),
    a_round(2, None, [NODES["c1"]], reasoning=SILENT),
    a_round(3, NFS, [NODES["c2"]], [found("New.", C2)], reasoning="Another figure."),
)
ENDED = {
    **LEXICAL,
    "run_id": "r-undecided",
    "termination": Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
}
BETWEEN = a_trail("v-und-1", *ROUNDS, reasoning="Another figure.", **ENDED)
"""Fully Supported, no verdict, Not Fully Supported."""
OPEN = a_trail(
    "v-und-2",
    *ROUNDS[:2],
    claim=Claim(claim_id="k2", text="The pier is old.", node_id="t"),
    reasoning=SILENT,
    error=SILENT,
    **{**ENDED, "status": Status.UNDECIDED},
)
"""No model was asked, and words alone decide nothing."""
BY_SAMPLES = a_trail(
    "v-und-3",
    status=Status.UNDECIDED,
    verdict=None,
    error="The samples selected sentences, but too few of them the same.",
    termination=Termination.NO_AGREEMENT,
)
"""A model whose samples did not agree."""


def undecided_file(path: Path) -> str:
    """Write a process file, named by the file, with the first two."""
    trails = [one.json_object() for one in (BETWEEN, OPEN)]
    for one in trails:
        del one["process_id"]
    nodes = [{"node_id": name, "text": f"The pier {name}."} for name in ("c1", "c2", "s1", "s2")]
    edges = [("c1", "s1"), ("c2", "s2"), ("s1", "t"), ("s2", "t")]
    document = {
        "format": "veritrail.process/1",
        "process_id": path.stem,
        "nodes": [*nodes, {"node_id": "t", "text": "The pier t."}],
        "edges": [{"source": source, "target": target} for source, target in edges],
        "claims": [
            {"claim_id": one.claim_id, "text": one.claim, "node_id": "t"} for one in (BETWEEN, OPEN)
        ],
        "verifications": trails,
    }
    path.write_text(json.dumps(document))
    return str(path)
