"""Evidence by one engine, verdicts by another.

Source: VeriTrail G (the verdict step can be replaced with any verifier that assesses a claim's
faithfulness based on evidence).
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Claim
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import (
    Found,
    Judge,
    Judgement,
    ReadNode,
    Selection,
    SharingJudge,
)
from veritrail_graph.verifier.sharing import Sharing


@dataclass(frozen=True, slots=True)
class SplitJudge:
    """A `Judge` of two.

    Attributes:
        evidence: Takes claims apart and selects evidence.
        verdicts: Gives verdicts.
    """

    evidence: Judge
    verdicts: Judge

    @property
    def name(self) -> str:
        """Both engines, such as `openai+nli`: the last one gave the verdicts."""
        return f"{self.evidence.name}+{self.verdicts.name}"

    @property
    def model(self) -> str | None:
        """The models of both, where they have any."""
        names = [one.model for one in (self.evidence, self.verdicts) if one.model]
        return " + ".join(dict.fromkeys(names)) or None

    @property
    def indicative(self) -> bool:
        """Whether one of them compares words only: a lack of evidence is a verdict as well."""
        return self.evidence.indicative or self.verdicts.indicative

    @property
    def sharing(self) -> Sharing | None:
        """Gathers claims that share a prompt, where that is done."""
        return self.evidence.sharing if isinstance(self.evidence, SharingJudge) else None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of both."""
        return {
            "evidence": {"engine": self.evidence.name, **self.evidence.settings},
            "verdict": {"engine": self.verdicts.name, **self.verdicts.settings},
        }

    def sub_claims(self, claim: Claim, meter: Meter) -> Coroutine[Any, Any, tuple[str, ...]]:
        """Those that the engine of evidence finds."""
        return self.evidence.sub_claims(claim, meter)

    def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Coroutine[Any, Any, Selection]:
        """Select evidence by the engine of evidence."""
        return self.evidence.select_evidence(claim, nodes, meter)

    def judge(self, claim: Claim, found: Found, meter: Meter) -> Coroutine[Any, Any, Judgement]:
        """Give a verdict by the engine of verdicts."""
        return self.verdicts.judge(claim, found, meter)
