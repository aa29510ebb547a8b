"""Parts of a claim: what sentences say about them, and the verdict on each.

A claim that was taken apart has its sub-claims as parts, counted from 1; another claim is its only
part. Of the paper's prompts nothing of this is known; it is the second wording that asks for it.

Source: ours (docs/adr/0077-second-wording.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from veritrail_graph.graph.model.noun import MOST, Noun, OneOf, Text
from veritrail_graph.graph.model.process import Verdict

PartNumber = Annotated[int, Field(ge=1, le=MOST)]
"""A part of a claim, counted from 1."""


class Says(StrEnum):
    """The side that a sentence takes."""

    FOR = "for"
    AGAINST = "against"
    BOTH = "both"


class PartVerdict(StrEnum):
    """The verdict on one part of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    """It is denied: something else stands in its place."""
    NOT_ADDRESSED = "not_addressed"
    """Nothing says whether it is so."""
    CONTESTED = "contested"
    """There are grounds for it and grounds against it, and nothing settles the matter."""


FAILED = (PartVerdict.CONTRADICTED, PartVerdict.NOT_ADDRESSED)
"""Verdicts on a part under which the claim is Not Fully Supported."""


class Side(Noun):
    """The side that a sentence takes on one part of a claim."""

    part: PartNumber = Field(description="The part, counted from 1.")
    says: OneOf[Says] = Field(description="Whether it speaks for it, against it, or both.")


class JudgedPart(Noun):
    """The verdict on one part of a claim."""

    part: PartNumber = Field(description="The part, counted from 1.")
    verdict: OneOf[PartVerdict] = Field(
        description="`supported`, `contradicted`, `not_addressed` or `contested`."
    )
    reason: Text = Field(default="", description="The reason for it.")


def verdict_on(parts: Iterable[JudgedPart]) -> Verdict:
    """Return the verdict on a claim that follows from those on its parts.

    Any part that is contradicted or not addressed: Not Fully Supported. Else any that is contested:
    Inconclusive. Else Fully Supported.
    """
    found = {one.verdict for one in parts}
    if not found.isdisjoint(FAILED):
        return Verdict.NOT_FULLY_SUPPORTED
    return Verdict.INCONCLUSIVE if PartVerdict.CONTESTED in found else Verdict.FULLY_SUPPORTED


def said_together(sides: Iterable[Side]) -> Says | None:
    """Return what a sentence says about all the parts that it is about; None: about none."""
    said = {one.says for one in sides}
    if len(said) > 1:
        return Says.BOTH
    return next(iter(said), None)
