"""The advice of the command line for each error, by its code or the kind of a violation.

`{name}` is replaced by the fact of that name of the error.
"""

from __future__ import annotations

from collections.abc import Mapping

from veritrail_graph.api.advice import MODELS

ADVICE: Mapping[str, str] = {
    **MODELS,
    "recorded_of_samples": (
        "`veritrail judge check --model NAME --record FILE` records the answers of a model; "
        "--recorded FILE checks them again."
    ),
    "sample_lacks_claims": "`veritrail delete {sample}` and run it again.",
    "no_since": "Submit it with --since EARLIER.",
    "since_is_now": "Name another version, or verify without --since.",
    "version_gone": (
        "`veritrail ingest PATH --replace --keep` keeps it the next time; any other stored "
        "process can be compared with."
    ),
    "batch_options": "Add --batch, or leave both out.",
    "escalation_to_itself": "Name a cheaper --verdict-model, or leave --escalate-to out.",
    "version_unknown": (
        "Name a process (`veritrail show` shows those that are stored), a content hash, or `last`."
    ),
    "version_grown": "`veritrail verify PROCESS --since last` compares the verdicts.",
    "already_written": "Run the command again; `veritrail db clean` removes what is half-made.",
    "answer_needed": (
        "Pass --answer FILE (a text file, or JSON: FILE#N picks entry N of a list) and, when the "
        "file does not hold the question, --question TEXT."
    ),
    "append_too_large": (
        "Or ingest the whole process with --replace, which removes its verifications."
    ),
    "append_without_id": "Name it with --process-id.",
    "azure_endpoint_needed": "Set AZURE_OPENAI_ENDPOINT.",
    "azure_key_needed": "Set AZURE_OPENAI_API_KEY.",
    "azure_version_needed": "Set OPENAI_API_VERSION, such as 2024-10-21.",
    "bad_rows": (
        "`veritrail eval build --from PATH --skip-bad -o OUT.jsonl` leaves what is bad out and "
        "counts it; --format NAME (`format` in a matrix) reads it in another format."
    ),
    "budget_used_up": "Say with --budget USD what it may take from now on.",
    "calls_used_up": "Say with --max-calls N what it may take from now on.",
    "claim_of_other_node": "Leave --node out.",
    "columns_unknown": (
        "--columns names the columns of a table: --columns question=NAME,contexts=NAME,answer=NAME."
    ),
    "plain_text": (
        "Say which text is the answer: `veritrail check --answer ANSWER --sources TEXTS`."
    ),
    "claim_unknown": "`veritrail claims list PROCESS` shows those that are.",
    "named_nothing": (
        "`veritrail show` lists the processes; a claim stands behind its process: `veritrail show "
        "PROCESS CLAIM`."
    ),
    "ambiguous_id": "Give more letters of it.",
    "claim_unverified": "`veritrail verify {process_id}` does so.",
    "claim_verified": "--force changes it nevertheless; they stay as they are.",
    "claims_in_use": "--force removes them too.",
    "copy_differs": "`veritrail show` shows what each has.",
    "dialogue_not_verified": "`veritrail dialogue verify {process_id}` does so.",
    "dialogue_run_differs": "Repeat the options of the run, or leave --resume out.",
    "dialogue_run_unknown": "`veritrail dialogue verify` names its run at first and in the end.",
    "effort_needs_model": "(--effort)",
    "embedding_model_needed": (
        "Name one as `embedding` in the matrix, or set VERITRAIL_EMBEDDING_MODEL: a folder with "
        "model.onnx and tokenizer.json, or the name of a model at the endpoint."
    ),
    "embedding_price_unknown": (
        "Give it with VERITRAIL_EMBEDDING_PRICE (USD per million tokens) or in a table "
        "(VERITRAIL_PRICES)."
    ),
    "entailment_export_needed": (
        "Export it once, on any machine: pip install 'optimum[onnxruntime]' && optimum-cli export "
        "onnx --model {folder} --task text-classification {folder}-onnx; or pip install torch "
        "transformers."
    ),
    "entailment_model_unknown": (
        "(VERITRAIL_NLI_MODEL) To download it from the hub: `veritrail judge fetch {model}`."
    ),
    "evaluation_over_budget": (
        "What was judged is kept: the same command with a larger --budget or --max-calls goes on."
    ),
    "export_ending": "(--format NAME)",
    "extraction_needs_model": "Name one with --model.",
    "key_needed": (
        "Set OPENAI_API_KEY, or set OPENAI_BASE_URL to an endpoint that needs no key, such as a "
        "server on this machine."
    ),
    "key_unknown": "`veritrail keys list` lists them.",
    "left_unfinished": "`veritrail db clean` removes it.",
    "missing_parameter": "(--param {name}=…)",
    "model_needed": "Name it with --model or VERITRAIL_MODEL.",
    "model_without_engine": "(--model, --engine)",
    "no_claims_of_dialogue": (
        "`veritrail dialogue verify {process_id}` does so, and --budget USD or --max-calls N says "
        "what it may take; there is no estimate of it. `veritrail claims add {process_id} TEXT` "
        "gives it claims of your own."
    ),
    "other_format": "--format {format} takes it.",
    "no_claims": (
        "`veritrail claims add {process_id} TEXT` gives it claims of your own, and --extract has a "
        "model take them from the answer."
    ),
    "nothing_stated": (
        'Say what is to be checked, such as: `veritrail verify {process_id} --claim "…" --add`'
    ),
    "no_error_node": "`veritrail verify PROCESS` finds error nodes.",
    "nodes_and_claims": "With --claim-id or --unsupported, leave --node out.",
    "nothing_to_judge": "Add --judge or --correct, or leave --mode out.",
    "nothing_to_recheck": "Add --correct.",
    "node_needed": "Name the node with --node.",
    "not_a_dialogue": "docs/dialogues.md says what a dialogue file is.",
    "one_dialogue": "(--turn, --resume)",
    "other_content": (
        "Use --replace to replace it, which removes its verifications, --replace --keep to keep "
        "it with its verifications under another id, or --process-id for another id; "
        "`veritrail import PATH --append` adds to it."
    ),
    "other_content_in_target": (
        "Use --replace to replace it there, which removes its verifications, or delete it there "
        "first."
    ),
    "trace_id_taken": (
        'Use `veritrail ingest "{address}" --replace --keep` to store this trace in its place and '
        "keep the other under an id of its own, or a graph of its own (VERITRAIL_HOME) for each "
        "project."
    ),
    "one_id_for_many": "Leave --process-id out.",
    "option_not_taken": "Leave it out, or ingest paths of other formats by another command.",
    "parameters_needed": "The call is `veritrail ask {query} {values}`.",
    "password_unreadable": "Run `veritrail db stop`, then try again.",
    "path_taken": "--force replaces it, or name another place.",
    "prompts_need_model": "(--prompts)",
    "price_unknown": (
        "Give it with --price INPUT,OUTPUT (USD per million tokens) or in a table "
        "(VERITRAIL_PRICES)."
    ),
    "process_damaged": "`veritrail delete {process_id!r}` does so.",
    "process_not_ready": ("If its writer has ended, ingest it again or run `veritrail db clean`."),
    "process_unknown": "`veritrail show` shows those that are.",
    "query_unknown": "`veritrail ask --list` shows all of them.",
    "run_of_dialogue": "`veritrail dialogue verify {process_id} --resume {run_id}` goes on.",
    "run_attributes": "`veritrail attribute {process_id} --resume {run_id}` goes on.",
    "run_of_claims": "`veritrail verify --resume {run_id}` goes on.",
    "run_not_pinned": "`veritrail list PROCESS --json` names it.",
    "run_outdated": "`veritrail verify PROCESS` starts a new one.",
    "run_outdated_in_batches": (
        "`veritrail verify --cancel {run_id}` ends them; `veritrail verify PROCESS` starts a new "
        "run."
    ),
    "run_unknown": "`veritrail runs PROCESS` shows the runs of a process.",
    "samples_need_model": "(--samples)",
    "samples_need_temperature": "(--samples)",
    "service_file_version": (
        "To finish its jobs, use the version that made it. To start without them, stop services "
        "and workers and move {file!r} and the files beside it that begin with the same name to "
        "another folder: the next command makes a new database. Stored verifications are in the "
        "graph and stay there."
    ),
    "service_version": (
        "To finish its jobs, use the version that made it. To start without them, name an empty "
        "database in VERITRAIL_JOBS_URL. Stored verifications are in the graph and stay there."
    ),
    "stored_node_id": "(take another id; for an answer of GraphRAG: --answer-id)",
    "verification_unknown": (
        "`veritrail show PROCESS --all` shows those that are; `veritrail show PROCESS CLAIM` "
        "shows what counts for a claim."
    ),
}
