"""Answers by part: what each sentence says about which part of the claim, and verdicts on parts.

The second wording asks for them. The answers of the first one are read, too: without sides and
parts. The verdict on the claim is derived from those on its parts, never read.

Source: ours; the model protocol (docs/model-protocol.md); docs/adr/0077-second-wording.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veritrail_graph.graph.model import JudgedPart, PartVerdict, Says, Side, Verdict, verdict_on
from veritrail_graph.verifier.answers import (
    IDS,
    TEXT,
    TEXT_OR_NULL,
    SelectionAnswer,
    VerdictAnswer,
    answer_schema,
    bounds_of,
    final_object,
    ids_of,
    object_of,
    objects_of,
    read_selection,
    read_verdict,
    selection_of,
    text_of,
)
from veritrail_graph.verifier.models.port import InvalidAnswer, Step

_NUMBER = {"type": "integer"}
_PARTS = {
    "type": "array",
    "items": object_of(
        {
            "part": _NUMBER,
            "verdict": {"type": "string", "enum": [str(one) for one in PartVerdict]},
            "reason": TEXT,
        }
    ),
}
_EVIDENCE = {
    "type": "array",
    "items": object_of(
        {
            "id": _NUMBER,
            "part": _NUMBER,
            "says": {"type": "string", "enum": [str(one) for one in Says]},
        }
    ),
}
_SELECTION = {
    "evidence": _EVIDENCE,
    "context_ids": IDS,
    "summary": TEXT_OR_NULL,
    "missing": TEXT_OR_NULL,
    "parts": _PARTS,
}
_VERDICT = {"parts": _PARTS, "reason": TEXT}


def _of_claims(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shape of an answer about several claims."""
    one = object_of({"claim": _NUMBER, **properties})
    return answer_schema({"claims": {"type": "array", "items": one}})


PART_SCHEMAS: Mapping[Step, Mapping[str, Any]] = {
    Step.EVIDENCE_SELECTION: answer_schema(_SELECTION),
    Step.EVIDENCE_SELECTION_SHARED: _of_claims(_SELECTION),
    Step.VERDICT: answer_schema(_VERDICT),
    Step.VERDICT_SHARED: _of_claims(_VERDICT),
}
"""The shapes of answers by part, of the steps that have them."""


def parts_in(sub_claims: tuple[str, ...]) -> int:
    """Return how many parts a claim with these sub-claims has."""
    return max(len(sub_claims), 1)


def unaddressed(sub_claims: tuple[str, ...]) -> tuple[JudgedPart, ...]:
    """Return the verdicts on the parts of a claim for which nothing was found."""
    numbers = range(1, parts_in(sub_claims) + 1)
    return tuple(JudgedPart(part=one, verdict=PartVerdict.NOT_ADDRESSED) for one in numbers)


def read_sided_selection(text: str, sentences: int, parts: int) -> SelectionAnswer:
    """Read an answer to an evidence selection prompt that asks for sides.

    Args:
        text: The answer.
        sentences: How many sentences the prompt held; their ids are 0 to one less.
        parts: How many parts the claim has.

    Raises:
        InvalidAnswer: It is none, sentences are selected without a summary, or a part or a side is
            named that there is not.
    """
    if not _is_by_part(text, "evidence", ("sentence_ids", "summary")):
        return read_selection(text, sentences)
    answer = final_object(text, "evidence", "context_ids", "summary", "missing")
    entries = answer["evidence"]
    if not isinstance(entries, list):
        raise InvalidAnswer("`evidence` is not a list")
    sides: dict[int, dict[int, Says]] = {}
    dropped = 0
    for entry in entries:
        if not isinstance(entry, dict):
            raise InvalidAnswer("`evidence` holds something else than objects")
        ids, outside = ids_of({"id": [entry.get("id")]}, "id", sentences)
        dropped += outside
        part, says = _part(entry, parts), _word(entry, "says", Says)
        for number in ids:
            known = sides.setdefault(number, {})
            known[part] = says if known.get(part, says) is says else Says.BOTH
    context, outside = ids_of(answer, "context_ids", sentences)
    dropped += outside
    found, judged = selection_of(answer, sides, context, dropped), _parts_besides(answer, parts)
    if not sides:
        return found
    by_sentence = {
        number: tuple(Side(part=part, says=said[part]) for part in sorted(said))
        for number, said in sorted(sides.items())
    }
    return replace(found, sides=by_sentence, parts=judged)


