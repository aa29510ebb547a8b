"""The parts that the forms of jobs have in common."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from veritrail_graph.api.requests.job import MAX_USD
from veritrail_graph.graph.errors import Violation

_DOLLARS = re.compile(r"\$? ?([0-9]+(?:\.[0-9]*)?|\.[0-9]+|[0-9]+,[0-9]{1,2})")
"""A plain number; a comma is read as the point before cents, and never parts thousands."""


@dataclass(frozen=True, slots=True)
class JobForm:
    """The fields of a form that starts a job, as text.

    Attributes:
        engine: The engine; nothing: as the service is set.
        model: The model; nothing: as the service is set.
        budget_usd: What it may cost; nothing: no limit.
        price: USD per million tokens; nothing: the table's.
        once: A text that identifies this form: sent twice, it starts one job.
    """

    engine: str = ""
    model: str = ""
    budget_usd: str = ""
    price: str = ""
    once: str = ""

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Self:
        """Return what was sent; a missing field has its first value."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in sent.items() if isinstance(value, str)}
        return cls(**{name: value.strip() for name, value in given.items() if name in known})

    @property
    def items(self) -> list[tuple[str, str]]:
        """Every field, for a form that carries them on."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]

    def anew(self) -> Self:
        """Return the same fields in a form that was not sent before."""
        return replace(self, once=secrets.token_urlsafe(16))


def dollars(text: str, wrong: list[Violation]) -> float | None:
    """A budget as it was typed in; None: nothing was. What is wrong joins `wrong`."""
    if not text:
        return None
    plain = _DOLLARS.fullmatch(text)
    found = float(plain[1].replace(",", ".")) if plain else None
    if found is not None and found <= MAX_USD:
        return found
    words = "must be US dollars, such as 2.50 or 1000: digits, and a point before the cents"
    wrong.append(Violation("wrong_value", "budget_usd", words))
    return None
