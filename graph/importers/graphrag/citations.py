"""The citations that GraphRAG asks its models for: `[Data: Reports (1, 2, +more); Entities (5)]`.

The numbers are those of the tables in the prompt (column `id` there), which GraphRAG fills from

- Reports: `community` of the report (equal to its `human_readable_id` in all generations),
- Entities, Relationships, Claims: `human_readable_id`,
- Sources: the place of the text unit in its table, counted from 0. It is NOT the
  `human_readable_id`, which counts from 1 before 3.x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT_UNIT = "text_unit"
ENTITY = "entity"
RELATIONSHIP = "relationship"
COVARIATE = "covariate"
REPORT = "community_report"

KIND_OF_NAME: Mapping[str, str] = {
    "report": REPORT,
    "reports": REPORT,
    "community reports": REPORT,
    "entity": ENTITY,
    "entities": ENTITY,
    "relationship": RELATIONSHIP,
    "relationships": RELATIONSHIP,
    "source": TEXT_UNIT,
    "sources": TEXT_UNIT,
    "text units": TEXT_UNIT,
    "claim": COVARIATE,
    "claims": COVARIATE,
    "covariate": COVARIATE,
    "covariates": COVARIATE,
}
"""Kind of node by the name of the table in a prompt, in lower case."""

NAME_OF_KIND: Mapping[str, str] = {
    REPORT: "Reports",
    ENTITY: "Entities",
    RELATIONSHIP: "Relationships",
    TEXT_UNIT: "Sources",
    COVARIATE: "Claims",
}
"""How GraphRAG calls a kind of node in a citation."""

_BLOCK = re.compile(r"\[\s*Data\s*:([^\[\]]*)\]", re.IGNORECASE)
_PREFIX = re.compile(r"^\s*Data\s*:", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,18}")
_EDGE = " \t\r\n;,."


@dataclass(frozen=True, slots=True)
class Citations:
    """What a text cites.

    Attributes:
        numbers: Cited numbers by kind of node, each once, in order of appearance.
        more: Kinds of which the text says `+more`: it rests on others that it does not name.
        unread: Pieces of citations that name no table or number that is known.
    """

    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    more: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def joined(self, numbers: Mapping[str, tuple[int, ...]]) -> Citations:
        """These citations and those `numbers`."""
        kinds = dict.fromkeys((*self.numbers, *numbers))
        merged = {
            kind: tuple(dict.fromkeys((*self.numbers.get(kind, ()), *numbers.get(kind, ()))))
            for kind in kinds
        }
        return Citations(merged, self.more, self.unread)


def parse_citations(text: str) -> Citations:
    """All citations of a text; what cannot be read is kept as `unread`, never guessed."""
    numbers: dict[str, dict[int, None]] = {}
    more: set[str] = set()
    unread: list[str] = []
    for block in _BLOCK.finditer(text):
        # A citation may hold several tables, separated by `;` or `,`: the bracket ends each.
        for part in block.group(1).split(")"):
            if part.strip(_EDGE):
                _read_part(part, numbers, more, unread)
    return Citations(
        {kind: tuple(found) for kind, found in numbers.items() if found},
        frozenset(more),
        tuple(dict.fromkeys(unread)),
    )


def _read_part(
    part: str, numbers: dict[str, dict[int, None]], more: set[str], unread: list[str]
) -> None:
    name, bracket, listed = part.partition("(")
    name = _PREFIX.sub("", name.strip(_EDGE)).strip(_EDGE)
    kind = KIND_OF_NAME.get(" ".join(name.lower().split()))
    if kind is None or not bracket:
        unread.append(part.strip(_EDGE) + (")" if bracket else ""))
        return
    found = numbers.setdefault(kind, {})
    for piece in listed.replace(";", ",").split(","):
        item = piece.strip()
        if _NUMBER.fullmatch(item):
            found[int(item)] = None
        elif item.lower().replace(" ", "") == "+more":
            more.add(kind)
        elif item:
            unread.append(f"{name} ({item})")
