"""A scripted decision model: a real HTTP server on loopback that speaks both dialects.

It checks what it is sent by the types of the package `openai`, and by the rules of System One.
What it answers is what the scripted chat model would, as probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from fakes.model_prompts import EVIDENCE_SELECTION, STEPS, VERDICT, split_shared
from fakes.model_replies import Reply, as_json, error, failure, tokens
from fakes.model_server import STEP_HEADER, ModelServer, Received
from pydantic import TypeAdapter, ValidationError

OPENAI, SYSTEMONE = "/v1/decisions", "/v1/systemone"
VERSION = "2026-10-06"
YES, NO = 0.97, 0.03
LIKELY = (0.91, 0.06, 0.03)
VERDICTS = ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE")
MOST = {OPENAI: 400, SYSTEMONE: 200}


class Twist(StrEnum):
    """What is wrong with an answer that came whole."""

    REFUSAL = "refusal"
    NO_ANSWERS = "no_answers"
    NOT_JSON = "not_json"
    NO_OBJECT = "no_object"
    MISSING = "missing"
    DOUBLED = "doubled"
    ANOTHER = "another"
    TURNED = "turned"
    OTHER_TYPE = "other_type"
    NO_PROBABILITY = "no_probability"
    NAN = "nan"
    ABOVE_ONE = "above_one"
    BELOW_ZERO = "below_zero"
    TEXT = "text"
    TRUE = "true"
    NULL = "null"
    SUM = "sum"
    UNKNOWN_OPTION = "unknown_option"
    OPTION_MISSING = "option_missing"
    OPTION_TWICE = "option_twice"


OF_CHOICES = (Twist.SUM, Twist.UNKNOWN_OPTION, Twist.OPTION_MISSING, Twist.OPTION_TWICE)
OF_SEVERAL = (Twist.DOUBLED, Twist.TURNED)
Twisting = Callable[[Received], Twist | None]


@cache
def _request() -> TypeAdapter[Any]:
    from openai.types.decision_create_params import DecisionCreateParams

    return TypeAdapter(DecisionCreateParams)


@cache
def _answer() -> TypeAdapter[Any]:
    from openai.types.decision import Decision

    return TypeAdapter(Decision)


@dataclass
class DecisionServer(ModelServer):
    """The scripted server; at `/v1/chat/completions` it is the chat model that it extends.

    Attributes:
        twists: What is wrong with the answer to which request.
        probabilities: Of statements about sentences with these texts, in place of what words say.
        verdicts: Of the verdicts on claims with these texts.
    """

    twists: Twisting | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __enter__(self) -> DecisionServer:
        _request()  # what takes seconds to import is there before anybody waits
        _answer()
        super().__enter__()
        return self

    def url(self, path: str = SYSTEMONE) -> str:
        """The whole address of a dialect."""
        return f"http://127.0.0.1:{self.port}{path}"

    def receive(
        self, path: str, headers: Mapping[str, str], body: Any, *, in_batch: bool = False
    ) -> Received | Reply:
        """Take a request; a `Reply` when it is refused outright."""
        if path not in MOST:
            return super().receive(path, headers, body, in_batch=in_batch)
        problem = _problem(path, headers, body)
        if problem:
            self.wrong.append(problem)
            return error(400, problem)
        step = headers[STEP_HEADER]
        user = body["input" if path == OPENAI else "state"]
        return self._taken(step, "", user, path, headers, body)

    def reply(self, received: Received) -> Reply:
        """The answer to a request that was taken."""
        if received.path not in MOST:
            return super().reply(received)
        failed = failure(received.fault) if received.fault is not None else None
        if failed is not None:
            return failed
        answers = self._decided(received)
        twist = self.twists(received) if self.twists is not None else None
        asked = tokens(json.dumps(received.body))
        document = {
            "model": f"{received.body['model']}-{VERSION}",
            "answers": answers,
            "usage": {
                "input_tokens": asked,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": len(answers),
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": asked + len(answers),
            },
        }
        if received.path == SYSTEMONE:
            document["answers"] = {one.pop("name"): _named(one) for one in answers}
        elif twist is None:
            _answer().validate_python(document)
        return as_json(document) if twist is None else _twisted(document, twist, received)

    def _decided(self, received: Received) -> list[dict[str, Any]]:
        questions = received.body["questions"]
        if received.path == SYSTEMONE:
            questions = [{"name": name, **one} for name, one in questions.items()]
        if received.step == VERDICT:
            return [self._chosen(received, one) for one in questions]
        claims = [received.user]
        if "\nClaim 1: " in received.user:
            claims = split_shared(received.user, "evidence_selection_shared")
        found = [self.reader(EVIDENCE_SELECTION, "", one, received) for one in claims]
        named = [
            {*one["sentence_ids"], *one["context_ids"]} for one in found if isinstance(one, dict)
        ]
        answers = []
        for question in questions:
            claim, _, sentence = question["name"].partition(".")
            is_named = int(sentence) in named[int(claim) - 1]
            lines = received.user.splitlines()
            text = next(line for line in lines if line.startswith(f"{sentence}: "))
            given = self.probabilities.get(text.partition(": ")[2], YES if is_named else NO)
            answers.append({"type": "predicate", "name": question["name"], "probability": given})
        return answers

    def _chosen(self, received: Received, question: dict[str, Any]) -> dict[str, Any]:
        found = self.reader(VERDICT, "", received.user, received)
        assert isinstance(found, dict)
        claim = received.user.rpartition("\nClaim: ")[2]
        first = [found["verdict"], *(one for one in VERDICTS if one != found["verdict"])]
        given = self.verdicts.get(claim, dict(zip(first, LIKELY, strict=True)))
        options = (
            [one["value"] for one in question["choices"]]
            if received.path == OPENAI
            else list(question["criteria"])
        )
        return {
            "type": "choice",
            "name": question["name"],
            "choice": max(options, key=lambda one: given[one]),
            "confidence": 0.5,
            "probabilities": [{"value": one, "probability": given[one]} for one in options],
        }


def _named(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as System One has it."""
    if answer["type"] == "predicate":
        return {"type": "noul", "noul": answer["probability"]}
    if answer["type"] == "choice":
        rows = answer["probabilities"]
        return {**answer, "probabilities": {row["value"]: row["probability"] for row in rows}}
    return answer


