"""`veritrail estimate`: what verifying claims would cost, before any call is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import (
    AsJson,
    ClaimIds,
    Claims,
    ClaimsFile,
    Node,
    ProcessId,
    claim_records,
    judging,
    verify_request,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, show_parts
from veritrail_graph.api.show.estimate import estimate_shown, part_of_live

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.importers.records import ClaimRecord
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.verifier.estimate import Estimate


@judging(
    "q", "engine", "verdict_engine", "model", "claims_model", "selection_model", "verdict_model",
    "escalate_to", "effort", "price", "batch", "batch_price_factor", "since", "match", "samples",
    "max_root_sentences", "max_sentences", "verdict_sentences", "verdict_root_sentences",
    "max_reruns", "no_sub_claims", "share", "prompts",
)  # fmt: skip
def estimate(
    process: ProcessId,
    claim: Claims = None,
    claims: ClaimsFile = None,
    claim_id: ClaimIds = None,
    node: Node = None,
    *,
    as_json: AsJson = False,
    **how: Any,
) -> None:
    """Say what verifying claims would cost; nothing is asked.

    Calls, tokens and money are given as low, likely and high. The process is walked with assumed
    answers; no model is asked and no key is needed. Without --claim, --claims or --claim-id it is
    about the stored claims; claims given are not stored. With --since it is about the claims whose
    verdict would not be kept.
    """
    from veritrail_graph.api.cli.changes import matched
    from veritrail_graph.api.configured.judge import judge_options
    from veritrail_graph.api.settings import Settings

    given = {**how, "claim_id": claim_id, "node": node, "match": matched(how)}
    request = verify_request(process, given)
    options = judge_options(Settings(), request, prompts=how["prompts"])
    records = claim_records(claim, claims)
    _, estimated = ask_about(
        process,
        lambda app, name: _estimate(
            app, options, request.model_copy(update={"process_id": name}), records
        ),
        as_json=as_json,
    )
    _warn(options)
    if as_json:
        print_json(_as_json(estimated))
    else:
        if options.gives_recorded:
            say(
                "Recorded answers cost nothing, and no model is asked. A model would be asked as "
                "often as this:",
                "dim",
            )
        show_parts(estimate_shown(estimated))


def _warn(options: JudgeOptions) -> None:
    """Say which of the models end."""
    from veritrail_graph.api.configured.models import all_model_settings, retirement_warnings
    from veritrail_graph.api.settings import Settings

    for engine in options.engines:
        if engine.calls_models:
            chosen = all_model_settings(Settings(), engine.name, options.models_of(engine))
            for warning in retirement_warnings(engine, chosen.values()):
                say(warning, "yellow")


async def _estimate(
    app: Application, options: JudgeOptions, request: VerifyRequest, records: Sequence[ClaimRecord]
) -> Estimated:
    with long_work() as work:

        def on_prompts(done: int, claims: int, prompts: int) -> None:
            work.update("claims", done, claims, f"{prompts:,} prompts looked at")

        return await app.claims.estimate(request, options, records, on_prompts)


def _as_json(estimated: Estimated) -> dict[str, Any]:
    from veritrail_graph.verifier.estimate import assumptions

    estimates = estimated.estimates
    kept = estimated.kept
    return {
        "process_id": estimated.process_id,
        "claims": estimated.claims,
        **({"since": kept.since, "kept": kept.claims} if kept is not None else {}),
        "model": estimated.model,
        "assumptions": {
            "tokens_counted_by_tokenizer": estimated.is_exact,
            "answers_from_cache": 0,
            "invalid_answers": 0,
            **assumptions(),
        },
        "low": _row(estimates.low),
        "likely": _row(estimates.likely),
        "high": _row(estimates.high),
        "ways": [
            {
                "way": way.name,
                "share": way.share if way.share > 1 else None,
                **{
                    name: _usage(one.ways[way.name])
                    for name, one in (
                        ("low", estimates.low),
                        ("likely", estimates.likely),
                        ("high", estimates.high),
                    )
                },
                "part_of_live": part_of_live(estimates.likely, way.name),
            }
            for way in estimated.ways
            if way.name in estimates.likely.ways
        ],
    }


def _row(one: Estimate) -> dict[str, Any]:
    return {**_usage(one.usage), "nodes_visited": len(one.visited)}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "batch_calls": usage.batch_calls,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }
