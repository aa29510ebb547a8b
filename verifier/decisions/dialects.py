"""The two dialects of decision models: what is sent, and what an answer must be to count.

Only probabilities are read. `confidence`, `choice` and `score` of an answer are what each server
makes of them, and servers differ.

Source: `openai.types.decision` and `decision_create_params` of the package `openai` (POST
/v1/decisions); System One as TypeSafe, OpenRouter and llama.cpp serve it (POST /v1/systemone).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.json_objects import object_of
from veritrail_graph.verifier.models.faults import short_message
from veritrail_graph.verifier.models.port import InvalidAnswer, RequestRejected

MOST_QUESTIONS = 200
"""Questions of a request: OpenAI takes 400, OpenRouter 200."""
ROUNDING = 0.02
"""How far from 1 probabilities may add up to: servers round each to two digits."""
REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice: its value, and when it holds."""

    value: str
    description: str


@dataclass(frozen=True, slots=True)
class Question:
    """A typed question: without options whether a statement is true, else which option holds.

    Attributes:
        name: What its answer is known by.
        instructions: The statement, or what is to be chosen.
        options: The options of a choice, in the order in which they are put.
    """

    name: str
    instructions: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answer to a request: one answer a question, in their order.

    Attributes:
        model: The model as the server names it, with its version; None: it does not.
        each: The answers as they came.
    """

    model: str | None
    each: tuple[Mapping[str, Any], ...]


class DecisionDialect(ABC):
    """One way to ask a decision model."""

    name: str
    path: str
    """What the address of the endpoint ends with."""
    predicate: str
    """What a question without options is called."""
    probability: str
    """The key of the probability in the answer to one."""

    def body(self, model: str, text: str, questions: Sequence[Question]) -> str:
        """The document that is sent.

        Args:
            model: The model.
            text: What the questions are about.
            questions: At most `MOST_QUESTIONS`.
        """
        return json.dumps(self._request(model, text, questions), ensure_ascii=False)

    @abstractmethod
    def _request(self, model: str, text: str, questions: Sequence[Question]) -> dict[str, Any]: ...

    def read(self, answer: str, questions: Sequence[Question]) -> Answers:
        """Read an answer: there is one to each question, of its type, and no other.

        Raises:
            InvalidAnswer: It is none.
        """
        document = document_of(answer)
        each = tuple(self._each(document, questions))
        for question, one in zip(questions, each, strict=True):
            expected = "choice" if question.options else self.predicate
            if one.get("type") not in (expected, REFUSAL):
                raise InvalidAnswer(
                    f"question {question.name}: the answer is of the type "
                    f"{_shown(one.get('type'))}, and not {expected}"
                )
        model = document.get("model")
        return Answers(model if isinstance(model, str) and model else None, each)

    @abstractmethod
    def _each(
        self, document: Mapping[str, Any], questions: Sequence[Question]
    ) -> list[Mapping[str, Any]]: ...

    @abstractmethod
    def part(self, answers: Answers, places: Sequence[int], names: Sequence[str]) -> str:
        """The answer to some of the questions alone, as if they had been asked by other names."""

    def predicate_of(self, question: Question, answer: Mapping[str, Any]) -> float:
        """The probability that a statement is true.

        Raises:
            RequestRejected: The model refused the question.
            InvalidAnswer: The answer holds no probability.
        """
        _expect_answered(question, answer)
        return _probability(question, answer.get(self.probability))

    def choice_of(self, question: Question, answer: Mapping[str, Any]) -> dict[str, float]:
        """The probability of each option, by its value.

        Raises:
            RequestRejected: The model refused the question.
            InvalidAnswer: The answer holds no probabilities of these options that add up to 1.
        """
        _expect_answered(question, answer)
        rows = self._probabilities(question, answer.get("probabilities"))
        found = {value: _probability(question, given) for value, given in rows}
        expected = [option.value for option in question.options]
        if len(rows) != len(expected) or set(found) != set(expected):
            raise InvalidAnswer(
                f"question {question.name}: probabilities are given of "
                f"{_shown([value for value, _ in rows])}, and not of {', '.join(expected)}"
            )
        total = sum(found.values())
        if abs(total - 1) > ROUNDING:
            raise InvalidAnswer(f"question {question.name}: probabilities add up to {total:.3f}")
        return found

    @abstractmethod
    def _probabilities(self, question: Question, given: Any) -> list[tuple[Any, Any]]: ...


class OpenAiDialect(DecisionDialect):
    """OpenAI's `POST /v1/decisions`: questions in a list, answers in their order."""

    name = "openai"
    path = "/decisions"
    predicate = "predicate"
    probability = "probability"

    def _request(self, model: str, text: str, questions: Sequence[Question]) -> dict[str, Any]:
        return {"model": model, "input": text, "questions": [_listed(one) for one in questions]}

    def _each(
        self, document: Mapping[str, Any], questions: Sequence[Question]
    ) -> list[Mapping[str, Any]]:
        each = document.get("answers")
        if not isinstance(each, list) or not all(isinstance(one, dict) for one in each):
            raise InvalidAnswer("`answers` is no list of answers")
        if len(each) != len(questions):
            raise InvalidAnswer(f"{len(each)} answer(s) to {len(questions)} question(s)")
        for question, one in zip(questions, each, strict=True):
            if one.get("name") != question.name:
                raise InvalidAnswer(
                    f"in place of the answer to question {question.name} there is one to "
                    f"{_shown(one.get('name'))}"
                )
        return each

    def part(self, answers: Answers, places: Sequence[int], names: Sequence[str]) -> str:
        """The answer to some of the questions alone."""
        each = [
            {**answers.each[place], "name": name} for place, name in zip(places, names, strict=True)
        ]
        return json.dumps({"model": answers.model, "answers": each}, ensure_ascii=False)

    def _probabilities(self, question: Question, given: Any) -> list[tuple[Any, Any]]:
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise InvalidAnswer(f"question {question.name}: the answer holds no `probabilities`")
        return [(_value(one.get("value")), one.get("probability")) for one in given]


