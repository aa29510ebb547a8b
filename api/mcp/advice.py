"""The advice of MCP for each error, by its code."""

from __future__ import annotations

from collections.abc import Mapping

from veritrail_graph.api.advice import PYTHON

_VERIFICATIONS = "`run_query` with the query `verifications` lists those of a process."

ADVICE: Mapping[str, str] = {
    **PYTHON,
    "columns_unknown": "`columns` names them by their meaning: question, contexts, answer.",
    "plain_text": "`check` takes an answer and what it was made from: `answer`, `sources`.",
    "claim_unknown": "`run_query` with the query `claims` lists those that are.",
    "no_error_node": "`verify_claim` finds error nodes.",
    "nodes_and_claims": "With `claim_id` or `unsupported`, leave `node_id` out.",
    "nothing_to_attribute": (
        "`run_query` with the query `descendants` lists nodes that were made from a node."
    ),
    "process_unknown": "`list_processes` lists those that are.",
    "query_unknown": "The resource `veritrail://queries` lists those that are.",
    "run_not_pinned": "A person pins runs: the command line, REST or the page.",
    "run_outdated": "`verify_claim` starts a new one.",
    "run_outdated_in_batches": (
        "They end by themselves within a day. `verify_claim` starts a new run."
    ),
    "run_unknown": _VERIFICATIONS,
    "verification_unknown": _VERIFICATIONS,
    "escalation_to_itself": "Name a cheaper `verdict_model`, or leave `escalate_to` out.",
    "version_unknown": (
        "Name a process (`list_processes` lists those that are stored), a content hash, or `last`."
    ),
}
