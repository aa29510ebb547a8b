"""The answers of a check: claims with their verdicts, findings, and the judge.

Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.findings import ProcessFacts, finding_of, nodes_of_findings
from veritrail_graph.graph.judge_mode import wording_of_settings
from veritrail_graph.graph.model import Status, Verdict, Verification
from veritrail_graph.graph.model.finding import (
    CheckedClaim,
    CheckedProcess,
    CheckJudge,
    Finding,
    FindingCounts,
)

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested
    from veritrail_graph.api.app.checked_dialogue import CheckedClaims
    from veritrail_graph.api.configured.judge import ConfiguredJudge
    from veritrail_graph.graph.model import Process, Usage
    from veritrail_graph.graph.model.listed import JudgedClaim
    from veritrail_graph.graph.store import Store


def checked_claim(one: Verification) -> CheckedClaim:
    """Return a claim with its verdict, or with the reason that it has none."""
    is_result = one.status.is_result
    return CheckedClaim(
        process_id=one.process_id,
        claim_id=one.claim_id,
        claim=one.claim,
        verdict=one.verdict,
        status=one.status,
        verification_id=one.verification_id,
        error_nodes=tuple(node.node_id for node in one.error_nodes),
        reason=None if one.verdict is not None else one.reasoning if is_result else one.error,
    )


async def findings_of(
    store: Store, process: Process, found: Sequence[Verification]
) -> tuple[Finding, ...]:
    """Return a finding for each verification that calls its claim not supported.

    Args:
        store: The graph.
        process: The process.
        found: Verifications of it with their trails.
    """
    wrong = [one for one in found if one.verdict is Verdict.NOT_FULLY_SUPPORTED]
    if not wrong:
        return ()
    nodes = await store.nodes.with_metadata(process.process_id, nodes_of_findings(wrong))
    claims = await store.claims.by_id(process.process_id, [one.claim_id for one in wrong])
    facts = ProcessFacts(
        {one.node_id: one for one in nodes},
        process.stage_names,
        {one.claim_id: one for one in claims},
    )
    return tuple(finding_of(one, facts) for one in wrong)


def judge_of(judge: ConfiguredJudge, home: Path) -> CheckJudge:
    """Return the judge, and what was measured of it.

    Args:
        judge: The judge.
        home: The folder that keeps what was measured here.
    """
    one = judge.judge
    return _judge(one.name, one.model, judge.settings, home, indicative=one.indicative)


def judge_of_headers(found: Sequence[Verification], home: Path) -> CheckJudge | None:
    """Return the judge that all of some verifications have; None: there are several, or none.

    Args:
        found: The verifications.
        home: The folder that keeps what was measured here.
    """
    ended = [one for one in found if one.status.is_result] or list(found)
    judges = {(one.engine, one.model, one.indicative) for one in ended}
    if len(judges) != 1:
        return None
    ((engine, model, indicative),) = judges
    if len({wording_of_settings(one.settings) for one in ended}) > 1:
        return CheckJudge(engine=engine, model=model, indicative=indicative)
    return _judge(engine, model, ended[0].settings, home, indicative=indicative)


def judges_in_force(kept: Sequence[JudgedClaim]) -> tuple[CheckJudge, ...]:
    """Return who gave what counts for some claims, each judge once."""
    judges = {
        (one.engine, one.model): CheckJudge(
            engine=one.engine or "", model=one.model, indicative=bool(one.indicative)
        )
        for one in kept
    }
    return tuple(judges.values())


def _judge(
    engine: str, model: str | None, settings: str | None, home: Path, *, indicative: bool
) -> CheckJudge:
    from veritrail_graph.api.configured.measured import judge_name, measured_of
    from veritrail_graph.verifier.engines import engine_named

    if (here := measured_of(home, judge_name(engine, model, settings))) is not None:
        figures = here.json_object()
        return CheckJudge(engine=engine, model=model, indicative=indicative, measured=figures)
    try:
        measured = engine_named(engine).measured
    except InputError:  # two of them, or one that is not installed here
        measured = None
    return CheckJudge(
        engine=engine,
        model=model,
        indicative=indicative,
        measured=measured.json_object() if measured is not None else None,
    )


def checked_process(
    where: str,
    stored: Ingested,
    process: Process,
    claims: CheckedClaims,
    spent: Usage,
    run_id: str,
    reused: int,
    kept: Sequence[JudgedClaim] = (),
) -> CheckedProcess:
    """Return the result of a check of one process; of the claims `kept` another result counts."""
    results = claims.results
    return CheckedProcess(
        process_id=stored.process_id,
        name=stored.name,
        question=process.question,
        status=stored.status,
        claims=len(results),
        verdicts=FindingCounts.of(results),
        wrong=claims.wrong,
        undecided=tuple(
            one.model_copy(update={"error_nodes": None}) for one in results if one.is_undecided
        ),
        failed=tuple(one for one in results if one.is_failed),
        results=results,
        where=where,
        cost_usd=cost_of(spent),
        run_id=run_id,
        reused=reused,
        not_in_force=tuple(one.claim_id for one in kept),
        kept_by=judges_in_force(kept),
        read={
            "format": stored.format,
            "stages": max(process.stages, default=0),
            "nodes": stored.nodes,
            "edges": stored.edges,
            "inferred_edges": dict(stored.inferred_edges),
            "explained": stored.explained,
            "unsourced": stored.unsourced,
            "warnings": list(stored.warnings),
        },
    )


def without_cancelled(one: CheckedProcess) -> CheckedProcess:
    """Return a process that a person stopped the check of, with the claims that were finished."""
    results = tuple(claim for claim in one.results if claim.status is not Status.CANCELLED)
    return one.model_copy(
        update={
            "claims": len(results),
            "verdicts": FindingCounts.of(results),
            "failed": tuple(claim for claim in results if claim.is_failed),
            "results": results,
        }
    )


def cost_of(usage: Usage) -> float | None:
    """Return what was spent; None where the price of a call is not known."""
    if usage.cost_usd is None and not usage.unpriced_calls:
        return 0.0
    return usage.cost_usd
