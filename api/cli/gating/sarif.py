"""An outcome of the gate as SARIF, which editors and forges show at a line of a file.

Source: SARIF 2.1.0 (OASIS).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from veritrail_graph.api.cli.gating.entries import BaselineChange, Entry
from veritrail_graph.api.cli.gating.output import cut, review_words, stage_words, worst
from veritrail_graph.api.cli.gating.rules import Outcome
from veritrail_graph.api.show.texts import shown
from veritrail_graph.api.show.words import State

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    State.NOT_SUPPORTED: "error",
    State.INCONCLUSIVE: "warning",
    State.UNDECIDED: "note",
    State.FAILED: "warning",
    State.UNCHECKED: "note",
    State.SUPPORTED: "note",
}
_RULES = {
    State.NOT_SUPPORTED: "A claim is not fully supported by its sources.",
    State.INCONCLUSIVE: "The sources leave open whether a claim is right.",
    State.UNDECIDED: "Cannot tell of a claim: no model was asked, or samples did not agree.",
    State.FAILED: "A claim could not be checked.",
    State.UNCHECKED: "A claim was not checked.",
    State.SUPPORTED: "A person calls a supported claim something else.",
}
_BRACKET = re.compile(r"(?<!\\)(\\*)([\[\]])")
_TEXT = 1_000
_BYTES = 50_000_000
_ENDS = 24
"""Letters of the beginning of a claim that are looked for where it does not appear whole."""


def outcome_sarif(outcome: Outcome, names: Mapping[int, str], artifact: Path | None) -> str:
    """The claims that are not supported, each at the line of the file that states it.

    Args:
        outcome: The outcome.
        names: Names of the stages.
        artifact: The file that holds the answer, relative to the root of the repository; None:
            results name no file.
    """
    found = [one for one in worst(outcome) if one.change is not BaselineChange.KNOWN]
    kinds = [state for state in State if any(one.state is state for one in found)]
    driver = {
        "name": "VeriTrail Graph",
        "version": metadata.version("veritrail-graph"),
        "rules": [
            {"id": state.value, "shortDescription": {"text": _RULES[state]}} for state in kinds
        ],
    }
    lines = _lines(artifact)
    results = [_result(outcome, one, names, artifact, lines) for one in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _result(
    outcome: Outcome,
    entry: Entry,
    names: Mapping[int, str],
    artifact: Path | None,
    lines: list[str],
) -> dict[str, Any]:
    facts = [stage_words(entry, names), cut(entry.reason or "", 400), review_words(entry)]
    if entry.indicative:
        facts.append("indicative: no language model judged")
    if entry.judged is not None and entry.judged.appeals:
        facts.append("its evidence speaks to its reader or a judge")
    said = "; ".join(fact for fact in facts if fact)
    words = f"{cut(entry.text, _TEXT)}" + (f" ({said})" if said else "")
    identity = f"{outcome.process_id}\n{entry.claim_id}\n{entry.text}"
    result: dict[str, Any] = {
        "ruleId": entry.state.value,
        "level": _LEVELS[entry.state],
        "message": {"text": _escaped(shown(words))},
        "partialFingerprints": {"claim/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": {"claim_id": entry.claim_id, "process_id": outcome.process_id},
    }
    if artifact is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(artifact.as_posix())}}
        place["region"] = _region(entry.text, lines)
        result["locations"] = [{"physicalLocation": place}]
    return result


def _escaped(words: str) -> str:
    """A text that holds neither a link nor a placeholder, though it has brackets or braces.

    Source: SARIF 2.1.0, 3.11.5 and 3.11.6.
    """
    words = _BRACKET.sub(lambda found: found[1] * 2 + "\\" + found[2], words)
    return words.replace("{", "{{").replace("}", "}}")


def _lines(artifact: Path | None) -> list[str]:
    """The lines of the file; none where it is not there or no text."""
    if artifact is None:
        return []
    try:
        if artifact.stat().st_size > _BYTES:
            return []
        return artifact.read_text("utf-8").split("\n")  # newlines alone, as in editors
    except (OSError, UnicodeDecodeError):
        return []


def _region(text: str, lines: list[str]) -> dict[str, int]:
    """The line that states a claim, verbatim, as JSON or by its beginning; else the first."""
    quoted = json.dumps(text, ensure_ascii=False)[1:-1]
    for wanted in (text, quoted, json.dumps(text)[1:-1], text[:_ENDS]):
        for number, line in enumerate(lines, 1):
            at = line.find(wanted)
            if wanted and at >= 0:
                end = at + len(wanted)
                return {"startLine": number, "startColumn": at + 1, "endColumn": end + 1}
    return {"startLine": 1}
