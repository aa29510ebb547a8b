"""Processes as documents: a list of them, and one with all that is known of it.

Source: VeriTrail 2 (processes), 3.2 (verdicts).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from veritrail_graph.api.show.document import (
    Block,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Remark,
    Style,
    Table,
    name,
    names,
    ours,
    quoting,
    said,
    verdict,
)
from veritrail_graph.api.show.words import INDICATIVE_IN_PART, VERDICT_WORDS, mark_of
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.agreement import Agreement
from veritrail_graph.graph.model.processes import ProcessOverview, ProcessSummary

LIST_NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {"ProcessSummary.status": "a process that is listed is ready"}
)
"""Fields of a process that a list leaves out, and why."""
NAMED = 20
"""Final outputs, stages and tags that are named."""


def processes_shown(
    found: Sequence[ProcessSummary],
    agreements: Mapping[str, Agreement] | None = None,
    short: Mapping[str, str] = MappingProxyType({}),
) -> Document:
    """Show processes with their claims by verdict.

    Args:
        found: The processes.
        agreements: What people said of the claims of some, by process_id; None: not read.
        short: What is enough of an id to name its process, where it is shown in place of the id.
    """
    columns = {one.value: VERDICT_WORDS[one].lower() for one in Verdict}
    if any(one.verdicts.get(Status.UNDECIDED) for one in found):
        columns[Status.UNDECIDED.value] = Status.UNDECIDED.value
    is_indicative = any(one.indicative for one in found)
    marks = ("indicative",) if is_indicative else ()
    reviewed = ("reviewed by people",) if agreements else ()
    numbers = ("nodes", "edges", *columns.values(), *marks, "claims")
    rows = []
    for one in found:
        counts = [one.verdicts.get(verdict, 0) for verdict in columns]
        figures = [*map(_figure, (one.nodes, one.edges, *counts))]
        figures += [_indicative(one)] if is_indicative else []
        people = [_people((agreements or {}).get(one.process_id))] if agreements else []
        called = (name(short.get(one.process_id, one.process_id)),)
        rows.append((called, *figures, _figure(one.claims), *people, (said(one.name),)))
    table = Table(
        ("process", *numbers, *reviewed, "name"), tuple(rows), numbers, ("name",),
        ("edges", "nodes", "indicative", "claims"),
    )  # fmt: skip
    blocks: list[Block] = [table] if rows else []
    if is_indicative:
        words = f"Verdicts are {INDICATIVE_IN_PART}."
        blocks.append(Remark((ours(words),), Style.WARNING))
    return Document(tuple(blocks))


def _figure(number: int) -> Line:
    return (ours(f"{number:,}"),)


def _indicative(one: ProcessSummary) -> Line:
    """Return how many verdicts are indicative; a service says only that some are."""
    is_counted = one.indicative_claims or not one.indicative
    return _figure(one.indicative_claims) if is_counted else (ours("yes"),)


def _people(found: Agreement | None) -> Line:
    if found is None or not found.reviews:
        return ()
    pairs = found.overall
    words = f"{counted(found.claims, 'claim')}: {pairs.pairs - pairs.agreed:,} overridden, "
    return (ours(f"{words}{found.unclear:,} unclear, {found.disputed:,} disputed"),)


def process_shown(found: ProcessOverview) -> Document:
    """Show a process with all that is known of it."""
    facts = [
        Fact("status", (ours(found.status),)),
        *(Fact(words, _figure(number)) for words, number in (
            ("nodes", found.nodes), ("edges", found.edges), ("claims", found.claims),
            ("verifications", found.verifications),
        ) if number or words != "verifications"),
    ]  # fmt: skip
    counts: Line = ()
    for key, number in found.verdicts.items():
        if number:
            is_verdict = key in set(Verdict)
            word = verdict(mark_of(Verdict(key))) if is_verdict else quoting(key.replace("_", " "))
            counts += (ours(f"{', ' if counts else ''}{number:,} "), word)
    if counts:
        facts.append(Fact("verdicts", counts))
    if found.terminals:
        facts.append(Fact("final outputs", names(found.terminals, NAMED)))
    if found.stages:
        facts.append(Fact("stages", _stages(found)))
    further = [
        Fact(words, (name(value),))
        for words, value in (
            ("project", found.project), ("run of record", found.run_of_record),
            ("format", found.source_format), ("content hash", found.content_hash),
        )
        if value
    ]  # fmt: skip
    if found.tags:
        further.append(Fact("tags", names(found.tags, NAMED)))
    blocks: list[Block] = [Heading((name(found.process_id),))]
    blocks += [Remark((said(found.name),))] if found.name else []
    if found.question:
        blocks.append(Remark((ours("Question: "), said(found.question))))
    blocks += [Facts(tuple(facts)), Facts(tuple(further))]
    if found.indicative:
        remark = (ours(f"Verdicts are {INDICATIVE_IN_PART}."),)
        blocks.append(Remark(remark, Style.WARNING))
    blocks += [Remark((ours("Warning: "), quoting(one)), Style.NOTE) for one in found.warnings]
    return Document(tuple(blocks))


def _stages(found: ProcessOverview) -> Line:
    line: Line = ()
    every = list(found.stages.items())
    for stage, nodes in every[:NAMED]:
        called = found.stage_names.get(stage)
        line += (ours(f"{', ' if line else ''}{stage} "),)
        line += (ours("("), name(called), ours(") ")) if called else ()
        line += (ours(counted(nodes, "node")),)
    more = len(every) - NAMED
    return (*line, ours(f" and {more:,} more")) if more > 0 else line
