"""The document of a trail: every field of the noun stands in what each of the five writers makes.

A new field fails here until a sample has a value of it, and then until the document shows it or
says in `NOT_SHOWN` why it does not.
"""

from __future__ import annotations

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out
from fakes.trails import (
    FS,
    NFS,
    NODES,
    a_place,
    a_round,
    a_step,
    a_trail,
    cited,
    found,
    marked,
    path,
    spent,
)

from veritrail_graph.api.show.trail import NOT_SHOWN, shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.words import ENDINGS, UNSAID
from veritrail_graph.graph.model import (
    Claim,
    ClaimOrigin,
    JudgedPart,
    LocatedBy,
    NodeRef,
    PartVerdict,
    Role,
    Says,
    Side,
    Status,
    Termination,
)
from veritrail_graph.graph.model.appeal import Appeal, AppealKind

SOURCE = cited("c1", 0, 0, "The pier opened in 1912.")
WROTE = cited("s1", 1, 20, "The pier opened in 1921.")
BESIDE = cited("s2", 2, 40, "It is made of oak.", "context")
VALUE = a_place(marked(1, SOURCE, "1912"), marked(2, WROTE, "1921"), "answer-node")
ROUND = a_round(
    1,
    FS,
    [NODES["s1"], NODES["s2"]],
    [found("They opened it then.", WROTE, BESIDE, missing="who opened it")],
    reasoning="it says so", score=0.75, carried_roots=(NODES["c2"],), dropped_ids=3, reruns=2,
    left_out=5, left_out_roots=("c9",), judged=(found("Seen behind reruns.", WROTE),),
    judged_by="strong-judge", first_verdict=NFS, first_reasoning="a first look",
)  # fmt: skip
STEP = a_step(
    1,
    "evidence_selection",
    spent(7, 11, (1_300, 170, 190), 0.23, reasoning_tokens=29, batch_calls=6),
    temperature=0.5,
    effort="minimal",
)
WHOLE = a_trail(
    "v-whole", ROUND, a_round(2, NFS, [NODES["c1"]], [found("Later.", SOURCE)]),
    process_id="process-1",
    claim=Claim(claim_id="claim-1", text="It opened in 1921.", node_id="answer-node",
                sub_claims=("It opened.",)),
    verdict=NFS, reasoning="another year", error="a late fault", indicative=True, score=0.25,
    termination=Termination.NO_CANDIDATES, error_nodes=(NODES["s1"],), error_stages=(2,),
    propagated_nodes=(NodeRef("answer-node", 3, 9, Role.TERMINAL),), located_by=LocatedBy.VALUE,
    value_place=VALUE, usage=STEP.usage, run_id="run-1", settings='{"q": 3}', steps=(STEP,),
    content_hash="c0" * 32, place=4, paths=(path("c1", "answer-node", 2, "s1"),),
    run_options='{"budget": 1}', share=8, reused_from="v-old", compared_with="v-before",
    reuse_reason="nothing changed", saved_calls=13, appeals_read=2,
    correction="It opened in 1912.",
    appeals=(Appeal(node_id="s2", sentence=2, why=(AppealKind.ORDER,)),),
)  # fmt: skip
ASKED = a_trail(
    "v-asked",
    status=Status.UNDECIDED,
    verdict=None,
    claim=Claim(claim_id="q", text="It snowed.", node_id="t", origin=ClaimOrigin.ASKED, said=False),
    usage=spent(1, 0, (1, 0, 1), None, unpriced_calls=1),
)
OFFERED = a_trail(
    "v-offered",
    a_round(1, NFS, "c1", [found("Later.", SOURCE)]),
    value_place=VALUE.replace(culprit=None, candidates=("s1", "s2")),
)
SIDES = (Side(part=1, says=Says.FOR), Side(part=2, says=Says.BOTH))
JUDGED = (
    JudgedPart(part=1, verdict=PartVerdict.SUPPORTED, reason="a chronicle says so"),
    JudgedPart(part=2, verdict=PartVerdict.NOT_ADDRESSED, reason="nobody tells the wood"),
)
BY_PART = a_trail(
    "v-parts",
    a_round(
        1,
        NFS,
        [NODES["s1"]],
        [found("Later.", WROTE.replace(part=2, says=Says.BOTH, sides=SIDES))],
        parts=(JUDGED[0], JUDGED[1].replace(verdict=PartVerdict.CONTRADICTED)),
        looked_for="which wood it is",
    ),
    a_round(2, NFS, [NODES["c1"]], [], parts=JUDGED),
    claim=Claim(
        claim_id="p", text="Old and oak.", node_id="t", sub_claims=("It is old.", "It is oak.")
    ),
    parts=JUDGED,
)
SAMPLES = (WHOLE, ASKED, OFFERED, BY_PART)


OTHERWISE: dict[str, str] = {
    "Verification.indicative": "indicative only",
    "Verification.said": UNSAID,
    "Verification.termination": ENDINGS[Termination.NO_CANDIDATES],
    "Verification.share": "up to 8 claims in one prompt",
    "Verification.appeals_read": "1 sentence that was read and not cited",
    "StepRecord.iteration": "iteration 1",
    "StepRecord.step": "evidence selection",
    "StepRecord.prompt_hash": STEP.prompt_hash[:12],
    "StepRecord.temperature": "at temperature 0.5",
    "StepRecord.effort": "with effort minimal",
    "Usage.cost_usd": "$0.2300",
    "Usage.unpriced_calls": "unknown",
    "Iteration.score": "score 0.75",
    "Verification.score": "score 0.25",
    "MarkedSentence.start": SOURCE.text[:15],
    "MarkedSentence.end": SOURCE.text[:15],
    "MarkedSentence.marked": "1912",
    "EvidencePath.iteration": "iteration 2",
    "CitedSentence.role": "(context)",
    "Appeal.why": "speak",
    "CitedSentence.says": "for part 1, for and against part 2",
    "CitedSentence.part": "against part 2",
    "Side.part": "against part 2",
    "Side.says": "for and against",
    "JudgedPart.verdict": "not addressed",
    "JudgedPart.part": "2 not addressed",
}
"""Fields whose values stand in other words."""


def test_each_field_that_is_not_shown_is_one_of_the_noun() -> None:
    assert set(NOT_SHOWN) <= fields_of(SAMPLES)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_verification_stands_in_what_a_writer_makes(writer: str) -> None:
    documents = [shown(trail_view(one)) for one in SAMPLES]
    assert left_out(writer, SAMPLES, documents, OTHERWISE, NOT_SHOWN) == {}
