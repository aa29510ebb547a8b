"""Answers of models that are assumed where turns are labelled for an estimate of the cost.

Source: VISTA 5 (3.9 claims a turn), Table 1 (47 % of them verified); the rest is ours.
"""

from __future__ import annotations

import zlib
from typing import Any

from veritrail_graph.graph.model.dialogue import AnswerLabel, ClaimCategory, DialogueLabel
from veritrail_graph.verifier.estimate import AssumedWalk
from veritrail_graph.verifier.models.port import Request, Step

CLAIMS = 4
"""Claims of a turn."""
VERIFIED_IN = 2
"""One claim of so many is verified."""
ANSWER_TOKENS = 150
"""Tokens of an answer, its reasoning included."""
_CLAIM = "The assistant says number {number} of what the turn says, with its names and its figures."


class AssumedDialogues(AssumedWalk):
    """Assumed answers to the steps of dialogues and of their baselines."""

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, and how many tokens it is; a claim always has the same one."""
        del iteration
        self.prompts += 1
        reason = "Assumed."
        match request.call.step:
            case Step.DIALOGUE_EXTRACTION | Step.FACTSCORE_EXTRACTION:
                claims = [_CLAIM.format(number=number) for number in range(CLAIMS)]
                return {"claims": claims}, ANSWER_TOKENS
            case Step.DIALOGUE_VERIFICATION | Step.FACTSCORE_VERIFICATION:
                claim = request.user.rpartition("\n")[2]
                is_verified = zlib.crc32(claim.encode()) % VERIFIED_IN == 0
                label = DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE
                return {"label": label, "reason": reason}, ANSWER_TOKENS
            case Step.DIALOGUE_CATEGORISATION:
                category = ClaimCategory.LACKING_EVIDENCE
                found = {"category": category, "reason": reason, "background_ids": []}
                return found, ANSWER_TOKENS
            case Step.DIALOGUE_TURN_CHECK:
                return {"contradiction": False, "quotes": [], "reason": reason}, ANSWER_TOKENS
            case _:
                return {"label": AnswerLabel.FAITHFUL, "reason": reason}, ANSWER_TOKENS


def assumptions() -> dict[str, Any]:
    """Return what is assumed, as JSON."""
    return {
        "claims_per_turn": CLAIMS,
        "claims_verified_in": VERIFIED_IN,
        "answer_tokens": ANSWER_TOKENS,
        "answers_from_cache": 0,
        "invalid_answers": 0,
    }
