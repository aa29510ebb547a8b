"""Texts and parts of answers about the process of `query_cases`."""

from __future__ import annotations

from typing import Any

NFS, FS, INC = "NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED", "INCONCLUSIVE"


def step(node_id: str, stage: int, role: str, *sentences: Any, via: Any = ()) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "stage": stage,
        "role": role,
        "via": list(via),
        "sentences": [{"sentence": n, "role": kind, "text": text} for n, kind, text in sentences],
    }


def cited(sentence: int, text: str, role: str = "evidence") -> dict[str, Any]:
    return {"sentence": sentence, "role": role, "text": text}


OPENED = "The harbour opened in 1901."
BUILT = "The Docks Company built it."
S1_OPENED = "It opened in 1901."
C2_SHIPS = "In 2024 the harbour handled 310 ships."
S1_SHIPS = "It handled 310 ships in 2024."
S2_SHIPS = "Some 320 ships came."
M1_SHIPS = "Opened in 1901, the harbour handled 320 ships in 2024."
K1, K2, K3, K4, K5 = (
    "The harbour opened in 1901.",
    "The harbour handled 320 ships in 2024.",
    "The harbour is old.",
    "The harbour handled ships.",
    "The harbour won a prize.",
)

T_STEP = step("t", 4, "terminal")
C2_STEP = step("c2", 1, "root", (0, "evidence", C2_SHIPS))
S1_STEP = step("s1", 2, "intermediate", (1, "evidence", S1_SHIPS))
S2_STEP = step("s2", 2, "intermediate", (0, "evidence", S2_SHIPS))
M1_STEP = step("m1", 3, "intermediate", (0, "evidence", M1_SHIPS))
C1_BOTH = [cited(0, OPENED), cited(1, BUILT, "context")]
# kind, step, model and prompt of nodes.
S2_MADE = ("summary", "summarise", "writer-0", None)
M1_MADE = ("draft", "write", "writer-1", "Write it up.")
T_MADE = ("text", None, None, None)
S2_START = "Some 320 ships came. " + "😀" * 179
DAY = "2026-01-{:02}T00:00:00.000000Z"
