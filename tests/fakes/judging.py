"""Nodes to read, answers to give, and the steps of the language-model judge over them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from fakes.asking import ScriptedAsking

from veritrail_graph.graph.model import CitedSentence, Claim, Evidence, NodeRef, Role, Sentence
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.evidence import EvidenceStep
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import Request, Step
from veritrail_graph.verifier.ports import ReadNode, SplitNode
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import PAPER, load_prompts
from veritrail_graph.verifier.verdict import PromptVerdict

PROMPTS = load_prompts(PAPER)
SPLITTER = SentenceSplitter.for_language()
NOTHING = '{"sentence_ids": [], "context_ids": [], "summary": null, "missing": null}'


def a_claim(text: str = "The ferry sailed.", *sub_claims: str) -> Claim:
    return Claim(claim_id="k", text=text, node_id="t", sub_claims=sub_claims)


def a_node(
    name: str,
    texts: Sequence[str],
    *,
    root: bool = False,
    position: int = 0,
    stage: int | None = None,
) -> ReadNode:
    """A node whose sentences are these texts."""
    made, start = [], 0
    for index, text in enumerate(texts):
        made.append(Sentence(name, index, start, start + len(text), text))
        start += len(text) + 1
    role = Role.ROOT if root else Role.INTERMEDIATE
    stage = (1 if root else 2) if stage is None else stage
    return SplitNode(NodeRef(name, stage, position, role), " ".join(texts), tuple(made))


def numbered(name: str, count: int) -> list[str]:
    """Sentences that tell apart."""
    return [f"Sentence {number} of {name} tells of ship {number}." for number in range(count)]


def found_in(node: ReadNode, *indexes: int, summary: str | None = None) -> Evidence:
    """What a prompt found in a node."""
    cited = tuple(CitedSentence.of(node.sentences[index]) for index in indexes or (0,))
    return Evidence(
        text=summary or f"In {node.ref.node_id} ships are told of.", missing=None, sentences=cited
    )


def selects(*ids: object, context: Sequence[object] = (), summary: str = "A summary.") -> str:
    """An answer of evidence selection, with reasoning before it."""
    answer = {"sentence_ids": ids, "context_ids": context, "summary": summary, "missing": None}
    return f"Reasons.\n{json.dumps(answer)}"


def says(verdict: str, reason: str = "A reason.") -> str:
    """An answer of verdict generation, with reasoning before it."""
    return f"Reasons.\n{json.dumps({'verdict': verdict, 'reason': reason})}"


def evidence_step(
    asking: ScriptedAsking, limits: Limits = Limits(), samples: Samples = Samples()
) -> EvidenceStep:
    """Evidence selection with our prompt."""
    return EvidenceStep(PromptedStep(PROMPTS[Step.EVIDENCE_SELECTION], asking, samples), limits)


def verdict_step(
    asking: ScriptedAsking, limits: Limits = Limits(), samples: Samples = Samples()
) -> PromptVerdict:
    """Verdict generation with our prompt, and selection again where it is too much."""
    prompted = PromptedStep(PROMPTS[Step.VERDICT], asking, samples)
    return PromptVerdict(prompted, evidence_step(asking, limits), SPLITTER.split, limits)


def by_step(
    selection: Callable[[Request], str], verdict: Callable[[Request], str]
) -> Callable[[Request], str]:
    """Answers of a model that is asked for both."""

    def answer(request: Request) -> str:
        return (verdict if request.call.step == "verdict" else selection)(request)

    return answer
