"""A process whose notes turned "may" into "will", and a model that verifies and attributes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.attributing import AttributionReader, gold_sentences
from fakes.model_answers import Lines, ScriptedReader, WordReader

WILL = "The east quay will close in winter."
MAY = "It may close the east quay in winter."
NFS, FS = "NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED"
NOWHERE = gold_sentences()[4]["text"]
"""What no source says."""

TWISTED: dict[str, Any] = {
    "nodes": [
        {"node_id": "r", "text": f"It rains. {MAY}", "stage": 1},
        {"node_id": "notes", "text": f"The board met. {WILL}", "stage": 2},
        {"node_id": "t", "text": f"News: {WILL} {NOWHERE}", "stage": 3},
    ],
    "edges": [{"source": "r", "target": "notes"}, {"source": "notes", "target": "t"}],
    "claims": [
        {"claim_id": "k1", "text": WILL},
        {"claim_id": "k2", "text": "It rains."},
        {"claim_id": "k3", "text": NOWHERE},
    ],
}
"""Parts of a process file. The notes turned "may" into "will", which the summary passed on."""

LINES = {
    WILL: Lines(evidence=(WILL, MAY), verdicts=(FS, NFS)),
    "It rains.": Lines(evidence=("It rains.",), verdicts=(FS,)),
    NOWHERE: Lines(verdicts=(NFS,)),
}
"""What verification answers, by the claim: the error nodes are those of k1 (notes) and k3 (t)."""


@dataclass
class Both:
    """Answers the steps of attribution by the gold file, those of verification by a script.

    Attributes:
        lines: What verification answers, by the claim.
        corrections: Wordings by what the prompt is: `plain`, `highlighted` or `attribution`.
    """

    lines: Mapping[str, Lines] = field(default_factory=dict)
    corrections: Mapping[str, str] = field(default_factory=dict)
    script: ScriptedReader = field(init=False)

    def __post_init__(self) -> None:
        self.script = ScriptedReader(self.lines)  # it remembers what it was asked

    def __call__(self, step: str, system: str, user: str, request: Any) -> Any:
        """Answer one request."""
        if step == "correction" and self.corrections:
            whole = "The board met on 4 March." in user
            mode = "highlighted" if "\nMarked:" in user else "plain" if whole else "attribution"
            return {"sentence": self.corrections[mode]}
        if step in {"attribution", "faithfulness", "correction"}:
            return AttributionReader()(step, system, user, request)
        if step == "claim_decomposition":
            sentence = user.rpartition("Sentence: ")[2]
            return {"claims": sentence.split(" and ", 1)}
        if self.lines:
            return self.script(step, system, user, request)
        return WordReader()(step, system, user, request)
