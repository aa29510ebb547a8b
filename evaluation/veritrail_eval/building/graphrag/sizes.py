"""The sizes that the prompts of GraphRAG may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_eval.building.options import GraphRagOptions
from veritrail_eval.building.steps import BuildStep
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.prompted import ROOM_AROUND

QUESTION_TOKENS = 500
"""The most tokens of a question."""
MAP_TOKENS = 1_000
"""Room for the points that are found in some reports."""
ANSWER_TOKENS = 2_000
"""How long the final answer should be at most; the prompt says it in words."""
DESCRIPTION_TOKENS = 500
"""How long one description of several should be at most; the prompt says it in words."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens that the parts of prompts may have.

    Attributes:
        record: An entity or a relationship: its name and what is known of it.
        descriptions: The descriptions in a prompt for one of them.
        community: What the prompt for a report holds of a community.
        reports: The reports that are asked at a time.
        points: The points in the prompt for the final answer.
    """

    record: int
    descriptions: int
    community: int
    reports: int
    points: int


def sizes_of(options: GraphRagOptions, instructions: Mapping[BuildStep, int]) -> Sizes:
    """Return what fits into prompts.

    Args:
        options: The options.
        instructions: The tokens of the system message of each step.

    Raises:
        InputError: The options do not go together.
    """

    def free(step: BuildStep) -> int:
        return options.context_tokens - ROOM_AROUND - instructions[step]

    def require(what: str, needed: int, room: int) -> None:
        if needed > room:
            raise InputError(
                f"{what} needs {needed:,} tokens, and prompts of {options.context_tokens:,} tokens "
                f"leave {max(room, 0):,}."
            )

    # An extraction names nearly all that its chunk says once more.
    chunk = 2 * options.chunk_tokens
    require("A chunk with its extraction", chunk, free(BuildStep.GRAPH_EXTRACTION))
    described = free(BuildStep.DESCRIPTION_SUMMARY)
    record = described // 4  # three of them always fit, with the answer
    require("A description", DESCRIPTION_TOKENS, record)
    community = free(BuildStep.COMMUNITY_REPORT) - options.report_tokens
    most = max(record, options.report_tokens)
    require("A report, beside what it is about,", most + options.report_tokens,
            free(BuildStep.COMMUNITY_REPORT))  # fmt: skip
    reports = free(BuildStep.MAP_ANSWER) - MAP_TOKENS - QUESTION_TOKENS
    require("A report that is asked", options.report_tokens, reports)
    points = free(BuildStep.REDUCE_ANSWER) - ANSWER_TOKENS - QUESTION_TOKENS
    require("The final answer, with two points,", 2 * MAP_TOKENS, points)
    return Sizes(record, described - record, community, reports, points)
