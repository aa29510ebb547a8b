"""A sentence that speaks to its reader or judge instead of about a matter.

Source: ours (docs/adr/0059-what-nobody-sees.md).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from veritrail_graph.graph.model.noun import Count, Many, NodeId, Noun, OneOf


class AppealKind(StrEnum):
    """How a sentence speaks to its reader."""

    ORDER = "order"
    ANSWER_KEYS = "answer_keys"
    VERDICT_WORD = "verdict_word"
    CHAT_MARKUP = "chat_markup"
    HIDDEN_TEXT = "hidden_text"


class Appeal(Noun):
    """A cited sentence that speaks to its reader."""

    node_id: NodeId = Field(description="The node.")
    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    why: Many[OneOf[AppealKind]] = Field(
        description="`order`: it tells a reader or judge what to do; `answer_keys`: it has keys of "
        "a judge's answer; `verdict_word`: the word of a verdict; `chat_markup`: marks that part "
        "the turns of a chat; `hidden_text`: a message in characters that nobody sees."
    )
