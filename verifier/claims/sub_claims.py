"""Sub-claims: a claim taken apart, and its parts again, until nothing comes apart any more.

They are context for the judge, and never verified themselves.

Source: VeriTrail 3.1.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from veritrail_graph.verifier.bill import Bill
from veritrail_graph.verifier.claims.steps import claims_of_answer
from veritrail_graph.verifier.excerpts import one_line
from veritrail_graph.verifier.prompted import PromptedStep, all_of

ATTEMPTS = 20
"""The most decompositions of one claim. Source: VeriTrail 3.1.1."""


async def decompose(claim: str, step: PromptedStep, bill: Bill) -> tuple[str, ...]:
    """The sub-claims of a claim in a stable order; the claim alone where it has none.

    Works off a queue. One claim in the answer: it is final. Several: each is queued, but none
    that was processed before; a claim that stands among its own parts is final. What the last
    attempt leaves in the queue stays as it is. Claims of one round do not depend on each other
    and are asked about side by side.

    Args:
        claim: The claim.
        step: The decomposition prompt with its model.
        bill: Charged with every call.

    Raises:
        ModelError: An answer could not be had.

    Source: VeriTrail 3.1.1.
    """
    queue = [claim]
    processed: set[str] = set()
    final: dict[str, str] = {}
    left = ATTEMPTS
    while queue:
        texts = _not_in(processed, queue)
        now, rest = texts[:left], texts[left:]
        for text in rest:
            final.setdefault(folded(text), text)
        left -= len(now)
        processed.update(map(folded, now))
        queue = []
        for text, parts in zip(now, await _ask(now, step, bill), strict=True):
            if len(parts) == 1:
                final.setdefault(folded(parts[0]), parts[0])
            elif folded(text) in map(folded, parts):
                final.setdefault(folded(text), text)
            if len(parts) > 1:
                queue += _not_in(processed, parts)
    if len(final) > 1:
        final.pop(folded(claim), None)  # a claim is no part of itself
    return tuple(final.values()) or (claim,)


def _not_in(processed: Collection[str], texts: Iterable[str]) -> list[str]:
    """The texts that were not processed, each once, in its first spelling."""
    found: dict[str, str] = {}
    for text in texts:
        if folded(text) not in processed:
            found.setdefault(folded(text), text)
    return list(found.values())


async def _ask(texts: list[str], step: PromptedStep, bill: Bill) -> list[tuple[str, ...]]:
    """The parts of each text; the text itself where the answer names none."""
    answers = await all_of(
        step.draw(f"Claim: {one_line(text)}", claims_of_answer, bill) for text in texts
    )
    return [parts or (text,) for text, (parts,) in zip(texts, answers, strict=True)]


def folded(text: str) -> str:
    """A text without what does not tell two claims apart: case, and the kind of whitespace."""
    return " ".join(text.split()).casefold()
