"""An outcome of the gate as JUnit XML: a case for every rule, then every claim.

Claims are cases as in the report; what the baseline knew already is skipped, so that the file and
the gate say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from veritrail_graph.api.gate.entries import Change
from veritrail_graph.api.gate.rules import Check, Outcome
from veritrail_graph.api.gate.telling import verdict_words
from veritrail_graph.api.reports import junit
from veritrail_graph.api.reports.junit import Case, Suite
from veritrail_graph.api.reports.material import Material


def outcome_xml(outcome: Outcome, material: Material) -> Iterator[str]:
    """The file, piece by piece.

    Args:
        outcome: The outcome.
        material: The process and its claims, as the gate counted them.
    """
    known = {entry.claim_id for entry in outcome.changed(Change.KNOWN)}
    suites = [_rules(outcome)]
    for suite in junit.suites_of(material, strict=outcome.limits.strict):
        cases = [_as_known(case) if _claim_id(case) in known else case for case in suite.cases]
        suites.append(replace(suite, cases=cases))
    return junit.junit_xml(
        suites, f"veritrail gate: {outcome.process_id}", {"outcome": verdict_words(outcome)}
    )


def _rules(outcome: Outcome) -> Suite:
    return Suite(
        name=f"gate of {outcome.process_id}",
        cases=[_case(check, outcome.process_id) for check in outcome.checks],
    )


def _case(check: Check, process_id: str) -> Case:
    kind = junit.Outcome.PASSED if check.met else junit.Outcome.FAILURE
    return Case(
        name=check.name,
        classname=f"{process_id}.gate",
        outcome=kind,
        kind="" if check.met else "gate_not_met",
        message=check.words,
        text=check.words,
    )


def _claim_id(case: Case) -> str:
    return case.properties["veritrail.claim_id"]


def _as_known(case: Case) -> Case:
    return replace(
        case, outcome=junit.Outcome.SKIPPED, message=f"Known in the baseline. {case.message}"
    )
