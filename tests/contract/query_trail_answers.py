"""What the queries on claims, provenance and errors answer about the process of `query_cases`.

`v1` means the id of a verification, `{process}` for that of the process, in and out.
"""

from __future__ import annotations

from typing import Any

from contract.query_cases import HOSTILE, TEXTS
from contract.query_values import (
    BUILT,
    C1_BOTH,
    C2_SHIPS,
    C2_STEP,
    DAY,
    FS,
    INC,
    K1,
    K2,
    K3,
    K4,
    K5,
    M1_MADE,
    M1_SHIPS,
    M1_STEP,
    NFS,
    OPENED,
    S1_OPENED,
    S1_SHIPS,
    S1_STEP,
    S2_MADE,
    S2_SHIPS,
    S2_START,
    S2_STEP,
    T_MADE,
    T_STEP,
    cited,
    step,
)

OK = "succeeded"

UNCLEAR_OF_ADA = (
    "r5", "k3", K3, "unclear", INC, None, "What is old?", "Ada", None, DAY.format(5), True, "v3",
    "lexical", None, True,
)  # fmt: skip


BY_VERDICTS = ("verdicts", False, None, None)
"""How an error was located of which no value tells anything, in the columns of `error_origin`."""


def said(reviewer: str, verdict: str, reason: str, day: int) -> dict[str, str]:
    """What counts of a reviewer."""
    rest = {"reason": reason, "created_at": DAY.format(day)}
    return {"reviewer": reviewer, "verdict": verdict, **rest}


_OF_VERIFIED = "source of the verified node"
_OF_READ, _OF_EVIDENCE = "source of a node that was read", "source of a node with evidence"
_READ_BEFORE = "read in iteration 1"

