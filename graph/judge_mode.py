"""The mode of a judge: as the paper asks it, with prompts shared by claims, or as a cascade.

The settings of a verification say both, and which wording its prompts had; so do those of a job
of which nothing has ended yet.

Source: ours (docs/costs.md).
"""

from __future__ import annotations

from functools import lru_cache

from veritrail_graph.graph.comparing import flat_settings
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.model.run import JudgeMode

_SHARE = "steps.evidence_selection_shared.claims"
_SECOND = "steps.verdict.escalate_to.model"
_PROMPTS = ("steps.evidence_selection.prompt", "steps.verdict.prompt")
_OF_DECISIONS = "_decision"
"""How the versions of what a decision model is asked end: no wording of a prompt."""
_OF_PAPER = "v1"
_PARTS = ("", "evidence.", "verdict.")
"""Where two engines judge, the settings of each are a part of their own."""


@lru_cache(maxsize=256)
def judge_mode_of_settings(settings: str | None) -> JudgeMode:
    """Return the mode of a judge with these settings.

    Args:
        settings: What decides the outcome of a verification, as JSON; None: not known.
    """
    found = flat_settings(settings)
    share, second = (
        next((found[part + name] for part in _PARTS if part + name in found), None)
        for name in (_SHARE, _SECOND)
    )
    return JudgeMode(
        share if isinstance(share, int) and share > 1 else None,
        second if isinstance(second, str) and second else None,
    )


def judge_mode_of(verification: Verification) -> JudgeMode:
    """Return the mode of the judge of a verification."""
    found = judge_mode_of_settings(verification.settings)
    share = verification.share or found.share
    return found if share == found.share else JudgeMode(share, found.second)


PROMPTS = ", prompts "
"""What stands between a judge and the wording of its prompts where that is not the paper's."""


def with_wording(judge: str, wording: str) -> str:
    """Return a judge with the wording of its prompts, such as `openai NAME, prompts v2`.

    Args:
        judge: Its engine and models.
        wording: As `wording_of_settings` gives it; empty: the judge as it is.
    """
    return f"{judge}{PROMPTS}{wording}" if wording else judge


@lru_cache(maxsize=256)
def wording_of_settings(settings: str | None) -> str:
    """Return the versions of the prompts that selected evidence and gave verdicts, such as `v2`.

    Empty: they are the paper's, which was the default before there was another one; or there are
    none.

    Args:
        settings: What decides the outcome of a verification, as JSON; None: not known.
    """
    found = flat_settings(settings)
    names = (found.get(part + name) for part in _PARTS for name in _PROMPTS)
    versions = {name.partition(".")[2] for name in names if isinstance(name, str)}
    asked = sorted(one for one in versions if one and not one.endswith(_OF_DECISIONS))
    return "" if asked == [_OF_PAPER] else " and ".join(asked)
