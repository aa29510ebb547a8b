"""Decision models behind a real server on loopback: both dialects, and all that can go wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from fakes.decision_server import (
    LIKELY,
    OF_CHOICES,
    OF_SEVERAL,
    OPENAI,
    SYSTEMONE,
    VERSION,
    DecisionServer,
    Twist,
)
from fakes.model_faults import QUICK, Fault, FaultScript, always
from fakes.model_server import Received

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, NodeRef, Role, Sentence, Verdict
from veritrail_graph.verifier.decisions.dialects import (
    DIALECTS,
    MOST_QUESTIONS,
    OpenAiDialect,
    address_of,
    dialect_of,
)
from veritrail_graph.verifier.decisions.endpoint import DecisionEndpoint
from veritrail_graph.verifier.decisions.steps import (
    Deciding,
    DecisionVerdict,
    most_probable,
)
from veritrail_graph.verifier.engines import Parts, engine_named
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    ModelError,
    NeverValid,
    RequestRejected,
)
from veritrail_graph.verifier.models.prices import Price, decision_price_of
from veritrail_graph.verifier.models.retrying import Patience
from veritrail_graph.verifier.ports import Found, JudgeError, ReadNode, SplitNode
from veritrail_graph.verifier.prompts import load_prompts

T = TypeVar("T")
KEY = "sk-secret-0123456789"
PATIENCE = Patience(
    deadline=4.0, attempt_timeout=3.0, unreachable=0.3, base=0.01, cap=0.05, give_up_after=3
)
PRICE = Price(input=100.0, cached_input=100.0, output=0.0)
PATHS = pytest.mark.parametrize("path", [OPENAI, SYSTEMONE])


def sentences(node_id: str, *texts: str) -> tuple[Sentence, ...]:
    found, start = [], 0
    for number, text in enumerate(texts):
        found.append(Sentence(node_id, number, start, start + len(text), text))
        start += len(text) + 1
    return tuple(found)


def node(node_id: str, *texts: str) -> ReadNode:
    ref = NodeRef(node_id, 1, 0, Role.ROOT)
    return SplitNode(ref, " ".join(texts), sentences(node_id, *texts))


NODES = [
    node("a", "The ferry sailed at noon.", "Tea was sold."),
    node("b", "Coal was dear.", "The ferry sailed at noon with coal."),
]
CLAIM = Claim(claim_id="k", text="The ferry sailed at noon.", node_id="t")


def claim(text: str) -> Claim:
    return Claim(claim_id="k", text=text, node_id="t")


def told(
    server: DecisionServer,
    path: str,
    work: Callable[[LanguageModelJudge], Awaitable[T]],
    *,
    limits: Limits = Limits(),
    threshold: float = 0.5,
    **options: Any,
) -> T:
    """What comes of work with a judge that asks this server."""
    options.setdefault("patience", PATIENCE)

    async def whole() -> T:
        url = server.url(path)
        model = LanguageModel(DecisionEndpoint(url, KEY), "luna", max_output_tokens=1, **options)
        one = StepModel(model, None)
        parts = Parts(
            lambda node_id, text: sentences(node_id, text),
            limits,
            Samples(),
            StepModels(one, one, one),
            load_prompts(),
            deciding=Deciding(dialect_of(None, url), threshold),
        )
        judge = engine_named("decisions").judge(parts)
        assert isinstance(judge, LanguageModelJudge)
        try:
            return await work(judge)
        finally:
            await model.close()

    return asyncio.run(whole())


def selected(
    server: DecisionServer,
    path: str,
    *,
    nodes: Sequence[ReadNode] = NODES,
    meter: Meter | None = None,
    **options: Any,
) -> dict[str, list[int]]:
    """The sentences that are evidence, by node."""

    async def work(judge: LanguageModelJudge) -> dict[str, list[int]]:
        found = await judge.select_evidence(CLAIM, nodes, meter or Meter())
        return {
            one.node_ids[0]: [cited.sentence for cited in one.sentences] for one in found.evidence
        }

    return told(server, path, work, **options)


def judged(server: DecisionServer, path: str, meter: Meter | None = None, **options: Any) -> Any:
    async def work(judge: LanguageModelJudge) -> Any:
        meters = meter or Meter()
        found = await judge.select_evidence(CLAIM, NODES, Meter())
        return await judge.judge(CLAIM, Found(found.evidence, tuple(NODES)), meters)

    return told(server, path, work, **options)


def at(place: int, twist: Twist, step: str = "evidence_selection") -> Any:
    """Something is wrong with the answer to one request of a step, or, from -1 on, to each."""

    def twisting(received: Received) -> Twist | None:
        is_meant = place < 0 or received.number_in_step == place
        return twist if received.step == step and is_meant else None

    return twisting


# What is asked, and what is made of it.


@PATHS
def test_a_statement_a_sentence_selects_evidence_and_a_choice_gives_the_verdict(path: str) -> None:
    meter = Meter()
    with DecisionServer() as server:
        assert selected(server, path) == {"a": [0], "b": [1]}
        found = judged(server, path, meter, price=PRICE)
        asked = server.of("evidence_selection")[0].body["questions"]
        assert len(asked) == 4
        assert "authorization" in server.requests[0].headers
    assert (found.verdict, found.score) == (Verdict.FULLY_SUPPORTED, LIKELY[0])
    assert found.reasoning == (
        f"luna-{VERSION} read 4 sentences; probabilities: Fully Supported 0.91, "
        "Not Fully Supported 0.06, Inconclusive 0.03."
    )
    (step,) = meter.steps
    assert (step.step, step.model, step.temperature) == ("verdict", f"luna-{VERSION}", None)
    assert step.prompt == "verdict.v1_decision"
    assert meter.total.cost_usd == pytest.approx(meter.total.input_tokens * 100 / 1e6)


def test_a_request_holds_the_text_with_the_claim_and_a_named_question_for_each_sentence() -> None:
    with DecisionServer() as server:
        selected(server, OPENAI)
        body = server.requests[0].body
    assert body["input"].splitlines() == [
        "[[1]]", "0: The ferry sailed at noon.", "1: Tea was sold.",
        "[[2]]", "2: Coal was dear.", "3: The ferry sailed at noon with coal.",
        "Claim: The ferry sailed at noon.",
    ]  # fmt: skip
    assert [one["name"] for one in body["questions"]] == ["1.0", "1.1", "1.2", "1.3"]
    assert body["questions"][3]["instructions"] == (
        "Sentence 3 supports or contradicts the claim, or a part of it."
    )


def test_a_sentence_is_evidence_from_the_threshold_on() -> None:
    given = {"Tea was sold.": 0.5, "Coal was dear.": 0.49}
    with DecisionServer(probabilities=given) as server:
        assert selected(server, SYSTEMONE) == {"a": [0, 1], "b": [1]}
        assert selected(server, SYSTEMONE, threshold=0.98) == {}


def test_the_summary_of_evidence_is_its_sentences() -> None:
    async def work(judge: LanguageModelJudge) -> list[str]:
        return [one.text for one in (await judge.select_evidence(CLAIM, NODES, Meter())).evidence]

    with DecisionServer(probabilities={"Tea was sold.": 0.9}) as server:
        assert told(server, OPENAI, work) == [
            "The ferry sailed at noon. Tea was sold.",
            "The ferry sailed at noon with coal.",
        ]


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ((0.4, 0.3, 0.3), Verdict.FULLY_SUPPORTED),
        ((0.3, 0.5, 0.2), Verdict.NOT_FULLY_SUPPORTED),
        ((0.5, 0.5, 0.0), Verdict.INCONCLUSIVE),
        ((0.1, 0.45, 0.45), Verdict.INCONCLUSIVE),
    ],
)
def test_the_most_probable_verdict_counts_and_a_tie_is_inconclusive(
    given: tuple[float, ...], verdict: Verdict
) -> None:
    assert most_probable(dict(zip(Verdict, given, strict=True))) is verdict


@PATHS
def test_options_can_be_put_in_the_reverse_order(path: str) -> None:
    async def work(judge: LanguageModelJudge) -> Any:
        assert isinstance(judge.verdicts, DecisionVerdict)
        turned = replace(judge.verdicts, is_turned=True)
        return await turned.judge(CLAIM, Found((), tuple(NODES)), Meter())

    with DecisionServer() as server:
        assert told(server, path, work).score == LIKELY[0]
        question = next(iter(_questions(server.requests[0])))
    given = question.get("criteria") or [one["value"] for one in question["choices"]]
    assert list(given) == ["INCONCLUSIVE", "NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED"]


def _questions(received: Received) -> list[Any]:
    found = received.body["questions"]
    return list(found.values()) if isinstance(found, dict) else found


# Several claims over one text.


@PATHS
def test_claims_that_ask_at_a_time_share_a_request(path: str, tmp_path: Path) -> None:
    texts = ["The ferry sailed at noon.", "Tea was sold.", "Coal was dear.", "Fish was cheap."]
    meters = [Meter() for _ in texts]

    async def work(judge: LanguageModelJudge) -> list[int]:
        found = await asyncio.gather(
            *(
                judge.select_evidence(claim(text), NODES, meter)
                for text, meter in zip(texts, meters, strict=True)
            )
        )
        return [sum(len(one.sentences) for one in each.evidence) for each in found]

    cache = AnswerCache(tmp_path / "answers.sqlite")
    with DecisionServer() as server:
        assert told(server, path, work, cache=cache) == [2, 1, 2, 0]
        assert len(server.requests) == 1
        assert len(_questions(server.requests[0])) == 16
        paid = [meter.total.input_tokens for meter in meters]
        assert max(paid) - min(paid) <= 1
        # What each was answered is kept as if it had been asked about alone.
        assert told(server, path, work, cache=cache) == [2, 1, 2, 0]
        assert len(server.requests) == 1
    assert {step.model for meter in meters for step in meter.steps} == {f"luna-{VERSION}"}


def test_a_request_never_holds_more_questions_than_every_server_takes() -> None:
    nodes = [node("n", *(f"The ferry {number} sailed." for number in range(450)))]

    async def work(judge: LanguageModelJudge) -> None:
        texts = [f"The ferry {number} sailed." for number in range(3)]
        await asyncio.gather(*(judge.select_evidence(claim(one), nodes, Meter()) for one in texts))

    with DecisionServer() as server:
        told(server, SYSTEMONE, work, limits=Limits(root_sentences=None))
        counts = [len(_questions(one)) for one in server.requests]
        assert max(counts) <= MOST_QUESTIONS
        assert sum(counts) == 3 * 450
        server.reset()
        told(server, SYSTEMONE, work, limits=Limits(root_sentences=90))
        assert sorted(len(_questions(one)) for one in server.requests) == [90] * 5 + [180] * 5


@PATHS
def test_a_refusal_fails_the_claim_that_it_is_about_and_no_other(path: str) -> None:
    def refuses(received: Received) -> Twist | None:
        about = "Claim 1: The ferry sailed at noon" in received.user
        is_alone = received.user.endswith("Claim: The ferry sailed at noon.")
        return Twist.REFUSAL if about or is_alone else None

    async def work(judge: LanguageModelJudge) -> list[Any]:
        texts = ["The ferry sailed at noon.", "The tea was sold."]
        asked = (judge.select_evidence(claim(one), NODES, Meter()) for one in texts)
        return await asyncio.gather(*asked, return_exceptions=True)

    with DecisionServer(twists=refuses) as server:
        refused, other = told(server, path, work)
        assert len(server.requests) == 2  # together, then about the refused one alone
    assert isinstance(refused, RequestRejected)
    assert str(refused).startswith("the model refused question 1.0: Sentence 0 supports")
    assert [one.node_ids for one in other.evidence] == [("a",)]


@PATHS
def test_a_refused_verdict_is_a_failure_that_is_not_asked_again_and_not_kept(
    path: str, tmp_path: Path
) -> None:
    cache, meter = AnswerCache(tmp_path / "answers.sqlite"), Meter()
    with DecisionServer(twists=at(0, Twist.REFUSAL, "verdict")) as server:
        with pytest.raises(RequestRejected, match="the model refused question 1"):
            judged(server, path, meter, cache=cache)
        assert len(server.of("verdict")) == 1
        assert meter.total.calls == 1  # it is paid all the same
        assert judged(server, path, cache=cache).verdict is Verdict.FULLY_SUPPORTED
        assert len(server.of("verdict")) == 2
        assert len(server.of("evidence_selection")) == 1


# What is no answer.

WRONG = [
    one for one in Twist
    if one not in (Twist.REFUSAL, Twist.NO_ANSWERS, Twist.NOT_JSON, *OF_CHOICES)
]  # fmt: skip


@PATHS
@pytest.mark.parametrize("twist", WRONG)
def test_an_invalid_selection_is_charged_and_asked_for_again(path: str, twist: Twist) -> None:
    if path == SYSTEMONE and twist is Twist.TURNED:
        pytest.skip("answers by name have no order")
    meter = Meter()
    with DecisionServer(twists=at(0, twist)) as server:
        assert selected(server, path, meter=meter, price=PRICE) == {"a": [0], "b": [1]}
        assert len(server.requests) == 2
    assert meter.total.calls == 2
    assert meter.total.unpriced_calls == 0


@PATHS
@pytest.mark.parametrize("twist", [*(one for one in WRONG if one not in OF_SEVERAL), *OF_CHOICES])
def test_an_invalid_verdict_is_asked_for_again(path: str, twist: Twist) -> None:
    with DecisionServer(twists=at(0, twist, "verdict")) as server:
        assert judged(server, path).score == LIKELY[0]
        assert len(server.of("verdict")) == 2


@PATHS
def test_answers_that_stay_invalid_end_with_the_reason(path: str) -> None:
    with DecisionServer(twists=at(-1, Twist.NAN)) as server:
        with pytest.raises(NeverValid) as raised:
            selected(server, path)
        assert len(server.requests) == 6
    assert str(raised.value) == (
        "no valid answer to evidence_selection in 6 attempts (6 malformed); the last: "
        "question 1.0: nan is no probability"
    )


def test_one_wrong_answer_of_several_claims_has_each_asked_about_alone() -> None:
    async def work(judge: LanguageModelJudge) -> list[Any]:
        texts = ["The ferry sailed at noon.", "Tea was sold."]
        asked = (judge.select_evidence(claim(one), NODES, Meter()) for one in texts)
        return await asyncio.gather(*asked)

    with DecisionServer(twists=at(0, Twist.ABOVE_ONE)) as server:
        found = told(server, OPENAI, work)
        assert [len(_questions(one)) for one in server.requests] == [8, 4, 4]
    assert [len(one.evidence) for one in found] == [2, 1]


@pytest.mark.parametrize("total", [0.99, 1.0, 1.01])
def test_probabilities_that_a_server_rounded_are_taken(total: float) -> None:
    given = dict(zip((one.value for one in Verdict), (0.5, total - 0.5, 0.0), strict=True))
    with DecisionServer(verdicts={CLAIM.text: given}) as server:
        assert judged(server, SYSTEMONE).score == 0.5


# Faults on the way.


@PATHS
@pytest.mark.parametrize("fault", QUICK)
def test_a_fault_on_the_way_is_tried_again(path: str, fault: Fault) -> None:
    meter = Meter()
    script = FaultScript({("evidence_selection", 0): fault})
    with DecisionServer(faults=script) as server:
        assert selected(server, path, meter=meter) == {"a": [0], "b": [1]}
        assert len(server.requests) == 2
    assert meter.total.calls == 1


@PATHS
@pytest.mark.parametrize("twist", [Twist.NOT_JSON, Twist.NO_ANSWERS])
def test_what_holds_no_decisions_is_tried_again_and_its_tokens_are_paid(
    path: str, twist: Twist
) -> None:
    meter = Meter()
    with DecisionServer(twists=at(0, twist)) as server:
        assert selected(server, path, meter=meter, price=PRICE) == {"a": [0], "b": [1]}
    assert meter.total.calls == 1
    last = len(json.dumps(server.requests[-1].body)) // 4
    assert (meter.total.input_tokens > last + 1) is (twist is Twist.NO_ANSWERS)


@PATHS
@pytest.mark.parametrize("fault", [Fault.HANG, Fault.SLOW_TRICKLE])
def test_an_answer_that_takes_too_long_ends_within_the_deadline(path: str, fault: Fault) -> None:
    hurried = replace(PATIENCE, deadline=0.5, attempt_timeout=0.2)
    with DecisionServer(faults=always(fault)) as server:
        with pytest.raises(ModelError, match="no answer from"):
            selected(server, path, patience=hurried)
        assert len(server.requests) >= 2


@PATHS
@pytest.mark.parametrize("options", [{"key": "sk-another"}, {"models": ["another"]}])
def test_a_wrong_key_or_model_ends_the_run(path: str, options: dict[str, Any]) -> None:
    with DecisionServer(**options) as server:
        with pytest.raises(EndpointRefused) as raised:
            selected(server, path)
        assert len(server.requests) == 1
    assert KEY not in str(raised.value)


@PATHS
def test_a_text_that_is_too_long_is_split_and_one_sentence_that_is_fails(path: str) -> None:
    whole = 4 * len("The ferry sailed at noon.")
    with DecisionServer(context_tokens=whole // 4) as server:
        assert selected(server, path) == {"a": [0], "b": [1]}
        assert max(len(_questions(one)) for one in server.requests[1:]) < 4
    with DecisionServer(context_tokens=5) as server, pytest.raises(JudgeError) as raised:
        selected(server, path)
    assert "does not fit into the context window" in str(raised.value)


# Addresses, dialects and prices.


@pytest.mark.parametrize(
    ("url", "dialect", "address"),
    [
        ("https://api.openai.com/v1", "openai", "https://api.openai.com/v1/decisions"),
        ("https://api.openai.com", "openai", "https://api.openai.com/v1/decisions"),
        ("https://gateway.example/v1/decisions", "openai", "https://gateway.example/v1/decisions"),
        ("https://api.typesafe.ai", "systemone", "https://api.typesafe.ai/v1/systemone"),
        ("https://openrouter.ai/api", "systemone", "https://openrouter.ai/api/v1/systemone"),
        (
            "https://openrouter.ai/api/alpha/decisions",
            "systemone",
            "https://openrouter.ai/api/alpha/decisions",
        ),
        ("http://127.0.0.1:8080/v1/", "systemone", "http://127.0.0.1:8080/v1/systemone"),
        ("http://127.0.0.1:8080/v1/systemone", "systemone", "http://127.0.0.1:8080/v1/systemone"),
    ],
)
def test_the_dialect_is_guessed_from_the_address(url: str, dialect: str, address: str) -> None:
    found = dialect_of(None, url)
    assert found.name == dialect
    assert address_of(url, found) == address


def test_a_dialect_that_is_named_counts() -> None:
    assert isinstance(dialect_of("openai", "http://127.0.0.1:8080"), OpenAiDialect)
    with pytest.raises(InputError, match="it is one of openai, systemone"):
        dialect_of("jev", "http://127.0.0.1:8080")
    assert set(DIALECTS) == {"openai", "systemone"}


@pytest.mark.parametrize(
    ("model", "address", "price"),
    [
        ("gpt-6-luna", "https://api.openai.com/v1/decisions", 0.1),
        ("jev-1.14.0", "https://api.typesafe.ai/v1/systemone", 0.042),
        ("typesafe/jev-1.13", "https://openrouter.ai/api/v1/systemone", 0.042),
        ("laya", "http://127.0.0.1:8080/v1/systemone", None),
    ],
)
def test_decisions_have_a_price_of_what_is_read_alone(
    model: str, address: str, price: float | None
) -> None:
    found = decision_price_of(model, address)
    assert (found.input if found else None) == price
    assert found is None or found.output == 0
    own = {model: Price(1, 1, 0)}
    assert decision_price_of(model, address, own) == own[model]