TRAIL_CASES: dict[str, list[tuple[dict[str, str], list[tuple[Any, ...]]]]] = {
    "provenance": [
        (
            {"claim_id": "k1"},
            [
                (
                    "v1",
                    True,
                    2,
                    ["c1", "s1", "t"],
                    [
                        step("c1", 1, "root", (0, "evidence", OPENED), (1, "context", BUILT)),
                        step("s1", 2, "intermediate", (0, "evidence", S1_OPENED), via=["m1"]),
                        T_STEP,
                    ],
                    1,
                    1,
                )
            ],
        ),
        (
            {"claim_id": "k2"},
            [
                ("v2", True, 2, ["c2", "s2", "t"], [C2_STEP, S2_STEP, T_STEP], 3, 3),
                ("v2", True, 3, ["c2", "s1", "m1", "t"], [C2_STEP, S1_STEP, M1_STEP, T_STEP], 3, 3),
                ("v2", True, 3, ["c2", "s2", "m1", "t"], [C2_STEP, S2_STEP, M1_STEP, T_STEP], 3, 3),
            ],
        ),
        (
            {"claim_id": "k2", "verification_id": "v2-old"},
            [("v2-old", False, 1, ["m1", "t"], [M1_STEP, T_STEP], 1, 0)],
        ),
        ({"claim_id": "k3"}, [("v3", False, 1, ["m1", "t"], [M1_STEP, T_STEP], 1, 0)]),
        ({"claim_id": "k4"}, []),  # not verified
        ({"claim_id": "k5"}, []),  # no evidence
    ],
    "error_origin": [
        (
            {"claim_id": "k2"},
            [
                ("v2", NFS, False, 2, "s2", "summary", "summarise", "writer-0", None,
                 [S2_SHIPS], ["t"], *BY_VERDICTS, OK),
                ("v2", NFS, False, 3, "m1", "draft", "write", "writer-1", "Write it up.",
                 [M1_SHIPS], ["t"], *BY_VERDICTS, OK),
            ],
        ),
        (
            {"claim_id": "k5"},
            [("v5", NFS, True, 4, "t", "text", None, None, None, [], [], *BY_VERDICTS, OK)],
        ),
        (
            {"claim_id": "k1"},
            [("v1", FS, True, None, None, None, None, None, None, [], [], *[None] * 4, OK)],
        ),
        (
            {"claim_id": "k2", "verification_id": "v2-failed"},
            [("v2-failed", None, True, *[None] * 6, [], [], *[None] * 4, "failed")],
        ),
        ({"claim_id": "k4"}, []),
    ],
    "unsupported_claims": [
        (
            {},
            [
                ("k2", K2, "t", "v2", [2, 3], ["s2", "m1"], "It was 310.", "openai", False,
                 "overridden", FS),
                ("k5", K5, "t", "v5", [4], ["t"], "Nothing on a prize.", "lexical", True,
                 "overridden", INC),
            ],
        ),
    ],
    "claims": [
        (
            {},
            [
                ("k1", K1, "t", FS, True, "confirmed", FS, "lexical", "v1", DAY.format(1), 1, OK),
                ("k2", K2, "t", NFS, False, "overridden", FS, "openai", "v2", DAY.format(2), 3, OK),
                ("k3", K3, "t", INC, True, "unclear", None, "lexical", "v3", DAY.format(1), 1, OK),
                ("k4", K4, "m1", None, None, None, None, None, None, None, 0, None),
                ("k5", K5, "t", NFS, True, "overridden", INC, "lexical", "v5", DAY.format(1), 1,
                 OK),
            ],
        ),
    ],
    "candidates": [
        (
            {"claim_id": "k1"},
            [
                ("v1", 2, "c2", 1, "root", True, True, _OF_READ, ["s2"]),
                ("v1", 2, HOSTILE, 1, "root", True, True, _OF_READ, ["s2"]),
                ("v1", 2, "s1", 2, "intermediate", True, True, _OF_READ, ["m1"]),
                ("v1", 2, "s2", 2, "intermediate", False, False, _READ_BEFORE, ["m1"]),
            ],
        ),
        (
            {"claim_id": "k1", "iteration": "1", "verification_id": "v1"},
            [
                ("v1", 1, "s2", 2, "intermediate", True, True, _OF_VERIFIED, ["t"]),
                ("v1", 1, "m1", 3, "intermediate", True, True, _OF_VERIFIED, ["t"]),
            ],
        ),
        (
            {"claim_id": "k1", "iteration": "3"},
            [
                ("v1", 3, "c1", 1, "root", True, True, _OF_EVIDENCE, ["s1"]),
                ("v1", 3, "c2", 1, "root", False, False, "read in iteration 2", ["s1"]),
            ],
        ),
        ({"claim_id": "k4"}, []),
    ],
    "evidence_trail": [
        (
            {"claim_id": "k1"},
            [
                ("v1", 1, NFS, None, None, None, None, None, None, None),
                ("v1", 2, FS, "s1", 2, 0, "evidence", S1_OPENED, "It opened in 1901.", None),
                ("v1", 3, FS, "c1", 1, 0, "evidence", OPENED, "Opened in 1901.", "Who opened it."),
                ("v1", 3, FS, "c1", 1, 1, "context", BUILT, "Opened in 1901.", "Who opened it."),
            ],
        ),
        (
            {"claim_id": "k2"},
            [
                ("v2", 1, FS, "s2", 2, 0, "evidence", S2_SHIPS, "320 ships.", None),
                ("v2", 1, FS, "m1", 3, 0, "evidence", M1_SHIPS, "320 ships.", None),
                ("v2", 2, NFS, "c2", 1, 0, "evidence", C2_SHIPS, "310 ships in 2024.", None),
                ("v2", 2, NFS, "s1", 2, 1, "evidence", S1_SHIPS, "310 ships.", "The source."),
            ],
        ),
        ({"claim_id": "k2", "verification_id": "v2-failed"}, []),
        ({"claim_id": "k4"}, []),
    ],
    "shortest_provenance": [
        (
            {"claim_id": "k1"},
            [
                ("v1", True, 0, "c1", 1, "root", C1_BOTH, []),
                ("v1", True, 1, "s1", 2, "intermediate", [cited(0, S1_OPENED)], ["m1"]),
                ("v1", True, 2, "t", 4, "terminal", [], []),
            ],
        ),
        (
            {"claim_id": "k2"},
            [
                ("v2", True, 0, "c2", 1, "root", [cited(0, C2_SHIPS)], []),
                ("v2", True, 1, "s2", 2, "intermediate", [cited(0, S2_SHIPS)], []),
                ("v2", True, 2, "t", 4, "terminal", [], []),
            ],
        ),
        (
            {"claim_id": "k3"},
            [
                ("v3", False, 0, "m1", 3, "intermediate", [cited(0, M1_SHIPS)], []),
                ("v3", False, 1, "t", 4, "terminal", [], []),
            ],
        ),
        ({"claim_id": "k2", "verification_id": "v2-failed"}, []),
        ({"claim_id": "k4"}, []),
        ({"claim_id": "k5"}, []),
    ],
    "error_path": [
        (
            {"claim_id": "k2"},
            [
                ("v2", "introduced", "s2", 2, *S2_MADE, [], [S2_SHIPS], S2_START),
                ("v2", "introduced", "m1", 3, *M1_MADE, ["s2"], [M1_SHIPS], TEXTS["m1"]),
                ("v2", "carried_on", "t", 4, *T_MADE, ["s2", "m1"], [], TEXTS["t"]),
            ],
        ),
        (
            {"claim_id": "k5"},
            [("v5", "introduced", "t", 4, *T_MADE, [], [], TEXTS["t"])],
        ),
        ({"claim_id": "k1"}, []),
        ({"claim_id": "k4"}, []),
    ],
    "unsupported_by_stage": [
        (
            {},
            [
                (2, "k2", K2, "t", "v2", ["s2"], False, "overridden", FS),
                (3, "k2", K2, "t", "v2", ["m1"], False, "overridden", FS),
                (4, "k5", K5, "t", "v5", ["t"], True, "overridden", INC),
            ],
        ),
        ({"stage": "3"}, [(3, "k2", K2, "t", "v2", ["m1"], False, "overridden", FS)]),
        ({"stage": "1"}, []),
    ],
    "error_stages": [
        # k2 went wrong at one of two nodes and counts half at each, k5 at one.
        (
            {},
            [
                ("2", True, 1, 0.25, 1, 1, 0.5),
                ("3", True, 1, 0.25, 1, 1, 0.5),
                ("4", True, 1, 0.5, 1, 1, 1.0),
            ],
        ),
        (
            {"by": "step"},
            [
                (None, True, 1, 0.5, 1, 1, 1.0),
                ("summarise", True, 1, 0.25, 1, 1, 0.5),
                ("write", True, 1, 0.25, 1, 1, 0.5),
            ],
        ),
        (
            {"by": "kind"},
            [
                ("draft", True, 1, 0.25, 1, 1, 0.5),
                ("summary", True, 1, 0.25, 1, 1, 0.5),
                ("text", True, 1, 0.5, 1, 1, 1.0),
            ],
        ),
        (
            {"by": "model"},
            [
                (None, True, 1, 0.5, 1, 1, 1.0),
                ("writer-0", True, 1, 0.25, 1, 1, 0.5),
                ("writer-1", True, 1, 0.25, 1, 1, 0.5),
            ],
        ),
        (
            {"by": "prompt"},
            [
                (None, True, 2, 0.75, 2, 2, 1.5),
                ("Write it up.", True, 1, 0.25, 1, 1, 0.5),
            ],
        ),
    ],
    "error_nodes": [
        (
            {},
            [
                ("s2", 2, *S2_MADE, 1, ["k2"], 1, S2_START),
                ("m1", 3, *M1_MADE, 1, ["k2"], 1, TEXTS["m1"]),
                ("t", 4, *T_MADE, 1, ["k5"], 1, TEXTS["t"]),
            ],
        ),
    ],
    "conflicting_verdicts": [
        (
            {},
            [
                ("k2", K2, NFS, True, FS, 1, "v2", "openai", "judge-1", 2, DAY.format(2)),
                ("k2", K2, FS, False, FS, 1, "v2-old", "lexical", None, 2, DAY.format(1)),
            ],
        ),
        ({"claim_id": "k1"}, []),
    ],
    "verification_difference": [
        (
            {"claim_id": "k2"},
            [
                ("v2", "v2-old", what, node_id, sentence, this, other)
                for what, node_id, sentence, this, other in (
                    ("verdict", None, None, NFS, FS),
                    ("termination", None, None, "only_roots_with_evidence_left", "no_candidates"),
                    ("engine", None, None, "openai", "lexical"),
                    ("model", None, None, "judge-1", None),
                    ("error_stages", None, None, "2 3", ""),
                    ("interim verdict 2", None, None, NFS, None),
                    ("checked", "s1", None, "2", None),
                    ("checked", "c2", None, "2", None),
                    ("checked", HOSTILE, None, "2", None),
                    ("evidence", "s1", 1, "2", None),
                    ("evidence", "s2", 0, "1", None),
                    ("evidence", "c2", 0, "2", None),
                )
            ],
        ),
        ({"claim_id": "k1"}, []),  # there is no other one
        (
            {"claim_id": "k2", "verification_id": "v2-failed", "other_verification_id": "v2-old"},
            [
                ("v2-failed", "v2-old", "status", None, None, "failed", OK),
                ("v2-failed", "v2-old", "verdict", None, None, None, FS),
                ("v2-failed", "v2-old", "termination", None, None, None, "no_candidates"),
                ("v2-failed", "v2-old", "interim verdict 1", None, None, None, FS),
                ("v2-failed", "v2-old", "checked", "m1", None, None, "1"),
                ("v2-failed", "v2-old", "checked", "s2", None, None, "1"),
                ("v2-failed", "v2-old", "evidence", "m1", 0, None, "1"),
            ],
        ),
    ],
    "reused": [
        ({}, [("v5", "k5", K5, NFS, "v2-old", True, "{process}", "It reads the same.", 3)]),
    ],
    "verifications": [
        (
            {},
            [
                ("v2-failed", "k2", K2, "failed", None, None, "lexical", None, 2, DAY.format(3),
                 None),
                ("v2", "k2", K2, "succeeded", NFS, "confirmed", "openai", "judge-1", 2,
                 DAY.format(2), None),
                ("v5", "k5", K5, "succeeded", NFS, "overridden", "lexical", None, 2,
                 DAY.format(1), None),
                ("v3", "k3", K3, "succeeded", INC, "unclear", "lexical", None, 2, DAY.format(1),
                 None),
                ("v2-old", "k2", K2, "succeeded", FS, "confirmed", "lexical", None, 2,
                 DAY.format(1), None),
                ("v1", "k1", K1, "succeeded", FS, "confirmed", "lexical", None, 2, DAY.format(1),
                 None),
            ],
        ),
        (
            {"claim_id": "k2", "status": "failed"},
            [("v2-failed", "k2", K2, "failed", None, None, "lexical", None, 2, DAY.format(3),
             None)],
        ),
    ],
    "unfinished_verifications": [
        (
            {},
            [
                ("{process}", "v2-failed", "k2", K2, "failed", "The model was away.", "lexical",
                 None, DAY.format(3), None),
            ],
        ),
        ({"status": "queued"}, []),
    ],
    "reviews": [
        (
            {},
            [
                ("r4", "k2", K2, "confirmed", FS, FS, "m1 says so.", "Ada", None, DAY.format(7),
                 True, "v2-old", "lexical", None, True),
                ("r6", "k5", K5, "overridden", NFS, INC, "No list of prizes.", "Bo", "desk",
                 DAY.format(6), True, "v5", "lexical", None, True),
                ("r3", "k2", K2, "confirmed", NFS, NFS, "310 it is.", "Bo", "desk",
                 DAY.format(6), True, "v2", "openai", "judge-1", False),
                UNCLEAR_OF_ADA,
                ("r2", "k2", K2, "overridden", NFS, FS, "It counts boats.", "Ada", None,
                 DAY.format(5), False, "v2", "openai", "judge-1", False),
                ("r1", "k1", K1, "confirmed", FS, FS, "", "Ada", None, DAY.format(5), True, "v1",
                 "lexical", None, True),
            ],
        ),
        ({"review": "unclear", "reviewer": "Ada", "claim_id": "k3"}, [UNCLEAR_OF_ADA]),
        ({"reviewer": "Cy"}, []),
    ],
    "disagreements": [
        (
            {},
            [
                ("k2", K2, NFS, FS, True, True, [
                    said("Ada", FS, "m1 says so.", 7), said("Bo", NFS, "310 it is.", 6),
                ], "v2", "openai", "judge-1", False, OK),
                ("k5", K5, NFS, INC, True, False, [said("Bo", INC, "No list of prizes.", 6)],
                 "v5", "lexical", None, True, OK),
            ],
        ),
    ],
}  # fmt: skip
