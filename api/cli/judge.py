"""`veritrail judge`: how far to trust the judge that is configured, and models that judge here."""

from __future__ import annotations

from typing import Annotated

import typer

from veritrail_graph.api.cli import plugin_commands
from veritrail_graph.api.cli.estimate import estimate
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say

app = typer.Typer(
    help="What judging costs, how far to trust your judge, and models for this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
plugin_commands.add_known(app, "check", "judge.check")
app.command("estimate")(estimate)


@app.command("fetch")
def fetch(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The model's name on the hub: owner/model.")
    ],
    revision: Annotated[
        str | None,
        typer.Option(metavar="REV", help="A branch, tag or commit; default: the main branch."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download an entailment model, so that VERITRAIL_NLI_MODEL can name it.

    Its ONNX form where the hub has one, else its safetensors. The hub is huggingface.co, or that of
    HF_ENDPOINT. No other command downloads a model.
    """
    from veritrail_graph.api.app.engines import fetch_model
    from veritrail_graph.api.settings import Settings

    fetched = fetch_model(Settings(), name, revision, lambda file: say(f"{name}: {file}", "dim"))
    if as_json:
        print_json(
            {
                "name": name,
                "folder": str(fetched.folder),
                "revision": fetched.revision,
                "files": list(fetched.files),
                "bytes": fetched.bytes,
            }
        )
        return
    say(f"{name} ({fetched.revision[:12]}): {fetched.bytes:,} bytes in {fetched.folder}")
    say(f"Judge with it: VERITRAIL_NLI_MODEL={name} veritrail verify PROCESS --engine nli")
