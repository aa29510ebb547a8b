"""The words of a sheet: columns, labels and instructions, in our own words.

Source: VeriTrail B.2.3 (columns, five labels, their priority, when a quote is needed).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from veritrail_eval.datasets.model import AnnotatorLabel

LABEL_WORDS: Mapping[AnnotatorLabel, str] = {
    AnnotatorLabel.ALL_SUPPORTED: "Supported in every part",
    AnnotatorLabel.REFUTED: "Refuted in at least one part",
    AnnotatorLabel.CONFLICTING: "Conflict that cannot be settled",
    AnnotatorLabel.INSUFFICIENT: "Not enough evidence",
    AnnotatorLabel.NOT_UNDERSTOOD: "I do not understand the claim",
}
"""The labels of a sheet, in their order of priority. Source: VeriTrail B.2.3."""

COLUMNS = ("Id", "Claim", "Label", "Uncertain", "Evidence (quotes)", "Comments")
ID, CLAIM, LABEL, UNCERTAIN, EVIDENCE, COMMENTS = COLUMNS

YES, NO = "yes", "no"
_BY_WORDS = {
    name.casefold(): label
    for label in AnnotatorLabel
    for name in (label.value, label.value.replace("_", " "), LABEL_WORDS.get(label, label.value))
}


INSTRUCTIONS: tuple[tuple[str, str], ...] = (
    ("heading", "What to do"),
    (
        "text",
        "Check each claim of the sheet Claims against the documents in articles.docx of the same "
        "folder, and against nothing else: what you know from elsewhere does not count, even "
        "where you are sure of it. Fill in the columns C to F, save the file under its name, and "
        "send the whole folder back. Please change neither the ids nor the claims.",
    ),
    ("heading", "How to go about a claim"),
    (
        "text",
        "1. Skim the documents before the first claim. 2. Split the claim into its parts: ask "
        "which things must all be true for it to be true. 3. Look for sentences about each part; "
        "the search of your word processor helps. 4. Choose the first label of the list below "
        "that fits.",
    ),
    ("heading", f"Column C, {LABEL}: choose from the list"),
    (
        "text",
        f"{LABEL_WORDS[AnnotatorLabel.ALL_SUPPORTED]}: the documents state every part, or imply "
        "it strongly. You could write: according to the documents, followed by the claim.",
    ),
    (
        "text",
        f"{LABEL_WORDS[AnnotatorLabel.REFUTED]}: the documents contradict one part or more, or "
        "make it very unlikely. Silence refutes nothing.",
    ),
    (
        "text",
        f"{LABEL_WORDS[AnnotatorLabel.CONFLICTING]}: there is evidence for and against a part, "
        "or the claim can be read in two ways of which one is supported and the other refuted, "
        "and nothing decides between them. Where something does decide, such as a later date, "
        "take the side that it favours. Which document looks more trustworthy decides nothing.",
    ),
    (
        "text",
        f"{LABEL_WORDS[AnnotatorLabel.INSUFFICIENT]}: no part is refuted or in conflict, but at "
        "least one has no support, or a weak hint only.",
    ),
    (
        "text",
        f"{LABEL_WORDS[AnnotatorLabel.NOT_UNDERSTOOD]}: you cannot tell what it says.",
    ),
    (
        "text",
        "The order matters: a claim with one refuted part and one part in conflict is "
        f"“{LABEL_WORDS[AnnotatorLabel.REFUTED]}”.",
    ),
    ("heading", "An example"),
    (
        "text",
        "“The ferry to Brenn was cancelled on Sunday because of ice.” has three parts: the ferry "
        "was cancelled, on Sunday, because of ice. If a document says that fog was the reason, "
        "one part is refuted. If no document names a reason, the evidence is not enough.",
    ),
    ("heading", f"Column D, {UNCERTAIN}: {YES} or {NO}"),
    (
        "text",
        f"Choose {YES} where you hesitated for any reason; empty means {NO}. Doubt is welcome: it "
        "shows which claims are hard.",
    ),
    ("heading", f"Column E, {EVIDENCE}"),
    (
        "text",
        "The first three labels need at least one quote, copied word for word from the "
        "documents. One good quote is enough; together your quotes must cover every part of a "
        "supported claim, and both sides of a conflict. Leave an empty line between two quotes "
        "(Alt+Enter makes a new line in a cell). Write nothing of your own here.",
    ),
    ("heading", f"Column F, {COMMENTS}"),
    (
        "text",
        "Say how you understood the claim, and why you chose the label, above all where you were "
        "uncertain. May stay empty.",
    ),
)
"""The sheet of instructions: headings and paragraphs."""


def label_of(text: str) -> AnnotatorLabel | None:
    """The label that words of a sheet mean, or a label's own name; None: none."""
    return _BY_WORDS.get(" ".join(text.split()).rstrip(".").casefold())


def alike(text: str) -> str:
    """A text without what copying changes: case, spaces, kinds of quotation marks and dashes."""
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(plain.split()).casefold()


_PLAIN = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032`\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    0xAD: None,
    0x200B: None,
    0xFEFF: None,
}
