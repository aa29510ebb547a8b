"""Who answers the steps of GraphRAG in place of a model, so that every text can be foretold.

Texts are sentences such as `Ann meets Bo on day 3.`: each names two entities and a relationship.
"""

from __future__ import annotations

import re
from typing import Any

from fakes.model_answers import Answer, content_words

MEETING = re.compile(r"(\w+) meets (\w+)[^.]*\.")
RECORD = re.compile(r"^\((entity|relationship|report) (\d+)\) (.*)", re.MULTILINE)
TABLES = {"entity": "Entities", "relationship": "Relationships", "report": "Reports"}


def texts_by_mark(user: str) -> dict[tuple[str, int], str]:
    """What a prompt holds, by kind and number; the paragraphs of one stand behind each other."""
    found: dict[tuple[str, int], str] = {}
    for kind, number, text in RECORD.findall(user):
        key = (kind, int(number))
        found[key] = f"{found[key]} {text}" if key in found else text
    return found


class GraphReader:
    """Finds meetings, joins descriptions, reports every record, and points by shared words."""

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        """Answer one request."""
        return getattr(self, step)(user)

    def graph_extraction(self, user: str) -> Answer:
        """Each meeting: both who meet, and that they do."""
        entities: dict[str, str] = {}
        relationships: dict[tuple[str, str], str] = {}
        for found in MEETING.finditer(user):
            for name in found.groups():
                entities[name] = f"{entities.get(name, '')} {found[0]}".strip()
            pair = (found[1], found[2])
            relationships[pair] = f"{relationships.get(pair, '')} {found[0]}".strip()
        return {
            "entities": [
                {"name": name, "type": "person", "description": text}
                for name, text in entities.items()
            ],
            "relationships": [
                {"source": one, "target": two, "description": text, "strength": 3}
                for (one, two), text in relationships.items()
            ],
        }

    def description_summary(self, user: str) -> Answer:
        """The first sentence of each description."""
        told = re.findall(r"^\(description \d+\) ([^.]*\.)", user, re.MULTILINE)
        return {"description": " ".join(dict.fromkeys(told))}

    def community_report(self, user: str) -> Answer:
        """A finding for each record."""
        told = texts_by_mark(user)
        findings = [
            {
                "summary": f"About {kind} {number}",
                "explanation": f"{text.rstrip('.')} [Data: {TABLES[kind]} ({number})].",
            }
            for (kind, number), text in told.items()
            if kind != "report"
        ]
        return {"title": "People", "summary": "They meet.", "findings": findings}

    def map_answer(self, user: str) -> Answer:
        """A point for each report that has a word of the question, and one that does not help."""
        question = content_words(user.rpartition("\nQuestion: ")[2])
        points = []
        for (_, number), text in texts_by_mark(user).items():
            met = [one[0] for one in MEETING.finditer(text) if content_words(one[0]) & question]
            if met:
                told = f"{met[0].rstrip('.')} [Data: Reports ({number})]."
                points.append({"point": told, "score": 40 + number})
        return {"points": [*points, {"point": "Nothing more.", "score": 0}]}

    def reduce_answer(self, user: str) -> Answer:
        """All points."""
        told = re.findall(r"^\(point \d+, score \d+\) (.*)", user, re.MULTILINE)
        return {"answer": "Who met:\n\n" + "\n\n".join(told)}
