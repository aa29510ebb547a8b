"""What every door advises for errors of entailment models: which setting to change.

The settings are those of the machine that verifies, for every caller.
"""

from __future__ import annotations

from collections.abc import Mapping

ADVICE: Mapping[str, str] = {
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
