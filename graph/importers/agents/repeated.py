"""Results of tools in a log, parted where a part of them was written or said before.

The whole is what the agents after it saw. It is no source text: it is made of the texts that it
repeats, and of what the tool says of its own, which is source text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from veritrail_graph.graph.importers.agents.pieces import Conversation, MessageText
from veritrail_graph.graph.importers.copied import first_words, left_of
from veritrail_graph.graph.importers.transcript import Transcript
from veritrail_graph.graph.model import Origin

_ASKS = ("tool_call", "action")
"""What an agent does before the result in the same message."""
_LABELS = re.compile(r"[^\S\n]*[:=][^\S\n]*\S")
"""What follows a label behind which a program prints a value."""


def part(conversation: Conversation) -> None:
    """Part the results of a conversation."""
    transcript = Transcript[MessageText]()
    for text in conversation.instructions:
        transcript.shown(text, -1)
    for piece in conversation.pieces:
        if piece.origin is Origin.SOURCE:  # who attaches a document vouches for it
            transcript.shown(piece.text, -1 if piece.is_attached else _time(piece))
        elif piece.origin is Origin.GIVEN:
            transcript.said(piece.text, _time(piece), piece)
        else:
            for text in piece.handed or (piece.text,):
                transcript.wrote(text, _time(piece), piece)
    parted: list[MessageText] = []
    for piece in conversation.pieces:
        if piece.origin is Origin.SOURCE and not piece.is_attached:
            parted += _own(conversation, piece, transcript)
            conversation.left_out["repeated"] += bool(piece.parts)
        parted.append(piece)
    conversation.pieces = parted
    conversation.left_out["uncompared"] += transcript.is_spent


def _time(piece: MessageText) -> int:
    """The time of a text: in a message, what an agent asks for comes before the rest."""
    return 2 * piece.index + (piece.kind not in _ASKS)


def _own(
    conversation: Conversation, piece: MessageText, transcript: Transcript[MessageText]
) -> list[MessageText]:
    """Return what a tool says of its own beside what it repeats; the whole becomes generated."""
    copies = transcript.copies(piece.text, _time(piece))
    if piece.kind == "code_result":
        copies = [one for one in copies if not _LABELS.match(piece.text, one.end)]
    if not copies:
        return []
    conversation.repeated = conversation.repeated or first_words(piece.text, copies)
    lengths: Counter[str] = Counter()
    for copy in copies:
        lengths[copy.author.text.node_id] += copy.end - copy.start
    earlier = {one.author.text.node_id: one.author.text for one in copies}
    piece.origin = Origin.GENERATED
    piece.parts = tuple(
        (one, round(min(1.0, lengths[name] / len(one.text)), 4)) for name, one in earlier.items()
    )
    text = left_of(piece.text, copies)
    if not text or any(one.text == piece.text for one in earlier.values()):
        return []
    name = "own" if piece.part is None else f"{piece.part}/own"
    own = replace(piece, part=name, text=text, origin=Origin.SOURCE, parts=(), is_seen=False)
    own.metadata = dict(piece.metadata)
    piece.parts = (*piece.parts, (own, None))
    return [own]
