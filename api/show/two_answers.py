"""Say why an attribution and a verdict on a claim of the same sentence differ.

Source: ours; VeriTrail 3.2 (the verdict), Error-tolerant attribution 3 (the label).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import FAITHFULNESS_WORDS, VERDICT_WORDS
from veritrail_graph.graph.model import Verdict, Verification
from veritrail_graph.graph.model.attribution import Against, Faithfulness, StoredSentence

LONGEST_NAME = 100
_OPPOSITE = {
    Verdict.NOT_FULLY_SUPPORTED: Faithfulness.FAITHFUL,
    Verdict.FULLY_SUPPORTED: Faithfulness.UNFAITHFUL,
}
_COMPARED = {
    Against.INPUTS: "the inputs of its node",
    Against.ROOTS: "the sources below its node",
    None: "other texts",
}


@dataclass(frozen=True, slots=True)
class Verdicted:
    """A claim's verdict, as far as it is compared with the label of a sentence.

    Attributes:
        node_id: The node of the sentence.
        verdict: The verdict; None: there is none.
        model: The model that gave it, where it is known.
        indicative: Whether words were compared.
        is_earlier: Whether an error is known to have come in before the sentence's node.
    """

    node_id: str
    verdict: Verdict | None
    model: str | None
    indicative: bool
    is_earlier: bool

    @classmethod
    def of(cls, found: Verification, node_id: str) -> Verdicted:
        """The verdict of a verification, compared with a sentence of a node."""
        wrong = [ref.node_id for ref in found.error_nodes]
        is_earlier = bool(wrong) and node_id not in wrong
        return cls(node_id, found.verdict, found.model, found.indicative, is_earlier)


def two_answers(sentence: StoredSentence, claim: Verdicted) -> str | None:
    """Say who compared what, where label and verdict contradict; None: they do not."""
    label = sentence.label
    if claim.verdict is None or label is None or label is not _OPPOSITE.get(claim.verdict):
        return None
    return (
        f"Two answers: the attribution calls sentence {sentence.sentence} of "
        f"{one_line(claim.node_id, LONGEST_NAME)} {FAITHFULNESS_WORDS[label]}, the claim is "
        f"{VERDICT_WORDS[claim.verdict]}. The attribution compared the sentence with "
        f"{_COMPARED[sentence.against]}, {_who(sentence.model, indicative=sentence.indicative)}; "
        "the verification looked for the claim step by step back to the sources, "
        f"{_who(claim.model, indicative=claim.indicative)}. {_why(sentence, claim)}"
    )


def _why(sentence: StoredSentence, claim: Verdicted) -> str:
    is_faithful = sentence.label is Faithfulness.FAITHFUL
    if is_faithful and claim.is_earlier and sentence.against is not Against.ROOTS:
        return "Both can be right: the sentence may repeat an error that came in before it."
    if sentence.indicative or claim.indicative:
        return "Comparing words cannot tell what is said in other words, so one may be wrong."
    return "One of them is wrong: a person has to look."


def _who(model: str | None, *, indicative: bool) -> str:
    if indicative:
        return "by comparing words"
    return f"by {one_line(model, LONGEST_NAME)}" if model else "by a model"
