"""Say in words how judges were asked, where that is not as the paper asks.

Source: ours (docs/costs.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Iteration, Verdict, Verification
from veritrail_graph.graph.model.run import JudgeMode

LONGEST_NAME = 80
"""Characters of the name of a model in a sentence."""
LONGEST_REASONS = 200
_NO_ANSWER = "no valid answer: "
"""What the reasons of a first judge begin with that gave none."""


def sharing_words(share: int | None) -> str | None:
    """That prompts were shared, which is ours and not the paper's; None: they were not."""
    if share is None:
        return None
    return (
        f"shared prompts (ours, not the paper's): up to {share} claims in one prompt; claims "
        "over the same texts for evidence, any claims for verdicts"
    )


def cascade_words(second: str | None) -> str | None:
    """That two judges gave the verdicts, by which rule, and that it is ours; None: it was one."""
    if second is None:
        return None
    return (
        "a cascade of two judges (ours, not the paper's): the first judge's verdict counts where "
        "it is Fully Supported and every sample gave it; everywhere else "
        f"{one_line(second, LONGEST_NAME)} is asked about the same evidence, and its verdict counts"
    )


def escalation_words(one: Iteration) -> str | None:
    """Return why the second judge of a cascade was asked in an iteration; None: it was not."""
    if one.first_reasoning is None:
        return None
    reasons = one.first_reasoning
    if one.first_verdict is None:
        why = "The first judge gave no valid answer"
        reasons = reasons.removeprefix(_NO_ANSWER)
    elif one.first_verdict is Verdict.FULLY_SUPPORTED:
        why = "The first judge's samples differed"
    else:
        why = f"The first judge's verdict was {VERDICT_WORDS[one.first_verdict]}"
    why += f" ({one_line(reasons, LONGEST_REASONS)})" if reasons else ""
    second = one_line(one.judged_by or "the second judge", LONGEST_NAME)
    return f"{why}, so {second} was asked, and its verdict counts."


def asking_words(of: JudgeMode) -> tuple[str, ...]:
    """Return what of it departs from the paper, a sentence each, without capital and full stop."""
    found = (sharing_words(of.share), cascade_words(of.second))
    return tuple(one for one in found if one is not None)


def whole_sentences(*ways: JudgeMode) -> tuple[str, ...]:
    """Return the same as whole sentences, each once."""
    words = dict.fromkeys(one for way in ways for one in asking_words(way))
    return tuple(f"{one[0].upper()}{one[1:]}." for one in words)


def asking_sentences(verifications: Iterable[Verification]) -> tuple[str, ...]:
    """Return the same of the judges of verifications."""
    return whole_sentences(*dict.fromkeys(map(judge_mode_of, verifications)))


def asking_short(of: JudgeMode) -> str:
    """Return the same behind the name of a judge in a list: `, 8 claims a prompt`; empty: as usual.

    The name of the judge in a cascade has both models already.
    """
    shared = f", {of.share} claims a prompt" if of.share is not None else ""
    return f"{shared}, cascade" if of.second is not None else shared


def asked_as(verification: Verification) -> str:
    """Return the same of the judge of a verification."""
    return asking_short(judge_mode_of(verification))
