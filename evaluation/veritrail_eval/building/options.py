"""Options of making data sets from texts.

Source: VeriTrail B.1.1, B.2.1; the length of a summary, and sizes of GraphRAG, are ours or near it.
"""

from __future__ import annotations

from dataclasses import dataclass

ENCODINGS = ("cl100k_base", "o200k_base")
"""What counts tokens."""


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """Options of summarising texts.

    Attributes:
        chunk_tokens: The most tokens of a chunk.
        context_tokens: The most tokens of a prompt with its answer.
        summary_tokens: How long a summary should be at most; the prompt says it in words.
        encoding: Counts tokens.
        with_context: Whether a merge is given the summary before it in its level.
    """

    chunk_tokens: int = 2_048
    context_tokens: int = 8_192
    summary_tokens: int = 1_200
    encoding: str = "cl100k_base"
    with_context: bool = True


@dataclass(frozen=True, slots=True)
class GraphRagOptions:
    """Options of making an answer with GraphRAG.

    Attributes:
        chunk_tokens: The most tokens of a chunk.
        overlap_tokens: How many of them the next chunk repeats.
        context_tokens: The most tokens of a prompt with its answer.
        report_tokens: The most tokens of the report about a community.
        encoding: Counts tokens.
        community_size: A community of more entities is split further where it can be.
        community_level: Reports up to this level are asked; 0 is the coarsest.
        seed: Of the communities, and of the order in which reports are read.
    """

    chunk_tokens: int = 600
    overlap_tokens: int = 100
    context_tokens: int = 12_000
    report_tokens: int = 2_000
    encoding: str = "o200k_base"
    community_size: int = 10
    community_level: int = 2
    seed: int = 0
