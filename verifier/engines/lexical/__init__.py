"""Engine `lexical`: a judge without a model, indicative only.

It compares words, numbers, names and denials, so that everything runs on a fresh machine.
It knows no meaning: what it says is a hint, and every output that it touches says so.

Source: VeriTrail 3.1.2 and 3.1.3 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.verifier.engines import Engine
from veritrail_graph.verifier.engines.lexical.indexing import SentenceIndex
from veritrail_graph.verifier.engines.lexical.judging import CANNOT_TELL, SILENCE, decide
from veritrail_graph.verifier.engines.lexical.selecting import select
from veritrail_graph.verifier.measured import Measured, Precision
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection, are_longer

__all__ = ["ENGINE", "ByWords", "LexicalJudge"]

VERSION = 10
"""Goes up when the same input may get another verdict, so that older trails are not reused."""

UNREAD = f"{CANNOT_TELL.rstrip(': ')}."
"""Why it tells nothing where there was nothing to read; the walk adds of what."""

# Below this a thread costs more than it spares the event loop.
_CHARACTERS_IN_LINE = 10_000


class ByWords:
    """An engine by overlap of words, numbers and names; its answers are indicative only.

    Attributes:
        version: The version of its rules, which decides its answers; nothing can be set.
    """

    __slots__ = ()

    version: ClassVar[int]

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "lexical"

    @property
    def model(self) -> str | None:
        """None: it asks no model."""
        return None

    @property
    def indicative(self) -> bool:
        """True: it knows no meaning."""
        return True

    @property
    def settings(self) -> Mapping[str, Any]:
        """The version of the rules."""
        return {"version": self.version}


class LexicalJudge(ByWords):
    """Judges on word, number, name and negation overlap. Limits on prompts do not apply."""

    version = VERSION

    def __init__(self) -> None:
        self._index = SentenceIndex()

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim brings: without a model none can be found."""
        del meter
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Select sentences that hold much of the claim or say otherwise; one entry a node."""
        del meter
        if not nodes:
            return Selection(silence=UNREAD)
        if not are_longer(nodes, _CHARACTERS_IN_LINE):
            return Selection(select(claim.text, nodes), silence=SILENCE)
        found = await asyncio.to_thread(select, claim.text, nodes, self._index)
        return Selection(found, silence=SILENCE)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict on the selected sentences and on those of the roots with evidence."""
        del meter
        if not are_longer(found.roots, _CHARACTERS_IN_LINE):
            return Judgement(*decide(claim.text, found.evidence, found.roots))
        told = await asyncio.to_thread(decide, claim.text, found.evidence, found.roots, self._index)
        return Judgement(*told)


MEASURED = Measured(
    pairs=240,
    decided=1,
    balanced_accuracy=None,
    claims=6_925,
    claims_decided=128,
    precisions={
        Verdict.FULLY_SUPPORTED: Precision(given=121, right=118),
        Verdict.NOT_FULLY_SUPPORTED: Precision(given=7, right=7),
    },
)
"""What `veritrail judge check` says of it, and what was measured on public data sets."""

ENGINE = Engine(
    "lexical",
    "no model: words, numbers and names are compared",
    lambda _parts: LexicalJudge(),
    measured=MEASURED,
)
