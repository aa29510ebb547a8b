"""The differences of two trails: their settings, their outcomes, and the first iteration.

Two verifications of one claim are walks over the same process. They go the same way until one
reads other nodes, selects other sentences or gives another interim verdict; what follows is a
consequence of that.

Source: VeriTrail 3.2 (traceability); the comparison is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from veritrail_graph.graph.model import CitedSentence, Iteration, Verdict, Verification

_JUDGE = ("engine", "model", "verdict_engine")
"""Settings from whose change others follow."""


class Part(StrEnum):
    """In what two rounds of the same number differ."""

    NODES = "nodes"
    EVIDENCE = "evidence"
    VERDICT = "verdict"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that differs.

    Attributes:
        name: What it is; keys of settings inside others are joined by dots.
        a: Its value in the first verification; None where it has none.
        b: Its value in the second.
    """

    name: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class RoundSide:
    """One side of the round at which two trails part.

    Attributes:
        verdict: The interim verdict; None where there is none.
        reasoning: The reasons for it.
        checked: Nodes that only this side read, in the order of the frontier.
        selected: Sentences that only this side selected; their role is not compared.
    """

    verdict: Verdict | None
    reasoning: str
    checked: tuple[str, ...]
    selected: tuple[CitedSentence, ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first iteration that is not the same on both sides.

    Attributes:
        number: The round, counted from 1.
        parts: In what it differs, the cause before what follows from it.
        a: The first side, or None when that walk had ended before.
        b: The second side.
    """

    number: int
    parts: tuple[Part, ...]
    a: RoundSide | None
    b: RoundSide | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of two verifications.

    Attributes:
        a: The first verification.
        b: The second.
        claim: In what their claims differ; empty when both verified the same claim.
        settings: In what their settings differ, by key.
        outcome: In what their outcomes differ: status, verdict, score, end, error stages, reason
            of failure.
        parting: Where their trails part, or None when all their rounds are the same.
    """

    a: Verification
    b: Verification
    claim: tuple[Changed, ...]
    settings: tuple[Changed, ...]
    outcome: tuple[Changed, ...]
    parting: Parting | None

    @property
    def is_same_claim(self) -> bool:
        """Return whether both verified the same claim of the same process."""
        return not self.claim

    @property
    def is_same(self) -> bool:
        """Return whether both went the same way to the same end."""
        return not (self.claim or self.outcome or self.parting)


def compare(a: Verification, b: Verification) -> Difference:
    """Return how two verifications differ, and where their trails part."""
    claim = _changed(_claim(a), _claim(b))
    return Difference(
        a,
        b,
        claim=claim,
        settings=_changed(_settings(a, given=not claim), _settings(b, given=not claim)),
        outcome=_changed(_outcome(a), _outcome(b)),
        parting=_parting(a, b),
    )


def changed_settings(a: str | None, b: str | None) -> tuple[Changed, ...]:
    """In what two settings, each as JSON, differ."""
    return _changed(flat_settings(a), flat_settings(b))


_OF_A_STEP = {
    "model": "the model",
    "endpoint": "the endpoint",
    "temperature": "the temperature",
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


def settings_in_words(changed: Sequence[Changed]) -> list[str]:
    """Return what differs between two settings, as a person names it, each once.

    Where the engine differs, so do its steps: only the engine is named.
    """
    differing = [one for one in changed if not _only_shares(one)]
    words = dict.fromkeys(_setting_in_words(one.name) for one in differing)
    engine = _PLAIN["engine"]
    if engine in words:
        return [engine]
    if len(differing) < len(changed):
        words[_SHARE] = None
    return list(words)


_SHARE = "how many claims share a prompt"


def _only_shares(one: Changed) -> bool:
    """Return whether a setting differs only in how claims share prompts."""
    if one.name == "engine":
        plain = [str(engine).replace("+shared", "") for engine in (one.a, one.b)]
        return plain[0] == plain[1]
    return any(part.endswith("_shared") or part == "share" for part in one.name.split("."))


def _setting_in_words(name: str) -> str:
    parts = name.split(".")
    if "escalate_to" in parts:
        return "the second judge"
    return _OF_A_GROUP.get(parts[0]) or _OF_A_STEP.get(parts[-1]) or _PLAIN.get(name, name)


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Changed, ...]:
    names = dict.fromkeys([*a, *b])
    pairs = ((name, a.get(name), b.get(name)) for name in names)
    return tuple(Changed(*pair) for pair in pairs if pair[1] != pair[2])


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
        if one is None or other is None:
            return Parting(number, (Part.LENGTH,), _side(one, other), _side(other, one))
        parts = _parts(one, other)
        if parts:
            return Parting(number, parts, _side(one, other), _side(other, one))
    return None


def _parts(one: Iteration, other: Iteration) -> tuple[Part, ...]:
    differ = {
        Part.NODES: _checked(one) != _checked(other),
        Part.EVIDENCE: _selected(one).keys() != _selected(other).keys(),
        Part.VERDICT: one.verdict is not other.verdict,
    }
    return tuple(part for part, differs in differ.items() if differs)


def _side(mine: Iteration | None, theirs: Iteration | None) -> RoundSide | None:
    """Return what only one side did; all that it did where the other had ended."""
    if mine is None:
        return None
    read = _checked(theirs) if theirs else frozenset()
    selected = _selected(theirs) if theirs else {}
    return RoundSide(
        mine.verdict,
        mine.reasoning,
        tuple(ref.node_id for ref in mine.checked if ref.node_id not in read),
        tuple(cited for place, cited in _selected(mine).items() if place not in selected),
    )


def _checked(iteration: Iteration) -> frozenset[str]:
    return frozenset(ref.node_id for ref in iteration.checked)


def _selected(iteration: Iteration) -> dict[tuple[str, int, int], CitedSentence]:
    """Selected sentences by their place in the process, in the order of the frontier."""
    return {(cited.node_id, cited.start, cited.end): cited for cited in iteration.evidence}


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return what `diff --json` prints."""
    return {
        "a": difference.a.verification_id,
        "b": difference.b.verification_id,
        "same": difference.is_same,
        "same_claim": difference.is_same_claim,
        "claim": _changes_json(difference.claim),
        "settings": _changes_json(difference.settings),
        "outcome": _changes_json(difference.outcome),
        "parting": _parting_json(difference.parting) if difference.parting else None,
    }


def _changes_json(found: Iterable[Changed]) -> dict[str, Any]:
    return {one.name: {"a": one.a, "b": one.b} for one in found}


def _parting_json(parting: Parting) -> dict[str, Any]:
    return {
        "iteration": parting.number,
        "parts": [part.value for part in parting.parts],
        "a": _side_json(parting.a),
        "b": _side_json(parting.b),
    }


def _side_json(side: RoundSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "verdict": side.verdict.value if side.verdict else None,
        "reasoning": side.reasoning,
        "checked_only": list(side.checked),
        "selected_only": [cited.json_object() for cited in side.selected],
    }


def folded_settings(settings: Sequence[Changed]) -> tuple[list[Changed], list[Changed]]:
    """The settings that are shown, and those that are folded: they follow from another judge."""
    if not any(one.name in _JUDGE for one in settings):
        return list(settings), []
    shown = [one for one in settings if "." not in one.name]
    return shown, [one for one in settings if "." in one.name]
