"""What the Python client advises for each error, by its code or the kind of a violation.

A client in process takes the advice from here. A service takes it from here too, for requests
whose header `X-Veritrail-Client` says `python`.
"""

from __future__ import annotations

from collections.abc import Mapping

from veritrail_graph.api.rest_advice import ADVICE as REST

CALLER_HEADER = "X-Veritrail-Client"
"""The request header in which a caller names the door whose advice it wants."""

_SETTING = "Where the claims are verified, {} must be set."
_RUNS = "`client.verifications(process_id)` lists those of a process."

ADVICE: Mapping[str, str] = {
    **REST,
    "append_too_large": (
        "Or ingest the whole process with `replace=True`, which removes its verifications."
    ),
    "append_without_id": "Name it with `process_id`.",
    "azure_endpoint_needed": _SETTING.format("AZURE_OPENAI_ENDPOINT"),
    "azure_key_needed": _SETTING.format("AZURE_OPENAI_API_KEY"),
    "azure_version_needed": _SETTING.format("OPENAI_API_VERSION, such as 2024-10-21,"),
    "claim_unknown": "`client.claims(process_id)` lists those that are.",
    "claim_verified": "`force=True` changes it nevertheless; they stay as they are.",
    "claims_in_use": "`force=True` removes them too.",
    "key_needed": _SETTING.format(
        "OPENAI_API_KEY, or OPENAI_BASE_URL of an endpoint that needs no key,"
    ),
    "dialogue_not_verified": "`client.verify_dialogue(dialogue_id)` does so.",
    "dialogue_run_unknown": "`client.dialogue_runs(dialogue_id)` lists those that are.",
    "no_error_node": "`client.verify(process_id)` finds error nodes.",
    "nothing_to_attribute": (
        "`client.nodes(process_id)` lists nodes with their roles; roots are no choice."
    ),
    "other_content": (
        "Pass `replace=True` to replace it, which removes its verifications, `append=True` to add "
        "to it, or `process_id` for another id."
    ),
    "process_damaged": "`client.delete(process_id)` does so.",
    "version_gone": (
        "`client.ingest(…, replace=True, keep=True)` keeps it the next time; `since` takes any "
        "other stored process."
    ),
    "process_in_use": (
        "Cancel them, or pass `force=True`: their claims then fail or are cancelled."
    ),
    "process_unknown": "`client.processes()` lists those that are.",
    "query_unknown": "`client.queries()` says more.",
    "run_not_pinned": "`client.process(process_id).run_of_record` names it.",
    "run_unknown": _RUNS,
    "wrong_turns": "`client.turns(dialogue_id)` lists all with their roles.",
    "service_file_version": (
        "Move `service.sqlite3` in VERITRAIL_HOME to another folder, or use the version of the "
        "package that made it."
    ),
    "service_version": (
        "Name an empty database in VERITRAIL_JOBS_URL, or use the version of the package that made "
        "this one."
    ),
    "verification_unknown": _RUNS,
}
