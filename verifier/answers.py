"""Answers of models: the shape that each step asks for, reading one, and one from several.

A model reasons first, in any words, and ends with one JSON object. An answer is either read
whole or is an `InvalidAnswer`, which is asked for again. Endpoints that take a JSON Schema get
the shape with a field for the reasoning, because a structured answer is one object and nothing
else. Of several samples, each step makes one answer.

Source: the model protocol (docs/model-protocol.md); VeriTrail E.3;
docs/adr/0011-language-model-judge.md for the choice of the summaries.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from veritrail_graph.graph.model import JudgedPart, Side, Verdict
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness
from veritrail_graph.graph.model.dialogue import AnswerLabel, ClaimCategory, DialogueLabel
from veritrail_graph.verifier.models.port import InvalidAnswer, Step

TEXT = {"type": "string"}
TEXT_OR_NULL = {"type": ["string", "null"]}
IDS = {"type": "array", "items": {"type": "integer"}}
_CLAIMS = {"claims": {"type": "array", "items": TEXT}}
_VERDICT = {
    "verdict": {"type": "string", "enum": [str(one) for one in Verdict]},
    "reason": TEXT,
}


def object_of(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON Schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def answer_schema(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON Schema of an answer's object: its keys, behind the reasoning."""
    return object_of({"reasoning": TEXT, **properties})


def without_reasoning(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the same shape for a prompt that wants the answer alone, without reasoning."""
    properties = {name: one for name, one in schema["properties"].items() if name != "reasoning"}
    return {**schema, "properties": properties, "required": list(properties)}


def _outcome(*outcomes: str) -> Mapping[str, Any]:
    return answer_schema(
        {"outcome": {"type": "string", "enum": list(outcomes)}, "sentence": TEXT_OR_NULL}
    )


def _labelled(labels: type[StrEnum]) -> Mapping[str, Any]:
    names = [str(one) for one in labels]
    return answer_schema({"label": {"type": "string", "enum": names}, "reason": TEXT})


SCHEMAS: Mapping[Step, Mapping[str, Any]] = {
    Step.CLAIM_SELECTION: _outcome("verifiable", "rewritten", "no_verifiable_claims"),
    Step.CLAIM_DISAMBIGUATION: _outcome("clear", "cannot_be_disambiguated"),
    Step.CLAIM_DECOMPOSITION: answer_schema(_CLAIMS),
    Step.SUB_CLAIM_DECOMPOSITION: answer_schema(_CLAIMS),
    Step.EVIDENCE_SELECTION: answer_schema(
        {
            "sentence_ids": IDS,
            "context_ids": IDS,
            "summary": TEXT_OR_NULL,
            "missing": TEXT_OR_NULL,
        }
    ),
    Step.EVIDENCE_SELECTION_SHARED: answer_schema(
        {
            "claims": {
                "type": "array",
                "items": object_of(
                    {
                        "claim": {"type": "integer"},
                        "sentence_ids": IDS,
                        "context_ids": IDS,
                        "summary": TEXT_OR_NULL,
                        "missing": TEXT_OR_NULL,
                    }
                ),
            }
        }
    ),
    Step.VERDICT: answer_schema(_VERDICT),
    Step.VERDICT_SHARED: answer_schema(
        {
            "claims": {
                "type": "array",
                "items": object_of({"claim": {"type": "integer"}, **_VERDICT}),
            }
        }
    ),
    Step.PROPOSITIONS: answer_schema(
        {"propositions": {"type": "array", "items": {"type": "array", "items": TEXT}}}
    ),
    Step.ATTRIBUTION: answer_schema(
        {
            "attributions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "sentence_id": {"type": "integer"},
                        "categories": {
                            "type": "array",
                            "items": {
                                "type": "string",
                                "enum": [str(one) for one in AttributionCategory],
                            },
                        },
                    },
                    "required": ["sentence_id", "categories"],
                    "additionalProperties": False,
                },
            }
        }
    ),
    Step.FAITHFULNESS: _labelled(Faithfulness),
    Step.CORRECTION: answer_schema({"sentence": TEXT}),
    Step.DIALOGUE_EXTRACTION: answer_schema(_CLAIMS),
    Step.FACTSCORE_EXTRACTION: answer_schema(_CLAIMS),
    Step.DIALOGUE_VERIFICATION: _labelled(DialogueLabel),
    Step.FACTSCORE_VERIFICATION: _labelled(DialogueLabel),
    Step.DIALOGUE_JUDGE: _labelled(AnswerLabel),
    Step.DIALOGUE_CATEGORISATION: answer_schema(
        {
            "category": {
                "type": "string",
                "enum": [str(one) for one in ClaimCategory if one is not ClaimCategory.VERIFIED],
            },
            "reason": TEXT,
            "background_ids": IDS,
        }
    ),
    Step.DIALOGUE_TURN_CHECK: answer_schema(
        {
            "contradiction": {"type": "boolean"},
            "quotes": {"type": "array", "items": TEXT},
            "reason": TEXT,
        }
    ),
}


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which no key says two things: the second may be words of a source.

    Raises:
        InvalidAnswer: One does.
    """
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        raise InvalidAnswer("a JSON object of the answer has a key twice, with different values")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeated_keys)
_OPENING = re.compile(r'\{(?=\s*["}])')
# What may be left where the text ends in the middle of a literal, a number or an escape.
_REST = re.compile(r"\s*+(?:[-\\\w]{1,9}\s*+)?\Z")
_MOST_FAULTS = 1_000
_ENDING = re.compile(r"\s*+(?:(?:`{3,}|~{3,})\s*+)?\Z")
_RANGE = re.compile(r"\s*(\d{1,12})\s*[-\u2010-\u2015]\s*(\d{1,12})\s*")
_INTEGER = re.compile(r"\s*\d{1,12}\s*")