def read_part_verdict(text: str, parts: int) -> VerdictAnswer:
    """Read an answer to a verdict prompt that asks part by part.

    Args:
        text: The answer.
        parts: How many parts the claim has.

    Raises:
        InvalidAnswer: It is none, leaves a part out, names one twice with different verdicts, or
            names a verdict that there is not.
    """
    if not _is_by_part(text, "parts", ("verdict", "reason")):
        return read_verdict(text)
    answer = final_object(text, "parts", "reason")
    found = _read_parts(answer, parts)
    return VerdictAnswer(verdict_on(found), text_of(answer, "reason") or _reasons(found), found)


def settled(answer: SelectionAnswer, parts: int) -> VerdictAnswer | None:
    """Return the verdict that a selection gives itself; None: the verdict is to be asked for.

    It does where it finds every part supported, names a sentence for each, and none that speaks
    against any. Whatever else it finds is judged by a prompt of its own.
    """
    judged, sides = answer.parts, [one for said in answer.sides.values() for one in said]
    is_whole = bool(judged) and verdict_on(judged) is Verdict.FULLY_SUPPORTED
    spoken_for = {one.part for one in sides if one.says is Says.FOR}
    if not is_whole or len(spoken_for) < parts or any(one.says is not Says.FOR for one in sides):
        return None
    return VerdictAnswer(Verdict.FULLY_SUPPORTED, _reasons(judged), judged)


def _reasons(parts: tuple[JudgedPart, ...]) -> str:
    return " ".join(dict.fromkeys(one.reason for one in parts if one.reason))


def _is_by_part(text: str, key: str, of_first: tuple[str, ...]) -> bool:
    """Return whether an answer is by part; else it is one of the first wording.

    Raises:
        InvalidAnswer: It holds objects of both kinds, of which one may be words of a source.
    """
    found = [one.value for one in objects_of(text)]
    by_part = [key in one for one in found]
    # What the reasoning notes of one part may look like a whole answer of the first wording.
    by_first = [one.keys() >= set(of_first) and not {key, "part"} & one.keys() for one in found]
    if any(by_part) and any(by_first):
        other = of_first[0]
        raise InvalidAnswer(f"the answer holds objects with `{key}` and others with `{other}`")
    return not any(by_first)


def _parts_besides(answer: Mapping[str, Any], parts: int) -> tuple[JudgedPart, ...]:
    """The verdicts on parts that a selection gives besides; none where it leaves a part out.

    They only save a call: the verdict is asked for as ever where they are not whole.

    Raises:
        InvalidAnswer: A part or a verdict is named that there is not.
    """
    found = _named_parts(answer["parts"], parts) if answer.get("parts") else {}
    return tuple(found[number] for number in sorted(found)) if len(found) == parts else ()


def _read_parts(answer: Mapping[str, Any], parts: int) -> tuple[JudgedPart, ...]:
    found = _named_parts(answer["parts"], parts)
    left = [number for number in range(1, parts + 1) if number not in found]
    if left:
        raise InvalidAnswer(f"`parts` has no verdict on part {left[0]}")
    return tuple(found[number] for number in sorted(found))


def _named_parts(entries: Any, parts: int) -> dict[int, JudgedPart]:
    if not isinstance(entries, list):
        raise InvalidAnswer("`parts` is not a list")
    found: dict[int, JudgedPart] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise InvalidAnswer("`parts` holds something else than objects")
        number = _part(entry, parts)
        verdict = _word(entry, "verdict", PartVerdict)
        reason = text_of({"reason": None, **entry}, "reason") or ""
        if number in found and found[number].verdict is not verdict:
            raise InvalidAnswer(f"`parts` has two verdicts on part {number}")
        found.setdefault(number, JudgedPart(part=number, verdict=verdict, reason=reason))
    return found


def _part(entry: Mapping[str, Any], parts: int) -> int:
    """The part that an entry names; a claim with one part has no other that could be meant."""
    if parts == 1:
        return 1
    first, last = bounds_of(entry.get("part"))
    if first is None or first != last or not 1 <= first <= parts:
        named = repr(entry.get("part"))[:80]
        raise InvalidAnswer(f"`part` is {named}, not one of 1 to {parts}")
    return first


def _word(entry: Mapping[str, Any], key: str, words: type[Says] | type[PartVerdict]) -> Any:
    given = text_of({key: None, **entry}, key) or ""
    name = "_".join(given.lower().replace("-", " ").replace("_", " ").split())
    if name not in set(words):
        raise InvalidAnswer(f"`{key}` is {given[:80]!r}, not one of {[str(one) for one in words]}")
    return words(name)
