"""Errors in the words of REST: what is raised further down speaks of the command's options."""

from __future__ import annotations

import re

_WORDS = (
    ("nothing was verified", "nothing was stored"),
    ("Give some with --claim or --claims.", "Give some in `claims`."),
    ("name the node with --node", "name the node in `node_id`"),
    ("leave --node out", "leave `node_id` out"),
    ("--extract needs a language model", "`extract` needs a language model"),
    ("name one with --model.", "name one in `model`."),
    ("name it with --model or VERITRAIL_MODEL", "name it in `model`, or set VERITRAIL_MODEL"),
    ("--model names a model", "`model` names a model"),
    ("--samples needs an engine", "`samples` needs an engine"),
    ("--budget needs the price of", "`budget_usd` needs the price of"),
    ("Give it with --price INPUT,OUTPUT (USD", "Give it in `price` as INPUT,OUTPUT (USD"),
    ("Say with --budget USD what", "Say with `budget_usd` what"),
    ("Say with --max-calls N what", "Say with `max_calls` what"),
    ("--force changes it", "?force=true changes it"),
    ("--force removes them", "?force=true removes them"),
    ("Use --replace to replace it", "Add ?replace=true to replace it"),
    (
        "--append to add to it, or --process-id for another id",
        "?append=true to add to it, or ?process_id= for another id",
    ),
    ("ingest the whole process with --replace,", "send the whole process with ?replace=true,"),
    ("name it with --process-id.", "name it with ?process_id=."),
    (
        "`veritrail list PROCESS` shows the runs of a process.",
        "GET /v1/processes/{process_id}/verifications lists those of a process.",
    ),
    (
        "`veritrail list PROCESS` shows those that are.",
        "GET /v1/processes/{process_id}/verifications lists those that are.",
    ),
    ("`veritrail list` shows those that are", "GET /v1/processes lists those that are"),
    ("`veritrail query --list` says more", "GET /v1/queries says more"),
    (
        "ingest it again or run `veritrail db clean`.",
        "send it again; whoever looks after the service can remove what is left of it.",
    ),
    (
        "run the same command again to go on; `veritrail db clean` removes it.",
        "send the same again to go on.",
    ),
    ("by another command", "by somebody else"),
    ("in another command", "elsewhere"),
)
_PATTERNS = (
    (re.compile(r" \(--param [^\s=]{1,200}=…\)"), ""),
    (re.compile(r"^--claim (?=['\"])"), "claims: "),
    (re.compile(r"`veritrail delete '[^`\s]{1,200}'`"), "DELETE /v1/processes/{process_id}"),
)

BUSY = (
    "Somebody else is writing the same at this moment. Come again; where it stays so, whoever "
    "looks after the service can remove what was left half-made."
)
"""Said instead of who is writing: the machine and the program are nobody's business."""


def worded(text: str) -> str:
    """A text for whoever sits at the terminal, for whoever calls over REST.

    Whole phrases only are replaced, so that what a caller sent comes back as it is.
    """
    for words, ours in _WORDS:
        text = text.replace(words, ours)
    for pattern, ours in _PATTERNS:
        text = pattern.sub(ours, text)
    return text