@dataclass(frozen=True, slots=True)
class SelectionAnswer:
    """The answer to an evidence selection prompt.

    Attributes:
        evidence: Ids of the sentences named as evidence, ascending; each was in the prompt.
        context: Ids of those named as context only, ascending.
        summary: What they say together; None where nothing is selected.
        missing: What they do not say, or None.
        dropped: How many ids were not in the prompt, or were no ids.
        sides: What each sentence says about which parts of the claim, by its id; empty where the
            prompt does not ask for it.
        parts: The verdicts on the parts that the answer gives besides; empty where it gives none.
    """

    evidence: tuple[int, ...] = ()
    context: tuple[int, ...] = ()
    summary: str | None = None
    missing: str | None = None
    dropped: int = 0
    sides: Mapping[int, tuple[Side, ...]] = field(default_factory=dict)
    parts: tuple[JudgedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictAnswer:
    """The answer to a verdict prompt.

    Attributes:
        verdict: The verdict.
        reason: The reasons for it.
        parts: The verdicts on the parts of the claim that it follows from; empty where the prompt
            does not ask for them.
    """

    verdict: Verdict
    reason: str
    parts: tuple[JudgedPart, ...] = ()


def final_object(text: str, *keys: str) -> dict[str, Any]:
    """Return the JSON object that an answer ends with, in a code fence or not.

    A text of a source may hold an object of the same shape, and a model may quote it: only what
    stands last is an answer, and only where no other object says something else.

    Args:
        text: The answer.
        keys: What the object must have; none: another object with its own keys counts.

    Raises:
        InvalidAnswer: There is none, what begins like one at the end cannot be read, anything but
            white space and a closing fence follows it, it lacks a key, or another object of the
            answer has the same keys and says otherwise.
    """
    found = objects_of(text)
    last = found[-1]
    if not _ENDING.match(text, last.end):
        raise InvalidAnswer(f"the answer goes on behind its JSON object: {_end(text)}")
    expect_keys(last.value, *keys)
    wanted = set(keys) or last.value.keys()
    if any(one.value != last.value and one.value.keys() >= wanted for one in found):
        raise InvalidAnswer("the answer holds several JSON objects that say different things")
    return last.value


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A JSON object of an answer, and where it stands."""

    value: dict[str, Any]
    start: int
    end: int


def objects_of(text: str) -> list[FoundObject]:
    """Read the JSON objects of a text, those within others apart.

    Raises:
        InvalidAnswer: There is none, what begins like one at the end cannot be read, or one has a
            key twice, with different values.
    """
    found: list[FoundObject] = []
    place = faults = 0
    is_read = False
    while (opening := _OPENING.search(text, place)) and faults < _MOST_FAULTS:
        try:
            value, place = _DECODER.raw_decode(text, opening.start())
            found.append(FoundObject(value, opening.start(), place))
            is_read = True
        except RecursionError:
            raise InvalidAnswer("the answer's JSON object is nested too deeply") from None
        except json.JSONDecodeError as error:
            if _is_cut_off(error):  # whatever opens further inside is a part of it
                raise InvalidAnswer(f"the answer's JSON object is cut off: {_end(text)}") from None
            is_read, place, faults = False, opening.end(), faults + 1
        except ValueError:  # an integer of thousands of digits
            is_read, place, faults = False, opening.end(), faults + 1
    if not is_read:
        raise InvalidAnswer(f"the answer holds no JSON object that can be read: {_end(text)}")
    return found


def read_selection(text: str, sentences: int) -> SelectionAnswer:
    """Read an answer to an evidence selection prompt.

    Args:
        text: The answer.
        sentences: How many sentences the prompt held; their ids are 0 to one less.

    Raises:
        InvalidAnswer: It is none, or sentences are selected without a summary.
    """
    answer = final_object(text, "sentence_ids", "context_ids", "summary", "missing")
    evidence, dropped_evidence = ids_of(answer, "sentence_ids", sentences)
    context, dropped_context = ids_of(answer, "context_ids", sentences)
    dropped = dropped_evidence + dropped_context
    return selection_of(answer, evidence, context, dropped)


def selection_of(
    answer: Mapping[str, Any], evidence: Collection[int], context: set[int], dropped: int
) -> SelectionAnswer:
    """The selection of an answer whose ids were read.

    Raises:
        InvalidAnswer: Sentences are selected without a summary.
    """
    if not evidence:  # context without evidence selects nothing
        return SelectionAnswer(dropped=dropped)
    summary = text_of(answer, "summary")
    if summary is None:
        raise InvalidAnswer("sentences are selected, but `summary` is empty")
    return SelectionAnswer(
        tuple(sorted(evidence)),
        tuple(sorted(context.difference(evidence))),
        summary,
        text_of(answer, "missing"),
        dropped,
    )


def read_shared(text: str, claims: int) -> tuple[str | None, ...]:
    """Split an answer about several claims into the answers that each alone would have had.

    Args:
        text: The answer.
        claims: How many claims the prompt held; their numbers are 1 to this.

    Returns:
        By claim the text of its part, for the reader of an answer about one; None: it has none, or
        several.

    Raises:
        InvalidAnswer: It holds a part for none of them.
    """
    answer = final_object(text, "claims")
    entries = answer["claims"]
    if not isinstance(entries, list):
        raise InvalidAnswer("`claims` is not a list")
    parts: dict[int, list[dict[str, Any]]] = {}
    for entry in entries:
        number, last = bounds_of(entry.get("claim")) if isinstance(entry, dict) else (None, None)
        if number is not None and number == last:
            parts.setdefault(number, []).append(entry)
    found = [parts.get(number, []) for number in range(1, claims + 1)]
    if not any(found):
        raise InvalidAnswer("`claims` names none of the claims")
    return tuple(
        json.dumps({name: value for name, value in part[0].items() if name != "claim"})
        if len(part) == 1
        else None
        for part in found
    )


def read_verdict(text: str) -> VerdictAnswer:
    """Read an answer to a verdict prompt.

    Raises:
        InvalidAnswer: It is none, or names a verdict that there is not.
    """
    answer = final_object(text, "verdict", "reason")
    given = text_of(answer, "verdict") or ""
    name = given.upper().replace(" ", "_")
    if name not in set(Verdict):
        raise InvalidAnswer(f"`verdict` is {given[:80]!r}, which is no verdict")
    return VerdictAnswer(Verdict(name), text_of(answer, "reason") or "")


_TRUE_OR_FALSE = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_MARK = "[\"'\u2018-\u201f\u00ab\u00bb`]"
_WORD = r"[\s*_#>]*+(?:answer[\s*_:]*+)?"
_FIRST_WORD = re.compile(rf"{_WORD}(true|false)[\s*_]*+(?:[.!:;\n]|\Z)", re.IGNORECASE)
_ONLY_WORD = re.compile(rf"{_WORD}{_MARK}(true|false)[.]?{_MARK}[\s*_.]*+", re.IGNORECASE)
_QUOTED_WORD = re.compile(rf"{_MARK}(?:true|false)[.,]?{_MARK}", re.IGNORECASE)
_LONGEST_REASON = 2_000


def read_true_false(text: str) -> VerdictAnswer:
    """Read an answer to a prompt that asks for True or False.

    The only one of the two that it says decides; of both the first, where it is the first word and
    a sentence of its own. A word between quotation marks is said by somebody else, unless it is the
    whole answer.

    Raises:
        InvalidAnswer: It says neither, or both.

    Source: VeriTrail E.5.
    """
    first = _ONLY_WORD.fullmatch(text) or _FIRST_WORD.match(text)
    own = _QUOTED_WORD.sub("", text)
    said = [found[0].lower() for found in _TRUE_OR_FALSE.finditer(own)]
    word = said[0] if len(set(said)) == 1 else first[1].lower() if first else None
    if word is None:
        raise InvalidAnswer("the answer says " + ("both True and False" if said else "neither"))
    verdict = Verdict.FULLY_SUPPORTED if word == "true" else Verdict.NOT_FULLY_SUPPORTED
    return VerdictAnswer(verdict, text.strip()[:_LONGEST_REASON])


def read_claims(text: str) -> tuple[str, ...]:
    """Read an answer to a decomposition prompt: the claims, each once, in order.

    Raises:
        InvalidAnswer: It is none.
    """
    answer = final_object(text, "claims")
    claims = answer["claims"]
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise InvalidAnswer("`claims` is not a list of strings")
    for claim in claims:
        _expect_characters(claim, "claims")
    return tuple(dict.fromkeys(claim.strip() for claim in claims if claim.strip()))


def read_outcome(text: str, outcomes: frozenset[str]) -> tuple[str, str | None]:
    """Read an answer to claim selection or disambiguation: the outcome and the sentence.

    Raises:
        InvalidAnswer: It is none, or names an outcome that there is not.
    """
    answer = final_object(text, "outcome", "sentence")
    outcome = text_of(answer, "outcome") or ""
    if outcome not in outcomes:
        raise InvalidAnswer(f"`outcome` is {outcome[:80]!r}, not one of {sorted(outcomes)}")
    return outcome, text_of(answer, "sentence")


def expect_keys(answer: Mapping[str, Any], *keys: str) -> None:
    """See that an answer's object has these keys.

    Raises:
        InvalidAnswer: It lacks one.
    """
    missing = [key for key in keys if key not in answer]
    if missing:
        names = ", ".join(f"`{key}`" for key in missing)
        raise InvalidAnswer(f"the JSON object at the end of the answer has no {names}")


def text_of(answer: Mapping[str, Any], key: str) -> str | None:
    """The text of a key without white space around it; None where there is none.

    Raises:
        InvalidAnswer: It is no text, or none that can be stored.
    """
    value = answer[key]
    if value is not None and not isinstance(value, str):
        raise InvalidAnswer(f"`{key}` is neither text nor null")
    if value is None or not value.strip():
        return None
    _expect_characters(value, key)
    return value.strip()


def _expect_characters(value: str, key: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidAnswer(f"`{key}` holds a lone surrogate, which is no character") from None


def ids_of(answer: Mapping[str, Any], key: str, sentences: int) -> tuple[set[int], int]:
    """Ids of sentences of the prompt, and how many others were named."""
    values = answer[key]
    if not isinstance(values, list):
        raise InvalidAnswer(f"`{key}` is not a list")
    ids: set[int] = set()
    dropped = 0
    for value in values:
        first, last = bounds_of(value)
        if first is None or last is None or last < first:
            dropped += 1
            continue
        ids.update(range(first, min(last, sentences - 1) + 1))
        dropped += last - max(first, sentences) + 1 if last >= sentences else 0
    return ids, dropped


def bounds_of(value: object) -> tuple[int | None, int | None]:
    """First and last id that a value names; None where it names none."""
    if isinstance(value, bool):
        return None, None
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return (int(value), int(value)) if value >= 0 else (None, None)
    if isinstance(value, str):
        if _INTEGER.fullmatch(value):
            return int(value), int(value)
        if between := _RANGE.fullmatch(value):
            return int(between[1]), int(between[2])
    return None, None


def _is_cut_off(error: json.JSONDecodeError) -> bool:
    """Return whether the text ends before the object does."""
    unterminated = error.msg.startswith("Unterminated string")
    return unterminated or _REST.match(error.doc, error.pos) is not None


def _end(text: str) -> str:
    shown = " ".join(text.split())
    return repr(shown if len(shown) <= 80 else f"…{shown[-80:]}")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of the samples of one evidence selection prompt.

    Attributes:
        parts: Samples whose summaries together cover every agreed sentence, each reduced to the
            agreed sentences that it selected; empty where nothing is selected.
        dropped: Ids of all samples that were not in the prompt, or were no ids.
        is_missed: Whether samples selected sentences, but too few of them the same evidence.

    Source: VeriTrail E.3.
    """

    parts: tuple[SelectionAnswer, ...] = ()
    dropped: int = 0
    is_missed: bool = False

    @property
    def evidence(self) -> tuple[int, ...]:
        """Ids of the agreed evidence, ascending."""
        return tuple(sorted({number for part in self.parts for number in part.evidence}))

    @property
    def context(self) -> tuple[int, ...]:
        """Ids of the agreed context, ascending."""
        return tuple(sorted({number for part in self.parts for number in part.context}))


def merge_selections(answers: Sequence[SelectionAnswer], threshold: int) -> Agreement:
    """The sentences that at least `threshold` samples selected, with summaries that cover them.

    Both roles count as selected. A sentence that any of them named as evidence is evidence, as
    one is that a single answer names as both; context without evidence selects nothing.
    """
    dropped = sum(answer.dropped for answer in answers)
    drawn = [answer for answer in answers if answer.evidence]
    votes = Counter(number for answer in drawn for number in answer.evidence + answer.context)
    passed = {number for number, count in votes.items() if count >= threshold}
    evidence = passed.intersection(number for answer in drawn for number in answer.evidence)
    if not evidence:
        return Agreement((), dropped, is_missed=bool(drawn))
    parts = (_reduced(answer, evidence, passed) for answer in _cover(drawn, passed))
    return Agreement(tuple(parts), dropped)


def _cover(answers: Sequence[SelectionAnswer], agreed: set[int]) -> list[SelectionAnswer]:
    """As few samples as cover the agreed sentences, the largest cover first.

    Of equal ones the one with fewest other sentences comes first, then the earliest.
    """
    chosen: list[SelectionAnswer] = []
    left = set(agreed)
    while left:
        best = max(answers, key=lambda one: (len(left & _ids_of(one)), -len(_ids_of(one) - agreed)))
        chosen.append(best)
        left -= _ids_of(best)
    return chosen


def _ids_of(answer: SelectionAnswer) -> set[int]:
    return {*answer.evidence, *answer.context}


def _reduced(answer: SelectionAnswer, evidence: set[int], agreed: set[int]) -> SelectionAnswer:
    """A sample with its agreed sentences alone, in the roles that were agreed on."""
    ids = _ids_of(answer) & agreed
    return replace(
        answer, evidence=tuple(sorted(ids & evidence)), context=tuple(sorted(ids - evidence))
    )


def merge_verdicts(answers: Sequence[VerdictAnswer], threshold: int) -> tuple[VerdictAnswer, float]:
    """The most frequent verdict that at least `threshold` samples gave, and the score.

    Returns:
        The verdict with the reason and the parts of the first sample that gave it; Inconclusive
        where none passes or the most frequent tie. The score is the share of Fully Supported.
    """
    votes = Counter(answer.verdict for answer in answers)
    score = votes[Verdict.FULLY_SUPPORTED] / len(answers)
    passed = [(count, verdict) for verdict, count in votes.items() if count >= threshold]
    most = max((count for count, _ in passed), default=0)
    winners = [verdict for count, verdict in passed if count == most]
    counts = ", ".join(f"{votes[verdict]} x {verdict}" for verdict in Verdict if votes[verdict])
    if len(winners) == 1:
        first = next(answer for answer in answers if answer.verdict is winners[0])
        return replace(first, reason=f"{first.reason} (samples: {counts})"), score
    why = "samples tie" if winners else f"no verdict was given by {threshold} samples"
    reason = f"{why}: {counts}. First reason: {answers[0].reason}"
    return VerdictAnswer(Verdict.INCONCLUSIVE, reason), score
