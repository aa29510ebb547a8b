"""The base of methods that ask a judge: claims, outcomes, and verdicts on whole texts.

Source: VeriTrail 4.2, 4.3 (all methods that ask a language model use one verdict prompt).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods.method import MethodOutcome
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Claim, NodeRef, Status, Verdict, Verification
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.judge import LanguageModelJudge
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import Found, Judge, Judgement, ReadNode
from veritrail_graph.verifier.verdict import PromptVerdict

JUDGE_PARAMETERS: Mapping[str, str] = {
    "engine": "the engine of judgement, such as openai or lexical",
    "model": "the model of all steps",
    "prompts": "a folder of prompts, or a variant: paper, v2, brief, true_false, every_word",
    "samples": "answers drawn to each prompt; several give a score",
    "threshold": "samples that must agree",
    "effort": "how much models reason, such as none, or low,verdict=high",
    "structured": "whether endpoints get a schema of the answers",
}
"""Parameters of every method that asks a judge, named as in the request of `veritrail verify`."""


def judge_options(parameters: Mapping[str, Any], **fixed: Any) -> dict[str, Any]:
    """The options of the judge among the parameters of a method, and what the method fixes."""
    given = {name: one for name, one in parameters.items() if name in JUDGE_PARAMETERS}
    return {**given, **fixed}


def whole_number(parameters: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A parameter that is a whole number of 1 or more.

    Raises:
        InputError: It is none, or is missing.
    """
    value = parameters.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number of 1 or more, not {value!r}")
    return value


def task_of(claim: LabelledClaim, process: HeldProcess) -> Task:
    """The claim as the walk takes it. Its label is left behind: no judge sees it."""
    node = process.node_of(claim.node_id)
    return Task(
        Claim(
            claim_id=claim.claim_id,
            text=claim.text,
            node_id=node.node_id,
            sub_claims=claim.sub_claims,
        ),
        node,
    )


async def outcome_of(
    claim: LabelledClaim,
    meter: Meter,
    judge: Callable[[], Awaitable[Judgement]],
    *,
    indicative: bool = False,
) -> MethodOutcome:
    """The outcome of a judgement; a fault becomes a status.

    Args:
        claim: The claim.
        meter: What its calls cost.
        judge: Judges it.
        indicative: Whether no model judges.

    Raises:
        EndpointRefused: No call of this run can succeed.
    """
    judgement, failure, status = None, None, Status.SUCCEEDED
    try:
        judgement = await judge()
    except EndpointRefused:
        raise
    except OverBudget as error:
        failure, status = str(error), Status.OVER_BUDGET
    except VeriTrailError as error:
        failure, status = str(error), Status.FAILED
    if judgement is not None and judgement.verdict is None:
        status = Status.UNDECIDED
    return MethodOutcome(
        process_id=claim.process_id,
        claim_id=claim.claim_id,
        status=status,
        verdict=judgement.verdict if judgement else None,
        score=judgement.score if judgement else None,
        reason=judgement.reasoning if judgement else failure,
        usage=meter.total,
        indicative=indicative,
    )


def outcome_of_walk(ended: Verification) -> MethodOutcome:
    """The outcome of a verification."""
    has_error = bool(ended.error_stages)
    return MethodOutcome(
        process_id=ended.process_id,
        claim_id=ended.claim_id,
        status=ended.status,
        verdict=ended.verdict,
        score=ended.score,
        reason=ended.reasoning if ended.error is None else ended.error,
        usage=ended.usage,
        nodes_verified=ended.nodes_verified,
        iterations=len(ended.iterations),
        error_stages=ended.error_stages if has_error else None,
        error_nodes=_error_nodes(ended) or None,
        indicative=ended.indicative,
    )


def _error_nodes(ended: Verification) -> tuple[str, ...]:
    """The nodes where an error may have come in: by verdicts, by sides, else by a value."""
    if ended.error_nodes:
        return tuple(node.node_id for node in ended.error_nodes)
    offered = ended.offered_place
    is_error = ended.verdict is Verdict.NOT_FULLY_SUPPORTED
    return offered.node_ids if offered is not None and is_error else ()


async def judge_texts(
    judge: Judge, claim: Claim, texts: Sequence[ReadNode], meter: Meter
) -> Judgement:
    """A verdict on whole texts, the most important first: the last ones go until the rest fits.

    Raises:
        VeriTrailError: None could be had.
    """
    shown = fitting(judge, claim, texts)
    judgement = await judge.judge(claim, Found((), shown), meter)
    left_out = len(texts) - len(shown)
    if not left_out:
        return judgement
    said = f"{judgement.reasoning} ({left_out} of {len(texts)} texts did not fit into the prompt.)"
    return replace(judgement, reasoning=said)


def fitting(judge: Judge, claim: Claim, texts: Sequence[ReadNode]) -> tuple[ReadNode, ...]:
    """The longest beginning of the texts that fits into a verdict prompt, at least one text.

    Of a text that does not fit alone, the verdict step shows what fits.
    """
    verdicts = verdict_prompt(judge)
    if verdicts is None:
        return tuple(texts)
    room, used = verdicts.room(claim), 0
    for place, text in enumerate(texts):
        used += verdicts.size(text)
        if used > room:
            return tuple(texts[: max(1, place)])
    return tuple(texts)


def verdict_prompt(judge: Judge) -> PromptVerdict | None:
    """The prompt by which a judge gives verdicts; None: it gives them in another way."""
    verdicts = judge.verdicts if isinstance(judge, LanguageModelJudge) else None
    return verdicts if isinstance(verdicts, PromptVerdict) else None


def named_roots(claim: LabelledClaim, process: HeldProcess, sources: str) -> tuple[NodeRef, ...]:
    """The source text that a claim is compared with.

    Args:
        claim: The claim.
        process: Its process.
        sources: `process`: all roots; `below`: those that the claim's node was made from;
            `documents`: those that the claim names, else all.
    """
    if sources == "below":
        return process.roots_below(process.node_of(claim.node_id).node_id)
    if sources == "documents" and claim.documents is not None:
        names = set(claim.documents)
        return tuple(ref for ref in process.roots if ref.node_id in names)
    return process.roots


SOURCES = ("process", "below", "documents")


def sources_of(parameters: Mapping[str, Any]) -> str:
    """The parameter `sources`.

    Raises:
        InputError: It is none of the three.
    """
    value = parameters.get("sources", "process")
    if value not in SOURCES:
        raise InputError(f"sources must be one of {', '.join(SOURCES)}, not {value!r}")
    return str(value)
