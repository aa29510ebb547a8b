"""Claims about a summary with the labels of human readers, as FABLES holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.importers.summaries.texts import kind_of
from veritrail_graph.graph.model import Verdict

LABELS = {
    "Yes": Verdict.FULLY_SUPPORTED,
    "No": Verdict.NOT_FULLY_SUPPORTED,
    "PartialSupport": Verdict.NOT_FULLY_SUPPORTED,
    "Inapplicable": Verdict.INCONCLUSIVE,
    **{verdict.value: verdict for verdict in Verdict},
}
"""The labels of FABLES, and those of this project, as labels of this project."""

_CLAIM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def read_claims(value: Any, node_id: str, where: str, doubts: list[str]) -> Iterator[ClaimRecord]:
    """The claims under `claims`: an object by number, or a list.

    Args:
        value: They, as the file holds them.
        node_id: The node that they are about.
        where: Where they stand.
        doubts: Gets a warning for each label that is not known; its claim has none then.

    Raises:
        InputError: A claim has no text.
    """
    for key, place, claim in _claims(value, where):
        text = claim if isinstance(claim, str) else claim.get("claim", claim.get("text"))
        if not isinstance(text, str):
            raise InputError(f"{place}: a claim needs a string under `claim`.")
        label = claim.get("label") if isinstance(claim, dict) else None
        if label is not None and (not isinstance(label, str) or label not in LABELS):
            doubts.append(
                f"{place}: the label {str(label)[:40]!r} is not known, and its claim is kept "
                f"without it. Known labels: {', '.join(LABELS)}."
            )
            label = None
        yield ClaimRecord(
            text,
            place,
            claim_id=key if key is not None and _CLAIM_ID.fullmatch(key) else None,
            node_id=node_id,
            label=None if label is None else LABELS[label].value,
        )


def notes(value: Any, where: str) -> dict[str, Any]:
    """Return what the readers wrote about each claim: label, evidence and reason, unchanged."""
    kept = {}
    for number, (key, _, claim) in enumerate(_claims(value, where)):
        if isinstance(claim, dict):
            said = {name: rest for name, rest in claim.items() if name not in ("claim", "text")}
            if said:
                kept[str(number) if key is None else key] = said
    return kept


def _claims(value: Any, where: str) -> Iterator[tuple[str | None, str, str | Mapping[str, Any]]]:
    """Key (None in a list), place and value of each."""
    if value is None:
        return
    if not isinstance(value, (dict, list)):
        raise InputError(f"{where}, claims: an object or a list is needed, not {kind_of(value)}.")
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, claim in pairs:
        place = f"{where}, claims[{key}]"
        if not isinstance(claim, (str, dict)):
            raise InputError(f"{place}: a claim must be an object, not {kind_of(claim)}.")
        yield key if isinstance(key, str) else None, place, claim