def _problem(path: str, headers: Mapping[str, str], body: Any) -> str | None:
    """What breaks the dialect, or our own protocol."""
    if headers.get(STEP_HEADER) not in STEPS:
        return f"no step: {headers.get(STEP_HEADER)!r}"
    if path == OPENAI:
        try:
            _request().validate_python(body, strict=True)
        except ValidationError as wrong:
            return str(wrong)
        questions = body["questions"]
        unknown = set(body) - {"model", "input", "questions"}
        names = [one.get("name") for one in questions]
    else:
        if not isinstance(body, dict) or not isinstance(body.get("state"), str):
            return "no state"
        questions = [*body["questions"].values()]
        unknown = set(body) - {"model", "state", "questions"}
        for one in questions:
            if one["type"] == "noul" and set(one) != {"type", "instructions"}:
                return f"a noul with {sorted(one)}"
            if one["type"] == "choice" and not isinstance(one["criteria"], dict):
                return "a choice without criteria"
            if one["type"] not in ("noul", "choice"):
                return f"unknown type {one['type']}"
        names = [*body["questions"]]
    if unknown or not body["model"]:
        return f"unknown fields {unknown}, or no model"
    if not 1 <= len(questions) <= min(MOST.values()):
        return f"{len(questions)} questions"
    return None if len(set(names)) == len(names) else "two questions have one name"


def _twisted(document: dict[str, Any], twist: Twist, received: Received) -> Reply:
    """An answer with what is wrong with it."""
    is_map = received.path == SYSTEMONE
    answers = document["answers"]
    name = next(iter(answers)) if is_map else 0
    first = answers[name]
    key = "noul" if is_map else "probability"
    values: dict[Twist, Any] = {
        Twist.NAN: float("nan"), Twist.ABOVE_ONE: 1.2, Twist.BELOW_ZERO: -0.1,
        Twist.TEXT: "0.4", Twist.TRUE: True, Twist.NULL: None,
    }  # fmt: skip
    match twist:
        case Twist.REFUSAL:
            refused = {"type": "refusal"} if is_map else {"type": "refusal", "name": first["name"]}
            answers[name] = refused
        case Twist.NO_ANSWERS:
            del document["answers"]
        case Twist.NOT_JSON:
            return Reply(200, json.dumps(document).encode()[:-9])
        case Twist.NO_OBJECT:
            document["answers"] = "yes"
        case Twist.MISSING:
            answers.pop(name)
        case Twist.DOUBLED if is_map:
            text = json.dumps(document)
            place = text.index('"answers": {') + len('"answers": {')
            again = f"{json.dumps(name)}: {json.dumps(first)}, "
            return Reply(200, (text[:place] + again + text[place:]).encode())
        case Twist.DOUBLED:
            answers[1] = first
        case Twist.ANOTHER if is_map:
            answers["9.9"] = first
        case Twist.ANOTHER:
            first["name"] = "9.9"
        case Twist.TURNED if not is_map:
            answers[0], answers[1] = answers[1], answers[0]
        case Twist.OTHER_TYPE:
            first["type"] = "score"
        case Twist.NO_PROBABILITY:
            first.pop(key, None)
            first.pop("probabilities", None)
        case Twist.SUM | Twist.UNKNOWN_OPTION | Twist.OPTION_MISSING | Twist.OPTION_TWICE:
            first["probabilities"] = _wrong_options(first["probabilities"], twist)
        case _ if twist in values and key in first:
            first[key] = values[twist]
        case _ if twist in values and is_map:
            first["probabilities"] = dict.fromkeys(first["probabilities"], values[twist])
        case _ if twist in values:
            first["probabilities"][0]["probability"] = values[twist]
    return as_json(document)


def _wrong_options(given: Any, twist: Twist) -> Any:
    rows = (
        [*given.items()]
        if isinstance(given, dict)
        else [(one["value"], one["probability"]) for one in given]
    )
    match twist:
        case Twist.SUM:
            rows[0] = rows[0][0], 0.2
        case Twist.UNKNOWN_OPTION:
            rows[0] = "SUPPORTED", rows[0][1]
        case Twist.OPTION_MISSING:
            rows.pop()
        case Twist.OPTION_TWICE if not isinstance(given, dict):
            rows.append(rows[0])
        case _:
            rows.append(("ANOTHER", 0.0))
    if isinstance(given, dict):
        return dict(rows)
    return [{"value": value, "probability": one} for value, one in rows]
