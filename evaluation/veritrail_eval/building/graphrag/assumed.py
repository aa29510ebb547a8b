"""Answers of models that are assumed where the cost of a GraphRAG answer is estimated.

Source: VeriTrail B.2.1 (what was found in 3,199 chunks); lengths of answers are ours.
"""

from __future__ import annotations

from typing import Any

from veritrail_eval.building.steps import BuildStep
from veritrail_graph.verifier.estimate import AssumedWalk
from veritrail_graph.verifier.models.port import Request

NEIGHBOURS = 3
"""Chunks that name the same entities and relationships."""
SHARED_ENTITIES, OWN_ENTITIES = 5, 8
"""Entities of a chunk that its neighbours name, too, and others: 13 of 13.5 in the paper."""
SHARED_RELATIONSHIPS, OWN_RELATIONSHIPS = 6, 10
"""The same of relationships: 16 of 16.4 in the paper."""
HUBS = 4
"""Shared entities that the others hang on: 1.7 communities a chunk, in the paper 1.1."""
FINDINGS, POINTS, SCORE = 5, 5, 60
"""Findings of a report, points of a batch of reports, and how much a point helps."""
TOKENS = {
    BuildStep.GRAPH_EXTRACTION: 1_500,
    BuildStep.DESCRIPTION_SUMMARY: 200,
    BuildStep.COMMUNITY_REPORT: 900,
    BuildStep.MAP_ANSWER: 450,
    BuildStep.REDUCE_ANSWER: 1_000,
}
"""Tokens of an answer, its reasoning included."""
_SENTENCE = "It is said of this that it does what the text tells, with names, numbers and dates."


class AssumedGraphRag(AssumedWalk):
    """Assumed answers to the steps of GraphRAG; each chunk names the next entities."""

    chunks = 0

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, and how many tokens it is."""
        del iteration
        self.prompts += 1
        step = BuildStep(request.call.step)
        tokens = TOKENS[step]
        match step:
            case BuildStep.GRAPH_EXTRACTION:
                self.chunks += 1
                return _extraction(self.chunks - 1), tokens
            case BuildStep.DESCRIPTION_SUMMARY:
                return {"description": _text(4)}, tokens
            case BuildStep.COMMUNITY_REPORT:
                finding = {"summary": _text(1), "explanation": _text(5)}
                findings = [finding] * FINDINGS
                return {"title": "A community", "summary": _text(3), "findings": findings}, tokens
            case BuildStep.MAP_ANSWER:
                return {"points": [{"point": _text(2), "score": SCORE}] * POINTS}, tokens
            case _:
                return {"answer": _text(30)}, tokens


def _extraction(chunk: int) -> dict[str, Any]:
    shared = [f"Neighbour {chunk // NEIGHBOURS}.{number}" for number in range(SHARED_ENTITIES)]
    own = [f"Entity {chunk}.{number}" for number in range(OWN_ENTITIES)]
    pairs = [(one, two) for place, one in enumerate(shared) for two in shared[place + 1 :]]
    pairs = pairs[:SHARED_RELATIONSHIPS]
    around = [*own, *shared]
    # Each entity of its own hangs on a hub, and some hang on each other.
    pairs += [(one, shared[place % HUBS]) for place, one in enumerate(own)]
    rest = OWN_RELATIONSHIPS - OWN_ENTITIES
    pairs += [(own[place], own[place + HUBS]) for place in range(rest)]
    return {
        "entities": [{"name": one, "type": "thing", "description": _text(2)} for one in around],
        "relationships": [
            {"source": source, "target": target, "description": _text(1), "strength": 5}
            for source, target in pairs
        ],
    }


def _text(sentences: int) -> str:
    return " ".join([_SENTENCE] * sentences)


def assumptions() -> dict[str, Any]:
    """Return what is assumed, as JSON."""
    return {
        "entities_per_chunk": SHARED_ENTITIES + OWN_ENTITIES,
        "relationships_per_chunk": SHARED_RELATIONSHIPS + OWN_RELATIONSHIPS,
        "chunks_that_name_the_same": NEIGHBOURS,
        "points_per_batch": POINTS,
        "answer_tokens": {str(step): tokens for step, tokens in TOKENS.items()},
        "answers_from_cache": 0,
        "invalid_answers": 0,
    }
