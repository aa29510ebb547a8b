"""The differences of two trails: their settings, their outcomes, and the first iteration.

Two verifications of one claim are walks over the same process. They go the same way until one
reads other nodes, selects other sentences or gives another interim verdict; what follows is a
consequence of that.

Source: VeriTrail 3.2 (traceability); the comparison is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from veritrail_graph.graph.model import CitedSentence, Iteration, Verification
from veritrail_graph.graph.model.difference import ChangedValue, Difference, Parting, RoundSide

_JUDGE = ("engine", "model", "verdict_engine")
"""Settings from whose change others follow."""


class DifferingPart(StrEnum):
    """In what two rounds of the same number differ."""

    NODES = "nodes"
    EVIDENCE = "evidence"
    VERDICT = "verdict"
    LENGTH = "length"


Changed = Mapping[str, ChangedValue]
"""Values that differ, by name; keys of settings inside others are joined by dots."""


def compare(a: Verification, b: Verification) -> Difference:
    """Return how two verifications differ, and where their trails part."""
    claim, outcome = _changed(_claim(a), _claim(b)), _changed(_outcome(a), _outcome(b))
    parting = _parting(a, b)
    return Difference.model_construct(
        a=a.verification_id,
        b=b.verification_id,
        same=not (claim or outcome or parting),
        same_claim=not claim,
        claim=claim,
        settings=_changed(_settings(a, given=not claim), _settings(b, given=not claim)),
        outcome=outcome,
        parting=parting,
        sides=[a, b],
    )


def changed_settings(a: str | None, b: str | None) -> dict[str, ChangedValue]:
    """In what two settings, each as JSON, differ."""
    return _changed(flat_settings(a), flat_settings(b))


_OF_A_STEP = {
    "model": "the model",
    "endpoint": "the endpoint",
    "temperature": "the temperature",
    "effort": "the effort of reasoning",
    "prompt": "the prompts",
    "prompt_hash": "the prompts",
    "structured": "structured output",
}
_OF_A_GROUP = {"limits": "the numbers of sentences", "samples": "the samples"}
_PLAIN = {
    "engine": "the engine",
    "language": "the language",
    "sentences": "where sentences end",
    "sub_claims": "sub-claims or none",
}


def settings_in_words(changed: Changed) -> list[str]:
    """Return what differs between two settings, as a person names it, each once.

    Where the engine differs, so do its steps: only the engine is named.
    """
    differing = [name for name, both in changed.items() if not _only_shares(name, both)]
    words = dict.fromkeys(map(_setting_in_words, differing))
    engine = _PLAIN["engine"]
    if engine in words:
        return [engine]
    if len(differing) < len(changed):
        words[_SHARE] = None
    return list(words)


_SHARE = "how many claims share a prompt"


def _only_shares(name: str, both: ChangedValue) -> bool:
    """Return whether a setting differs only in how claims share prompts."""
    if name == "engine":
        plain = [str(engine).replace("+shared", "") for engine in (both.a, both.b)]
        return plain[0] == plain[1]
    return any(part.endswith("_shared") or part == "share" for part in name.split("."))


def _setting_in_words(name: str) -> str:
    parts = name.split(".")
    if "escalate_to" in parts:
        return "the second judge"
    return _OF_A_GROUP.get(parts[0]) or _OF_A_STEP.get(parts[-1]) or _PLAIN.get(name, name)


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, ChangedValue]:
    return {
        name: ChangedValue(a=a.get(name), b=b.get(name))
        for name in dict.fromkeys([*a, *b])
        if a.get(name) != b.get(name)
    }


def _claim(one: Verification) -> dict[str, Any]:
    return {
        "process_id": one.process_id,
        "claim_id": one.claim_id,
        "claim": one.claim,
        "node_id": one.node_id,
    }


def _settings(one: Verification, *, given: bool) -> dict[str, Any]:
    """Everything that was set, and the sub-claims that were given, where claims are the same.

    Fields of the verification stand for settings that are not known.
    """
    fields: dict[str, Any] = {
        "engine": one.engine,
        "model": one.model,
        "q": one.q,
        "content_hash": one.content_hash,
    }
    if given:
        fields["sub_claims"] = list(one.sub_claims)
    return {**fields, **flat_settings(one.settings)}


def flat_settings(settings: str | None) -> dict[str, Any]:
    """Settings without nesting: keys of objects inside others are joined by dots."""
    return _flat(json.loads(settings)) if settings is not None else {}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _outcome(one: Verification) -> dict[str, Any]:
    return {
        "status": one.status.value,
        "verdict": one.verdict.value if one.verdict else None,
        "score": one.score,
        "termination": one.termination.value if one.termination else None,
        "error_stages": list(one.error_stages),
        "error_nodes": [node.node_id for node in one.error_nodes],
        "error": one.error,
    }


def _parting(a: Verification, b: Verification) -> Parting | None:
    rounds = zip_longest(a.iterations, b.iterations)
    for number, (one, other) in enumerate(rounds, start=1):
        parts = [DifferingPart.LENGTH] if one is None or other is None else _parts(one, other)
        if parts:
            a_side, b_side = _side(one, other), _side(other, one)
            return Parting(iteration=number, parts=list(parts), a=a_side, b=b_side)
    return None


def _parts(one: Iteration, other: Iteration) -> list[DifferingPart]:
    differ = {
        DifferingPart.NODES: _checked(one) != _checked(other),
        DifferingPart.EVIDENCE: _selected(one).keys() != _selected(other).keys(),
        DifferingPart.VERDICT: one.verdict is not other.verdict,
    }
    return [part for part, differs in differ.items() if differs]


def _side(mine: Iteration | None, theirs: Iteration | None) -> RoundSide | None:
    """Return what only one side did; all that it did where the other had ended."""
    if mine is None:
        return None
    read = _checked(theirs) if theirs else frozenset()
    selected = _selected(theirs) if theirs else {}
    return RoundSide(
        verdict=mine.verdict,
        reasoning=mine.reasoning,
        checked_only=[ref.node_id for ref in mine.checked if ref.node_id not in read],
        selected_only=[cited for place, cited in _selected(mine).items() if place not in selected],
    )


def _checked(iteration: Iteration) -> frozenset[str]:
    return frozenset(ref.node_id for ref in iteration.checked)


def _selected(iteration: Iteration) -> dict[tuple[str, int, int], CitedSentence]:
    """Selected sentences by their place in the process, in the order of the frontier."""
    return {(cited.node_id, cited.start, cited.end): cited for cited in iteration.evidence}


def folded_settings(
    settings: Changed,
) -> tuple[dict[str, ChangedValue], dict[str, ChangedValue]]:
    """The settings that are shown, and those that are folded: they follow from another judge."""
    folds = any(name in _JUDGE for name in settings)
    shown = {name: both for name, both in settings.items() if not (folds and "." in name)}
    return shown, {name: both for name, both in settings.items() if name not in shown}
