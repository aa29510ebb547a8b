"""VISTA: what is asked of each turn, what is remembered, and what a fault leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.dialogue_prompts import ShownDialogue
from fakes.dialogues import (
    DialogueReader,
    TextInMemory,
    gold_run,
    sample_dialogue,
)

from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    Dialogue,
    DialogueDocument,
    DialogueLabel,
    DialogueRun,
    Speaker,
    Turn,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.prompted import PromptedDialogueJudge
from veritrail_graph.verifier.dialogue.vista import Ablations, Vista
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    Meter,
    OverBudget,
    Request,
    Step,
    TransportFault,
)
from veritrail_graph.verifier.prompted import ROOM_AROUND, USER_PORTION, PromptedStep
from veritrail_graph.verifier.prompts import load_prompts

PROMPTS = load_prompts()


def asking_of(reader: Any, **of_asking: Any) -> ScriptedAsking:
    """A model in memory that answers as a reader of the scripted server does."""

    def answer(request: Request) -> str:
        found = reader(request.call.step, request.system, request.user, request)
        return found if isinstance(found, str) else json.dumps(found)

    return ScriptedAsking(answer, **of_asking)


def judge_over(
    asking: ScriptedAsking, *, zero_shot: bool = False, most_turns: int = 200
) -> PromptedDialogueJudge:
    def step(name: Step) -> PromptedStep:
        prompt = PROMPTS[name]
        return PromptedStep(prompt.zero_shot if zero_shot else prompt, asking)

    return PromptedDialogueJudge(
        "openai",
        step(Step.DIALOGUE_EXTRACTION),
        step(Step.DIALOGUE_VERIFICATION),
        step(Step.DIALOGUE_CATEGORISATION),
        step(Step.DIALOGUE_TURN_CHECK),
        most_turns,
    )


WHOLE = Ablations()


def verified(
    asking: ScriptedAsking,
    dialogue: Dialogue | None = None,
    ablations: Ablations = WHOLE,
    **how: Any,
) -> list[TurnVerification]:
    """The turns of a dialogue, verified by a scripted model."""
    vista = Vista(judge_over(asking), ablations)
    return asyncio.run(all_of(vista, dialogue or sample_dialogue(), **how))


async def all_of(vista: Vista, dialogue: Dialogue, **how: Any) -> list[TurnVerification]:
    text = TextInMemory(dialogue)
    return [found async for _, found, _ in vista.dialogue(text, **how)]


def shown_to(asking: ScriptedAsking, step: Step) -> list[ShownDialogue]:
    """What the prompts of a step showed, in the order in which they were asked."""
    return [ShownDialogue.of(one.user) for one in asking.requests if one.call.step == step]


def told(turns: Sequence[TurnVerification]) -> list[list[tuple[str, str | None]]]:
    return [
        [(one.claim, one.category and one.category.value) for one in turn.claims] for turn in turns
    ]


def test_the_sample_is_found_as_its_gold_file_says() -> None:
    asking = asking_of(DialogueReader())
    found = verified(asking)
    gold = gold_run()
    assert [one.replace(usage=gold.usage) for one in found] == list(gold.turns)
    run = DialogueRun.of_turns(found, run_id="r", dialogue_id="d", engine="openai")
    assert (run.score, run.course) == (gold.score, gold.course)
    claims = {one.claim: one for turn in found for one in turn.claims}
    monday = claims["The Lindholm Tram Museum is open on Mondays."]
    closed = claims["The Lindholm Tram Museum is closed on Mondays."]
    assert monday.category is ClaimCategory.CONTRADICTED
    assert monday.contradicts == (closed.claim_id,)


def test_extraction_shows_the_whole_history_and_the_turn_last() -> None:
    asking = asking_of(DialogueReader())
    verified(asking)
    shown = shown_to(asking, Step.DIALOGUE_EXTRACTION)
    turns = sample_dialogue().turns
    for number, one in enumerate(shown):
        place = 2 * number + 1
        assert one.turn == turns[place].text
        assert list(one.history) == [(turn.role.value, turn.text) for turn in turns[:place]]


def test_the_background_is_what_the_assistant_established_before_and_never_the_users_words() -> (
    None
):
    asking = asking_of(DialogueReader())
    found = verified(asking)
    shown = shown_to(asking, Step.DIALOGUE_VERIFICATION)
    by_claim = {one.claim: one for one in shown}
    (knowledge,) = sample_dialogue().initial_knowledge
    first = by_claim["The Lindholm Tram Museum is open from ten to five."]
    assert first.background == (
        knowledge,
        "The assistant is the guide of the Lindholm Tram Museum.",
    )
    last = by_claim["The assistant rode the trams of Lisbon for a week last summer."]
    remembered = {claim.claim for turn in found for claim in turn.claims if claim.is_remembered}
    assert set(last.background) <= remembered | {knowledge}
    assert "The assistant has never left Lindholm." in last.background  # out of scope
    assert "The user can bring lunch to the Lindholm Tram Museum." not in last.background
    repeated = "The Heron is the oldest horse tram of the country."
    assert last.background.count(repeated) == 1
    assert last.background[-1] == repeated  # said again, so it is the latest


def test_what_is_not_verified_is_asked_about_once_more_with_the_same_message() -> None:
    asking = asking_of(DialogueReader())
    verified(asking)
    users = {step: set[str]() for step in Step}
    for one in asking.requests:
        users[Step(one.call.step)].add(one.user)
    assert users[Step.DIALOGUE_CATEGORISATION] < users[Step.DIALOGUE_VERIFICATION]
    categorised = {one.claim for one in shown_to(asking, Step.DIALOGUE_CATEGORISATION)}
    assert categorised == {
        one.claim
        for turn in gold_run().turns
        for one in turn.claims
        if one.category is not ClaimCategory.VERIFIED
    }


def test_each_ablation_takes_away_one_thing() -> None:
    asking = asking_of(DialogueReader())
    found = verified(asking, ablations=Ablations(background=False))
    assert not any(one.background for one in shown_to(asking, Step.DIALOGUE_VERIFICATION))
    assert shown_to(asking, Step.DIALOGUE_EXTRACTION)[-1].history
    assert not any(one.compared_with for turn in found for one in turn.claims)
    assert not any(one.contradicts for turn in found for one in turn.claims)

    asking = asking_of(DialogueReader())
    found = verified(asking, ablations=Ablations(history=False))
    assert not any(one.history for one in shown_to(asking, Step.DIALOGUE_EXTRACTION))
    assert shown_to(asking, Step.DIALOGUE_VERIFICATION)[-1].background
    lost = next(turn for turn in found if turn.turn_id == "t18")
    assert told([lost]) == [[("She sold it to the town in 1931.", "LACKING_EVIDENCE")]]

    asking = asking_of(DialogueReader())
    found = verified(asking, ablations=Ablations(categories=False))
    assert not shown_to(asking, Step.DIALOGUE_CATEGORISATION)
    claims = [one for turn in found for one in turn.claims]
    assert {one.category for one in claims} == {ClaimCategory.VERIFIED, None}
    assert {one.label for one in claims if one.category is None} == {DialogueLabel.UNVERIFIABLE}


def test_zero_shot_leaves_out_the_examples_alone() -> None:
    for step in (
        Step.DIALOGUE_EXTRACTION, Step.DIALOGUE_VERIFICATION, Step.DIALOGUE_CATEGORISATION,
        Step.DIALOGUE_TURN_CHECK,
    ):  # fmt: skip
        whole, bare = PROMPTS[step], PROMPTS[step].zero_shot
        before, _, rest = whole.text.partition("# Examples")
        _, _, after = rest.partition("# Steps")
        assert bare.text == f"{before}# Steps{after}"
        assert bare.name == f"{whole.name}_zero_shot"
        assert bare.hash != whole.hash
        assert "<!--" not in whole.text
    assert PROMPTS[Step.VERDICT].zero_shot.text == PROMPTS[Step.VERDICT].text


def test_a_turn_check_sees_the_conversation_and_finds_the_turn_it_quotes() -> None:
    asking = asking_of(DialogueReader())
    found = verified(asking, ablations=Ablations(turn_check=True))
    checks = {one.turn_id: one.turn_check for one in found}
    assert checks["t2"] is not None
    lisbon = checks["t28"]
    assert lisbon is not None
    assert lisbon.contradiction
    assert lisbon.quotes == (
        "Oh yes, last summer I rode the trams of Lisbon for a week!",
        "I have never left Lindholm",
    )
    assert lisbon.turn_id == "t22"
    assert checks["t26"] is not None
    assert not checks["t26"].contradiction
    (first, *_, last) = shown_to(asking, Step.DIALOGUE_TURN_CHECK)
    assert len(first.history) == 1
    assert len(last.history) == 29
    plain = verified(asking_of(DialogueReader()))
    assert [one.label for one in found] == [one.label for one in plain]


TALK = (
    ("user", "Tell me about the north pier.", ()),
    ("assistant", "It is of oak.", ("pier",)),
    ("user", "And the light?", ()),
    ("assistant", "It is of iron.", ("pier",)),
    ("user", "Really?", ()),
    ("assistant", "Yes.", ()),
)
PIER = DialogueDocument(document_id="pier", text="The north pier is of oak. Its light is of iron.")


def talk(turns: Sequence[tuple[str, str, Sequence[str]]] = TALK, **more: Any) -> Dialogue:
    return Dialogue(
        documents=(PIER,),
        turns=tuple(
            Turn(turn_id=f"{number}", role=Speaker(role), text=text, documents=tuple(documents))
            for number, (role, text, documents) in enumerate(turns, start=1)
        ),
        **more,
    )


def says_everything(step: str, _system: str, user: str, _request: Any) -> Any:
    """One claim a turn, which is verified."""
    shown = ShownDialogue.of(user)
    if step == Step.DIALOGUE_EXTRACTION:
        return {"claims": [f"Claim of {shown.turn}"]}
    return {"label": "VERIFIED", "reason": "It is said."}


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (TransportFault("the endpoint is silent"), Status.FAILED),
        (RuntimeError("oops"), Status.FAILED),
        (OverBudget("the budget is used up"), Status.OVER_BUDGET),
        (EndpointRefused("the key is refused"), Status.FAILED),
    ],
)
def test_a_claim_whose_call_fails_is_failed_and_never_unverifiable(
    fault: Exception, status: Status
) -> None:
    def reader(step: str, system: str, user: str, request: Any) -> Any:
        shown = ShownDialogue.of(user)
        if shown.turn == "It is of iron.":
            return {"claims": ["The light is of iron.", "The light is bright."]}
        if shown.claim == "The light is bright.":
            raise fault
        return says_everything(step, system, user, request)

    asking = asking_of(reader)
    first, second, third = verified(asking, talk())
    assert (first.status, first.label) == (Status.SUCCEEDED, DialogueLabel.VERIFIED)
    assert (second.status, second.label, second.score) == (status, None, None)
    assert str(fault) in (second.error or "")
    good, bad = second.claims
    assert (bad.status, bad.category, bad.label) == (status, None, None)
    assert str(fault) in (bad.error or "")
    goes_on = not isinstance(fault, (OverBudget, EndpointRefused))
    assert (good.status is Status.SUCCEEDED) or not goes_on
    assert third.background_lacks == 1
    if goes_on:
        assert third.status is Status.SUCCEEDED
        (last,) = shown_to(asking, Step.DIALOGUE_VERIFICATION)[-1:]
        assert last.background == ("Claim of It is of oak.", "The light is of iron.")
    else:
        assert (third.status, third.claims) == (status, ())
        assert not [one for one in shown_to(asking, Step.DIALOGUE_EXTRACTION) if one.turn == "Yes."]


def test_a_turn_whose_extraction_fails_is_failed_without_claims() -> None:
    reader = DialogueReader({"It is of oak.": "no JSON at all"})
    asking = asking_of(
        lambda step, *rest: (
            reader(step, *rest)
            if ShownDialogue.of(rest[1]).turn == "It is of oak."
            else says_everything(step, *rest)
        )
    )
    first, second, _ = verified(asking, talk())
    assert (first.status, first.claims, first.label) == (Status.FAILED, (), None)
    assert "no JSON object" in (first.error or "")
    assert first.usage.calls == 3  # asked again, and every call is counted
    assert second.status is Status.SUCCEEDED


def test_a_turn_check_that_fails_leaves_the_claims_and_takes_the_label() -> None:
    def reader(step: str, *rest: Any) -> Any:
        if step == Step.DIALOGUE_TURN_CHECK:
            return {"contradiction": True, "quotes": ["one"]}
        return says_everything(step, *rest)

    found = verified(asking_of(reader), talk(), Ablations(turn_check=True))
    assert {(one.status, one.label, one.turn_check) for one in found} == {
        (Status.FAILED, None, None)
    }
    assert all(one.claims[0].category is ClaimCategory.VERIFIED for one in found)
    assert "two quotes" in (found[0].error or "")


def test_a_turn_without_claims_has_no_label_and_is_not_unverifiable() -> None:
    def reader(step: str, *rest: Any) -> Any:
        if step == Step.DIALOGUE_EXTRACTION:
            return {"claims": []}
        raise AssertionError(step)

    (first, *_) = verified(asking_of(reader), talk())
    assert (first.status, first.label, first.score) == (Status.SUCCEEDED, None, None)
    assert first.is_unverifiable is False


def test_an_interrupted_run_goes_on_behind_the_last_turn_that_succeeded() -> None:
    whole = verified(asking_of(DialogueReader()))
    done = {one.turn_id: one for one in whole[:6]}
    asking = asking_of(DialogueReader())
    assert verified(asking, done=done) == whole
    turns = sample_dialogue().turns
    asked = [one.turn for one in shown_to(asking, Step.DIALOGUE_EXTRACTION)]
    assert asked == [turn.text for turn in turns[13::2]]

    asking = asking_of(DialogueReader())  # what stands behind a failure is done again
    done["t4"] = done["t4"].replace(status=Status.FAILED)
    assert verified(asking, done=done) == whole
    assert len(shown_to(asking, Step.DIALOGUE_EXTRACTION)) == 14


def test_a_turn_that_was_verified_with_less_background_is_verified_again() -> None:
    """A run was killed after it had made up for a failed turn, and before the turns behind it."""
    whole = verified(asking_of(DialogueReader()))
    done = {one.turn_id: one for one in whole[:6]}
    last = whole[5].turn_id
    done[last] = done[last].replace(background_lacks=1)
    asking = asking_of(DialogueReader())
    assert verified(asking, done=done) == whole
    assert len(shown_to(asking, Step.DIALOGUE_EXTRACTION)) == len(whole) - 5


def test_single_turns_use_what_other_runs_established() -> None:
    whole = {one.turn_id: one for one in verified(asking_of(DialogueReader()))}
    asking = asking_of(DialogueReader())
    (monday,) = verified(asking, only=["t24"], earlier=whole)
    assert monday == whole["t24"].replace(usage=monday.usage)
    assert len(shown_to(asking, Step.DIALOGUE_EXTRACTION)) == 1
    (alone,) = verified(asking_of(DialogueReader()), only=["t24"])
    assert alone.background_lacks == 11
    assert not any(one.contradicts for one in alone.claims)
    only_some = Ablations(background=False)
    (bare,) = verified(asking_of(DialogueReader()), ablations=only_some, only=["t24"])
    assert bare.background_lacks == 0


def test_claims_of_a_turn_share_their_prompts_to_the_claim() -> None:
    asking = asking_of(DialogueReader())
    verified(asking)
    by_turn: dict[str, set[str]] = {}
    for one in asking.requests:
        if one.call.step == Step.DIALOGUE_VERIFICATION:
            by_turn.setdefault(one.user[: one.shared], set()).add(one.user)
    assert len(by_turn) <= 15
    assert max(map(len, by_turn.values())) == 4


def window_of(step: Step, room: int) -> int:
    """A window that leaves so many tokens beside the instructions of a step and a short line."""
    return len(PROMPTS[step].text) // 4 + 1 + ROOM_AROUND + USER_PORTION // 4 + room


def test_the_history_loses_its_oldest_lines_and_the_turn_says_so() -> None:
    step = Step.DIALOGUE_EXTRACTION
    asking = asking_of(DialogueReader(), context_tokens=window_of(step, 100))
    last = verified(asking)[-2]
    assert 5 < last.history_left_out < 27
    shown = shown_to(asking, step)[-2]
    kept = sample_dialogue().turns[last.history_left_out : 27]
    assert list(shown.history) == [(turn.role.value, turn.text) for turn in kept]


def test_the_background_loses_its_oldest_lines_and_the_turn_says_so() -> None:
    step = Step.DIALOGUE_CATEGORISATION
    asking = asking_of(DialogueReader(), context_tokens=window_of(step, 300))
    last = verified(asking)[-2]
    assert 3 < last.background_left_out < 24
    (claim,) = last.claims
    (shown,) = shown_to(asking, step)[-1:]
    assert len(shown.background) == len(claim.compared_with)
    assert shown.background[-1] == "The Heron is the oldest horse tram of the country."
    few = verified(asking_of(DialogueReader()), ablations=Ablations(most_facts=3))
    assert max(len(one.compared_with) for turn in few for one in turn.claims) <= 2
    assert few[-2].background_left_out > 20


def test_an_endpoint_with_a_smaller_window_gets_less() -> None:
    def reader(step: str, system: str, user: str, request: Any) -> Any:
        if len(user) > 900:
            raise ContextTooLong("too long", 300)
        return DialogueReader()(step, system, user, request)

    found = verified(asking_of(reader))
    assert {one.status for one in found} == {Status.SUCCEEDED}
    assert found[-2].history_left_out > 0
    assert found[-2].background_left_out > 0

    def refuses(step: str, system: str, user: str, request: Any) -> Any:
        raise ContextTooLong("too long", 1)

    (first, *_) = verified(asking_of(refuses))
    assert (first.status, first.error) == (Status.FAILED, "too long")


def test_a_reference_longer_than_a_prompt_is_shown_in_several() -> None:
    filler = " ".join(f"Plank {number} of the pier is of pine wood." for number in range(400))
    dialogue = talk().replace(documents=(PIER.replace(text=f"{filler} The light is of iron."),))

    def reader(step: str, _system: str, user: str, _request: Any) -> Any:
        shown = ShownDialogue.of(user)
        if step == Step.DIALOGUE_EXTRACTION:
            return {"claims": [shown.turn]}
        is_there = any("The light is of iron" in line for line in shown.excerpts)
        if step == Step.DIALOGUE_VERIFICATION:
            label = "VERIFIED" if is_there and "iron" in shown.claim else "UNVERIFIABLE"
            return {"label": label, "reason": "r"}
        contradicted = any("Plank 0 " in line for line in shown.excerpts)
        category = "CONTRADICTED" if contradicted else "LACKING_EVIDENCE"
        return {"category": category, "reason": "r", "background_ids": []}

    asking = asking_of(reader, context_tokens=4_000)
    first, second, _ = verified(asking, dialogue)
    assert len(list(shown_to(asking, Step.DIALOGUE_VERIFICATION))) > 4
    assert first.claims[0].category is ClaimCategory.CONTRADICTED  # one window suffices
    assert second.claims[0].category is ClaimCategory.VERIFIED


def test_own_work_grows_with_the_turns_and_not_with_their_square() -> None:
    def work(turns: int) -> tuple[int, int, int]:
        """Tokens counted, lines shown and facts compared with, of a dialogue of so many turns."""
        counted = 0

        class Counting(ScriptedAsking):
            def tokens(self, text: str) -> int:
                nonlocal counted
                counted += len(text)
                return super().tokens(text)

        lines = [
            ("assistant" if number % 2 else "user", f"Line {number:06}.", ())
            for number in range(turns)
        ]
        asking = Counting(
            lambda request: json.dumps(says_everything(request.call.step, "", request.user, None))
        )
        vista = Vista(judge_over(asking, most_turns=20), Ablations(most_facts=20))
        found = asyncio.run(all_of(vista, talk(lines)))
        assert len(found) == turns // 2
        shown = sum(one.user.count("\n") for one in asking.requests)
        compared = sum(len(claim.compared_with) for turn in found for claim in turn.claims)
        # The scripted model counts the tokens of whole prompts, which are bounded as well.
        return counted, shown, compared

    small, large = work(250), work(1_000)
    for few, many in zip(small, large, strict=True):
        assert many < 4.4 * few


class NeverEnding:
    """A sequence of turns that counts how often one is looked at."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.looks = 0

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, place: int) -> Turn:
        self.looks += 1
        return self.turns[place]


