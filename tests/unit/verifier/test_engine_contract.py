"""What an engine of another package answers is believed only where it keeps the port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import FS, ScriptedJudge, select

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import CitedSentence, Claim, Status, Verification
from veritrail_graph.verifier import engines
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.engines import EndpointSettings, Engine, Parts, engine_named
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.port import Completion, Meter, Request, StepCall
from veritrail_graph.verifier.models.retrying import Patience, Retrying, Spending
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection

Answer = Callable[[Any], Any]


class Lying(ScriptedJudge):
    """Answers as a test says."""

    answers: Mapping[str, Answer] = {}

    async def sub_claims(self, claim: Claim, meter: Meter) -> Any:
        return self.answers.get("sub_claims", lambda _: ())(claim)

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        found: Selection = self.answers.get("select", _every)(nodes)
        return found

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        judged: Judgement = self.answers.get("judge", lambda _: Judgement(FS, "yes"))(found)
        return judged


def _every(nodes: Sequence[ReadNode]) -> Selection:
    return select({node.ref.node_id: (0,) for node in nodes}, nodes)


def verified(**answers: Answer) -> Verification:
    source = DagSource(Dag.of({"r": [], "s": ["r"], "t": ["s"]}))
    claim = Claim(claim_id="k", text="A claim.", node_id="t")
    judge = Lying(name="mine")
    judge.answers = answers
    task = Task(claim, source.dag.refs["t"])
    return asyncio.run(verify_claim(task, "p", judge, source))


def leave(_: Any) -> Any:
    raise SystemExit(0)


def fail(_: Any) -> Any:
    raise KeyError("boom")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def unprintable(_: Any) -> Any:
    raise Unprintable


def judging(**values: Any) -> Mapping[str, Answer]:
    return {"judge": lambda _: Judgement(**{"verdict": FS, "reasoning": "yes", **values})}


def citing(**values: Any) -> Mapping[str, Answer]:
    """Evidence of which every sentence has another value."""

    def chosen(nodes: Sequence[ReadNode]) -> Selection:
        (one,) = _every(nodes).evidence
        said = [CitedSentence.model_construct(**{**vars(c), **values}) for c in one.sentences]
        return Selection((one.replace(sentences=tuple(said)),))

    return {"select": chosen}


def selecting(**values: Any) -> Mapping[str, Answer]:
    return {"select": lambda nodes: replace(_every(nodes), **values)}


LIES: dict[str, Mapping[str, Answer]] = {
    "ends the program": {"sub_claims": leave},
    "ends the program in evidence": {"select": leave},
    "ends the program in a verdict": {"judge": leave},
    "raises": {"select": fail},
    "raises what has no words": {"judge": unprintable},
    "sub-claims as a text": {"sub_claims": lambda _: "a b"},
    "sub-claims as numbers": {"sub_claims": lambda _: (1, 2)},
    "no selection": {"select": lambda _: None},
    "a list for a selection": {"select": lambda _: []},
    "evidence that is a text": selecting(evidence=("a",)),
    "evidence that is none": selecting(evidence=5),
    "a negative number of dropped ids": selecting(dropped_ids=-1),
    "silence that is no text": {"select": lambda _: Selection(silence=3)},  # type: ignore[arg-type]
    "another node": citing(node_id="elsewhere"),
    "a node that is a number": citing(node_id=7),
    "a sentence behind the last": citing(sentence=99),
    "a sentence before the first": citing(sentence=-1),
    "other words": citing(text="It never said so."),
    "another place": citing(start=3, end=1),
    "half a character": citing(text="\ud800"),
    "no judgement": {"judge": lambda _: FS},
    "a verdict outside the enum": judging(verdict="MAYBE"),
    "a verdict as a text": judging(verdict="FULLY_SUPPORTED"),
    "reasons that are none": judging(reasoning=None),
    "reasons with half a character": judging(reasoning="\udc00"),
    "a score that is no number": judging(score=float("nan")),
    "a score that is a text": judging(score="high"),
    "a negative number of reruns": judging(reruns=-2),
    "roots that are numbers": judging(left_out_roots=(1,)),
    "roots that are none": judging(left_out_roots=None),
    "judged evidence that is a text": judging(judged="all"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_answer_that_breaks_the_port_fails_its_claim_and_names_the_engine(lie: str) -> None:
    found = verified(**LIES[lie])
    assert (found.status, found.verdict, found.iterations) == (Status.FAILED, None, ())
    assert (found.error or "").startswith("engine mine"), found.error


def test_answers_that_keep_the_port_are_taken() -> None:
    assert verified().verdict is FS
    assert verified(**judging(verdict=None, score=-0.25)).status is Status.UNDECIDED


class Mine(ScriptedJudge):
    name = "mine"


def engine(**values: Any) -> Engine:
    def judge(_parts: Parts) -> Any:
        print("chatter")
        return Lying(name="mine")

    return replace(Engine("mine", "lies", judge), **values)


PARTS = Parts(lambda _node, _text: (), Limits(), Samples())


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    def bring(*values: Any) -> None:
        points = [EntryPoint("mine", f"{__name__}:BROUGHT_{n}", engines.GROUP) for n in range(2)]
        for number, value in enumerate(values):
            monkeypatch.setitem(globals(), f"BROUGHT_{number}", value)
        monkeypatch.setattr(
            "importlib.metadata.entry_points", lambda group, name=None: points[: len(values)]
        )

    return bring


def test_an_engine_of_another_package_prints_nothing_on_stdout(
    brought: Callable[[Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    brought(engine())
    assert engine_named("mine").judge(PARTS).name == "mine"
    out, err = capsys.readouterr()
    assert (out, err) == ("", "chatter\n")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"name": "openai"}, "is not usable: ValueError: its Engine is called 'openai'"),
        ({"summary": None}, "is not usable"),
        ({"judge": leave}, "failed: SystemExit"),
        ({"judge": fail}, "failed: KeyError"),
        ({"judge": lambda _: None}, "failed: TypeError: NoneType has no name"),
        ({"judge": lambda _: ScriptedJudge(name="openai")}, "its judge is called 'openai'"),
        ({"judge": lambda _: ScriptedJudge(name="mine", indicative=None)}, "`indicative`"),  # type: ignore[arg-type]
        ({"endpoint": lambda _: object()}, "failed: TypeError: object has no address"),
        ({"endpoint": leave}, "failed: SystemExit"),
        ({"check": leave}, "failed: SystemExit"),
        ({"recorded": lambda _: 5}, "failed: TypeError"),
    ],
)
def test_an_engine_of_another_package_that_fails_is_named(
    brought: Callable[[Any], None], values: dict[str, Any], told: str
) -> None:
    brought(engine(**values))

    def use() -> None:
        made = engine_named("mine")
        made.judge(PARTS)
        if made.endpoint is not None:
            made.endpoint(EndpointSettings("m"))
        if made.check is not None:
            made.check(EndpointSettings("m"))
        if made.recorded is not None:
            made.recorded(None)

    with pytest.raises(InputError, match=r"Engine 'mine' of the package .*") as error:
        use()
    assert told in str(error.value)


def test_two_packages_that_bring_one_engine_are_named(brought: Any) -> None:
    brought(engine(), engine())
    assert engine_named("mine").name == "mine"  # one package, listed twice


@pytest.mark.parametrize("answer", [leave, fail, lambda _: "text", lambda _: None])
def test_an_endpoint_that_fails_is_told_without_its_words(answer: Answer) -> None:
    class Endpoint:
        address = "mine://here"

        async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
            sent: Completion = answer(request)
            return sent

        async def close(self) -> None:
            return

    async def ask() -> None:
        retrying = Retrying(
            Endpoint(),
            patience=Patience(),
            limiter=Limiter(),
            spending=Spending(),
            price=None,
            party=None,
        )
        await retrying.call(Request(StepCall("verdict", "p", "0", "m", None), "s", "u"), None)

    with pytest.raises(Exception, match="the endpoint mine://here") as error:
        asyncio.run(ask())
    assert "boom" not in str(error.value)
