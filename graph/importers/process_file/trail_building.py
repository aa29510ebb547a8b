"""Verifications of a process file as values of the model.

Nodes are known by their ids only; `graph.restoring` fills in where they stand.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.content_hash import canonical
from veritrail_graph.graph.importers.process_file.reading import parse
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    ErrorLocation,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Iteration,
    NodeRef,
    Role,
    Sentence,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from veritrail_graph.graph.importers.process_file.trails import (
        ExtractionModel,
        IterationModel,
        SentenceModel,
        StepModel,
        VerificationModel,
    )


def verification(model: VerificationModel) -> Verification:
    """The verification that an object of a file describes.

    Raises:
        ValueError: Its summaries do not say which evidence they stand for, or its settings are
            no JSON.
    """
    return Verification(
        verification_id=model.verification_id,
        process_id=model.process_id or "",
        claim=Claim(model.claim_id, model.claim, model.node_id, sub_claims=(*model.sub_claims,)),
        q=model.q,
        engine=model.engine,
        model=model.model,
        indicative=model.indicative,
        created_at=model.created_at,
        status=Status(model.status),
        verdict=Verdict(model.verdict) if model.verdict else None,
        reasoning=model.reasoning,
        score=model.score,
        termination=Termination(model.termination) if model.termination else None,
        iterations=tuple(_iteration(one) for one in model.iterations),
        paths=tuple(
            EvidencePath(path.source, path.target, path.iteration, tuple(path.via))
            for path in model.paths
        ),
        error=ErrorLocation(_nodes(model.error_nodes), _nodes(model.propagated_nodes)),
        usage=Usage(**model.usage.model_dump()),
        failure=model.error,
        content_hash=model.content_hash,
        run_id=model.run_id,
        settings=_spelled(model.settings, model.settings_text),
        run_options=_spelled(model.run_options, model.run_options_text),
        steps=tuple(_step(one) for one in model.steps),
    )


def extracted(model: ExtractionModel) -> ExtractedSentence:
    """The extracted sentence that an object of a file describes."""
    return ExtractedSentence(
        node_id=model.node_id,
        position=model.position,
        start=model.start,
        end=model.end,
        text=model.text,
        outcome=SentenceOutcome(model.outcome),
        reason=model.reason,
        claim_ids=tuple(model.claim_ids),
    )


def _nodes(ids: Iterable[str]) -> tuple[NodeRef, ...]:
    return tuple(NodeRef(node_id, 0, 0, Role.INTERMEDIATE) for node_id in ids)


def _spelled(value: dict[str, Any] | None, text: str | None) -> str | None:
    if text is not None:
        if not isinstance(parse(text), dict):
            raise ValueError("settings_text and run_options_text must hold a JSON object")
        return text
    return None if value is None else canonical(value).decode()


def _step(model: StepModel) -> StepRecord:
    return StepRecord(
        iteration=model.iteration,
        step=model.step,
        prompt=model.prompt,
        prompt_hash=model.prompt_hash,
        model=model.model,
        temperature=model.temperature,
        usage=Usage(**model.usage.model_dump()),
    )


def _iteration(model: IterationModel) -> Iteration:
    return Iteration(
        number=model.number,
        verdict=Verdict(model.verdict),
        reasoning=model.reasoning,
        checked=_nodes(model.checked),
        carried_roots=_nodes(model.carried_roots),
        evidence=tuple(_evidence(model)),
        dropped_ids=model.dropped_ids,
        reruns=model.reruns,
        left_out=model.left_out,
    )


def _evidence(model: IterationModel) -> Iterable[Evidence]:
    """Evidence by summary; where a summary names no sentences, those of its nodes."""
    left = list(model.evidence)
    for number, summary in enumerate(model.summaries):
        if summary.sentences is not None:
            sentences = summary.sentences
        else:
            names = set(summary.node_ids)
            sentences = [one for one in left if one.node_id in names]
            left = [one for one in left if one.node_id not in names]
        if not sentences:
            raise ValueError(f"iterations[{model.number - 1}].summaries[{number}] has no sentences")
        yield Evidence(summary.text, summary.missing, tuple(_cited(one) for one in sentences))


def _cited(model: SentenceModel) -> CitedSentence:
    sentence = Sentence(model.node_id, model.sentence, model.start, model.end, model.text)
    return CitedSentence(sentence, EvidenceRole(model.role))
