"""Two verifications side by side, as a document: settings, results, and where the trails part.

Source: VeriTrail 3.2 (traceability); the comparison is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from veritrail_graph.api.show.asking import asked_as
from veritrail_graph.api.show.document import (
    Block,
    Branch,
    Document,
    Heading,
    Line,
    Remark,
    Style,
    Table,
    Tree,
    name,
    names,
    ours,
    said,
    verdict,
)
from veritrail_graph.api.show.words import ENDINGS, judged_by, mark_now, mark_of
from veritrail_graph.graph.comparing import DifferingPart, folded_settings
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status, Termination, Verdict, Verification
from veritrail_graph.graph.model.difference import ChangedValue, Difference, RoundSide

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Difference.same": "that nothing differs is said in words",
        "Difference.sides": "they are named above, each with its judge",
    }
)
"""Fields of the noun that no writer shows, and why."""
NODES = 10
"""Nodes of one side that are named."""
PARTS: Mapping[str, str] = MappingProxyType(
    {
        DifferingPart.NODES: "other nodes were checked",
        DifferingPart.EVIDENCE: "other sentences were selected",
        DifferingPart.VERDICT: "another interim verdict was given",
        DifferingPart.LENGTH: "one walk had ended, the other went on",
    }
)
"""How rounds differ, in words."""
VALUES: Mapping[str, str] = MappingProxyType(
    {
        "claim": "Claim",
        "engine": "Engine",
        "model": "Model",
        "q": "q",
        "sub_claims": "Simpler statements",
        "version": "Version of the engine",
        "content_hash": "Content",
        "status": "Status",
        "verdict": "Verdict",
        "score": "Score",
        "termination": "Why it ended",
        "error_stages": "Error stages",
        "error_nodes": "Introduced by",
        "error": "Reason of the failure",
    }
)
"""Names of values that differ; any other keeps its own."""


def difference_shown(found: Difference) -> Document:
    """Show how two verifications differ, and where their trails part."""
    blocks: list[Block] = []
    if found.same_claim:
        blocks.append(Heading((said(found.sides[0].claim),)))
    sides = (_heading(*both) for both in zip("AB", found.sides, strict=True))
    blocks.append(Tree((ours("verifications"),), tuple(map(Branch, sides))))
    if not found.same_claim:
        blocks.append(_heading_of("These are verifications of different claims."))
        blocks.append(_changed(found.claim))
    if found.settings:
        settings, folded = folded_settings(found.settings)
        blocks += [_heading_of("different settings"), _changed(settings)]
        if folded:
            words = f"and {counted(len(folded), 'setting')} that differ with the judge"
            blocks.append(Tree((ours(words, Style.QUIET),), _listed(folded), is_detail=True))
    if found.outcome:
        blocks += [_heading_of("different results"), _changed(found.outcome)]
    parting = found.parting
    if parting is not None:
        why = ", ".join(PARTS[part] for part in parting.parts)
        words = f"the trails part in iteration {parting.iteration}: {why}"
        both = (_side("A", parting.a), _side("B", parting.b))
        blocks.append(Tree((ours(words),), both))
    elif found.same:
        blocks.append(Remark((ours("Same path, same verdict."),)))
    else:
        words = "All rounds are the same: nodes, sentences and interim verdicts."
        blocks.append(Remark((ours(words),)))
    return Document(tuple(blocks))


def _heading_of(words: str) -> Tree:
    """Return a title above a table."""
    return Tree((ours(words),), ())


def _heading(letter: str, one: Verification) -> Line:
    by = judged_by(one.engine, one.model)
    line: Line = (ours(f"{letter}  ", Style.STRONG), name(one.verification_id), ours("  "))
    line += (verdict(mark_now(one)), ours(" · "), name(by), ours(asked_as(one)))
    return (*line, ours(f" · {one.created_at}"))


def _changed(found: Mapping[str, ChangedValue]) -> Table:
    rows = tuple(
        ((said(VALUES.get(key, key)),), (said(value_words(key, both.a)),),
         (said(value_words(key, both.b)),))
        for key, both in found.items()
    )  # fmt: skip
    return Table(("", "A", "B"), rows)


def _listed(found: Mapping[str, ChangedValue]) -> tuple[Branch, ...]:
    return tuple(
        Branch((said(f"{key}: {value_words(key, both.a)} | {value_words(key, both.b)}"),))
        for key, both in found.items()
    )


def value_words(key: str, value: Any) -> str:
    """Return a value that differs, in words."""
    if value is None or value == []:
        return "none"
    if key == "verdict":  # of a verification without a verdict the status differs, too
        return mark_of(Verdict(value)).word
    if key == "termination":
        return ENDINGS[Termination(value)].capitalize()
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _side(letter: str, side: RoundSide | None) -> Branch:
    if side is None:
        return Branch((ours(f"{letter}  ", Style.STRONG), ours("had ended before")))
    mark = mark_of(side.verdict, Status.UNDECIDED)
    line = (ours(f"{letter}  ", Style.STRONG), verdict(mark))
    return Branch(line, tuple(_only(side)))


def _only(side: RoundSide) -> Iterator[Branch]:
    yield Branch((ours("reasoning: "), said(side.reasoning)))
    if side.checked_only:
        yield Branch((ours("checked only here: "), *names(side.checked_only, NODES)))
    for cited in side.selected_only:
        place = (ours("selected only here: "), name(cited.node_id), ours(f" {cited.sentence}: "))
        yield Branch((*place, said(cited.text)), (), "sentence")
