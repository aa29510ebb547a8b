"""A check, by words alone, that a text says what was asked.

Source: ours (docs/command-line.md, `verify --claim`).
"""

from __future__ import annotations

from veritrail_graph.graph.model import NodeRef, Sentence, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines.lexical.judging import decide
from veritrail_graph.verifier.engines.lexical.selecting import select
from veritrail_graph.verifier.localization import bears_on
from veritrail_graph.verifier.ports import SplitNode


def is_said(ref: NodeRef, text: str, claim: str) -> bool | None:
    """Tell whether the text of a node says a claim.

    Returns:
        True where a sentence is the claim, or says it in the same words as the judge without a
        model compares them; False where no sentence has half of its words; None: words alone
        cannot tell.
    """
    if not bears_on(text, claim):
        return False
    sentences = SentenceSplitter.for_language().split(ref.node_id, text)
    return True if any(_says(ref, text, one, claim) for one in sentences) else None


def _says(ref: NodeRef, text: str, sentence: Sentence, claim: str) -> bool:
    """Tell whether one sentence says it: words of several do not add up to a statement."""
    if _plain(sentence.text) == _plain(claim):
        return True
    if not bears_on(sentence.text, claim):
        return False
    alone = SplitNode(ref, text, (sentence,))
    return decide(claim, select(claim, [alone]), ())[0] is Verdict.FULLY_SUPPORTED


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?")
