"""The form that starts a verification: what was filled in, as what is asked for.

Source: VeriTrail C.1 (q), D (computational cost).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.verify_request import MAX_Q, MAX_USD, VerifyRequest
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.verifier.driver import DEFAULT_Q

if TYPE_CHECKING:
    from veritrail_graph.api.app.estimation import Estimated

MOST_TEXT = 500_000

_DOLLARS = re.compile(r"\$? ?([0-9]+(?:\.[0-9]*)?|\.[0-9]+|[0-9]+,[0-9]{1,2})")
"""A plain number; a comma is read as the point before cents, and never parts thousands."""

WHICH = (
    ("unverified", "Stored claims without a verdict"),
    ("all", "All stored claims, again where they were judged with other settings"),
    ("typed", "Claims that I type in"),
    ("extract", "Claims taken from the text by a model"),
)


@dataclass(frozen=True, slots=True)
class Filled:
    """What stands in the form, as text.

    Attributes:
        which: Which claims; one of `WHICH`.
        texts: Claims, one on a line.
        node_id: The node that new claims are about.
        engine: The engine; nothing: as the service is set.
        model: The model; nothing: as the service is set.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        budget_usd: What it may cost; nothing: no limit.
        price: USD per million tokens; nothing: the table's.
        once: A text that stands for this form: sent twice, it starts one job.
    """

    which: str = "unverified"
    texts: str = ""
    node_id: str = ""
    engine: str = ""
    model: str = ""
    q: str = str(DEFAULT_Q)
    budget_usd: str = ""
    price: str = ""
    once: str = ""

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Filled:
        """What was sent; a field that is lacking is as it is at first."""
        known = {one.name for one in fields(cls)}
        given = {name: str(value).strip() for name, value in sent.items() if name in known}
        return cls(**given)

    @property
    def items(self) -> list[tuple[str, str]]:
        """Every field, for a form that carries them on."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job may cost, in words.

    Attributes:
        claims: How many claims; None: that is not known before they are extracted.
        engine: The engine.
        model: The model; None: none is asked.
        is_asked: Whether a model is asked at all.
        is_priced: Whether the price is known.
        likely: What is likely, and `low` and `high` around it: calls, tokens, US dollars.
        why_unknown: Why nothing can be said.
    """

    claims: int | None
    engine: str
    model: str | None = None
    is_asked: bool = False
    is_priced: bool = False
    low: Mapping[str, Any] = field(default_factory=dict)
    likely: Mapping[str, Any] = field(default_factory=dict)
    high: Mapping[str, Any] = field(default_factory=dict)
    why_unknown: str | None = None


def cost_of(found: Estimated, engine: str) -> Cost:
    """What an estimate says."""
    sums = found.estimates
    return Cost(
        claims=found.claims,
        engine=engine,
        model=found.model,
        is_asked=True,
        is_priced=found.is_priced,
        low=_told(sums.low),
        likely=_told(sums.likely),
        high=_told(sums.high),
    )


def _told(one: Any) -> dict[str, Any]:
    usage = one.usage
    tokens = usage.input_tokens + usage.output_tokens
    return {"calls": usage.calls, "tokens": tokens, "cost_usd": usage.cost_usd}


def request_of(process_id: str, filled: Filled) -> VerifyRequest:
    """What is asked for.

    Raises:
        InputError: A field holds what it cannot; all of them are named.
    """
    wrong: list[Violation] = []
    q = _whole(filled.q, wrong)
    budget = _dollars(filled.budget_usd, wrong)
    texts = [line.strip() for line in filled.texts.splitlines() if line.strip()]
    if filled.which not in dict(WHICH):
        wrong.append(Violation("wrong_value", "which", "choose which claims are verified"))
    if filled.which == "typed" and not texts:
        wrong.append(Violation("wrong_value", "texts", "type at least one claim, one on a line"))
    if len(filled.texts) > MOST_TEXT:
        wrong.append(Violation("wrong_value", "texts", f"has more than {MOST_TEXT:,} characters"))
    if wrong:
        raise InputError("Something in the form is not as it must be.", wrong)
    asked: dict[str, Any] = {
        "process_id": process_id,
        "q": q,
        "engine": filled.engine or None,
        "model": filled.model or None,
        "budget_usd": budget,
        "price": filled.price or None,
        "unfinished": filled.which == "unverified",
    }
    if filled.which in {"typed", "extract"}:
        asked["node_id"] = filled.node_id or None
        asked["extract"] = filled.which == "extract"
        asked["claims"] = texts if filled.which == "typed" else None
    return VerifyRequest.checked(asked)


def _whole(text: str, wrong: list[Violation]) -> int:
    digits = text.lstrip("0")  # however many stand before it, and no more than can be read
    is_whole = text.isascii() and text.isdigit() and len(digits) <= len(str(MAX_Q))
    if is_whole and 1 <= int(digits or "0") <= MAX_Q:
        return int(digits)
    wrong.append(Violation("wrong_value", "q", f"must be a whole number from 1 to {MAX_Q:,}"))
    return DEFAULT_Q


def _dollars(text: str, wrong: list[Violation]) -> float | None:
    if not text:
        return None
    plain = _DOLLARS.fullmatch(text)
    found = float(plain[1].replace(",", ".")) if plain else None
    if found is not None and found <= MAX_USD:
        return found
    words = "must be US dollars, such as 2.50 or 1000: digits, and a point before the cents"
    wrong.append(Violation("wrong_value", "budget_usd", words))
    return None
