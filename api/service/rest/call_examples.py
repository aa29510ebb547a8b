"""A few words and a line of curl for each call; added to the description."""

from __future__ import annotations

import json
import re
from typing import Any

BASE = "http://127.0.0.1:8000"

_METHODS = ("get", "post", "patch", "delete")
_EXAMPLES = {
    "process_id": "harbour-summary",
    "claim_id": "k04",
    "verification_id": "v-35a9",
    "other_id": "v-7c21",
    "job_id": "j-0b0f",
    "run_id": "r-0b0f",
    "name": "error_origin",
}
"""Parameters of paths in examples; ids of verifications, jobs and runs are longer in truth."""

_LONGEST = 90
_SENTENCE_END = re.compile(r"(?<=[a-z0-9)`])[.;:](?=\s|$)")
_JSON = "application/json"


def add_examples(document: dict[str, Any]) -> None:
    """Add a summary and a call by curl to every operation.

    Args:
        document: The description, which is changed.
    """
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                operation = item[method]
                operation["summary"] = _summary(operation)
                call = curl(document, path, method, operation)
                operation["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": call}]
                words = operation.get("description", "")
                operation["description"] = f"{words}\n\n```sh\n{call}\n```".strip()


def _summary(operation: dict[str, Any]) -> str:
    """The first sentence of the description; the name of the function where there is none."""
    words = " ".join(operation.get("description", "").split("\n\n")[0].split())
    first = _SENTENCE_END.split(words, maxsplit=1)[0].rstrip(".")
    if not first:
        return str(operation["summary"])
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"


def curl(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    """A call of an operation, for a service on this machine without keys."""
    address = re.sub(r"\{(\w+)\}", lambda found: _EXAMPLES.get(found[1], found[1]), path)
    parts = ["curl -f"]
    if method != "get":
        parts.append(f"-X {method.upper()}")
    content = operation.get("requestBody", {}).get("content", {})
    if _JSON in content and (body := _body(document, content[_JSON])) is not None:
        text = json.dumps(body, ensure_ascii=False).replace("'", "'\\''")
        parts += ["-H 'Content-Type: application/json'", f"-d '{text}'"]
    elif content:
        parts.append("--data-binary @process.json")
    return " ".join([*parts, f"'{BASE}{address}'"])


def _body(document: dict[str, Any], content: dict[str, Any]) -> Any:
    """An example of a body; None: there is none."""
    for found in content.get("examples", {}).values():
        return found.get("value")
    schema = content.get("schema", {})
    for each in (schema, *schema.get("anyOf", ())):
        name = each.get("$ref", "").rpartition("/")[2]
        described = document["components"]["schemas"].get(name, each)
        if examples := described.get("examples"):
            return examples[0]
    return content.get("example")
