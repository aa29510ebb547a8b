"""What the other queries answer about the process of `query_cases`.

`v1` means the id of a verification, `{process}` for that of the process, in and out.
"""

from __future__ import annotations

from typing import Any

from contract.query_cases import HOSTILE, TEXTS
from contract.query_values import (
    BUILT,
    C1_BOTH,
    C2_SHIPS,
    FS,
    INC,
    K1,
    K2,
    K3,
    K4,
    K5,
    M1_SHIPS,
    NFS,
    OPENED,
    S1_OPENED,
    S1_SHIPS,
    S2_SHIPS,
    S2_START,
    cited,
)

GRAPH_CASES: dict[str, list[tuple[dict[str, str], list[tuple[Any, ...]]]]] = {
    # What they answer about a dialogue is tested in test_dialogues.py.
    "self_contradictions": [({}, [])],
    "recurring_facts": [({}, [])],
    "verifiable_by_turn": [({}, [])],
    "sentence_attribution": [
        (
            {"node_id": "m1"},
            [
                (0, TEXTS["m1"], "UNFAITHFUL", "FAITHFUL", ["EVIDENCE"], "s1", 0,
                 "It opened in 1901.", None, "openai", "a1", "inputs"),
                (0, TEXTS["m1"], "UNFAITHFUL", "FAITHFUL", ["CONTRADICTION"], "s1", 1,
                 "It handled 310 ships in 2024.", None, "openai", "a1", "inputs"),
                (0, TEXTS["m1"], "UNFAITHFUL", "FAITHFUL", ["EVIDENCE"], "s2", 0,
                 "Some 320 ships came.", None, "openai", "a1", "inputs"),
            ],
        ),
        (
            {"node_id": "t", "sentence": "0"},
            [
                (0, TEXTS["t"], "UNFAITHFUL", "UNFAITHFUL", ["EVIDENCE", "EXPECTED_SPAN"], "m1",
                 0, TEXTS["m1"], "The harbour opened in 1901.", "openai", "a1", "inputs"),
            ],
        ),
        (
            {"node_id": "s2"},
            [(0, TEXTS["s2"], "UNFAITHFUL", *[None] * 6, "openai", "a1", "inputs")],
        ),
        ({"node_id": "t", "sentence": "1"}, []),
        ({"node_id": "c1"}, []),
    ],
    "proposed_revisions": [
        (
            {},
            [
                ("t", 4, 0, TEXTS["t"], "The harbour opened in 1901.", "attribution", 3, "fixed",
                 "walk", 1, "openai", "a1"),
                ("t", 4, 0, TEXTS["t"], "The harbour opened.", "plain", 2, "partly", "walk", 2,
                 "openai", "a1"),
            ],
        ),
        (
            {"outcome": "partly", "node_id": "t"},
            [
                ("t", 4, 0, TEXTS["t"], "The harbour opened.", "plain", 2, "partly", "walk", 2,
                 "openai", "a1"),
            ],
        ),
        ({"outcome": "not"}, []),
    ],
    "unfaithful_propositions": [
        ({}, [("m1", 3, 0, TEXTS["m1"], 1, "a … b", "0-3 5-9", 2)]),
        ({"node_id": "t"}, []),
    ],
    "misread_sentences": [
        (
            {},
            [
                ("s1", 2, 1, "It handled 310 ships in 2024.", 1, 1, 0, 0, 1,
                 ["inputs"]),
                ("m1", 3, 0, TEXTS["m1"], 1, 0, 0, 1, 1, ["inputs"]),
            ],
        ),
    ],
    "twisting_steps": [
        (
            {},
            [
                (2, "summarise", 1, 1, 1.0, 0, 0, 0, 1),
                (4, None, 1, 1, 1.0, 0, 0, 1, 0),
                (3, "write", 1, 0, 0.0, 1, 0, 0, 0),
            ],
        ),
    ],
    "first_seen": [
        (
            {"value": "310 Ships"},
            [
                ("first", "c2", 1, None, "root", "In 2024 the harbour handled 310 ships", [], []),
                ("carried on", "s1", 2, None, "intermediate",
                 "It handled 310 ships in 2024.", ["c2"], []),
            ],
        ),
        (
            {"value": "320"},
            [
                ("first", "s2", 2, "summarise", "intermediate", "Some 320 ships came", [], []),
                ("carried on", "m1", 3, "write", "intermediate", TEXTS["m1"], ["s2"], []),
                ("carried on", "t", 4, None, "terminal", TEXTS["t"], ["s2", "m1"], []),
            ],
        ),
        ({"value": "31"}, []),
    ],
    "source_nodes": [
        (
            {"node_id": "s1"},
            [
                ("c1", 1, "root", "text", True, TEXTS["c1"]),
                ("c2", 1, "root", "text", False, TEXTS["c2"]),
            ],
        ),
        (
            {"node_id": "t"},
            [
                ("s2", 2, "intermediate", "summary", None, "Some 320 ships came. " + "😀" * 179),
                ("m1", 3, "intermediate", "draft", None, TEXTS["m1"]),
            ],
        ),
        ({"node_id": HOSTILE}, []),
    ],
    "impact": [
        (
            {"node_id": "c1"},
            [
                ("evidence", "k1", K1, "t", 3, FS, "v1", "succeeded"),
                ("downstream", "k4", K4, "m1", 2, None, None, None),
                ("downstream", "k2", K2, "t", 3, NFS, "v2", "succeeded"),
                ("downstream", "k3", K3, "t", 3, INC, "v3", "succeeded"),
                ("downstream", "k5", K5, "t", 3, NFS, "v5", "succeeded"),
            ],
        ),
        (
            {"node_id": "m1"},
            [
                ("evidence", "k2", K2, "t", 1, NFS, "v2", "succeeded"),
                ("evidence", "k3", K3, "t", 1, INC, "v3", "succeeded"),
                ("downstream", "k4", K4, "m1", 0, None, None, None),
                ("downstream", "k1", K1, "t", 1, FS, "v1", "succeeded"),
                ("downstream", "k5", K5, "t", 1, NFS, "v5", "succeeded"),
            ],
        ),
        (
            {"node_id": HOSTILE},
            [
                ("downstream", "k1", K1, "t", 2, FS, "v1", "succeeded"),
                ("downstream", "k2", K2, "t", 2, NFS, "v2", "succeeded"),
                ("downstream", "k3", K3, "t", 2, INC, "v3", "succeeded"),
                ("downstream", "k4", K4, "m1", 2, None, None, None),
                ("downstream", "k5", K5, "t", 2, NFS, "v5", "succeeded"),
            ],
        ),
        (
            {"node_id": "t"},
            [
                ("downstream", "k1", K1, "t", 0, FS, "v1", "succeeded"),
                ("downstream", "k2", K2, "t", 0, NFS, "v2", "succeeded"),
                ("downstream", "k3", K3, "t", 0, INC, "v3", "succeeded"),
                ("downstream", "k5", K5, "t", 0, NFS, "v5", "succeeded"),
            ],
        ),
    ],
    "stage_summary": [
        # c1 twice and c2; s1 twice and s2; m1 once, for two claims. The old verification and
        # its verdict do not count.
        ({}, [(1, 3, 0, 3, 0.0), (2, 2, 1, 3, 0.5), (3, 1, 1, 1, 0.5), (4, 1, 1, 0, 1.0)]),
    ],
    "cost": [
        # What a failed verification paid counts; one call without a price makes a sum unknown.
        (
            {},
            [
                ("sub_claim_decomposition", "judge-1", "sub_claim_decomposition.v1", 1, 0, 1, 0, 0,
                 0, None, 0),
                ("evidence_selection", "judge-1", "evidence_selection.v1", 2, 4, 1, 169, 60, 26,
                 0.875, 0),
                ("verdict", "judge-1", "verdict.v1", 2, 2, 0, 48, 0, 11, None, 1),
            ],
        ),
    ],
    "resting_claims": [
        ({"node_id": "c1"}, [("k1", K1, "v1", C1_BOTH, 0, True)]),
        ({"node_id": "s1"}, [("k1", K1, "v1", [cited(0, S1_OPENED)], 1, True)]),
        # The older verification of k2, which found it supported here, does not count.
        ({"node_id": "m1"}, []),
        (
            {"node_id": "m1", "verdict": NFS},
            [("k2", K2, "v2", [cited(0, M1_SHIPS)], 1, False)],
        ),
        ({"node_id": HOSTILE}, []),
    ],
    "downstream_terminals": [
        ({"node_id": "c1"}, [("t", 3, 4, TEXTS["t"])]),
        ({"node_id": "t"}, [("t", 0, 4, TEXTS["t"])]),
    ],
    "single_root_claims": [
        ({}, [("k1", K1, "v1", "c1", "text", 2, TEXTS["c1"])]),
        ({"verdict": NFS}, [("k2", K2, "v2", "c2", "text", 1, TEXTS["c2"])]),
        ({"verdict": INC}, []),
    ],
    "root_coverage": [
        (
            {},
            [
                ("c1", "text", 2, 1, 0.25, TEXTS["c1"]),
                ("c2", "text", 1, 1, 0.25, TEXTS["c2"]),
                (HOSTILE, "text", 0, 0, 0.0, TEXTS[HOSTILE]),
            ],
        ),
        ({"used": "false"}, [(HOSTILE, "text", 0, 0, 0.0, TEXTS[HOSTILE])]),
    ],
    "cited_sentences": [
        (
            {},
            [
                ("m1", 3, "intermediate", 0, M1_SHIPS, 2, 0),
                ("c1", 1, "root", 0, OPENED, 1, 1),
                ("c1", 1, "root", 1, BUILT, 1, 1),
                ("s1", 2, "intermediate", 0, S1_OPENED, 1, 1),
                ("c2", 1, "root", 0, C2_SHIPS, 1, 0),
                ("s1", 2, "intermediate", 1, S1_SHIPS, 1, 0),
                ("s2", 2, "intermediate", 0, S2_SHIPS, 1, 0),
            ],
        ),
        ({"role": "terminal"}, []),
    ],
    "ancestors": [
        (
            {"node_id": "m1"},
            [
                ("s1", 1, 2, "intermediate", "text", None, TEXTS["s1"]),
                ("s2", 1, 2, "intermediate", "summary", "summarise", S2_START),
                ("c1", 2, 1, "root", "text", None, TEXTS["c1"]),
                ("c2", 2, 1, "root", "text", None, TEXTS["c2"]),
                (HOSTILE, 2, 1, "root", "text", None, TEXTS[HOSTILE]),
            ],
        ),
        (
            {"node_id": "s1", "depth": "1"},
            [
                ("c1", 1, 1, "root", "text", None, TEXTS["c1"]),
                ("c2", 1, 1, "root", "text", None, TEXTS["c2"]),
            ],
        ),
        ({"node_id": "c1"}, []),
    ],
    "descendants": [
        (
            {"node_id": "c2"},
            [
                ("s1", 1, 2, "intermediate", "text", None, TEXTS["s1"]),
                ("s2", 1, 2, "intermediate", "summary", "summarise", S2_START),
                ("m1", 2, 3, "intermediate", "draft", "write", TEXTS["m1"]),
                ("t", 2, 4, "terminal", "text", None, TEXTS["t"]),
            ],
        ),
        ({"node_id": "t"}, []),
    ],
    "path_between": [
        (
            {"from_node_id": "c1", "to_node_id": "t"},
            [
                (0, "c1", 1, "root", "text", None, True, TEXTS["c1"]),
                (1, "s1", 2, "intermediate", "text", None, None, TEXTS["s1"]),
                (2, "m1", 3, "intermediate", "draft", "write", None, TEXTS["m1"]),
                (3, "t", 4, "terminal", "text", None, None, TEXTS["t"]),
            ],
        ),
        (
            {"from_node_id": "c2", "to_node_id": "m1"},
            [
                (0, "c2", 1, "root", "text", None, False, TEXTS["c2"]),
                (1, "s1", 2, "intermediate", "text", None, None, TEXTS["s1"]),
                (2, "m1", 3, "intermediate", "draft", "write", None, TEXTS["m1"]),
            ],
        ),
        ({"from_node_id": "c1", "to_node_id": "t", "depth": "2"}, []),
        ({"from_node_id": "t", "to_node_id": "c1"}, []),
        (
            {"from_node_id": "t", "to_node_id": "t"},
            [(0, "t", 4, "terminal", "text", None, None, TEXTS["t"])],
        ),
    ],
    "processes": [
        ({"after": "{before}", "limit": "1"}, [("{process}", "{process}", 7, 8, 1, 5, 6, "now")]),
    ],
    "nodes_verified": [
        (
            {},
            [
                ("lexical", None, 2, 4, 4.0, 4 / 7, 2 / 7, 6 / 7),
                ("openai", "judge-1", 2, 1, 5.0, 5 / 7, 5 / 7, 5 / 7),
            ],
        ),
    ],
    "cost_by_stage": [
        # The round in which v2-failed gave up left no iteration behind.
        (
            {},
            [
                ([], 2, 2, 1, 17, 0, 2, None, 1),
                ([1, 2], 1, 1, 0, 60, 10, 5, 0.5, 0),
                ([2, 3], 1, 3, 1, 140, 50, 30, 0.75, 0),
            ],
        ),
    ],
    **{
        f"check_{what}": [({}, [])]
        for what in (
            "claims", "counts", "cycles", "edges", "links", "loose_ends", "orphans",
            "repeated_edges", "reviews", "roles", "trails",
        )
    },
}  # fmt: skip
