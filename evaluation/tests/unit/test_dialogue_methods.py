"""Methods over labelled dialogues: what each of them asks, and what a fault leaves."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.dialogue_prompts import parse_dialogue
from fakes.dialogues import EXAMPLES, DialogueReader, gold_run, sample_dialogue
from fakes.judging import SPLITTER

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.gold import DialogueGold, read_gold
from veritrail_eval.dialogues.judging import TurnJudge
from veritrail_eval.dialogues.methods import MethodRun
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_eval.dialogues.score import TurnScore, gold_labels
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel
from veritrail_graph.verifier.dialogue.prompted import PromptedDialogueJudge
from veritrail_graph.verifier.dialogue.vista import Ablations, Vista
from veritrail_graph.verifier.models.port import EndpointRefused, OverBudget, Request, Step
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

PROMPTS = load_prompts()
GOLD_FILE = EXAMPLES / "evaluation" / "dialogue-gold.jsonl"
ALONE = Ablations(background=False, history=False, categories=False)


@pytest.fixture(scope="module")
def gold() -> DialogueGold:
    return read_gold(GOLD_FILE)


def asking_of(reader: Any, **of_asking: Any) -> ScriptedAsking:
    def answer(request: Request) -> str:
        parse_dialogue(request.user, request.call.step)  # of the protocol
        found = reader(request.call.step, request.system, request.user, request)
        return found if isinstance(found, str) else json.dumps(found)

    return ScriptedAsking(answer, **of_asking)


def stages(asking: ScriptedAsking, extraction: Step, *others: Step) -> PromptedDialogueJudge:
    names = (extraction, others[0], others[-1])
    return PromptedDialogueJudge("openai", *(PromptedStep(PROMPTS[name], asking) for name in names))


VISTA = (Step.DIALOGUE_EXTRACTION, Step.DIALOGUE_VERIFICATION, Step.DIALOGUE_CATEGORISATION)
FACTSCORE = (Step.FACTSCORE_EXTRACTION, Step.FACTSCORE_VERIFICATION)


def vista(
    gold: DialogueGold,
    asking: ScriptedAsking,
    steps: tuple[Step, ...] = VISTA,
    ablations: Ablations = Ablations(),  # noqa: B008  # frozen
    *,
    given_claims: bool = False,
) -> PredictedTurns:
    run = MethodRun(gold, SPLITTER.split)
    made = Vista(stages(asking, *steps), ablations)
    return asyncio.run(run.vista("m", made, given_claims=given_claims))


def judged(gold: DialogueGold, asking: ScriptedAsking) -> PredictedTurns:
    judge = TurnJudge("openai", PromptedStep(PROMPTS[Step.DIALOGUE_JUDGE], asking))
    return asyncio.run(MethodRun(gold, SPLITTER.split).judged("judge", judge))


def accuracy(gold: DialogueGold, predicted: PredictedTurns, *, consensus: bool = True) -> float:
    found = TurnScore.of(gold, predicted, ClaimMatcher(), consensus=consensus)
    return found.as_json()["accuracy"] or 0.0


def test_vista_finds_the_labels_of_the_sample(gold: DialogueGold) -> None:
    found = vista(gold, asking_of(DialogueReader()))
    assert accuracy(gold, found) == 1
    row = TurnScore.of(gold, found, ClaimMatcher(), consensus=True).as_json()
    assert row["claims"]["categories"]["macro_f1"] == 1
    assert row["holds"]["CONTRADICTED"]["f1"] == row["holds"]["ABSTENTION"]["f1"] == 1
    assert row["claims"]["sets"]["jaccard"] == 1


def test_factscore_sees_turn_and_document_alone(gold: DialogueGold) -> None:
    asking = asking_of(DialogueReader())
    found = vista(gold, asking, FACTSCORE, ALONE)
    assert {one.call.step for one in asking.requests} == set(FACTSCORE)
    shown = [parse_dialogue(one.user, one.call.step) for one in asking.requests]
    assert not any(one.history or one.background for one in shown)
    texts = {turn.text for turn in sample_dialogue().turns}
    assert {one.turn for one in shown if one.turn} < texts  # whole turns: no sentences
    assert any(one.excerpts for one in shown)
    # The turn that only its history explains is unverifiable without it.
    assert found.turns["lindholm-dialogue", "t18"].label is DialogueLabel.UNVERIFIABLE
    assert not found.gives_categories


def test_a_judge_sees_conversation_documents_and_answer(gold: DialogueGold) -> None:
    asking = asking_of(DialogueReader())
    found = judged(gold, asking)
    assert len(asking.requests) == len(gold.turns)
    turns = sample_dialogue().turns
    place, turn = next((n, one) for n, one in enumerate(turns) if one.turn_id == "t4")
    (request,) = [one for one in asking.requests if one.user.endswith(f"Turn: {turn.text}")]
    shown = parse_dialogue(request.user, "dialogue_judge")
    assert list(shown.history) == [(one.role.value, one.text) for one in turns[:place]]
    assert "It is closed on Mondays." in shown.excerpts[-2]
    assert found.turns["lindholm-dialogue", "t4"].label is DialogueLabel.VERIFIED
    assert found.turns["lindholm-dialogue", "t2"].label is DialogueLabel.UNVERIFIABLE  # no document
    assert found.reasons["lindholm-dialogue", "t4"].endswith("lines were shown.")


def test_a_judge_leaves_out_the_oldest_turns_and_never_a_part_of_the_documents(
    gold: DialogueGold,
) -> None:
    room = len(PROMPTS[Step.DIALOGUE_JUDGE].text) // 4 + 700
    asking = asking_of(DialogueReader(), context_tokens=room)
    found = judged(gold, asking)
    last = found.turns["lindholm-dialogue", "t30"]
    assert last.history_left_out > 0
    shown = parse_dialogue(
        next(one.user for one in asking.requests if "(history)" in one.user), "dialogue_judge"
    )
    assert shown.history
    tiny = asking_of(DialogueReader(), context_tokens=room - 480)
    failed = judged(gold, tiny).turns["lindholm-dialogue", "t4"]
    assert failed.status is Status.FAILED
    assert "do not fit into the context window" in (failed.error or "")


def test_the_background_needs_the_turns_before_a_labelled_one(gold: DialogueGold) -> None:
    few = DialogueGold(gold.dialogues, gold.turns[4:5])
    assert [turn_id for _, turn_id in vista(few, asking_of(DialogueReader())).turns] == [
        "t2", "t4", "t6", "t8", "t10",
    ]  # fmt: skip
    bare = vista(few, asking_of(DialogueReader()), VISTA, Ablations(background=False))
    assert [turn_id for _, turn_id in bare.turns] == ["t10"]


def test_given_claims_take_the_place_of_extraction(gold: DialogueGold) -> None:
    asking = asking_of(DialogueReader())
    found = vista(gold, asking, given_claims=True)
    assert Step.DIALOGUE_EXTRACTION not in {one.call.step for one in asking.requests}
    row = TurnScore.of(gold, found, ClaimMatcher()).as_json()
    assert (row["claims"]["unmatched"], row["claims"]["extra"]) == (0, 0)
    assert row["claims"]["categories"]["accuracy"] == 1


def test_binary_saves_a_call_for_each_claim_that_is_not_verified(gold: DialogueGold) -> None:
    whole, binary = asking_of(DialogueReader()), asking_of(DialogueReader())
    vista(gold, whole)
    vista(gold, binary, VISTA, Ablations(categories=False))
    claims = [claim for turn in gold_run().turns for claim in turn.claims]
    bad = sum(one.category is not ClaimCategory.VERIFIED for one in claims)
    assert len(whole.requests) - len(binary.requests) == bad


def test_the_majority_is_the_most_frequent_label_and_category(gold: DialogueGold) -> None:
    run = MethodRun(gold, SPLITTER.split)
    found = run.majority("majority", gold_labels(gold, consensus=True))
    assert accuracy(gold, found) == pytest.approx(9 / 15)
    row = TurnScore.of(gold, found, ClaimMatcher(), consensus=True).as_json()
    claims = [claim.category for turn in gold_run().turns for claim in turn.claims]
    share = claims.count(ClaimCategory.VERIFIED) / len(claims)
    categories = row["claims"]["categories"]
    assert categories["accuracy"] == pytest.approx(share)
    classes = len(set(claims))
    assert categories["macro_f1"] == pytest.approx(2 * share / (1 + share) / classes)
    assert row["cost_per_turn"] is None


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (OverBudget("The budget is used up."), Status.OVER_BUDGET),
        (EndpointRefused("Wrong key."), Status.FAILED),
        ("no JSON at all", Status.FAILED),
    ],
)
def test_a_fault_is_a_status_in_every_method(
    gold: DialogueGold, fault: Any, status: Status
) -> None:
    def answer(*_: Any) -> Any:
        if isinstance(fault, Exception):
            raise fault
        return fault

    for found in (
        judged(gold, asking_of(answer)),
        vista(gold, asking_of(answer)),
        vista(gold, asking_of(answer), FACTSCORE, ALONE, given_claims=True),
    ):
        asked = [one for one in found.turns.values() if one.claims or one.error]
        assert {one.status for one in asked} == {status}
        row = TurnScore.of(gold, found, ClaimMatcher()).as_json()
        assert row["accuracy"] is None or found.turns["lindholm-dialogue", "t30"].label is None
        assert row["excluded"][status.value] == len(asked)
    refusing = asking_of(answer)
    judged(gold, refusing)
    if isinstance(fault, EndpointRefused):
        assert len(refusing.requests) == 1


def test_the_example_is_the_sample_with_its_gold_file() -> None:
    lines = Path(GOLD_FILE).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["dialogue"]["dialogue_id"] == "lindholm-dialogue"
    assert read_gold(GOLD_FILE).dialogues["lindholm-dialogue"] == sample_dialogue()
