"""The advice of REST and the Python client for each error, by its code or the kind of a violation.

`{name}` is replaced by a fact of the error. The command line, the page and MCP have tables of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping

CALLER_HEADER = "X-Veritrail-Client"
"""The request header in which a caller names the door whose advice it wants."""

MODELS: Mapping[str, str] = {
    "decision_key_needed": (
        "VERITRAIL_DECISIONS_API_KEY holds it; for OpenAI OPENAI_API_KEY does, too."
    ),
    "decision_model_needed": (
        "VERITRAIL_DECISIONS_MODEL names one, such as gpt-6-luna, and VERITRAIL_DECISIONS_URL the "
        "endpoint that serves it (docs/judges.md)."
    ),
    "unknown_dialect": "(VERITRAIL_DECISIONS_DIALECT)",
    "entailment_adapter_unknown": "(VERITRAIL_NLI_ADAPTER)",
    "entailment_export_needed": (
        "Export it to ONNX for the task text-classification (docs/judges.md), or install torch and "
        "transformers."
    ),
    "entailment_folder_needed": "(VERITRAIL_NLI_MODEL)",
    "entailment_labels_unknown": (
        "Say what the outputs mean, in their order, in VERITRAIL_NLI_LABELS, such as "
        "contradiction,neutral,entailment; - is any other."
    ),
    "entailment_labels_wrong": "(VERITRAIL_NLI_LABELS)",
    "entailment_model_needed": (
        "VERITRAIL_NLI_MODEL names one: a folder with model.onnx, tokenizer.json and config.json, "
        "the address of a server, or a model that was downloaded."
    ),
    "entailment_model_unknown": "(VERITRAIL_NLI_MODEL)",
    "entailment_template": "(VERITRAIL_NLI_TEMPLATE)",
    "entailment_weights_needed": "(VERITRAIL_NLI_WEIGHTS; docs/judges.md says how to make it)",
    "entailment_window": "(VERITRAIL_NLI_WINDOW)",
}
"""The advice of every door for errors of decision and entailment models: which setting to change.