class SystemOneDialect(DecisionDialect):
    """System One's `POST /v1/systemone`: questions and answers by name."""

    name = "systemone"
    path = "/systemone"
    predicate = "noul"
    probability = "noul"

    def _request(self, model: str, text: str, questions: Sequence[Question]) -> dict[str, Any]:
        asked = {one.name: _named(one) for one in questions}
        return {"model": model, "state": text, "questions": asked}

    def _each(
        self, document: Mapping[str, Any], questions: Sequence[Question]
    ) -> list[Mapping[str, Any]]:
        answers = document.get("answers")
        if not isinstance(answers, dict) or not all(
            isinstance(one, dict) for one in answers.values()
        ):
            raise InvalidAnswer("`answers` is no map of answers")
        names = [one.name for one in questions]
        if missing := [name for name in names if name not in answers]:
            raise InvalidAnswer(
                f"{len(missing)} of {len(names)} question(s) have no answer, the first: "
                f"{missing[0]}"
            )
        if others := [name for name in answers if name not in set(names)]:
            raise InvalidAnswer(f"there is an answer to {_shown(others[0])}, which was not asked")
        return [answers[name] for name in names]

    def part(self, answers: Answers, places: Sequence[int], names: Sequence[str]) -> str:
        """The answer to some of the questions alone."""
        each = {name: answers.each[place] for place, name in zip(places, names, strict=True)}
        return json.dumps({"model": answers.model, "answers": each}, ensure_ascii=False)

    def _probabilities(self, question: Question, given: Any) -> list[tuple[Any, Any]]:
        if not isinstance(given, dict):
            raise InvalidAnswer(f"question {question.name}: the answer holds no `probabilities`")
        return list(given.items())


DIALECTS: Mapping[str, DecisionDialect] = {
    one.name: one for one in (OpenAiDialect(), SystemOneDialect())
}
OPENAI_HOST = "api.openai.com"
_OF_OTHERS = ("openrouter.ai", "typesafe.ai")
"""Hosts that speak System One, whatever the path of an address there."""


def dialect_of(name: str | None, url: str) -> DecisionDialect:
    """The dialect of an endpoint.

    Args:
        name: Its name; None: it is guessed from the address.
        url: The address.

    Raises:
        InputError: There is no dialect of this name.
    """
    if name is not None:
        if name not in DIALECTS:
            raise InputError(
                f"There is no dialect {name!r} of decision models: it is one of "
                f"{', '.join(DIALECTS)}.",
                code="unknown_dialect",
            )
        return DIALECTS[name]
    parts = urlsplit(url)
    host, path = parts.hostname or "", parts.path.rstrip("/")
    if any(host == one or host.endswith(f".{one}") for one in _OF_OTHERS):
        return DIALECTS["systemone"]
    is_openai = host == OPENAI_HOST or path.endswith(OpenAiDialect.path)
    return DIALECTS["openai" if is_openai else "systemone"]


def address_of(url: str, dialect: DecisionDialect) -> str:
    """The whole address that is posted to: one that ends with a name of an operation is whole."""
    whole = url.rstrip("/")
    path = urlsplit(whole).path
    if path.endswith(tuple(one.path for one in DIALECTS.values())):
        return whole
    return f"{whole}{'' if path.endswith('/v1') else '/v1'}{dialect.path}"


def document_of(answer: str) -> dict[str, Any]:
    """The JSON object of an answer; a key that stands in it twice makes it none.

    Raises:
        InvalidAnswer: It is none.
    """
    try:
        found = json.loads(answer, object_pairs_hook=partial(object_of, fault=InvalidAnswer))
    except (ValueError, RecursionError):
        raise InvalidAnswer("the answer is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidAnswer("the answer is no JSON object")
    return found


def _listed(question: Question) -> dict[str, Any]:
    about = {"name": question.name, "instructions": question.instructions}
    if not question.options:
        return {"type": "predicate", **about}
    choices = [{"value": one.value, "description": one.description} for one in question.options]
    return {"type": "choice", **about, "choices": choices}


def _named(question: Question) -> dict[str, Any]:
    if not question.options:
        return {"type": "noul", "instructions": question.instructions}
    criteria = {one.value: one.description for one in question.options}
    return {"type": "choice", "instructions": question.instructions, "criteria": criteria}


def _expect_answered(question: Question, answer: Mapping[str, Any]) -> None:
    if answer.get("type") == REFUSAL:
        raise RequestRejected(
            f"the model refused question {question.name}: {short_message(question.instructions)}"
        )


def _probability(question: Question, given: Any) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not isfinite(given) or not 0 <= given <= 1:
        raise InvalidAnswer(f"question {question.name}: {_shown(given)} is no probability")
    return float(given)


def _value(given: Any) -> Any:
    """The value of an option; what is no text is none of ours, and may not be hashed."""
    return given if isinstance(given, str) else repr(given)


def _shown(value: Any) -> str:
    return short_message(repr(value))[:80]
