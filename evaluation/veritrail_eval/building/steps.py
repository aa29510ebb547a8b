"""The steps that build data sets, and the variants of one of them."""

from __future__ import annotations

from enum import StrEnum


class BuildStep(StrEnum):
    """The steps; every request names its step in the header of the protocol."""

    CHUNK_SUMMARY = "chunk_summary"
    SUMMARY_MERGE = "summary_merge"
    CLAIM_MATCHING_BOOK = "claim_matching_book"
    CLAIM_MATCHING_QUESTION = "claim_matching_question"
    QUESTION_FILTER = "question_filter"
    GRAPH_EXTRACTION = "graph_extraction"
    DESCRIPTION_SUMMARY = "description_summary"
    COMMUNITY_REPORT = "community_report"
    MAP_ANSWER = "map_answer"
    REDUCE_ANSWER = "reduce_answer"


class Variant(StrEnum):
    """A variant of claim matching, by what its premises are about. Source: VeriTrail B.1.2."""

    BOOK = "book"
    QUESTION = "question"

    @property
    def step(self) -> BuildStep:
        """The step that asks in this variant."""
        is_book = self is Variant.BOOK
        return BuildStep.CLAIM_MATCHING_BOOK if is_book else BuildStep.CLAIM_MATCHING_QUESTION
