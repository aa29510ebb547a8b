"""Attribution: what is asked about a sentence, and what becomes of every one of a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.attributing import SAMPLE, AttributionReader, gold_sentences
from fakes.entailment import tiny_model
from fakes.judging import SPLITTER
from fakes.model_prompts import SourcePrompt, parse_sources

from veritrail_graph.graph.model import NodeRef, Status
from veritrail_graph.graph.model.attribution import (
    AttributionCategory,
    Faithfulness,
    JudgeName,
    NodeAttribution,
    SourceMode,
)
from veritrail_graph.verifier.attribution.attributor import Attributor
from veritrail_graph.verifier.attribution.lexical import LexicalAttributor
from veritrail_graph.verifier.attribution.prompted import PromptedAttributor
from veritrail_graph.verifier.attribution.recheck import JudgeRechecker
from veritrail_graph.verifier.attribution.run import Attributing, AttributionSteps
from veritrail_graph.verifier.attribution.scored import EntailmentAttributor, ScoringJudge
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    Meter,
    OverBudget,
    Request,
    Step,
    TransportFault,
)
from veritrail_graph.verifier.nli.adapters import (
    NAMES,
    AlignScore,
    MiniCheck,
    SummaCZs,
    Support,
)
from veritrail_graph.verifier.nli.local import LocalModel
from veritrail_graph.verifier.nli.opening import ModelChoice, open_folder
from veritrail_graph.verifier.ports import ReadNode, SplitNode
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

PROMPTS = load_prompts()
NODES = {one["node_id"]: one["text"] for one in json.loads(SAMPLE.read_text())["nodes"]}


def a_node(name: str, text: str) -> ReadNode:
    return SplitNode(NodeRef.named(name), text, SPLITTER.split(name, text))


SUMMARY = a_node("summary", NODES["summary"])
SOURCES = (a_node("notes-board", NODES["notes-board"]), a_node("notes-ferry", NODES["notes-ferry"]))


def scripted(reader: Any, **of_asking: Any) -> ScriptedAsking:
    """A model in memory that answers as a reader of the scripted server does."""

    def answer(request: Request) -> str:
        found = reader(request.call.step, request.system, request.user, request)
        return found if isinstance(found, str) else json.dumps(found)

    return ScriptedAsking(answer, **of_asking)


def steps_over(
    asking: ScriptedAsking,
    *,
    judge: bool = False,
    correct: bool = False,
    mode: SourceMode = SourceMode.ATTRIBUTION,
    most: int | None = None,
) -> AttributionSteps:
    def step(name: Step) -> PromptedStep:
        return PromptedStep(PROMPTS[name], asking)

    return AttributionSteps(
        PromptedAttributor("openai", step(Step.ATTRIBUTION), most),
        step(Step.FAITHFULNESS) if judge else None,
        step(Step.CORRECTION) if correct else None,
        mode,
    )


def attributed(
    steps: AttributionSteps, node: ReadNode = SUMMARY, sources: tuple[ReadNode, ...] = SOURCES
) -> NodeAttribution:
    return asyncio.run(Attributing(steps, Meter()).node(node, sources))


def shown(asking: ScriptedAsking, step: Step = Step.ATTRIBUTION) -> list[SourcePrompt]:
    return [parse_sources(one.user, step) for one in asking.requests if one.call.step == step]


def named(*numbers: int, category: str = "EVIDENCE") -> str:
    items = [{"sentence_id": number, "categories": [category]} for number in numbers]
    return json.dumps({"attributions": items})


def test_the_planted_errors_are_found_judged_and_corrected() -> None:
    found = attributed(steps_over(scripted(AttributionReader()), judge=True, correct=True))
    for one, gold in zip(found.sentences, gold_sentences(), strict=True):
        told = one.json_object()
        assert {key: told[key] for key in gold} == gold
    kinds = {c for one in found.sentences for source in one.attributed for c in source.categories}
    assert kinds == set(AttributionCategory)
    corrected = {one.corrected_label for one in found.sentences if one.correction}
    assert corrected == {Faithfulness.FAITHFUL}


def test_all_sentences_of_a_node_share_the_excerpts_to_the_last_character() -> None:
    asking = scripted(AttributionReader())
    attributed(steps_over(asking))
    assert {one.user[: one.shared] for one in asking.requests} == {asking.requests[0].user[
        : asking.requests[0].shared]}  # fmt: skip
    assert all(one.user[one.shared :].startswith("Sentence: ") for one in asking.requests)
    assert [len(block.sentences) for block in shown(asking)[0].blocks] == [5, 2]


def in_turn(*answers: str | Exception) -> Callable[..., str]:
    left = list(answers)

    def answer(*_: object) -> str:
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return answer


ONE = a_node("t", "The pier is long.")
LONG = tuple(a_node(f"s{n}", f"First of {n}. Second of {n}. Third of {n}.") for n in range(2))


def test_what_several_windows_name_is_asked_about_together_with_its_context() -> None:
    asking = scripted(in_turn(named(2), named(1), named(0)))
    found = attributed(steps_over(asking, most=3), ONE, LONG)
    *_, last = shown(asking)
    assert [list(block.sentences.values()) for block in last.blocks] == [
        ["Third of 0."], ["Second of 1."],
    ]  # fmt: skip
    assert [block.context for block in last.blocks] == [
        ("First of 0.", "Second of 0."), ("First of 1.",),
    ]  # fmt: skip
    (sentence,) = found.sentences
    assert [(one.node_id, one.sentence) for one in sentence.attributed] == [("s0", 2)]


def test_the_answer_about_all_candidates_may_be_none() -> None:
    asking = scripted(in_turn(named(2, category="EXPECTED_SPAN"), named(1), named()))
    (sentence,) = attributed(steps_over(asking, most=3), ONE, LONG).sentences
    assert (sentence.status, sentence.attributed) == (Status.SUCCEEDED, ())
    assert sentence.implied_label is Faithfulness.UNFAITHFUL


def test_one_window_alone_needs_no_second_question() -> None:
    asking = scripted(in_turn(named(2), named()))
    (sentence,) = attributed(steps_over(asking, most=3), ONE, LONG).sentences
    assert len(asking.requests) == 2
    assert [one.node_id for one in sentence.attributed] == ["s0"]


def test_windows_that_name_everything_end_with_everything() -> None:
    asking = scripted(lambda *_: named(0, 1, 2))
    (sentence,) = attributed(steps_over(asking, most=3), ONE, LONG).sentences
    assert len(sentence.attributed) == 6
    assert len(asking.requests) == 2


@pytest.mark.parametrize("most", [None, 6])
def test_ten_documents_are_read_at_once(most: int | None) -> None:
    """In one prompt where they fit, else in windows; the judge sees all of them too."""
    ten = tuple(a_node(f"d{n}", f"Pier {n} is long. Pier {n} is old.") for n in range(10))
    node = a_node("t", "Pier 7 is old.")

    def reader(step: str, _system: str, user: str, _request: Any) -> Any:
        if step == "faithfulness":
            return {"label": "FAITHFUL", "reason": "It is."}
        texts = parse_sources(user).sentences
        return named(*(number for number, text in texts.items() if text == "Pier 7 is old."))

    asking = scripted(reader)
    steps = steps_over(asking, judge=True, mode=SourceMode.HIGHLIGHTED, most=most)
    (sentence,) = attributed(steps, node, ten).sentences
    assert [(one.node_id, one.sentence) for one in sentence.attributed] == [("d7", 1)]
    (judging,) = shown(asking, Step.FAITHFULNESS)
    assert (len(judging.blocks), judging.marked) == (10, (15,))
    assert [len(one.blocks) for one in shown(asking)] == ([10] if most is None else [3, 3, 3, 1])


def test_a_prompt_that_the_endpoint_finds_too_long_is_split() -> None:
    first = ContextTooLong("too long")
    asking = scripted(in_turn(first, named(1), named(), named(0)))
    (sentence,) = attributed(steps_over(asking), ONE, LONG).sentences
    assert sentence.error is None
    assert [(one.node_id, one.sentence) for one in sentence.attributed] == [("s0", 1)]


def test_a_sentence_that_fits_nowhere_fails() -> None:
    asking = scripted(AttributionReader(), context_tokens=1_700)
    huge = a_node("s", "word " * 60_000)
    (sentence,) = attributed(steps_over(asking), ONE, (huge,)).sentences
    assert sentence.status is Status.FAILED
    assert "sentence 0 of node 's' does not fit into the context window" in (sentence.error or "")
    assert not asking.requests


def test_a_failed_sentence_is_failed_and_never_none() -> None:
    broken = gold_sentences()[1]["text"]
    asking = scripted(AttributionReader({broken: named(99)}))
    found = attributed(steps_over(asking))
    failed = found.sentences[1]
    assert (failed.status, failed.implied_label) == (Status.FAILED, None)
    assert "names no id of the prompt" in (failed.error or "")
    assert {one.status for one in found.sentences if one is not failed} == {Status.SUCCEEDED}
    assert sum(one.text == broken for one in shown(asking)) == 3  # asked again


def test_ids_out_of_range_are_dropped_and_counted() -> None:
    asking = scripted(lambda *_: named(1, 99))
    (sentence,) = attributed(steps_over(asking), ONE, LONG).sentences
    assert (len(sentence.attributed), sentence.dropped_ids) == (1, 1)


@pytest.mark.parametrize(
    ("fault", "status"),
    [(OverBudget("spent"), Status.OVER_BUDGET), (TransportFault("gone"), Status.FAILED)],
)
def test_a_fault_is_the_status_of_its_sentence(fault: Exception, status: Status) -> None:
    (sentence,) = attributed(steps_over(scripted(in_turn(fault))), ONE, LONG).sentences
    assert (sentence.status, sentence.error) == (status, str(fault))


def test_a_judge_that_fails_leaves_the_attribution_and_asks_for_no_correction() -> None:
    def reader(step: str, *_: object) -> Any:
        if step == "faithfulness":
            raise TransportFault("gone")
        return named(0)

    asking = scripted(reader)
    (sentence,) = attributed(steps_over(asking, judge=True, correct=True), ONE, LONG).sentences
    assert (sentence.status, sentence.judged_label) == (Status.SUCCEEDED, None)
    assert sentence.error == "the judgement failed: gone"
    assert len(sentence.attributed) == 1
    assert not shown(asking, Step.CORRECTION)


@pytest.mark.parametrize(
    ("wordings", "proposed", "error"),
    [
        (["the pier  is long"], None, "the corrector changed nothing"),
        ([""], None, None),
        (["The pier is. It was.", "The pier was long."], "The pier was long.", None),
    ],
)
def test_a_correction_that_is_none_is_not_proposed(
    wordings: list[str], proposed: str | None, error: str | None
) -> None:
    left = list(wordings)

    def reader(step: str, *_: object) -> Any:
        if step == "correction":
            return {"sentence": left.pop(0)}
        if step == "faithfulness":
            return {"label": "FAITHFUL", "reason": ""}
        return named(0, category="NEAR_MATCH")

    steps = steps_over(scripted(reader), correct=True)
    steps = replace(
        steps, split=SPLITTER.split, rechecker=JudgeRechecker(
            PromptedStep(PROMPTS[Step.FAITHFULNESS], scripted(reader)), SourceMode.ATTRIBUTION
        ),
    )  # fmt: skip
    (sentence,) = attributed(steps, ONE, LONG).sentences
    assert (sentence.status, sentence.correction) == (Status.SUCCEEDED, proposed)
    assert len(sentence.revisions) == (proposed is not None)
    assert (error or "") in (sentence.error or "")
    assert (sentence.error is None) == (error is None)


def test_a_correction_that_fails_leaves_attribution_label_and_other_wordings() -> None:
    corrections = [TransportFault("gone"), json.dumps({"sentence": "The pier was long."})]

    def reader(step: str, *_: object) -> Any:
        if step == "correction":
            return in_turn(corrections.pop(0))()
        if step == "faithfulness":
            return {"label": "UNFAITHFUL", "reason": "It is not."}
        return named(0)

    steps = steps_over(scripted(reader), judge=True, correct=True)
    steps = replace(steps, further=(SourceMode.PLAIN,))
    (sentence,) = attributed(steps, ONE, LONG).sentences
    assert (sentence.status, sentence.label) == (Status.SUCCEEDED, Faithfulness.UNFAITHFUL)
    assert (len(sentence.attributed), sentence.correction) == (1, None)
    assert [one.mode for one in sentence.revisions] == [SourceMode.PLAIN]
    assert sentence.error == (
        "the correction failed: no wording could be proposed in the mode attribution: gone"
    )


def test_a_refused_endpoint_is_asked_no_more() -> None:
    def refuse(*_: object) -> str:
        raise EndpointRefused("no such key")

    asking = scripted(refuse)
    node = a_node("t", " ".join(f"Pier {n} is long." for n in range(200)))
    run = Attributing(steps_over(asking), Meter())
    found = asyncio.run(run.node(node, LONG))
    assert run.refusal is not None
    assert {one.status for one in found.sentences} == {Status.FAILED}
    assert len(asking.requests) <= 64


def test_what_is_stopped_is_cancelled_and_what_is_done_stays() -> None:
    async def stopped() -> NodeAttribution:
        run = Attributing(steps_over(scripted(reader)), Meter())
        stop.append(run.stop)
        return await run.node(SUMMARY, SOURCES)

    stop: list[Callable[[], None]] = []
    answers = AttributionReader()

    def reader(step: str, system: str, user: str, request: Any) -> Any:
        if parse_sources(user).text == gold_sentences()[3]["text"]:
            stop[0]()
        return answers(step, system, user, request)

    found = asyncio.run(stopped())
    statuses = [one.status for one in found.sentences]
    assert Status.CANCELLED in statuses
    assert set(statuses) <= {Status.CANCELLED, Status.SUCCEEDED}
    assert len(statuses) == 6


@pytest.mark.parametrize("step", [Step.FAITHFULNESS, Step.CORRECTION])
def test_the_modes_show_all_or_the_attributed_sentences(step: Step) -> None:
    of_mode = {}
    for mode in SourceMode:
        asking = scripted(AttributionReader())
        attributed(steps_over(asking, judge=True, correct=True, mode=mode))
        of_mode[mode] = {one.text: one for one in shown(asking, step)}
    gold = gold_sentences()[5]
    texts = [one["text"] for one in gold["attributed"]]
    plain, marked, alone = (of_mode[mode][gold["text"]] for mode in SourceMode)
    assert plain.marked is alone.marked is None
    assert len(plain.sentences) == len(marked.sentences) == 7
    assert [marked.sentences[number] for number in marked.marked or ()] == texts
    assert list(alone.sentences.values()) == texts
    assert not any(
        block.context for one in of_mode[SourceMode.ATTRIBUTION].values() for block in one.blocks
    )
    none = gold_sentences()[4]["text"]
    assert of_mode[SourceMode.HIGHLIGHTED][none].marked == ()
    assert none not in of_mode[SourceMode.ATTRIBUTION]  # nothing to show: unfaithful by definition


def test_sources_beyond_the_window_are_judged_by_the_attribution_alone() -> None:
    long = a_node("s", " ".join(f"Pier {n} is quite long." for n in range(400)))
    for mode, said in (
        (SourceMode.PLAIN, "the judgement failed: a source of 400 sentences does not fit"),
        (SourceMode.ATTRIBUTION, ""),
    ):

        def reader(step: str, *_: object) -> Any:
            if step == "faithfulness":
                return {"label": "FAITHFUL", "reason": ""}
            return named(0)

        asking = scripted(reader, context_tokens=3_500)
        steps = steps_over(asking, judge=True, mode=mode)
        (sentence,) = attributed(steps, ONE, (long,)).sentences
        assert (sentence.status, len(sentence.attributed)) == (Status.SUCCEEDED, 1)
        assert (sentence.error or "").startswith(said)
    assert sentence.error is None
    assert sentence.judged_label is Faithfulness.FAITHFUL


def test_a_judge_may_dispute_what_the_categories_imply() -> None:
    def reader(step: str, *_: object) -> Any:
        return named(0) if step == "attribution" else {"label": "UNFAITHFUL", "reason": "No."}

    (sentence,) = attributed(steps_over(scripted(reader), judge=True), ONE, LONG).sentences
    assert (sentence.implied_label, sentence.judged_label) == ("FAITHFUL", "UNFAITHFUL")
    assert sentence.is_disputed
    assert sentence.judged_reason == "No."


@pytest.mark.parametrize("attributor", [LexicalAttributor()])
def test_a_node_without_sentences_has_none_and_one_without_sources_rests_on_nothing(
    attributor: Attributor,
) -> None:
    steps = AttributionSteps(attributor)
    assert attributed(steps, a_node("t", " \n ")).sentences == ()
    (sentence,) = attributed(steps, ONE, (a_node("s", ""),)).sentences
    assert (sentence.status, sentence.attributed) == (Status.SUCCEEDED, ())


def test_without_a_model_words_and_numbers_are_compared() -> None:
    def of(text: str, *sources: str) -> list[tuple[int, str]]:
        found = attributed(
            AttributionSteps(LexicalAttributor()),
            a_node("t", text),
            (a_node("s", " ".join(sources)),),
        )
        return [
            (one.sentence, "+".join(one.categories))
            for sentence in found.sentences
            for one in sentence.attributed
        ]

    boats = "In 2021 the yard of Tarnmouth built 12 boats."
    assert of(boats, "It rained.", boats) == [(1, "EVIDENCE")]
    assert of(boats, boats, boats) == [(0, "EVIDENCE"), (1, "EVIDENCE")]
    assert of("In 2021 the yard of Tarnmouth built 14 boats.", boats, "It rained.") == [
        (0, "CONTRADICTION")
    ]
    assert of(
        "Tarnmouth gave medals, flags and cake to several old sailors.", boats, "It rained."
    ) == [(0, "EXPECTED_SPAN")]
    assert of("A comet was seen.", boats, "It rained.") == []
    assert of(
        "The yard built 12 boats and the mayor opened a bridge.",
        "The yard built 12 boats.", "The mayor opened a bridge.", "It rained.",
    ) == [(0, "EVIDENCE"), (1, "EVIDENCE")]  # fmt: skip
    will, may = "The east quay will close in winter.", "It may close the east quay in winter."
    assert of(will, "It rained.", may) == [(1, "NEAR_MATCH")]
    assert of(will, will, may) == [(0, "EVIDENCE")]
    assert of("Perhaps the east quay closes in winter.", may) == [(0, "EVIDENCE")]
    assert of("The east quay closed.", "The east quay closed in May.") == [(0, "EVIDENCE")]
    assert of(
        "The yard built 12 boats and the mayor opened a bridge.",
        "The yard built 12 boats.", "Perhaps the mayor opened a bridge.",
    ) == [(0, "NEAR_MATCH"), (1, "NEAR_MATCH")]  # fmt: skip


def test_an_entailment_model_names_the_two_loudest_sentences(tmp_path: Path) -> None:
    texts = ["The ferry sailed at noon.", "Coal was unloaded.", "The ferry was not sailed at noon."]
    folder = tiny_model(tmp_path / "tiny", texts)
    model = open_folder(folder, ModelChoice(str(folder)))
    steps = AttributionSteps(EntailmentAttributor(model))
    (sentence,) = attributed(
        steps, a_node("t", "The ferry sailed at noon."), (a_node("s", " ".join(texts)),)
    ).sentences
    assert [(one.sentence, list(one.categories)) for one in sentence.attributed] == [
        (0, ["EVIDENCE"]), (2, ["CONTRADICTION"]),
    ]  # fmt: skip
    asyncio.run(model.close())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    folder = tmp_path_factory.mktemp("tiny") / "model"
    tiny_model(folder, [*NODES.values(), "The pier is long."])
    model = open_folder(folder, ModelChoice(str(folder)))
    yield model
    asyncio.run(model.close())


@pytest.mark.parametrize(
    ("checker", "threshold"), [(SummaCZs, 0.1), (AlignScore, 0.5), (MiniCheck, 0.5)]
)
def test_a_checker_judges_by_all_sources_or_by_the_attribution_alone(
    tiny: LocalModel, checker: type[SummaCZs], threshold: float
) -> None:
    adapter = checker(tiny, SPLITTER.split)
    seen: list[str] = []

    class Watched:
        name, settings, lowest = adapter.name, adapter.settings, adapter.lowest

        async def support(self, document: str, claim: str, meter: Meter) -> Support:
            seen.append(document)
            return await adapter.support(document, claim, meter)

    judge = ScoringJudge(Watched(), tiny.name, threshold)
    for mode in (SourceMode.PLAIN, SourceMode.ATTRIBUTION):
        steps = replace(steps_over(scripted(AttributionReader()), mode=mode), judge=judge)
        found = attributed(steps)
        labels = {one.text: one.judged_label for one in found.sentences}
        assert labels["The board met on 4 March."] is Faithfulness.FAITHFUL
        assert labels["The board raised the mooring fee."] is Faithfulness.UNFAITHFUL
        assert {one.status for one in found.sentences} == {Status.SUCCEEDED}
        reason = found.sentences[0].judged_reason or ""
        assert f"{adapter.name} with {tiny.name}: " in reason
        assert f"(threshold {threshold:g})" in reason
    whole = "\n".join(one.text for one in SOURCES)
    assert seen[:6] == [whole] * 6
    alone = ["\n".join(each["text"] for each in one["attributed"]) for one in gold_sentences()]
    assert sorted(seen[6:]) == sorted(filter(None, alone))  # nothing attributed: no call


def test_a_checker_takes_no_highlights_and_needs_text(tiny: LocalModel) -> None:
    judge = ScoringJudge(SummaCZs(tiny, SPLITTER.split), tiny.name, 0.0)
    of = replace(steps_over(scripted(lambda *_: named(0))), judge=judge)
    (sentence,) = attributed(replace(of, mode=SourceMode.HIGHLIGHTED), ONE, LONG).sentences
    assert (sentence.error or "").startswith("the judgement failed: ")
    assert sentence.judged_label is None
    lexical = AttributionSteps(LexicalAttributor(), judge, mode=SourceMode.PLAIN)
    (sentence,) = attributed(lexical, ONE, (a_node("s", ""),)).sentences
    assert (sentence.judged_label, sentence.is_asked) == (Faithfulness.UNFAITHFUL, False)
    assert sentence.judged_reason == "Its sources hold no text."


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The old mill at Tarn was closed in 1990.", Faithfulness.FAITHFUL),
        ("The old mill at Tarn was closed in 1980.", Faithfulness.UNFAITHFUL),
        ("Work at the mill of Tarn came to an end in 1990.", None),
        ("The old mill director at Tarn was closed in 1990.", None),
        ("Other points of the year:", None),
    ],
)
def test_words_alone_call_a_sentence_faithful_or_not_only_where_they_can_tell(
    text: str, label: Faithfulness | None
) -> None:
    source = a_node("s", "The old mill at Tarn was closed in 1990. The bridge is of stone.")
    steps = AttributionSteps(LexicalAttributor())
    (sentence,) = attributed(steps, a_node("t", text), (source,)).sentences
    assert (sentence.status, sentence.label) == (Status.SUCCEEDED, label)
    (sentence,) = attributed(steps, a_node("t", text), (a_node("s", ""),)).sentences
    assert sentence.label is None


def test_every_checker_can_be_named_as_a_judge() -> None:
    assert set(JudgeName) == {*NAMES, "model"}


def test_settings_name_the_prompt_and_the_model() -> None:
    steps = steps_over(scripted(AttributionReader()))
    settings = steps.attributor.settings
    assert settings["attribution"]["prompt"] == "attribution.v1"
    assert replace(steps.attributor, most_sentences=4).settings != settings  # type: ignore[type-var]
