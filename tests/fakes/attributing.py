"""Attribution in tests: the harbour sample, its gold file, and a model that answers from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.model_answers import content_words
from fakes.model_prompts import parse_sources

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAMPLE = EXAMPLES / "harbour-attribution.json"
GOLD = EXAMPLES / "harbour-attribution.gold.json"


def gold_sentences() -> list[dict[str, Any]]:
    """The sentences of the sample's summary with what they rest on."""
    (node,) = json.loads(GOLD.read_text(encoding="utf-8"))["nodes"]
    found: list[dict[str, Any]] = node["sentences"]
    return found


@dataclass
class AttributionReader:
    """Answers the steps of attribution as the gold file says; a `Reader` of the scripted server.

    A sentence that is corrected is judged faithful. What is attributed to a sentence is looked up
    by its text, wherever it stands in the prompt.

    Attributes:
        answers: An answer by the text of a sentence, in place of what the gold file says.
        parts: The propositions by the text of a sentence; others are one proposition.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, step: str, system: str, user: str, request: Any) -> Any:
        """Answer one request."""
        if step == "propositions":
            sentence = user.removeprefix("Sentence: ")
            return {"propositions": self.parts.get(sentence, [[sentence]])}
        shown = parse_sources(user, step)
        if step == "attribution" and shown.text in self.answers:
            return self.answers[shown.text]
        known = {one["text"]: one for one in gold_sentences()}
        corrected = {one["correction"] for one in known.values()}
        if step == "faithfulness":
            label = "FAITHFUL" if shown.text in corrected else known[shown.text]["judged_label"]
            return {"label": label, "reason": "As the gold file says."}
        if step == "correction":
            return {"sentence": known[shown.text]["correction"]}
        wanted = {one["text"]: one["categories"] for one in known[shown.text]["attributed"]}
        return {
            "attributions": [
                {"sentence_id": number, "categories": wanted[text]}
                for number, text in shown.sentences.items()
                if text in wanted
            ]
        }


FERRY = "The Skerra ferry carried 41,000 passengers last year and has bought a second ferry."
"""The sentence of the sample that is right in its first half and wrong in its second."""
HALVES = ("The Skerra ferry carried 41,000 passengers last year", "The Skerra ferry",
          "has bought a second ferry")  # fmt: skip


def by_parts(answers: Mapping[str, Any] | None = None) -> AttributionReader:
    """A reader that splits `FERRY` into its halves, the second of which has a gap.

    Args:
        answers: An answer by the text of a sentence, besides those on the halves.
    """
    first, *second = HALVES
    rests = {first: (5, "EVIDENCE"), " … ".join(second): (6, "NEAR_MATCH")}
    of_halves = {
        text: {"attributions": [{"sentence_id": number, "categories": [category]}]}
        for text, (number, category) in rests.items()
    }
    return AttributionReader({**of_halves, **(answers or {})}, {FERRY: [[first], second]})


def by_words(step: str, _system: str, user: str, _request: Any) -> Any:
    """Answers the steps of attribution by shared words, of any text; for measurements.

    The source sentence that shares most words is named: as evidence where it has all of them.
    """
    shown = parse_sources(user, step)
    wanted = content_words(shown.text)
    shared = {number: len(wanted & content_words(text)) for number, text in shown.sentences.items()}
    best = max(shared, key=lambda number: (shared[number], -number), default=None)
    is_whole = best is not None and shared[best] == len(wanted)
    if step == "faithfulness":
        return {"label": "FAITHFUL" if is_whole else "UNFAITHFUL", "reason": "By shared words."}
    if step == "correction":
        return {"sentence": shown.text if best is None else shown.sentences[best]}
    if best is None or not shared[best]:
        return {"attributions": []}
    category = "EVIDENCE" if is_whole else "NEAR_MATCH"
    return {"attributions": [{"sentence_id": best, "categories": [category]}]}