The settings are those of the machine that verifies, for every caller.
"""

_AGAIN = "Send it again; an operator of the service can remove the rest of it."

REST: Mapping[str, str] = {
    **MODELS,
    "no_since": "Submit one with `since`.",
    "since_is_now": "Leave `since` out.",
    "version_gone": (
        "POST /v1/processes?replace=true&keep=true keeps it the next time; `since` takes any other "
        "stored process."
    ),
    "batch_options": 'Send `mode`: "batch", or leave both out.',
    "escalation_to_itself": "Name a cheaper `verdict_model`, or leave `escalate_to` out.",
    "version_unknown": (
        "Name a process (GET /v1/processes lists those that are stored), a content hash, or `last`."
    ),
    "version_grown": 'Verify with `since`: "last" to compare the verdicts.',
    "already_written": "Send it again.",
    "append_too_large": (
        "Or send the whole process with ?replace=true, which removes its verifications."
    ),
    "append_without_id": "Name it with ?process_id=.",
    "azure_endpoint_needed": "The service needs AZURE_OPENAI_ENDPOINT.",
    "azure_key_needed": "The service needs AZURE_OPENAI_API_KEY.",
    "azure_version_needed": "The service needs OPENAI_API_VERSION, such as 2024-10-21.",
    "claim_of_other_node": "Leave `node_id` out.",
    "columns_unknown": (
        "?columns=question=NAME,contexts=NAME,answer=NAME names the columns of a table, and "
        "?filename= says what the file is called: of some formats the ending is needed."
    ),
    "claim_unknown": "GET /v1/processes/{{process_id}}/claims lists those that are.",
    "claim_verified": "?force=true changes it nevertheless; they stay as they are.",
    "claims_in_use": "?force=true removes them too.",
    "commit_in_doubt": "Send the request again: nothing is stored twice.",
    "dialogue_not_verified": "POST /v1/dialogue-verifications does so.",
    "dialogue_run_unknown": (
        "GET /v1/processes/{{process_id}}/dialogue/runs lists those that are."
    ),
    "effort_needs_model": "(`effort`)",
    "engine_unavailable": "Come again; the log of the service says more.",
    "extraction_needs_model": "Name one in `model`.",
    "no_error_node": "POST /v1/verifications finds error nodes.",
    "nodes_and_claims": "With `claim_ids` or `unsupported`, leave `node_ids` out.",
    "nothing_to_judge": "Set `judge` or `correct`, or leave `mode` out.",
    "nothing_to_recheck": "Set `correct`.",
    "key_needed": (
        "The service needs OPENAI_API_KEY, or OPENAI_BASE_URL of an endpoint that needs no key."
    ),
    "key_not_active": (
        "An operator of the service makes another one with `veritrail keys create`."
    ),
    "model_needed": "Name it in `model`, or set VERITRAIL_MODEL.",
    "model_without_engine": "(`model`, `engine`)",
    "plain_text": "An answer and its sources are sent as JSON: `answer`, `sources`.",
    "no_known_format": (
        "Name it with ?format=, or say with ?filename= what the file is called: of some formats "
        "the ending is needed."
    ),
    "not_a_dialogue": "docs/dialogues.md says what a dialogue file is.",
    "nothing_to_attribute": (
        "GET /v1/processes/{{process_id}}/nodes lists nodes with their roles; roots are no choice."
    ),
    "no_claims_of_dialogue": (
        "POST /v1/dialogue-verifications does so. Claims of your own can be given in `claims`."
    ),
    "nothing_stated": "Say in `claims` what is to be checked.",
    "no_claims": "Give some in `claims`, or have a model `extract` them.",
    "node_needed": "Name the node in `node_id`.",
    "other_format": "?format={format} takes it.",
    "other_content": (
        "Add ?replace=true to replace it, which removes its verifications, "
        "?replace=true&keep=true to keep it with its verifications under another id, ?append=true "
        "to add to it, or ?process_id= for another id."
    ),
    "price_unknown": (
        "Give it in `price` as INPUT,OUTPUT (USD per million tokens) or in a table "
        "(VERITRAIL_PRICES)."
    ),
    "process_damaged": "DELETE /v1/processes/{{process_id}} does so.",
    "process_in_use": "Cancel them, or add ?force=true: their claims then fail or are cancelled.",
    "process_not_ready": _AGAIN,
    "process_unknown": "GET /v1/processes lists those that are.",
    "query_unknown": "GET /v1/queries says more.",
    "run_not_pinned": "GET /v1/processes/{{process_id}} names it.",
    "run_outdated": "POST /v1/verifications starts a new one.",
    "run_outdated_in_batches": (
        "They end by themselves within a day. POST /v1/verifications starts a new run."
    ),
    "run_unknown": "GET /v1/processes/{{process_id}}/verifications lists those of a process.",
    "samples_need_model": "(`samples`)",
    "samples_need_temperature": "(`samples`)",
    "service_file_version": "An operator of the service can move its file away.",
    "service_unavailable": "Come again.",
    "service_version": "An operator of the service can name another database.",
    "wrong_turns": "GET /v1/processes/{{process_id}}/dialogue/turns lists all with their roles.",
    "unknown_format": "?format=detect, or ?format= with its name, takes files of other formats.",
    "verification_unknown": (
        "GET /v1/processes/{{process_id}}/verifications lists those that are."
    ),
}

_SETTING = "Where the claims are verified, {} must be set."
_RUNS = "`client.verifications(process_id)` lists those of a process."

PYTHON: Mapping[str, str] = {
    **REST,
    "append_too_large": (
        "Or ingest the whole process with `replace=True`, which removes its verifications."
    ),
    "append_without_id": "Name it with `process_id`.",
    "azure_endpoint_needed": _SETTING.format("AZURE_OPENAI_ENDPOINT"),
    "azure_key_needed": _SETTING.format("AZURE_OPENAI_API_KEY"),
    "azure_version_needed": _SETTING.format("OPENAI_API_VERSION, such as 2024-10-21,"),
    "columns_unknown": (
        '`columns={{"question": NAME, "contexts": NAME, "answer": NAME}}` names the columns of a '
        "table."
    ),
    "claim_unknown": "`client.claims(process_id)` lists those that are.",
    "claim_verified": "`force=True` changes it nevertheless; they stay as they are.",
    "claims_in_use": "`force=True` removes them too.",
    "plain_text": "`check(answer, sources)` takes an answer and what it was made from.",
    "no_known_format": "`ingest(source, format=NAME)` reads it in a format that you name.",
    "key_needed": _SETTING.format(
        "OPENAI_API_KEY, or OPENAI_BASE_URL of an endpoint that needs no key,"
    ),
    "no_claims_of_dialogue": (
        "`client.verify_dialogue(dialogue_id)` does so. Claims of your own can be given."
    ),
    "dialogue_not_verified": "`client.verify_dialogue(dialogue_id)` does so.",
    "dialogue_run_unknown": "`client.dialogue_runs(dialogue_id)` lists those that are.",
    "no_error_node": "`client.verify(process_id)` finds error nodes.",
    "nothing_to_attribute": (
        "`client.nodes(process_id)` lists nodes with their roles; roots are no choice."
    ),
    "other_content": (
        "Pass `replace=True` to replace it, which removes its verifications, `replace=True, "
        "keep=True` to keep it with its verifications under another id; `ingest` also takes "
        "`append=True` to add to it, and `process_id` for another id."
    ),
    "process_damaged": "`client.delete(process_id)` does so.",
    "version_gone": (
        "`client.ingest(…, replace=True, keep=True)` keeps it the next time; `since` takes any "
        "other stored process."
    ),
    "batch_options": 'Send `mode`: "batch", or leave both out.',
    "escalation_to_itself": "Name a cheaper `verdict_model`, or leave `escalate_to` out.",
    "version_unknown": (
        "Name a process (`client.processes()` lists those that are stored), a content hash, or "
        "`last`."
    ),
    "process_in_use": (
        "Cancel them, or pass `force=True`: their claims then fail or are cancelled."
    ),
    "process_unknown": "`client.processes()` lists those that are.",
    "query_unknown": "`client.queries()` says more.",
    "run_not_pinned": "`client.process(process_id).run_of_record` names it.",
    "run_outdated": "`client.verify(process_id)` starts a new one.",
    "run_outdated_in_batches": (
        "They end by themselves within a day. `client.verify(process_id)` starts a new run."
    ),
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
"""What the Python client advises.

A client in process takes the advice from here. A service takes it from here too, for requests
whose header `X-Veritrail-Client` says `python`.
"""
