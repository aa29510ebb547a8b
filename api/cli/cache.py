"""`veritrail cache`: the answers of language models that were kept, so that none is paid twice."""

from __future__ import annotations

import typer

from veritrail_graph.api.app.answer_cache import AnswerCaches
from veritrail_graph.api.cli.exits import run
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table

app = typer.Typer(
    help="Show or clear cached model answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("stats")
def stats(as_json: AsJson = False) -> None:
    """Say how many answers are kept, of which steps and models."""
    from veritrail_graph.api.settings import Settings

    found = run(AnswerCaches(Settings()).stats(), as_json=as_json)
    if as_json:
        print_json(found)
        return
    rows = [
        (row["step"], row["model"], f"{row['answers']:,}") for row in found["by_step_and_model"]
    ]
    table(("step", "model", "answers"), rows, right=["answers"])
    say(f"{found['answers']:,} answer(s), {found['bytes']:,} bytes in {found['path']}")


@app.command("clear")
def clear(as_json: AsJson = False) -> None:
    """Remove all kept answers; stored trails stay."""
    from veritrail_graph.api.settings import Settings

    cache = AnswerCaches(Settings())
    found = run(cache.clear(), as_json=as_json)
    if as_json:
        malformed = {"malformed": found.malformed} if found.malformed else {}
        print_json({"removed": found.answers, **malformed})
    elif found.malformed:
        say(f"{cache.path} was no cache of answers ({found.malformed}): it was removed.")
    else:
        say(f"{found.answers:,} answer(s) removed.")
