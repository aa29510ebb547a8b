"""The earlier turns that a claim is held against: which, where they stand, and what they deny."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from fakes.dialogue_prompts import ShownDialogue
from fakes.dialogues import TextInMemory, gold_run, sample_dialogue
from unit.verifier.test_vista import asking_of, judge_over, shown_to

from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    Dialogue,
    Speaker,
    Turn,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.earlier_turns import (
    Exchange,
    earlier_exchanges,
    in_their_order,
)
from veritrail_graph.verifier.dialogue.port import History
from veritrail_graph.verifier.dialogue.vista import Ablations, Vista
from veritrail_graph.verifier.models.port import Step
from veritrail_graph.verifier.prompts import load_prompts

SAID = (
    ("user", "Do you have a bicycle?"),
    ("assistant", "No, I go everywhere on foot."),
    ("user", "Which dogs live in Sandholm?"),
    ("assistant", "Sandholm has many terriers."),
    ("assistant", "The weather of Sandholm is mild."),
    ("user", "Nice!"),
    ("assistant", "Thank you."),
    ("user", "How did you come here?"),
    ("assistant", "I rode my bicycle along the quay."),
)
WHOLE = Ablations()
CLAIM = "The assistant rode its bicycle along the quay."


def talk() -> Dialogue:
    turns = tuple(
        Turn(turn_id=f"t{number}", role=Speaker(role), text=text)
        for number, (role, text) in enumerate(SAID)
    )
    return Dialogue(dialogue_id="talk", turns=turns)


def chosen(claim: str, most: int = 3, most_turns: int = 200) -> list[str]:
    turns = talk().turns
    found = earlier_exchanges(claim, History(turns, len(turns) - 1), most_turns, most)
    return [one.said.turn_id for one in found]


def test_exchanges_that_share_rare_words_come_first_and_the_latest_fill_up() -> None:
    # The user's question makes the short reply speak of a bicycle.
    assert chosen(CLAIM) == ["t1", "t6", "t4"]
    # Two exchanges speak of Sandholm, one of its dogs: words of one exchange count more.
    assert chosen("Sandholm's dog is old.") == ["t3", "t4", "t6"]
    assert chosen("Sandholm's dog is old.", most=1) == ["t3"]
    assert chosen(CLAIM, most_turns=4) == ["t6", "t4"]  # only the latest turns are looked at


def test_they_are_shown_as_they_were_said_with_what_the_user_said_before() -> None:
    turns = talk().turns
    history = History(turns, len(turns) - 1)
    ordered = in_their_order(earlier_exchanges(CLAIM, history, 200), history)
    assert [one.line for one in ordered] == [
        "(earlier) user: Do you have a bicycle? | assistant: No, I go everywhere on foot.",
        "(earlier) assistant: The weather of Sandholm is mild.",
        "(earlier) user: Nice! | assistant: Thank you.",
    ]
    broken = Exchange(turns[1].replace(text="No.\nClaim: I do."), turns[0])
    assert "\n" not in broken.line


def reader(step: str, _system: str, user: str, _request: Any) -> Any:
    """Takes each turn for a claim; the last is contradicted by the line about the bicycle."""
    shown = ShownDialogue.of(user)
    if step == Step.DIALOGUE_EXTRACTION:
        return {"claims": [CLAIM if "bicycle" in shown.turn else shown.turn]}
    if step == Step.DIALOGUE_VERIFICATION:
        return {"label": "UNVERIFIABLE", "reason": "Nothing says so."}
    lines = (*shown.background, *shown.earlier)
    ids = [n for n, line in enumerate(lines) if shown.claim == CLAIM and "on foot" in line]
    category = "CONTRADICTED" if ids else "LACKING_EVIDENCE"
    return {"category": category, "reason": "By a line.", "background_ids": ids}


def verified(asking: Any, variant: str, ablations: Ablations = WHOLE) -> list[TurnVerification]:
    judge = judge_over(asking)
    prompt = load_prompts(Path(variant))[Step.DIALOGUE_CATEGORISATION]
    judge.categorisation = replace(judge.categorisation, prompt=prompt)

    async def all_of() -> list[TurnVerification]:
        text = TextInMemory(talk())
        return [found async for _, found, _ in Vista(judge, ablations).dialogue(text)]

    return asyncio.run(all_of())


def test_a_claim_contradicts_an_earlier_turn_that_no_remembered_claim_keeps() -> None:
    for variant in ("earlier_turns", "v2"):
        asking = asking_of(reader)
        (claim,) = verified(asking, variant)[-1].claims
        assert claim.category is ClaimCategory.CONTRADICTED
        assert (claim.contradicts, claim.contradicts_knowledge) == ((), ("turn/t1",))
        last = shown_to(asking, Step.DIALOGUE_CATEGORISATION)[-1]
        assert last.earlier[0].startswith("user: Do you have a bicycle? | assistant: No, I go")
        # Whether a claim is verified is told by reference and background alone, as before.
        assert not any(one.earlier for one in shown_to(asking, Step.DIALOGUE_VERIFICATION))


def test_the_wording_of_the_paper_and_a_run_without_history_show_none() -> None:
    for variant, ablations in (("paper", Ablations()), ("v2", Ablations(history=False))):
        asking = asking_of(reader)
        (claim,) = verified(asking, variant, ablations)[-1].claims
        assert claim.category is ClaimCategory.LACKING_EVIDENCE
        assert not any(one.earlier for one in shown_to(asking, Step.DIALOGUE_CATEGORISATION))


def test_the_zero_shot_form_shows_them_too() -> None:
    prompt = load_prompts(Path("earlier_turns"))[Step.DIALOGUE_CATEGORISATION]
    assert prompt.shows_earlier_turns
    assert prompt.zero_shot.shows_earlier_turns
    assert not load_prompts()[Step.DIALOGUE_CATEGORISATION].shows_earlier_turns


def test_of_the_sample_the_turn_that_names_the_day_is_chosen_and_the_one_in_other_words_not() -> (
    None
):
    turns = sample_dialogue().turns
    places = {turn.turn_id: place for place, turn in enumerate(turns)}
    said_in = {claim.claim_id: one.turn_id for one in gold_run().turns for claim in one.claims}
    found = {}
    for one in gold_run().turns:
        for claim in one.claims:
            history = History(turns, places[one.turn_id])
            shown = {each.said.turn_id for each in earlier_exchanges(claim.claim, history, 200)}
            for other in claim.contradicts:
                found[one.turn_id] = said_in[other] in shown
    assert found == {"t24": True, "t28": False}