def test_two_thousand_turns_are_looked_at_a_bounded_number_of_times_each() -> None:
    lines = [("assistant" if number % 2 else "user", f"{number}", ()) for number in range(2_000)]
    text = TextInMemory(talk(lines))
    counting = NeverEnding(text.turns)
    asking = asking_of(lambda step, _s, user, _r: {"claims": []})

    class Counted(TextInMemory):
        @property
        def turns(self) -> Any:
            return counting

    async def run() -> int:
        vista = Vista(judge_over(asking, most_turns=10))
        found = 0
        async for _turn, one, _is_new in vista.dialogue(Counted(text.dialogue)):
            found += one.status is Status.SUCCEEDED
        return found

    assert asyncio.run(run()) == 1_000
    assert counting.looks < 2_000 * 14


def test_a_meter_of_each_turn_counts_its_calls() -> None:
    asking = asking_of(DialogueReader())
    spent: list[int] = []

    def meter() -> Meter:
        return Meter(on_record=lambda usage: spent.append(usage.calls))

    found = verified(asking, meter_of=meter)
    assert sum(one.usage.calls for one in found) == len(asking.requests) == len(spent)
    assert found[0].usage.calls == 2


def test_the_settings_name_prompts_models_and_limits() -> None:
    judge = judge_over(asking_of(DialogueReader()))
    assert judge.settings["verification"]["prompt"] == "dialogue_verification.v1"
    assert judge.settings["most_turns"] == 200
    bare = judge_over(asking_of(DialogueReader()), zero_shot=True)
    assert bare.settings["verification"]["prompt"] == "dialogue_verification.v1_zero_shot"
    without = replace(judge, turn_check=None)
    assert "turn_check" not in without.settings
